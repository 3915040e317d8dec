package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestCredentialsDoor: an operator who is an approver too, and nobody else, has the files of
// credentials looked at again.
func TestCredentialsDoor(t *testing.T) {
	t.Parallel()
	looked := 0
	s := newScene(t, func(o *web.Options) {
		o.Credentials = func(context.Context) (api.Credentials, error) {
			looked++
			return api.Credentials{URL: "nats://127.0.0.1:4222", Refused: []api.RefusedCredential{{File: "tool.x.json", Message: "damaged"}}}, nil
		}
	})
	for name, want := range map[string]int{"ope": 403, "aud": 403, "lis": 403, "sly": 403, "bot": 403, "box": 403, "": 401} {
		if w := s.do("POST", "/api/v1/credentials", name, `{}`); w.Code != want || looked > 0 {
			t.Errorf("%q: %d, want %d: %s", name, w.Code, want, w.Body)
		}
	}
	w := s.do("POST", "/api/v1/credentials", "ada", `{}`)
	if w.Code != 200 || looked != 1 || strings.TrimSpace(w.Body.String()) != `{"url":"nats://127.0.0.1:4222","refused":[{"file":"tool.x.json","message":"damaged"}]}` {
		t.Errorf("an operator and approver: %d %s", w.Code, w.Body)
	}
	if w := newScene(t).do("POST", "/api/v1/credentials", "ada", `{}`); w.Code != 404 {
		t.Errorf("where nobody is let in: %d", w.Code)
	}
}

// TestServicesDoor: the same people have the list of MCP servers read again.
func TestServicesDoor(t *testing.T) {
	t.Parallel()
	read := 0
	s := newScene(t, func(o *web.Options) {
		o.Services = func(context.Context) (api.Services, error) {
			read++
			return api.Services{Started: []api.StartedService{{Service: "hub", Trouble: "it asks for a login"}}, Ended: []string{"post"}}, nil
		}
	})
	for name, want := range map[string]int{"ope": 403, "aud": 403, "lis": 403, "sly": 403, "bot": 403, "box": 403, "": 401} {
		if w := s.do("POST", "/api/v1/services", name, `{}`); w.Code != want || read > 0 {
			t.Errorf("%q: %d, want %d: %s", name, w.Code, want, w.Body)
		}
	}
	w := s.do("POST", "/api/v1/services", "ada", `{}`)
	if w.Code != 200 || read != 1 || strings.TrimSpace(w.Body.String()) != `{"started":[{"service":"hub","trouble":"it asks for a login"}],"ended":["post"]}` {
		t.Errorf("an operator and approver: %d %s", w.Code, w.Body)
	}
	if w := newScene(t).do("POST", "/api/v1/services", "ada", `{}`); w.Code != 404 {
		t.Errorf("without a list: %d", w.Code)
	}
}
