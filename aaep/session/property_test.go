package session_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

var resolutions = []aaep.Resolution{
	aaep.ResolutionAccepted, aaep.ResolutionRejected, aaep.ResolutionAnswered, aaep.ResolutionExpired,
	aaep.ResolutionWithdrawn, aaep.ResolutionExtended, aaep.ResolutionStopped,
}

var stateWords = []string{
	aaep.StateIdle, aaep.StateThinking, aaep.StateCallingTool, aaep.StateWritingOutput, aaep.StateAwaitingInput, aaep.StateDeciding, "pondering",
}

// program drives one session at random. It may ask for anything; what the session
// agrees to, the table and the checker must not object to.
type program struct {
	*producer
	rt     *rapid.T
	tokens []string
}

func (p *program) pick(name string, most int) int { return rapid.IntRange(0, most).Draw(p.rt, name) }

// enterAny moves where that is needed, most times.
func (p *program) enterAny(state string) {
	if p.pick("enter", 9) > 0 {
		p.take(p.session.Move(p.now, p.rand, state, aaep.StateChanged{SummaryNormal: "Moving."}))
	}
}

func (p *program) call() string { return fmt.Sprintf("call_%d", p.pick("call", 5)) }

func (p *program) step() {
	p.now = p.now.Add(time.Duration(rapid.IntRange(-2000, 5000).Draw(p.rt, "clock")) * time.Millisecond)
	switch p.pick("step", 13) {
	case 0:
		p.one(p.session.Start(p.now, p.rand, aaep.SessionStarted{SummaryNormal: "Starting."}))
	case 1, 2, 3:
		to := rapid.SampledFrom(stateWords).Draw(p.rt, "to")
		p.take(p.session.Move(p.now, p.rand, to, aaep.StateChanged{SummaryNormal: "Moving."}))
	case 4:
		p.one(p.session.Progress(p.now, p.rand, aaep.ProgressUpdated{
			Progress: aaep.Progress{Percent: new(rapid.Float64Range(0, 100).Draw(p.rt, "percent"))}, SummaryNormal: "Going on.",
		}))
	case 5, 6:
		p.invoke()
	case 7:
		p.one(p.session.ToolCompleted(p.now, p.rand, aaep.ToolCompleted{ToolCallID: p.call(), Status: aaep.ToolSuccess, SummaryNormal: "Ran."}))
	case 8:
		output := rapid.SampledFrom([]string{"", "out_1", "out_2"}).Draw(p.rt, "output")
		chunk := rapid.StringN(0, 20, -1).Draw(p.rt, "chunk")
		p.enterAny(aaep.StateWritingOutput)
		p.tolerant(p.session.Output(p.now, p.rand, aaep.OutputStreaming{OutputID: output, Chunk: chunk, Complete: rapid.Bool().Draw(p.rt, "complete")}))
	case 9:
		p.confirm()
	case 10:
		p.clarify()
	case 11, 12:
		p.settleAny()
	case 13:
		p.one(p.session.Handoff(p.now, p.rand, aaep.HandoffRequested{Reason: "Stuck.", TargetKind: aaep.TargetHuman, SummaryNormal: "Handing off."}))
	}
}

// tolerant lets advice about odd text pass: only the order is of interest here.
func (p *program) tolerant(event aaep.Event, err error) {
	if err != nil {
		return
	}
	raw, err := event.Encode()
	if err != nil {
		p.t.Fatal(err)
	}
	if found := withoutAdvice(p.checker.Check(raw)); len(found) > 0 {
		p.t.Fatalf("the checker objects:%s\n%s", list(found), raw)
	}
	p.store()
}

func (p *program) invoke() {
	irreversible := rapid.Bool().Draw(p.rt, "irreversible")
	p.enterAny(aaep.StateCallingTool)
	p.one(p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{Tool: "files.delete", ToolCallID: p.call(), Irreversible: irreversible, SummaryNormal: "Running."}))
}

func (p *program) confirm() {
	c := confirmation(p.call())
	if rapid.Bool().Draw(p.rt, "mild") {
		c.Irreversible, c.RiskLevel, c.TimeoutSeconds = false, aaep.RiskMedium, 60
	}
	event, err := p.session.Confirm(p.now, p.rand, c)
	if p.one(event, err) {
		p.tokens = append(p.tokens, event.Payload.(aaep.AwaitingConfirmation).ReplyToken)
	}
}

func (p *program) clarify() {
	event, err := p.session.Clarify(p.now, p.rand, aaep.AwaitingClarification{Question: "Which?", SummaryNormal: "Which?", TimeoutSeconds: 60})
	if p.one(event, err) {
		p.tokens = append(p.tokens, event.Payload.(aaep.AwaitingClarification).ReplyToken)
	}
}

func (p *program) settleAny() {
	if len(p.tokens) == 0 {
		return
	}
	token := rapid.SampledFrom(p.tokens).Draw(p.rt, "token")
	if p.session.Resolve(token, rapid.SampledFrom(resolutions).Draw(p.rt, "resolution")) == nil {
		p.store()
	}
}

// end drives the session to its terminal event, by force if need be.
func (p *program) end() {
	c := session.Closing{}
	switch p.pick("end", 3) {
	case 0:
		p.take(p.session.Complete(p.now, p.rand, aaep.SessionCompleted{SummaryNormal: "Done."}, c))
	case 1:
		p.take(p.session.Fail(p.now, p.rand, aaep.SessionErrored{ErrorCategory: aaep.ErrorUnknown, SummaryNormal: "Failed."}, c))
	}
	p.take(p.session.Cancel(p.now, p.rand, aaep.SessionCancelled{CancelledBy: aaep.CancelledByUser, SummaryNormal: "Stopped."}, c))
}

// TestWhatASessionEmitsIsLegal: whatever one asks of sessions, in any order, several
// of them interleaved in one stream, neither the table nor the checker objects to what
// they emit, and every session ends.
func TestWhatASessionEmitsIsLegal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		checker := session.NewChecker()
		random := rand.NewChaCha8([32]byte{2})
		programs := make([]*program, rapid.IntRange(1, 3).Draw(rt, "sessions"))
		for i := range programs {
			p := newProducer(rt)
			p.checker, p.rand = checker, random
			p.session = session.New(session.Options{SessionID: fmt.Sprintf("sess_%d", i), Producer: aaep.Producer{AgentID: "tidy"}, Language: "en"})
			programs[i] = &program{producer: p, rt: rt}
			if rapid.IntRange(0, 9).Draw(rt, "begin") > 0 {
				p.start()
			}
		}
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			rapid.SampledFrom(programs).Draw(rt, "session").step()
		}
		for _, p := range programs {
			if p.session.State().Phase == session.PhaseOpen {
				p.end()
			}
			if phase := p.session.State().Phase; phase == session.PhaseOpen {
				rt.Fatalf("the session did not end")
			}
		}
		if found := checker.Close(); len(found) > 0 {
			rt.Fatalf("at the end the checker objects:%s", list(found))
		}
	})
}

// TestStatesStaySmall: a State grows with what is open, not with what has been.
func TestStatesStaySmall(t *testing.T) {
	t.Parallel()
	for wanted, kept := range map[int]int{0: 1024, 8: 8} {
		t.Run(fmt.Sprint(wanted), func(t *testing.T) {
			t.Parallel()
			statesStaySmall(t, wanted, kept)
		})
	}
}

func statesStaySmall(t *testing.T, wanted, kept int) {
	t.Helper()
	p := newProducer(t)
	p.session = session.New(session.Options{SessionID: "sess_small", Producer: aaep.Producer{AgentID: "tidy"}, Language: "en", Remember: wanted})
	p.start()
	p.move(aaep.StateCallingTool)
	for i := range 1100 {
		id := fmt.Sprintf("call_%d", i)
		if _, err := p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{Tool: "scan", ToolCallID: id, SummaryNormal: "Running."}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.session.ToolCompleted(p.now, p.rand, aaep.ToolCompleted{ToolCallID: id, Status: aaep.ToolSuccess, SummaryNormal: "Ran."}); err != nil {
			t.Fatal(err)
		}
	}
	if state := p.session.State(); len(state.UsedCalls) != kept || state.Invocations != 1100 {
		t.Errorf("remembers %d ids of %d invocations, want %d of 1100", len(state.UsedCalls), state.Invocations, kept)
	}
	if _, err := p.session.ToolInvoked(p.now, p.rand, aaep.ToolInvoked{Tool: "scan", ToolCallID: "call_1099", SummaryNormal: "Running."}); err == nil {
		t.Error("the last call can be invoked again")
	}
}
