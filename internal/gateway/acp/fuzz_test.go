package acp_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/acp"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// checked returns a report that Earshot takes.
func checked(t *testing.T, e acp.Effect) api.AgentReport {
	t.Helper()
	r, is := e.(acp.Report)
	if !is {
		return api.AgentReport{}
	}
	if len(r.Text) > api.AgentTextLimit || len(r.Observed) > api.MaxReported || (r.Text == "") == (r.Observed == "") {
		t.Fatalf("found a report of %d bytes of text and %d of what was observed", len(r.Text), len(r.Observed))
	}
	if !utf8.ValidString(r.Text + r.Observed) {
		t.Fatalf("found a report that is not UTF-8: %q", r.Text+r.Observed)
	}
	return r.AgentReport
}

// offered notes the kinds of the options of a request.
func offered(kinds map[string]string, id string, params []byte) {
	var p struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	if json.Unmarshal(params, &p) == nil {
		for _, o := range p.Options {
			kinds[id+" "+o.ID] = o.Kind
		}
	}
}

// FuzzMessages: whatever an agent says, a request for permission is answered once at most, with an option that allows once
// only after a person's yes; what is reported fits; and nothing comes after the end.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		string(update("tool_call", `"toolCallId":"t1","title":"ls","status":"pending"`)) + "\n?" + string(request(`{"toolCallId":"t1","rawInput":{"a":1}}`, usual)) + "\n+",
		"?" + string(request(`{"toolCallId":"t1"}`, usual)) + "\n" + string(update("current_mode_update", `"currentModeId":"auto"`)) + "\n+",
		"?" + string(request(`{"toolCallId":"t1"}`, `[{"optionId":"a","kind":"allow_once"},{"optionId":"b","kind":"allow_once"}]`)) + "\n.\n-",
		string(update("plan", `"entries":[{"content":"a","status":"completed"}]`)) + "\n!\n" + string(update("agent_message_chunk", `"content":{"type":"text","text":"a"}`)),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		m := machine(t)
		allowed, replied, ended := map[string]bool{}, map[string]bool{}, false
		kinds := map[string]string{} // of each option, by request and id
		for i, line := range bytes.Split(script, []byte("\n")) {
			id := string(rune('0' + i%8))
			fresh := false
			var effects []acp.Effect
			head, rest := byte(0), line
			if len(line) > 0 {
				head = line[0]
			}
			switch head {
			case '?':
				rest, fresh = line[1:], true
				id = "r" + string(rune(i+1))
				offered(kinds, id, rest)
				effects = m.Permission(id, jsontext.Value(rest))
			case '+', '-':
				for request := range replied {
					if !replied[request] {
						allowed[request] = allowed[request] || head == '+'
						verdict := hook.Deny
						if head == '+' {
							verdict = hook.Allow
						}
						effects = append(effects, m.Answered(request, hook.Answer{Verdict: verdict})...)
					}
				}
			case '.':
				effects = m.Rested("end_turn", nil)
			case '!':
				effects = m.Stop()
			default:
				effects = m.Update(jsontext.Value(rest))
			}
			if fresh {
				replied[id] = false
			}
			for _, e := range effects {
				checked(t, e)
				if r, is := e.(acp.Reply); is {
					if replied[r.Request] {
						t.Fatalf("%s is answered twice", r.Request)
					}
					replied[r.Request] = true
					switch kind := kinds[r.Request+" "+r.Option]; {
					case r.Option == "", kind == "reject_once":
					case kind != "allow_once":
						t.Fatalf("an option of kind %q is passed on", kind)
					case !allowed[r.Request]:
						t.Fatalf("%s is allowed, and nobody said so", r.Request)
					}
					continue
				}
				if ended {
					t.Fatalf("%T comes after the end", e)
				}
				_, ended = e.(acp.End)
			}
		}
	})
}
