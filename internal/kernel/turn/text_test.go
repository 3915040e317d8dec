package turn_test

import (
	"errors"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

var sayNow = turn.Timestamp{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Boot: "b"}

// planned is a turn whose first step is being planned.
func planned(t *testing.T) turn.State {
	t.Helper()
	s, _, err := turn.Step(turn.State{Turn: "turn_1", Status: turn.Queued}, sayNow, turn.Claim{Worker: "w", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func codeOf(err error) utp.Code {
	if refused, is := errors.AsType[*turn.Error](err); is {
		return refused.Code
	}
	return ""
}

// TestSay: a piece is told once, wherever it comes from; what does not go on is refused.
func TestSay(t *testing.T) {
	t.Parallel()
	say := func(try int, from int64, text string) turn.AgentText {
		return turn.AgentText{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}, Step: 1, Try: try, From: from, Text: text}
	}
	for _, tt := range []struct {
		name  string
		said  []turn.AgentText
		last  turn.AgentText
		code  utp.Code
		told  bool
		anew  bool
		bytes int64
	}{
		{"the first", nil, say(0, 0, "One. "), "", true, false, 5},
		{"the next", []turn.AgentText{say(0, 0, "One. ")}, say(0, 5, "Two."), "", true, false, 9},
		{"the same again", []turn.AgentText{say(0, 0, "One. ")}, say(0, 0, "One. "), "", false, false, 5},
		{"an older one again", []turn.AgentText{say(0, 0, "One. "), say(0, 5, "Two.")}, say(0, 0, "One. "), "", false, false, 9},
		{"nothing", nil, say(0, 0, ""), "", false, false, 0},
		{"a gap", []turn.AgentText{say(0, 0, "One. ")}, say(0, 6, "Two."), utp.CodeConflict, false, false, 5},
		{"an overlap", []turn.AgentText{say(0, 0, "One. ")}, say(0, 3, "e. Two."), utp.CodeConflict, false, false, 5},
		{"anew", []turn.AgentText{say(0, 0, "One. ")}, say(1, 0, "Uno."), "", true, true, 4},
		{"anew, once more", []turn.AgentText{say(0, 0, "One. "), say(1, 0, "Uno.")}, say(1, 0, "Uno."), "", false, false, 4},
		{"anew in the middle", []turn.AgentText{say(0, 0, "One. ")}, say(1, 5, "Uno."), utp.CodeConflict, false, false, 5},
		{"of a text that is no more", []turn.AgentText{say(0, 0, "One. "), say(1, 0, "Uno.")}, say(0, 5, "Two."), utp.CodeConflict, false, false, 4},
		{"of another epoch", nil, turn.AgentText{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 2}, Step: 1, Text: "One."}, utp.CodeStale, false, false, 0},
		{"of another worker", nil, turn.AgentText{WorkerClaim: turn.WorkerClaim{Worker: "v", Epoch: 1}, Step: 1, Text: "One."}, utp.CodeStale, false, false, 0},
		{"of another step", nil, turn.AgentText{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}, Step: 2, Text: "One."}, utp.CodeConflict, false, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := planned(t)
			for _, in := range tt.said {
				var err error
				if s, _, err = turn.Step(s, sayNow, in); err != nil {
					t.Fatal(err)
				}
			}
			s, effects, err := turn.Step(s, sayNow, tt.last)
			if codeOf(err) != tt.code || len(effects) > 0 != tt.told || s.ReportedText.Bytes != tt.bytes {
				t.Errorf("%v, %d effects, %d bytes told", err, len(effects), s.ReportedText.Bytes)
			}
			if tt.told {
				if n, is := effects[0].(turn.Note); !is || n.Kind != turn.NoteText || (n.Detail == turn.DetailRestarted) != tt.anew {
					t.Errorf("%+v", effects)
				}
			}
		})
	}
}

// TestTold: the text that was told in pieces is known as a whole, in its own step only.
func TestTold(t *testing.T) {
	t.Parallel()
	s := planned(t)
	for _, in := range []turn.AgentText{{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}, Step: 1, Text: "One. "}, {WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}, Step: 1, From: 5, Text: "Two."}} {
		var err error
		if s, _, err = turn.Step(s, sayNow, in); err != nil {
			t.Fatal(err)
		}
	}
	later := s
	later.Step = 1
	if !s.IsReported("One. Two.") || s.IsReported("One. Two!") || s.IsReported("One.") || s.IsReported("") || later.IsReported("One. Two.") {
		t.Errorf("%+v", s.ReportedText)
	}
}

// asking is a turn whose agent waits for an answer.
func asking(t *testing.T) turn.State {
	t.Helper()
	s := planned(t)
	for _, in := range []turn.Input{
		turn.Request{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}, Step: 1, Calls: []turn.Call{{ID: "tc_1", Key: "q", Kind: turn.QuestionCall, Class: utp.Read}}},
		turn.QuestionAsked{Call: "tc_1", Number: 7},
	} {
		var err error
		if s, _, err = turn.Step(s, sayNow, in); err != nil {
			t.Fatalf("%T: %v", in, err)
		}
	}
	return s
}

// TestQuestionIsNoCall: no input makes of the agent's own question something that is agreed
// to, leaves or is started.
func TestQuestionIsNoCall(t *testing.T) {
	t.Parallel()
	for _, in := range []turn.Input{
		turn.Answered{Question: 7, Accept: true, By: "ada"},
		turn.Answered{Question: 7, By: "ada"},
		turn.Undo{Question: 7, By: "ada"},
		turn.Start{Call: "tc_1", Owner: "o", Lease: time.Minute},
		turn.Finish{Call: "tc_1", Owner: "o", Outcome: turn.Outcome{Status: utp.StatusSuccess}},
		turn.Heartbeat{Call: "tc_1", Owner: "o"},
		turn.Reconciled{Call: "tc_1", Finding: turn.FindingDone},
		turn.Responded{Question: 8},
		turn.Tick{Checks: []turn.Check{{Call: "tc_1"}}},
		turn.Restored{},
		turn.Orphan{},
	} {
		s, effects, err := turn.Step(asking(t), sayNow, in)
		if c, _ := s.Find("tc_1"); c.State != turn.Asked || c.Consent != nil {
			t.Errorf("%T: %v, the question is %+v", in, err, c)
		}
		for _, e := range effects {
			switch e.(type) {
			case turn.Command, turn.Consume, turn.Grant, turn.Receipt, turn.RecordOutcome:
				t.Errorf("%T: %T", in, e)
			}
		}
	}
}

// TestResponded: the first answer counts, ends the call, and has a receipt that is no
// consent.
func TestResponded(t *testing.T) {
	t.Parallel()
	in := turn.Responded{Question: 7, By: "ada", Outcome: turn.Outcome{Status: utp.StatusSuccess, Card: "card"}}
	s, effects, err := turn.Step(asking(t), sayNow, in)
	if err != nil || s.Waiting() != 0 || !s.ReadyToApply() {
		t.Fatalf("%v: %+v", err, s)
	}
	if r, is := effects[0].(turn.Receipt); !is || r.Decision != "answered" {
		t.Errorf("%+v", effects)
	}
	if _, _, err := turn.Step(s, sayNow, in); codeOf(err) != utp.CodeDone {
		t.Errorf("answered twice: %v", err)
	}
	s, effects, err = turn.Step(asking(t), sayNow, turn.Unanswered{Question: 7, Code: utp.CodeConsentExpired})
	if c, _ := s.Find("tc_1"); err != nil || c.State != turn.Closed || c.Outcome.Code != utp.CodeConsentExpired || s.Tally != (api.Tally{}) {
		t.Errorf("%v: %+v after %+v", err, c, effects)
	}
}

// TestRelease: who lets go of a turn leaves it to the next one at once, and only who holds
// it can.
func TestRelease(t *testing.T) {
	t.Parallel()
	s := planned(t)
	if _, _, err := turn.Step(s, sayNow, turn.Release{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 2}}); codeOf(err) != utp.CodeStale {
		t.Errorf("released under another epoch: %v", err)
	}
	if s.Free("v", sayNow) {
		t.Error("it is free before")
	}
	s, _, err := turn.Step(s, sayNow, turn.Release{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}})
	if err != nil || !s.Free("v", sayNow) || s.Claims != 0 {
		t.Errorf("%v: %+v", err, s)
	}
	s, _, err = turn.Step(asking(t), sayNow, turn.Release{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}})
	if err != nil || s.Free("v", sayNow) {
		t.Errorf("a turn that waits for an answer is claimed: %v", err)
	}
}

// TestResultsInOrder: results are applied in the order of the calls; one that stands for
// another has its place.
func TestResultsInOrder(t *testing.T) {
	t.Parallel()
	calls := []turn.Call{
		{ID: "tc_1", Key: "a", State: turn.Closed, ReplacedBy: "tc_3"}, {ID: "tc_2", Key: "b", State: turn.Finished}, {ID: "tc_3", Key: "a", Replaces: "tc_1", State: turn.Finished},
	}
	s := turn.State{Turn: "turn_1", Status: turn.Suspended, Calls: calls}
	_, effects, err := turn.Step(s, sayNow, turn.Resume{})
	var got []string
	for _, e := range effects {
		if a, is := e.(turn.Apply); is {
			got = append(got, a.Call)
		}
	}
	if err != nil || len(got) != 2 || got[0] != "tc_3" || got[1] != "tc_2" {
		t.Errorf("%v: applied %v; want tc_3, in the place of tc_1, and tc_2", err, got)
	}
}
