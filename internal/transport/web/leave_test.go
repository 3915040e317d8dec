package web_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// waits are agents whose requests wait until they are cut.
type waits struct {
	web.Agents

	asked chan web.Wait
	cut   chan error
}

func (w waits) Invoke(ctx context.Context, _ web.Principal, _ api.InvokeRequest, _ jsontext.Value, wait web.Wait) (api.AgentCall, error) {
	return w.Await(ctx, web.Principal{}, "", "", wait)
}

func (w waits) Await(ctx context.Context, _ web.Principal, _, _ string, wait web.Wait) (api.AgentCall, error) {
	w.asked <- wait
	<-ctx.Done()
	w.cut <- context.Cause(ctx)
	return api.AgentCall{}, ctx.Err()
}

// TestLeave: a request says whether its agent leaves with it, and for whom it waits is told whether the agent has gone or the server.
func TestLeave(t *testing.T) {
	t.Parallel()
	const session = "/api/v1/agent/sessions/sess_1"
	for name, tt := range map[string]struct {
		method, target, body string
		want                 web.Wait
		closes               bool
	}{
		"a permission":                  {"POST", session + "/permissions?wait=7&leave=withdraw", `{"tool":"Bash","input":{}}`, web.Wait{For: 7 * time.Second, Leaves: true}, false},
		"a permission of one who stays": {"POST", session + "/permissions", `{"tool":"Bash","input":{}}`, web.Wait{For: time.Minute}, false},
		"the server closes":             {"POST", session + "/permissions?leave=withdraw", `{"tool":"Bash","input":{}}`, web.Wait{For: time.Minute, Leaves: true}, true},
		"another word":                  {"POST", session + "/permissions?leave=yes", `{"tool":"Bash","input":{}}`, web.Wait{For: time.Minute}, false},
		"its result":                    {"GET", session + "/calls/tc_1?wait=0&leave=withdraw", "", web.Wait{Leaves: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agents := waits{asked: make(chan web.Wait, 1), cut: make(chan error, 1)}
			s := newScene(t, func(o *web.Options) { o.Programs = agents })
			ctx, hangUp := context.WithCancel(t.Context())
			defer hangUp()
			served := make(chan struct{})
			go func() {
				defer close(served)
				r := request(tt.method, tt.target, "bot", tt.body).WithContext(ctx)
				s.server.ServeHTTP(httptest.NewRecorder(), r)
			}()
			select {
			case got := <-agents.asked:
				if got != tt.want {
					t.Errorf("it waits as %+v; expected %+v", got, tt.want)
				}
			case <-served:
				t.Fatal("the request did not arrive")
			}
			if tt.closes {
				s.server.Close()
			} else {
				hangUp()
			}
			if cause := <-agents.cut; errors.Is(cause, hub.ErrClosing) != tt.closes || !errors.Is(cause, context.Canceled) {
				t.Errorf("it was cut by %v", cause)
			}
			<-served
		})
	}
}
