package session_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// producer drives a Session, stores and restores it between any two steps, and holds
// everything it emits against the table and a Checker.
type producer struct {
	t       failer
	session *session.Session
	checker *session.Checker
	rand    *rand.ChaCha8
	now     time.Time
	events  []aaep.Event
}

// failer is what a test and a property check have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newProducer(t failer) *producer {
	t.Helper()
	return &producer{
		t: t, checker: session.NewChecker(), rand: rand.NewChaCha8([32]byte{1}), now: day,
		session: session.New(session.Options{SessionID: "sess_1", Producer: aaep.Producer{AgentID: "tidy"}, Language: "en"}),
	}
}

// take judges what a method returned; it reports whether the session agreed.
func (p *producer) take(events []aaep.Event, err error) bool {
	p.t.Helper()
	if err != nil {
		return false
	}
	for _, event := range events {
		p.judge(event)
	}
	p.store()
	return true
}

func (p *producer) one(event aaep.Event, err error) bool {
	p.t.Helper()
	return p.take([]aaep.Event{event}, err)
}

func (p *producer) judge(event aaep.Event) {
	p.t.Helper()
	raw, err := event.Encode()
	if err != nil {
		p.t.Fatalf("cannot encode: %v", err)
	}
	if found := aaep.Validate(raw, aaep.ModeProducer); len(found) > 0 {
		p.t.Fatalf("the table objects:%s\n%s", list(found), raw)
	}
	if found := withoutAdvice(p.checker.Check(raw)); len(found) > 0 {
		p.t.Fatalf("the checker objects:%s\n%s", list(found), raw)
	}
	p.events = append(p.events, event)
}

// withoutAdvice leaves out the two warnings that a session leaves to its caller: that
// it moves on while a tool runs, and that it goes on behind a hand-over.
func withoutAdvice(found []aaep.Violation) []aaep.Violation {
	return slices.DeleteFunc(found, func(v aaep.Violation) bool {
		return v.Severity == asWarning && (v.Rule == "SEQ-21" || v.Rule == "SEQ-39")
	})
}

// store sends the state through JSON, as a kernel does between two transactions.
func (p *producer) store() {
	p.t.Helper()
	raw, err := json.Marshal(p.session.State())
	if err != nil {
		p.t.Fatal(err)
	}
	var state session.State
	if err := json.Unmarshal(raw, &state); err != nil {
		p.t.Fatal(err)
	}
	p.session = session.Restore(state)
}

// must is for steps that have to be legal.
func (p *producer) must(ok bool) {
	p.t.Helper()
	if !ok {
		p.t.Fatalf("step %d was refused", len(p.events))
	}
	p.now = p.now.Add(time.Second)
}

func (p *producer) start() {
	p.t.Helper()
	p.must(p.one(p.session.Start(p.now, p.rand, aaep.SessionStarted{SummaryNormal: "Tidying."})))
}

func (p *producer) move(to string) {
	p.t.Helper()
	p.must(p.take(p.session.Move(p.now, p.rand, to, aaep.StateChanged{SummaryNormal: "Now " + to + "."})))
}

func (p *producer) run(tool, call string, irreversible bool, status aaep.ToolStatus) {
	p.t.Helper()
	p.enter(aaep.StateCallingTool)
	p.must(p.one(p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{
		Tool: tool, ToolCallID: call, Irreversible: irreversible, SummaryNormal: "Running.",
	})))
	done := aaep.ToolCompleted{ToolCallID: call, Status: status, SummaryNormal: "Ran."}
	if status != aaep.ToolSuccess {
		done.ErrorMessage = "The outcome is unknown."
	}
	p.must(p.one(p.session.ToolCompleted(p.now, p.rand, done)))
}

func (p *producer) ask(call string) string {
	p.t.Helper()
	event, err := p.session.Confirm(p.now, p.rand, confirmation(call))
	if err != nil {
		p.t.Fatal(err)
	}
	if event, err = event.Extend(aaep.PrefixEarshot, "question", 7); err != nil {
		p.t.Fatal(err)
	}
	p.must(p.one(event, nil))
	return event.Payload.(aaep.AwaitingConfirmation).ReplyToken
}

func confirmation(call string) aaep.AwaitingConfirmation {
	return aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They cannot be brought back.", SummaryNormal: "Delete 3 files?",
		TimeoutSeconds: 300, DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskHigh, Irreversible: true,
	}.About("files.delete", call)
}

func (p *producer) settle(token string, r aaep.Resolution) {
	p.t.Helper()
	if err := p.session.Resolve(token, r); err != nil {
		p.t.Fatal(err)
	}
	p.store()
}

func (p *producer) complete() {
	p.t.Helper()
	p.must(p.take(p.session.Complete(p.now, p.rand, aaep.SessionCompleted{SummaryNormal: "Done."}, session.Closing{})))
	if found := p.checker.Close(); len(found) > 0 {
		p.t.Fatalf("at the end the checker objects:%s", list(found))
	}
}

// enter moves where a question does not keep the session.
func (p *producer) enter(state string) {
	p.t.Helper()
	if s := p.session.State(); s.Current != state && (len(s.Questions) == 0 || s.Current != aaep.StateAwaitingInput) {
		p.move(state)
	}
}

func (p *producer) say(text string, complete bool) {
	p.t.Helper()
	p.enter(aaep.StateWritingOutput)
	p.must(p.one(p.session.Output(p.now, p.rand, aaep.OutputStreaming{Chunk: text, Complete: complete})))
}

// scanned is our own flow up to the question.
func scanned(t *testing.T) *producer {
	t.Helper()
	p := newProducer(t)
	p.start()
	p.move(aaep.StateThinking)
	p.move(aaep.StateCallingTool)
	p.run("files.scan", "call_1", false, aaep.ToolSuccess)
	p.run("files.hash", "call_2", false, aaep.ToolSuccess)
	p.move(aaep.StateDeciding)
	p.move(aaep.StateAwaitingInput)
	return p
}

func TestFlowAccepted(t *testing.T) {
	t.Parallel()
	p := scanned(t)
	p.ask("call_3")
	if err := p.session.Granted("call_3"); err != nil {
		t.Fatal(err)
	}
	p.store()
	p.move(aaep.StateDeciding)
	reported := p.events[len(p.events)-1]
	if got := reported.Extension(aaep.PrefixEarshot, "resolution"); got != "accepted" {
		t.Errorf("resolution = %q, want accepted", got)
	}
	p.move(aaep.StateCallingTool)
	p.run("files.delete", "call_3", true, aaep.ToolSuccess)
	p.move(aaep.StateWritingOutput)
	p.say("Deleted 3 files, ", false)
	p.say("añ👍 12 MB.", true)
	p.complete()
	last := p.events[len(p.events)-1].Payload.(aaep.SessionCompleted)
	if *last.ToolInvocationsCount != 3 || *last.DurationMS != int64(len(p.events)-1)*1000 {
		t.Errorf("completed says %d invocations in %d ms", *last.ToolInvocationsCount, *last.DurationMS)
	}
}

func TestFlowRejected(t *testing.T) {
	t.Parallel()
	p := scanned(t)
	p.settle(p.ask("call_3"), aaep.ResolutionRejected)
	p.move(aaep.StateDeciding)
	p.complete()
}

func TestFlowMoreTime(t *testing.T) {
	t.Parallel()
	p := scanned(t)
	old := p.ask("call_3")
	p.settle(old, aaep.ResolutionExtended)
	p.move(aaep.StateDeciding)
	p.move(aaep.StateAwaitingInput)
	if fresh := p.ask("call_3"); fresh == old {
		t.Error("the second question has the token of the first")
	}
	if err := p.session.Granted("call_3"); err != nil {
		t.Fatal(err)
	}
	p.move(aaep.StateCallingTool)
	p.run("files.delete", "call_3", true, aaep.ToolSuccess)
	p.complete()
}

func TestFlowUndone(t *testing.T) {
	t.Parallel()
	p := scanned(t)
	token := p.ask("call_3")
	p.settle(token, aaep.ResolutionAccepted)
	p.move(aaep.StateDeciding)
	p.settle(token, aaep.ResolutionStopped)
	p.move(aaep.StateDeciding) // there already, but the stop has to be told
	if got := p.events[len(p.events)-1].Extension(aaep.PrefixEarshot, "resolution"); got != "stopped" {
		t.Errorf("resolution = %q, want stopped", got)
	}
	if _, err := p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{Tool: "files.delete", ToolCallID: "call_3", Irreversible: true, SummaryNormal: "Running."}); err == nil {
		t.Error("a call that was stopped could be invoked")
	}
	p.complete()
}

func TestFlowUnknownOutcome(t *testing.T) {
	t.Parallel()
	p := scanned(t)
	p.settle(p.ask("call_3"), aaep.ResolutionAccepted)
	p.move(aaep.StateCallingTool)
	p.run("files.delete", "call_3", true, aaep.ToolError)
	p.move(aaep.StateAwaitingInput)
	event, err := p.session.Clarify(p.now, p.rand, aaep.AwaitingClarification{
		Question: "It is not known whether the files are deleted. What now?", SummaryNormal: "What now?", TimeoutSeconds: 300,
		AcceptedResponseKinds: []aaep.ResponseKind{aaep.ResponseMultipleChoice},
		Choices:               []aaep.Choice{{Value: "leave", Label: "Leave it"}, {Value: "ask", Label: "Ask again"}}, DefaultResponse: "leave",
	})
	p.must(p.one(event, err))
	p.settle(event.Payload.(aaep.AwaitingClarification).ReplyToken, aaep.ResolutionAnswered)
	p.move(aaep.StateDeciding)
	p.complete()
}

// TestTerminalCloses shows SEQ-36: a terminal event closes calls, outputs and
// questions first, in the words it was given or else in English.
func TestTerminalCloses(t *testing.T) {
	t.Parallel()
	ends := map[string]func(p *producer) ([]aaep.Event, error){
		"fail": func(p *producer) ([]aaep.Event, error) {
			return p.session.Fail(p.now, p.rand, aaep.SessionErrored{ErrorCategory: aaep.ErrorTransient, SummaryNormal: "Failed."}, session.Closing{ToolStatus: aaep.ToolTimeout, ToolSummary: "Late.", StateSummary: "Closed."})
		},
		"cancel": func(p *producer) ([]aaep.Event, error) {
			return p.session.Cancel(p.now, p.rand, aaep.SessionCancelled{CancelledBy: aaep.CancelledByUser, SummaryNormal: "Stopped."}, session.Closing{})
		},
	}
	want := map[string]int{"fail": 7, "cancel": 4} // 2 calls or 1 output closed; fail tells the questions, and moves to close the output
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := scanned(t)
			p.ask("call_3")
			p.ask("call_4")
			for _, call := range []string{"call_5", "call_6"} {
				p.must(p.one(p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{Tool: "files.hash", ToolCallID: call, SummaryNormal: "Hashing."})))
			}
			p.say("Half a sen", false)
			before := len(p.events)
			p.must(p.take(end(p)))
			if got := len(p.events) - before; got != want[name] {
				t.Errorf("%d events, want %d", got, want[name])
			}
			if found := p.checker.Close(); len(found) > 0 {
				t.Errorf("the checker objects:%s", list(found))
			}
			if p.session.State().Phase != session.PhaseEnded {
				t.Error("the session has not ended")
			}
		})
	}
}

// TestClockSteps shows ENV-28 under a clock that steps back.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	p := newProducer(t)
	p.start()
	p.now = p.now.Add(-time.Hour)
	p.move(aaep.StateThinking)
	first, second := p.events[0].Time, p.events[1].Time
	if !second.Equal(first) {
		t.Errorf("time = %v, want %v", second, first)
	}
}
