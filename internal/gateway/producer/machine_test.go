package producer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/producer"
	"github.com/earshot-dev/earshot/utp"
)

// said returns the effects of payloads, in a session that is open, each in a line.
func said(t *testing.T, payloads ...aaep.Payload) string {
	t.Helper()
	m := &producer.Machine{State: producer.State{Session: "sess_here", Asked: []producer.Question{{Token: "rpl_1", Call: "tc_1"}, {Token: "rpl_2", Call: "tc_2"}}}}
	var lines []string
	for i, p := range payloads {
		e := aaep.Event{ID: fmt.Sprint("evt_", i), SessionID: "sess_1", Hints: &aaep.LocalizationHints{PrimaryLanguage: "es"}, Payload: p}
		for _, effect := range m.Event(e) {
			raw, err := json.Marshal(effect)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%T %s", effect, raw)[len("producer."):])
		}
	}
	return strings.Join(lines, "\n")
}

// TestMachine: what each event means here.
func TestMachine(t *testing.T) {
	t.Parallel()
	percent, step, total := 40.0, int64(3), int64(4)
	for name, row := range map[string]struct {
		events []aaep.Payload
		want   string
	}{
		"a state without words": {[]aaep.Payload{aaep.StateChanged{FromState: "idle", ToState: "thinking"}}, ""},
		"it goes on from the oldest question": {
			[]aaep.Payload{aaep.StateChanged{FromState: aaep.StateAwaitingInput, ToState: aaep.StateDeciding}, aaep.StateChanged{FromState: aaep.StateAwaitingInput, ToState: aaep.StateDeciding}},
			`Withdraw {"Call":"tc_1"}` + "\n" + `Withdraw {"Call":"tc_2"}`,
		},
		"percent": {[]aaep.Payload{aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent}}}, `Report {"progress":40}`},
		"steps": {
			[]aaep.Payload{aaep.ProgressUpdated{Progress: aaep.Progress{Step: &step, TotalSteps: &total, Description: "Sorting."}}},
			`Report {"progress":50}` + "\n" + `Report {"lang":"es","doing":"Sorting."}`,
		},
		"text, in its language, and another output apart": {
			[]aaep.Payload{aaep.OutputStreaming{Chunk: "Hola.", OutputID: "out_1"}, aaep.OutputStreaming{OutputID: "out_1", Complete: true}, aaep.OutputStreaming{Chunk: "Hi.", OutputID: "out_2", Language: "en"}},
			`Report {"text":"Hola.","lang":"es"}` + "\n" + `Report {"text":"\n\nHi.","lang":"en"}`,
		},
		"a tool that cannot be undone": {
			[]aaep.Payload{aaep.ToolInvoked{Tool: "rm", SummaryNormal: "Deleting", Irreversible: true}, aaep.ToolCompleted{Tool: "rm", Status: aaep.ToolError, ErrorMessage: "It is locked."}},
			`Report {"observed":"Deleting. It cannot be undone."}` + "\n" + `Report {"observed":"Failed: rm. It is locked."}`,
		},
		"a hand-over": {
			[]aaep.Payload{aaep.HandoffRequested{Reason: "It needs a signature.", TargetKind: aaep.TargetHuman, TargetURI: "no uri"}},
			`Withdraw {"Call":"tc_1"}` + "\n" + `Withdraw {"Call":"tc_2"}` + "\n" + `End {"status":"success","handoff":{"reason":"It needs a signature.","lang":"es","to":"human"}}`,
		},
		"a question, in its language": {
			[]aaep.Payload{aaep.AwaitingClarification{Question: "¿Cuál?", ReplyToken: "rpl_3", TimeoutSeconds: 60, AcceptedResponseKinds: []aaep.ResponseKind{aaep.ResponseFreetext}}},
			`Clarify {"question":"¿Cuál?","lang":"es","kinds":["freetext"],"seconds":60,"Token":"rpl_3"}`,
		},
		"a failure": {
			[]aaep.Payload{aaep.SessionErrored{ErrorCategory: aaep.ErrorRequiresUser, SummaryNormal: "No access", RemediationHint: "Log in."}},
			`End {"status":"failed","code":"` + string(utp.CodeAuthFailed) + `","summary":"No access. Log in."}`,
		},
		"an extension": {[]aaep.Payload{aaep.Other{Type: "medai:dose", Members: nil}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := said(t, row.events...); got != row.want {
				t.Errorf("found\n%s\nexpected\n%s", got, row.want)
			}
		})
	}
}

// TestLongText: no text is lost because it is long, and none is cut within a character.
func TestLongText(t *testing.T) {
	t.Parallel()
	m := &producer.Machine{State: producer.State{Session: "sess_here"}}
	text := strings.Repeat("é", api.AgentTextLimit)
	var got strings.Builder
	keys := map[string]bool{}
	for _, e := range m.Event(aaep.Event{ID: "evt_1", SessionID: "sess_1", Payload: aaep.OutputStreaming{Chunk: text}}) {
		r, is := e.(producer.Report)
		if !is || len(r.Text) > api.AgentTextLimit || keys[r.Key] {
			t.Errorf("found %T with %d bytes", e, len(r.Text))
		}
		keys[r.Key] = true
		got.WriteString(r.Text)
	}
	if got.String() != text {
		t.Error("text is lost")
	}
}
