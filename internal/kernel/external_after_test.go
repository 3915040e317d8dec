package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// afterCase is what each place says is to follow a foreign result; "" says nothing.
type afterCase struct {
	definition      utp.AfterExecution
	content, report string
	control         string
	ends            bool
	code            utp.Code // of the result
}

// The order is that of UTP, "Results": the result's control member, the card, the report, the definition.
var afterCases = map[string]afterCase{
	"the card ends":                    {definition: utp.Suspend, content: "terminate", report: "terminate", ends: true},
	"the card goes on":                 {definition: utp.Terminate, content: "suspend", report: "suspend"},
	"as the definition says":           {definition: utp.Terminate, content: "terminate", report: "terminate", ends: true},
	"the card before the report":       {definition: utp.Suspend, content: "terminate", report: "suspend", ends: true},
	"the report where the card is":     {definition: utp.Suspend, report: "terminate", ends: true},
	"the definition, nobody else":      {definition: utp.Terminate, ends: true},
	"the result before the card":       {definition: utp.Terminate, content: "terminate", report: "terminate", control: "suspend"},
	"the result ends":                  {definition: utp.Suspend, content: "suspend", report: "suspend", control: "terminate", ends: true},
	"an invalid control is not a word": {definition: utp.Suspend, content: "terminate", report: "terminate", control: "pause", ends: true},
	"an invalid card is a failure":     {definition: utp.Terminate, content: "pause", report: "suspend", code: utp.CodeInvalidAfterExecution},
	"an invalid report, a valid card":  {definition: utp.Suspend, content: "terminate", report: "pause", ends: true},
}

// answers keeps a result card whose JSON is as a foreign service writes it, and reports it.
func (s *stranger) answers(h utp.Context, card utp.CallCard, tt afterCase) {
	s.world.t.Helper()
	r := s.result(card, "theirs_1")
	if tt.control != "" {
		r.Result = jsontext.Value(`{"words":7,"__cg_control":{"after_execution":"` + tt.control + `"}}`)
	}
	kept, err := utp.NewToolResult(r)
	if err != nil {
		s.world.t.Fatal(err)
	}
	after := `"after_execution":"` + tt.content + `",`
	if tt.content == "" {
		after = ""
	}
	kept.Content = jsontext.Value(`{"__type__":"ToolResultContent","status":"success",` + after + `"result":` + string(r.Result) + `,"error":null}`)
	s.keeps(kept, nil)
	header, err := utp.EncodeHeader(h, utp.Stamp{At: s.world.clock.now()})
	if err != nil {
		s.world.t.Fatal(err)
	}
	said := `"after_execution":"` + tt.report + `",`
	if tt.report == "" {
		said = ""
	}
	m := utp.Message{Header: header, Payload: []byte(`{` + said + `"status":"success","tool_result_card_id":"theirs_1"}`)}
	var a api.ReportAnswer
	s.must(api.OpReport, m, &a)
	if a.Outcome != api.ReportAccepted {
		s.world.t.Errorf("the report is %s", a.Outcome)
	}
}

// TestForeignAfterExecution: what a foreign service's result says is to follow counts: the turn of our
// worker ends with it, or goes on.
func TestForeignAfterExecution(t *testing.T) {
	for name, tt := range afterCases {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				s := w.stranger("words")
				d := definition(wordCount, utp.Read, `{}`)
				d.Target, d.AfterExecution = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call", tt.definition
				s.must(api.OpRegister, api.RegisterRequest{Definition: d}, nil)
				w.review(map[string]utp.Class{wordCount: utp.Read})
				w.work(one(wordCount))
				a := w.begin()
				command, header, card := s.command()
				if command.AfterExecution != tt.definition {
					t.Errorf("the command says %s", command.AfterExecution)
				}
				s.answers(header, card, tt)
				state := w.over(a.Turn)
				w.settle()
				if planned := strings.Contains(w.tale(), "That was all."); planned == tt.ends {
					t.Errorf("the agent was asked for another step: %v\n%s", planned, w.tale())
				}
				want := utp.Suspend
				if tt.ends {
					want = utp.Terminate
				}
				if got := w.cell(`SELECT after_execution FROM reports`); got != string(want) {
					t.Errorf("the report says %s", got)
				}
				w.resultIs(`"after_execution":"` + string(want) + `"`)
				if tt.code != "" {
					w.resultIs(string(tt.code))
				} else if state.End.Status != utp.StatusSuccess {
					t.Errorf("ended as %+v", state.End)
				}
			})
		})
	}
}

// TestForeignAfterToWorker: a foreign worker's card is as the service wrote it. What its own command said
// is to follow goes with the call to the service, and stands in for what that leaves out.
func TestForeignAfterToWorker(t *testing.T) {
	for name, tt := range map[string]struct {
		command utp.AfterExecution
		afterCase
		want utp.AfterExecution
	}{
		"the service ends":     {utp.Suspend, afterCase{content: "terminate", report: "terminate"}, utp.Terminate},
		"the service goes on":  {utp.Terminate, afterCase{content: "suspend", report: "suspend"}, utp.Suspend},
		"the command's word":   {utp.Terminate, afterCase{}, utp.Terminate},
		"the result's control": {utp.Suspend, afterCase{content: "suspend", report: "suspend", control: "terminate"}, utp.Terminate},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				s, peer := w.stranger("words"), w.stranger("peer")
				s.serves(utp.Read, `{}`)
				c := peer.holds()
				wanted := peer.wanted(c.Turn, "tc_theirs", wordCount)
				wanted.TargetSubject = "cg.v1r4.home.public.cmd.tool.words.call"
				peer.keeps(utp.NewToolCall(wanted))
				m := peer.commanded(wanted, c.Epoch)
				m.Payload = []byte(strings.Replace(string(m.Payload), `"suspend"`, `"`+string(tt.command)+`"`, 1))
				if _, err := peer.sends(m); err != nil {
					t.Fatal(err)
				}
				command, header, card := s.command()
				if command.AfterExecution != tt.command {
					t.Errorf("the service is told %s", command.AfterExecution)
				}
				s.answers(header, card, tt.afterCase)
				w.pass(time.Second)
				row, result, there := peer.row(c.Turn, "tc_theirs")
				if !there || result.AfterExecution != tt.want || row.Report.AfterExecution != tt.want || result.Status != utp.StatusSuccess {
					t.Errorf("the worker gets %+v, %+v", row.Report, result)
				}
				if state := w.turn(c.Turn); state.Status != turn.Running {
					t.Errorf("the turn of a foreign worker is %s; it ends when the worker says so", state.Status)
				}
				peer.delivers(c)
				w.succeeded(c.Turn)
			})
		})
	}
}
