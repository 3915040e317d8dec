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
