package session_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// TestRefusals shows what a Session refuses, under which code and rule, and that a
// refusal changes nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	invoke := func(call string, irreversible bool) func(p *producer) error {
		return func(p *producer) error {
			_, err := p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{Tool: "files.delete", ToolCallID: call, Irreversible: irreversible, SummaryNormal: "Running."})
			return err
		}
	}
	complete := func(p *producer) error {
		_, err := p.session.Complete(p.now, p.rand, aaep.SessionCompleted{SummaryNormal: "Done."}, session.Closing{})
		return err
	}
	finish := func(call, tool string) func(p *producer) error {
		return func(p *producer) error {
			_, err := p.session.ToolCompleted(p.now, p.rand, aaep.ToolCompleted{Tool: tool, ToolCallID: call, Status: aaep.ToolSuccess, SummaryNormal: "Ran."})
			return err
		}
	}
	confirm := func(change func(c *aaep.AwaitingConfirmation)) func(p *producer) error {
		return func(p *producer) error {
			c := confirmation("call_9")
			change(&c)
			_, err := p.session.Confirm(p.now, p.rand, c)
			return err
		}
	}
	moveTo := func(to string) func(p *producer) error {
		return func(p *producer) error {
			_, err := p.session.Move(p.now, p.rand, to, aaep.StateChanged{SummaryNormal: "Moving."})
			return err
		}
	}
	cases := []struct {
		name   string
		before func(p *producer)
		try    func(p *producer) error
		code   session.Code
		rule   string
	}{
		{"event before started", func(*producer) {}, moveTo("thinking"), session.CodeNotStarted, "SEQ-02"},
		{"second started", func(p *producer) { p.start() }, func(p *producer) error {
			_, err := p.session.Start(p.now, p.rand, aaep.SessionStarted{SummaryNormal: "Again."})
			return err
		}, session.CodeStarted, "SEQ-01"},
		{"event behind the end", func(p *producer) { p.start(); p.complete() }, moveTo("thinking"), session.CodeEnded, "SEQ-04"},
		{"second end", func(p *producer) { p.start(); p.complete() }, complete, session.CodeEnded, "SEQ-04"},
		{"call without an id", (*producer).start, invoke("", false), session.CodeBadCall, "SEQ-20"},
		{"call id used", func(p *producer) { p.start(); p.run("scan", "call_1", false, aaep.ToolSuccess) }, invoke("call_1", false), session.CodeBadCall, "SEQ-15"},
		{"call id open", func(p *producer) { p.start(); p.move("calling_tool"); _ = invoke("call_1", false)(p) }, invoke("call_1", false), session.CodeBadCall, "SEQ-15"},
		{"completion of nothing", (*producer).start, finish("call_1", "scan"), session.CodeBadCall, "SEQ-13"},
		{"second completion", func(p *producer) { p.start(); p.run("scan", "call_1", false, aaep.ToolSuccess) }, finish("call_1", "scan"), session.CodeBadCall, "SEQ-16"},
		{"completion by another tool", func(p *producer) { p.start(); p.move("calling_tool"); _ = invoke("call_1", false)(p) }, finish("call_1", "scan"), session.CodeBadCall, "SEQ-14"},
		{"irreversible unasked", (*producer).start, invoke("call_1", true), session.CodeNoConsent, "SEQ-22"},
		{"irreversible unanswered", func(p *producer) { p.start(); p.move("awaiting_input"); p.ask("call_1") }, invoke("call_1", true), session.CodeNoConsent, "SEQ-22"},
		{"irreversible refused", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionRejected)
		}, invoke("call_1", true), session.CodeNoConsent, "SEQ-22"},
		{"consent of another call", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionAccepted)
		}, invoke("call_2", true), session.CodeNoConsent, "SEQ-22"},
		{"refused, and called reversible", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionRejected)
			p.move("calling_tool")
		}, invoke("call_1", false), session.CodeNoConsent, "SEQ-26"},
		{"unanswered, and called reversible", func(p *producer) { p.start(); p.move("awaiting_input"); p.ask("call_1") }, invoke("call_1", false), session.CodeNoConsent, "SEQ-26"},
		{"stopped, and called reversible", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			token := p.ask("call_1")
			p.settle(token, aaep.ResolutionAccepted)
			p.move("deciding")
			p.settle(token, aaep.ResolutionStopped)
			p.move("calling_tool")
		}, invoke("call_1", false), session.CodeNoConsent, "SEQ-26"},
		{"consent to another tool", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionAccepted)
			p.move("calling_tool")
		}, func(p *producer) error {
			_, err := p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{Tool: "files.empty", ToolCallID: "call_1", Irreversible: true, SummaryNormal: "Emptying."})
			return err
		}, session.CodeNoConsent, "SEQ-22"},
		{"irreversible on a consent to what can be undone", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			c := confirmation("call_1")
			c.Irreversible, c.RiskLevel = false, aaep.RiskMedium
			asked, err := p.session.Confirm(p.now, p.rand, c)
			if err != nil {
				p.t.Fatal(err)
			}
			p.settle(asked.Payload.(aaep.AwaitingConfirmation).ReplyToken, aaep.ResolutionAccepted)
			p.move("calling_tool")
		}, invoke("call_1", true), session.CodeNoConsent, "SEQ-22"},
		{"call before its accept is told", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionAccepted)
		}, invoke("call_1", true), session.CodeQuestionOpen, "SEQ-22"},
		{"granted without a question", (*producer).start, func(p *producer) error { return p.session.Granted("call_1") }, session.CodeNoQuestion, "SEQ-22"},
		{"granted after a refusal", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionRejected)
		}, func(p *producer) error { return p.session.Granted("call_1") }, session.CodeNoQuestion, "SEQ-22"},
		{"end with an unused consent", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionAccepted)
			p.move("deciding")
		}, complete, session.CodeUnusedConsent, "SEQ-24"},
		{"end with an untold refusal", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_1"), aaep.ResolutionRejected)
		}, complete, session.CodeQuestionOpen, "SEQ-25"},
		{"end with an open question", func(p *producer) { p.start(); p.move("awaiting_input"); p.ask("call_1") }, complete, session.CodeQuestionOpen, "SEQ-30"},
		{"leaving an open question", func(p *producer) { p.start(); p.move("awaiting_input"); p.ask("call_1") }, moveTo("deciding"), session.CodeQuestionOpen, "SEQ-30"},
		{"asking twice for a call", func(p *producer) { p.start(); p.move("awaiting_input"); p.ask("call_9") }, confirm(func(*aaep.AwaitingConfirmation) {}), session.CodeQuestionOpen, "SEQ-28"},
		{"asking before the outcome is told", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.settle(p.ask("call_9"), aaep.ResolutionExpired)
		}, confirm(func(*aaep.AwaitingConfirmation) {}), session.CodeQuestionOpen, "SEQ-28"},
		{"asking in another state", (*producer).start, confirm(func(*aaep.AwaitingConfirmation) {}), session.CodeWrongState, "SEQ-29"},
		{"silence as yes", func(p *producer) { p.start(); p.move("awaiting_input") }, confirm(func(c *aaep.AwaitingConfirmation) {
			c.DefaultDecision, c.RiskLevel = aaep.DecisionAccept, aaep.RiskLow
		}), session.CodeUnsafeQuestion, "CONF-20"},
		{"risk unsaid", func(p *producer) { p.start(); p.move("awaiting_input") }, confirm(func(c *aaep.AwaitingConfirmation) { c.RiskLevel = "" }), session.CodeUnsafeQuestion, "CONFM-10"},
		{"nobody can refuse", func(p *producer) { p.start(); p.move("awaiting_input") }, confirm(func(c *aaep.AwaitingConfirmation) {
			c.AllowedReplies = []aaep.Decision{aaep.DecisionAccept}
		}), session.CodeUnsafeQuestion, "CONFM-13"},
		{"token used before", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			_, err := p.session.Confirm(p.now, p.rand, func() aaep.AwaitingConfirmation { c := confirmation("call_1"); c.ReplyToken = "rpl_1"; return c }())
			if err != nil {
				p.t.Fatal(err)
			}
		}, confirm(func(c *aaep.AwaitingConfirmation) { c.ReplyToken = "rpl_1" }), session.CodeBadEvent, "CONF-07"},
		{"chunk behind the last", func(p *producer) { p.start(); p.say("Done.", true) }, func(p *producer) error {
			_, err := p.session.Output(p.now, p.rand, aaep.OutputStreaming{Chunk: "More."})
			return err
		}, session.CodeOutputComplete, "SEQ-32"},
		{"call in another state", (*producer).start, invoke("call_1", false), session.CodeWrongState, "SEQ-21"},
		{"completion behind what comes after it", func(p *producer) {
			p.start()
			p.move("calling_tool")
			_ = invoke("call_1", false)(p)
			p.move("thinking")
		}, finish("call_1", ""), session.CodeWrongState, "SEQ-19"},
		{"chunk in another state", (*producer).start, func(p *producer) error {
			_, err := p.session.Output(p.now, p.rand, aaep.OutputStreaming{Chunk: "Text."})
			return err
		}, session.CodeWrongState, "SEQ-11"},
		{"chunk inside a character", func(p *producer) { p.start(); p.say("👩", false) }, func(p *producer) error {
			_, err := p.session.Output(p.now, p.rand, aaep.OutputStreaming{Chunk: "\u200D💻"})
			return err
		}, session.CodeBadEvent, "I18N-29"},
		{"chunk too long", func(p *producer) { p.start(); p.move("writing_output") }, func(p *producer) error {
			_, err := p.session.Output(p.now, p.rand, aaep.OutputStreaming{Chunk: strings.Repeat("x", 16385)})
			return err
		}, session.CodeBadEvent, "OUT-01"},
		{"clarification accepted", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			_, err := p.session.Clarify(p.now, p.rand, aaep.AwaitingClarification{Question: "Which?", ReplyToken: "rpl_1", TimeoutSeconds: 60, SummaryNormal: "Which?"})
			if err != nil {
				p.t.Fatal(err)
			}
		}, func(p *producer) error { return p.session.Resolve("rpl_1", aaep.ResolutionAccepted) }, session.CodeNoQuestion, "CONF-61"},
		{"two outcomes at once", func(p *producer) {
			p.start()
			p.move("awaiting_input")
			p.ask("call_2")
			p.settle(p.ask("call_1"), aaep.ResolutionRejected)
		}, func(p *producer) error { return p.session.Granted("call_2") }, session.CodeQuestionOpen, "SEQ-30"},
		{"no randomness", (*producer).start, func(p *producer) error {
			_, err := p.session.Progress(p.now, strings.NewReader(""), aaep.ProgressUpdated{Progress: aaep.Progress{Percent: new(5.0)}, SummaryNormal: "5 percent."})
			return err
		}, session.CodeNoRandomness, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProducer(t)
			c.before(p)
			before := p.session.State()
			err := c.try(p)
			e, ok := errors.AsType[*session.Error](err)
			if !ok {
				t.Fatalf("got %v, want an error", err)
			}
			if e.Code != c.code || e.Rule != c.rule {
				t.Errorf("got %s (%s), want %s (%s): %v", e.Code, e.Rule, c.code, c.rule, err)
			}
			if e.SafeToRetry() != (c.code == session.CodeNoRandomness) || e.SafeToRetry() != errors.Is(err, io.EOF) {
				t.Errorf("SafeToRetry = %t for %v", e.SafeToRetry(), err)
			}
			if after := p.session.State(); !reflect.DeepEqual(before, after) {
				t.Errorf("the refusal changed the session:\n%+v\n%+v", before, after)
			}
		})
	}
}
