package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestOperatorDoor: the door of operators opens to auditors and operators; which operations there
// are, and who may change something, the hub says. The request and the answer pass as they are.
func TestOperatorDoor(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for name, want := range map[string]int{"ada": 200, "ope": 200, "aud": 200, "lis": 403, "sly": 403, "bot": 403, "box": 403, "": 401} {
		s.room.operated = nil
		w := s.do("POST", "/api/v1/operator/tools", name, `{"tool_name":"a.b"}`)
		if w.Code != want {
			t.Errorf("%q: %d, want %d: %s", name, w.Code, want, w.Body)
		}
		passed := []string{}
		if want == 200 {
			passed = append(passed, name+` tools {"tool_name":"a.b"}`)
			if strings.TrimSpace(w.Body.String()) != `{"done":true}` {
				t.Errorf("%q: the answer is %s", name, w.Body)
			}
		}
		if !slices.Equal(s.room.operated, passed) && len(s.room.operated)+len(passed) > 0 {
			t.Errorf("%q: the hub was asked for %v, want %v", name, s.room.operated, passed)
		}
	}
	if w := s.do("POST", "/api/v1/operator/tools", "ada", `{"tool_name"`); w.Code != 400 {
		t.Errorf("what is not JSON: %d %s", w.Code, w.Body)
	}
	if w := s.do("GET", "/api/v1/operator/tools", "ada", ""); w.Code != 405 {
		t.Errorf("GET: %d", w.Code)
	}
	s.room.fail = &web.Refusal{Kind: api.KindForbidden, Message: "only an operator"}
	if w := s.do("POST", "/api/v1/operator/erase", "ope", `{}`); w.Code != 403 {
		t.Errorf("what the hub refuses: %d", w.Code)
	}
}
