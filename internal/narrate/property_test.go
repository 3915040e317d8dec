package narrate_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

var turns = flag.Int("turns", 300, "how many turns are played by chance")

// chooser answers 0 to n-1.
type chooser func(n int) int

// wild plays a turn by chance: inputs that fit and inputs that do not, in any order,
// with clocks that jump. What the machine refuses is not a step. It ends by stopping.
type wild struct {
	*stage
	choose chooser
	trace  []string
}

func pick[T any](w *wild, all ...T) T { return all[w.choose(len(all))] }

// randomCall is a call of any tool as a kernel might hand it over: what policy must ask
// about is not allowed.
func (w *wild) randomCall() turn.Call {
	tool := pick(w, "files.scan", "files.delete", "files.trash", "mail.send", "calendar.set", "not.registered")
	c := w.call(tool, jsontext.Value(pick(w,
		string(deleteArgs), `{}`, `{"root":"\u202e/x\u0000y","to":["a","b"],"token":"t","s":{"$secret":"r","mac":"m"}}`, `{"root":"é","deep":[[[]]]}`,
	)))
	if c.Class == "" {
		c.Class, c.Risk = utp.Irreversible, utp.RiskHigh
	}
	c.Decision = pick(w, turn.Ask, turn.Ask, turn.Allow, turn.Deny)
	if c.Decision == turn.Allow && c.Risk == utp.RiskHigh {
		c.Decision = turn.Ask
	}
	c.Limits.Reconciles = w.choose(2) == 0
	c.Range = [2]float64{0, 100}
	return c
}

func (w *wild) anyCall() turn.Call {
	if len(w.state.Calls) == 0 {
		return turn.Call{ID: "tc_none"}
	}
	return w.state.Calls[w.choose(len(w.state.Calls))]
}

func (w *wild) input() turn.Input {
	c := w.anyCall()
	check := turn.Check{Call: c.ID, Digest: c.Digest}
	if w.choose(8) == 0 {
		check = turn.Check{Call: c.ID, Digest: "other", Reason: pick(w, "", "arguments", "definition", "policy", "env", "project", "nonsense")}
	}
	switch w.choose(20) {
	case 16:
		return turn.Shown{Question: c.Question}
	case 17:
		return turn.Unshown{Question: c.Question}
	case 0, 1:
		return turn.Claim{Worker: "w", Lease: time.Hour}
	case 2, 3:
		var calls []turn.Call
		for range 1 + w.choose(3) {
			calls = append(calls, w.randomCall())
		}
		return turn.Request{WorkerClaim: w.state.WorkerClaim(), Step: w.state.Step + 1, Calls: calls}
	case 4:
		return turn.Adopt{Call: w.randomCall()}
	case 5, 6:
		by := pick(w, "anna", "bert")
		return turn.Answered{Question: c.Question, Accept: w.choose(3) > 0, Insist: w.choose(2) == 0, By: by, Surface: "terminal"}
	case 18, 19:
		return turn.Noticed{Question: c.Question}
	case 7:
		return turn.Unanswered{Question: c.Question, Code: pick(w, utp.CodeConsentExpired, utp.CodeConsentWithdrawn)}
	case 8, 9:
		return turn.Start{Call: c.ID, Owner: "o", Target: "files", Lease: time.Minute, Check: check}
	case 10:
		return turn.Heartbeat{Call: c.ID, Owner: "o", Fence: c.Fence, Lease: time.Minute, Fraction: float64(w.choose(12)-1) / 10}
	case 11:
		status := pick(w, utp.StatusSuccess, utp.StatusPartial, utp.StatusFailed, utp.StatusCanceled, utp.StatusTimeout)
		code := utp.Code("")
		if status != utp.StatusSuccess {
			code = pick(w, utp.CodeStopped, utp.CodeInternalError, utp.Code("own_code"), utp.Code(""))
		}
		w.results[c.ID] = jsontext.Value(pick(w, `{"deleted":2,"bytes":12345678,"refused":[]}`, `{}`, `{"deleted":"many"}`, ``))
		return turn.Finish{Call: c.ID, Owner: "o", Fence: c.Fence, Outcome: turn.Outcome{
			Status: status, Code: code, Message: pick(w, "", "disk\x1b[31m full"), Digest: fmt.Sprint(w.choose(3)),
		}}
	case 12:
		return turn.Reconciled{
			Call: c.ID, Owner: "o", LeaseExpiry: c.LeaseExpiries, Finding: pick(w, turn.FindingDone, turn.FindingNotBegun, turn.FindingUnknown), Outcome: turn.Outcome{Status: utp.StatusSuccess, Digest: "s"},
		}
	case 13:
		return turn.Resume{}
	case 14:
		return turn.Undo{Question: c.Question, By: "anna", Surface: "terminal"}
	}
	return w.rare()
}

// rare are inputs that mostly end things.
func (w *wild) rare() turn.Input {
	switch w.choose(6) {
	case 0:
		return turn.StopTurn{Stop: turn.Stop{By: "anna", Reason: pick(w, "", "Enough!", "SIGINT"), System: w.choose(2) == 0}}
	case 1:
		return turn.Orphan{}
	case 2:
		return turn.Restored{}
	case 3:
		w.tell.Summary, w.tell.Output = pick(w, "", "Done.", "\u0301 odd"), pick(w, "", "One. Two.", strings.Repeat("Words go on. ", 900))
		return turn.Deliver{WorkerClaim: w.state.WorkerClaim(), End: turn.End{
			Status: pick(w, utp.StatusSuccess, utp.StatusPartial, utp.StatusFailed, utp.StatusCanceled, utp.StatusTimeout),
			Code:   pick(w, utp.Code(""), utp.CodeConsentDeclined, utp.CodeConsentExpired, utp.CodeBadRequest, utp.CodeAuthFailed, utp.Code("x")),
		}}
	}
	return w.ticking()
}

func (w *wild) ticking() turn.Input {
	var checks []turn.Check
	for _, c := range w.state.Calls {
		digest := c.Digest
		if w.choose(8) == 0 {
			digest = "other"
		}
		checks = append(checks, turn.Check{Call: c.ID, Digest: digest})
	}
	return turn.Tick{Checks: checks}
}

func (w *wild) extendOne() {
	for _, c := range w.state.Calls {
		open := c.State == turn.Asked || c.State == turn.Unknown
		if open && w.choose(2) == 0 {
			w.trace = append(w.trace, fmt.Sprintf("extend %d", c.Question))
			w.extend(c.Question)
			return
		}
	}
}

func (w *wild) feedAny(in turn.Input) {
	err := w.try(in)
	w.trace = append(w.trace, fmt.Sprintf("%T%+v: %v", in, in, err))
	w.tell.Summary, w.tell.Output = "", ""
}

func (w *wild) play(steps int) {
	for range steps {
		if w.tb.Failed() {
			return
		}
		if w.choose(3) == 0 {
			w.now = w.now.Add(pick(w, time.Millisecond, time.Second, 4*time.Second, 30*time.Second, 3*time.Minute))
		}
		if w.choose(20) == 0 { // somebody set the clock back
			w.now.Wall = w.now.Wall.Add(-time.Minute)
		}
		switch w.choose(8) {
		case 0:
			w.extendOne()
		case 1, 2:
			w.feedAny(w.ticking())
		default:
			w.feedAny(w.input())
		}
	}
	for i := 0; w.state.Status != turn.Ended && i < 20 && !w.tb.Failed(); i++ {
		w.feedAny(turn.StopTurn{Stop: turn.Stop{By: "anna"}})
		w.after(5 * time.Minute)
		w.feedAny(turn.Tick{})
	}
}

// TestAnyTurnIsAValidStream: whatever happens to a turn, what is told of it keeps every
// rule of AAEP (SEQ-01…05, 08, 09, 13–16, 22–25, 30–36), and no telling fails.
func TestAnyTurnIsAValidStream(t *testing.T) {
	t.Parallel()
	for seed := range *turns {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		runWild(t, fmt.Sprintf("seed %d", seed), random.IntN, 20+seed%60)
		if t.Failed() {
			return
		}
	}
}

func runWild(t *testing.T, name string, choose chooser, steps int) {
	t.Helper()
	w := &wild{stage: newStage(t), choose: choose}
	defer func() {
		if t.Failed() {
			t.Logf("%s:\n%s", name, strings.Join(w.trace, "\n"))
		}
	}()
	w.play(steps)
	w.close()
}

// FuzzTurn lets a fuzzer choose.
func FuzzTurn(f *testing.F) {
	for seed := range 8 {
		random := rand.New(rand.NewPCG(uint64(seed), 9))
		raw := make([]byte, 400)
		for i := 0; i+8 <= len(raw); i += 8 {
			binary.LittleEndian.PutUint64(raw[i:], random.Uint64())
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		at := 0
		choose := func(n int) int {
			if at >= len(raw) {
				return 0
			}
			at++
			return int(raw[at-1]) % n
		}
		runWild(t, "fuzz", choose, min(len(raw)/4, 120))
	})
}
