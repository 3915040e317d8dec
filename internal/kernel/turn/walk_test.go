package turn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
)

// world plays the kernel around the machine: it answers the effects that want an
// answer, and watches every rule that must hold on every path.
type world struct {
	state turn.State
	now   turn.Timestamp
	next  int // question numbers
	made  int // calls
	calls map[string]*watched
	ended int
	// other are the calls of which the caller recomputed something else than was agreed to.
	other map[string]bool
	path  []string
}

// watched is what has happened to one call.
type watched struct {
	class              utp.Class
	asked              bool
	consented          bool
	consumed, invoked  int
	completed, grants  int
	notBegun, recorded int
	applied            int
	startBy, leaves    turn.Timestamp
	left               bool
}

func newWorld(class utp.Class, decision turn.Decision, reconciles, hurried bool) *world {
	w := &world{
		now:   turn.Timestamp{Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), SinceBoot: time.Hour, Boot: "b1"},
		calls: map[string]*watched{},
		state: turn.State{Turn: "turn_1", Session: "sess_1", Project: "p", Agent: "a", Status: turn.Queued},
	}
	w.must(turn.Claim{Worker: "w", Lease: time.Minute})
	c := w.call(class, decision, reconciles)
	if hurried {
		c.Limits.Result, c.After = 15*time.Second, utp.Terminate
	}
	w.must(turn.Request{WorkerClaim: turn.WorkerClaim{Worker: "w", Epoch: 1}, Step: 1, Calls: []turn.Call{c}})
	return w
}

// newOutsideWorld is one whose planner is outside, and waits for its one call.
func newOutsideWorld(class utp.Class, decision turn.Decision, change ...func(*turn.Call)) *world {
	w := &world{
		now:   turn.Timestamp{Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), SinceBoot: time.Hour, Boot: "b1"},
		calls: map[string]*watched{},
		state: turn.State{Turn: "turn_1", Session: "sess_1", Project: "p", Agent: "a", Status: turn.Queued, Outside: true},
	}
	w.must(turn.Open{})
	c := w.call(class, decision, false)
	c.Awaited = w.now.Add(awaits)
	for _, one := range change {
		one(&c)
	}
	w.must(turn.Adopt{Call: c})
	return w
}

// awaits is how long a request of a program outside counts as open.
const awaits = 15 * time.Second

func (w *world) call(class utp.Class, decision turn.Decision, reconciles bool) turn.Call {
	w.made++
	return turn.Call{
		ID: fmt.Sprintf("tc_%d", w.made), Key: "k", Tool: "t", Target: "files", Class: class, Risk: utp.RiskHigh,
		Decision: decision, Digest: "d0", Limits: turn.Limits{Reconciles: reconciles},
	}
}

func (w *world) must(in turn.Input) {
	if err := w.feed(in); err != nil {
		panic(err)
	}
}

func (w *world) clone() *world {
	c := *w
	c.calls = map[string]*watched{}
	for id, x := range w.calls {
		kept := *x
		c.calls[id] = &kept
	}
	c.path = append([]string(nil), w.path...)
	return &c
}

// feed steps the machine, as the kernel does: when that was the end of the last call, the
// results are applied with it. The error is the machine's own refusal, a broken rule panics.
func (w *world) feed(in turn.Input) error {
	if err := w.one(in); err != nil || !w.state.ReadyToApply() {
		return err
	}
	if err := w.one(turn.Resume{Nonce: fmt.Sprint("r", w.state.Epoch+1)}); err != nil {
		w.brokenf("the results of a settled step were not applied: %v", err)
	}
	if w.state.ReadyToApply() || w.state.Status != turn.Running && w.state.Status != turn.Ended {
		w.brokenf("the turn is %s after its results were applied", w.state.Status)
	}
	return nil
}

// one feeds an input and makes its effects true, those of what they lead to included.
func (w *world) one(in turn.Input) error {
	w.differs(in)
	next, effects, err := turn.Step(w.state, w.now, in)
	if err != nil {
		if _, coded := errors.AsType[*turn.Error](err); !coded {
			w.brokenf("an error without a code: %v", err)
		}
		return err
	}
	late := w.late()
	if late && next.Stop == nil && next.Status != turn.Ended {
		w.brokenf("%T was taken after the turn's deadline, and did not stop it", in)
	}
	switch in := in.(type) {
	case turn.Shown, turn.Unshown:
		if late {
			break // it has also stopped the turn
		}
		w.onlyTold(in, next, effects)
	case turn.Noticed:
		w.noticed(in, next)
	case turn.Ruled:
		if late {
			break
		}
		w.onlyStricter(in, next, effects)
	case turn.Reconciled:
		w.saidNotBegun(in)
	case turn.Finish:
		if in.Outcome.Code == utp.CodeConsentStale { // its owner found it too old to begin
			w.of(in.Call).notBegun++
		}
	}
	w.state = next
	for _, e := range effects {
		w.realise(e)
	}
	return nil
}

// late reports whether the deadline of the turn has passed, by the monotonic clock or, after a reboot, the other.
func (w *world) late() bool {
	at := w.state.Deadline
	switch {
	case at.IsZero() || w.state.Status == turn.Ended:
		return false
	case at.SameBoot(w.now):
		return w.now.SinceBoot >= at.SinceBoot
	default:
		return !w.now.Wall.Before(at.Wall)
	}
}

// onlyTold: that a question was shown, or not, changes nothing. It is not consent, makes
// none older or younger, and lets nothing leave.
func (w *world) onlyTold(in turn.Input, next turn.State, effects []turn.Effect) {
	if !reflect.DeepEqual(next, w.state) {
		w.brokenf("%T has changed the turn", in)
	}
	for _, e := range effects {
		if n, is := e.(turn.Note); !is || n.Kind != turn.NoteShown && n.Kind != turn.NoteUnshown {
			w.brokenf("%T has the effect %s", in, shown(e))
		}
	}
	for _, c := range next.Calls {
		if c.State == turn.Asked || c.State == turn.Unknown {
			return
		}
	}
	w.brokenf("%T was taken although no question is open", in)
}

// noticed: the time to take a yes back is counted from here, and once.
func (w *world) noticed(in turn.Noticed, next turn.State) {
	c, _ := next.FindQuestion(in.Question)
	x := w.of(c.ID)
	if !x.leaves.IsZero() && c.DispatchAt != x.leaves {
		w.brokenf("the time to take %s back was counted again", c.ID)
	}
	if c.Class == utp.Irreversible {
		x.leaves, x.startBy = c.DispatchAt, c.StartBy
	}
}

// onlyStricter: rules that have changed let nothing leave and start nothing, and looser ones
// change nothing at all. What they forbid and nobody has started is over.
func (w *world) onlyStricter(in turn.Ruled, next turn.State, effects []turn.Effect) {
	for _, e := range effects {
		switch e.(type) {
		case turn.Consume, turn.Command, turn.Grant, turn.Receipt:
			w.brokenf("rules that have changed have the effect %s", shown(e))
		}
	}
	before, _ := w.state.Find(in.Call)
	after, _ := next.Find(in.Call)
	if !in.Terms.StricterThan(before.Terms()) && (len(effects) > 0 || !reflect.DeepEqual(next, w.state)) {
		w.brokenf("looser rules have changed %s", in.Call)
	}
	waits := before.State == turn.Asked || before.State == turn.Accepted || before.State == turn.Dispatched
	if in.Terms.Decision == turn.Deny && waits && !before.Unsure &&
		(after.State != turn.Closed || after.Outcome.Code != utp.CodeDeniedByPolicy || after.ReplacedBy != "") {
		w.brokenf("%s is forbidden and %s", in.Call, after.State)
	}
}

// saidNotBegun allows another start, if the word is that of the owner, or the owner is
// gone, and it is about the latest start.
func (w *world) saidNotBegun(in turn.Reconciled) {
	before, _ := w.state.Find(in.Call)
	if in.Finding == turn.FindingNotBegun && in.LeaseExpiry == before.LeaseExpiries && (in.Owner != "" && in.Owner == before.Owner || before.OwnerEnded) {
		w.of(in.Call).notBegun++
	}
}

// differs notes which checks of an input do not fit their calls.
func (w *world) differs(in turn.Input) {
	var checks []turn.Check
	switch in := in.(type) {
	case turn.Tick:
		checks = in.Checks
	case turn.Start:
		checks = []turn.Check{in.Check}
	default:
		return
	}
	w.other = map[string]bool{}
	for _, check := range checks {
		if c, found := w.state.Find(check.Call); !found || c.Digest != check.Digest {
			w.other[check.Call] = true
		}
	}
}

func (w *world) of(id string) *watched {
	if w.calls[id] == nil {
		c, _ := w.state.Find(id)
		w.calls[id] = &watched{class: c.Class}
	}
	return w.calls[id]
}

func (w *world) brokenf(format string, args ...any) {
	panic(fmt.Sprintf("%s\nafter %v", fmt.Sprintf(format, args...), w.path))
}

func (w *world) realise(e turn.Effect) {
	switch e := e.(type) {
	case turn.AskConsent, turn.AskOutcome, turn.AskPerson:
		w.next++
		id := ""
		switch e := e.(type) {
		case turn.AskPerson:
			id = e.Call
		case turn.AskConsent:
			id = e.Call
			w.of(id).asked = true
		case turn.AskOutcome:
			id = e.Call
		}
		if err := w.one(turn.QuestionAsked{Call: id, Number: w.next, Digest: fmt.Sprintf("d%d", w.next)}); err != nil {
			w.brokenf("the machine refused its own question: %v", err)
		}
	case turn.Receipt:
		if e.Decision == "accept" {
			w.of(e.Call).consented = true
			c, _ := w.state.Find(e.Call)
			w.of(e.Call).startBy = c.StartBy
		}
	case turn.Consume:
		x := w.of(e.Call)
		if w.other[e.Call] {
			w.brokenf("the consent to %s was used for something else", e.Call)
		}
		if x.consumed++; x.consumed > 1 || !x.consented {
			w.brokenf("a consent of %s was used %d times, given: %v", e.Call, x.consumed, x.consented)
		}
	case turn.Command:
		w.mayLeave(e.Call)
	case turn.Grant:
		w.granted(e)
	case turn.Replace:
		old, _ := w.state.Find(e.Call)
		c := w.call(old.Class, old.Decision, old.Limits.Reconciles)
		c.Replaces, c.Limits, c.After = e.Call, old.Limits, old.After
		if w.state.Outside && !w.awaited(old) && old.Outcome.Message == turn.StaleUnawaited {
			w.brokenf("%s is asked for again although nobody waits for it", e.Call)
		}
		if err := w.one(turn.Adopt{Call: c}); err != nil {
			w.brokenf("the machine refused a replacement: %v", err)
		}
	case turn.Note:
		w.noted(e)
	case turn.RecordOutcome:
		if x := w.of(e.Call); x.recorded > 0 {
			w.brokenf("two outcomes of %s were recorded", e.Call)
		}
		w.of(e.Call).recorded++
	case turn.Apply:
		x := w.of(e.Call)
		if x.applied++; x.applied > 1 || x.recorded != 1 {
			w.brokenf("the outcome of %s was applied %d times, recorded %d times", e.Call, x.applied, x.recorded)
		}
	case turn.Withdraw, turn.AskService, turn.StopService, turn.RecordLate, turn.WakeWorker:
	default:
		w.brokenf("an unknown effect %T", e)
	}
}

// mayLeave: what needed consent leaves only with one that was used for it.
func (w *world) mayLeave(id string) {
	if w.late() {
		w.brokenf("%s left after the turn's deadline", id)
	}
	c, _ := w.state.Find(id)
	x := w.of(id)
	if c.Class == utp.Irreversible && !x.asked {
		w.brokenf("irreversible %s left unasked", id)
	}
	if x.asked && x.consumed != 1 {
		w.brokenf("%s left without a consent", id)
	}
	// Once it has left rightly, a clock that is set back does not take that back.
	if c.Class == utp.Irreversible && !x.left && (x.leaves.IsZero() || !x.leaves.PassedOnBoth(w.now)) {
		w.brokenf("irreversible %s left before its yes could be taken back", id)
	}
	x.left = true
}

func (w *world) granted(e turn.Grant) {
	w.mayLeave(e.Call)
	if w.other[e.Call] {
		w.brokenf("%s was granted for something else", e.Call)
	}
	x := w.of(e.Call)
	if c, _ := w.state.Find(e.Call); w.state.Outside && !c.Class.Repeatable() && !w.awaited(c) {
		w.brokenf("%s was granted although nobody waits for it", e.Call)
	}
	x.grants++
	if x.grants > 1+x.notBegun && !x.class.Repeatable() {
		w.brokenf("%s was granted %d times", e.Call, x.grants)
	}
	if x.asked && x.startBy.Passed(w.now) {
		w.brokenf("%s was granted after its consent had gone stale", e.Call)
	}
}

// awaited reports whether a request for the call is known to be open.
func (w *world) awaited(c turn.Call) bool { return !c.Awaited.IsZero() && !c.Awaited.Passed(w.now) }

func (w *world) noted(n turn.Note) {
	if w.ended > 0 {
		w.brokenf("%s was told after the end", n.Kind)
	}
	switch n.Kind {
	case turn.NoteInvoked:
		w.of(n.Call).invoked++
	case turn.NoteCompleted:
		x := w.of(n.Call)
		w.neverQuiet(n, x)
		if x.completed++; x.completed > 1 || x.invoked != 1 {
			w.brokenf("%s was completed %d times, invoked %d times", n.Call, x.completed, x.invoked)
		}
	case turn.NotePermitted:
		if c, _ := w.state.Find(n.Call); !w.awaited(c) {
			w.brokenf("%s was permitted although nobody waits for it", n.Call)
		}
	case turn.NoteEnded:
		w.ended++
		for _, c := range w.state.Calls {
			if x := w.of(c.ID); x.invoked != x.completed {
				w.brokenf("the turn ended with %s (%s) invoked %d and completed %d times", c.ID, c.State, x.invoked, x.completed)
			}
		}
	default:
	}
}

// neverQuiet: a call that was started and has not told what it did never ends as one of
// which nothing was done.
func (w *world) neverQuiet(n turn.Note, x *watched) {
	c, _ := w.state.Find(n.Call)
	if c.Class.Repeatable() && n.Detail == string(utp.CodeToolTimeout) {
		return // that says nothing of what was done, and doing it again does no harm
	}
	said := c.Outcome != nil && c.Outcome.Digest != "" && (!c.Unsure || c.Outcome.Status != utp.StatusCanceled)
	if x.class.Effectful() && x.grants > x.notBegun && n.Detail != string(utp.CodeOutcomeUnknown) && !said {
		w.brokenf("%s was started and ended as %s, as if nothing had been done", n.Call, n.Detail)
	}
}

// moves are the inputs that are tried at every step, for the latest call.
func (w *world) moves() map[string]func(*world) error {
	id := fmt.Sprintf("tc_%d", w.made)
	c, _ := w.state.Find(id)
	good := turn.Check{Call: id, Digest: c.Digest}
	start := func(owner string, check turn.Check) func(*world) error {
		return func(w *world) error {
			return w.feed(turn.Start{Call: id, Owner: owner, Target: "files", Lease: 30 * time.Second, Check: check})
		}
	}
	in := func(in turn.Input) func(*world) error { return func(w *world) error { return w.feed(in) } }
	pass := func(d time.Duration) func(*world) error {
		return func(w *world) error {
			w.now = w.now.Add(d)
			return w.feed(turn.Tick{Checks: []turn.Check{good}})
		}
	}
	done := turn.Outcome{Status: utp.StatusSuccess, Digest: "r1"}
	accept := turn.Answered{Question: c.Question, Accept: true, Insist: true, By: "me", Undo: 3 * time.Second}
	return map[string]func(*world) error{
		"accept": in(accept),
		"accept, told at once": func(w *world) error {
			if err := w.feed(accept); err != nil {
				return err
			}
			return w.feed(turn.Noticed{Question: c.Question})
		},
		"told":                    in(turn.Noticed{Question: c.Question}),
		"reject":                  in(turn.Answered{Question: c.Question, By: "me"}),
		"expire":                  in(turn.Unanswered{Question: c.Question, Code: utp.CodeConsentExpired}),
		"shown":                   in(turn.Shown{Question: c.Question}),
		"unshown":                 in(turn.Unshown{Question: c.Question}),
		"undo":                    in(turn.Undo{Question: c.Question, By: "me"}),
		"tick unknown":            in(turn.Tick{}),
		"tick changed":            in(turn.Tick{Checks: []turn.Check{{Call: id, Digest: "other", Reason: "arguments"}}}),
		"3 s":                     pass(3 * time.Second),
		"15 s":                    pass(15 * time.Second),
		"70 s":                    pass(70 * time.Second),
		"start":                   start("o1", good),
		"start other":             start("o2", good),
		"start bad":               start("o1", turn.Check{Call: id, Digest: "other"}),
		"beat":                    in(turn.Heartbeat{Call: id, Owner: c.Owner, Fence: c.Fence, Lease: 30 * time.Second, Fraction: -1}),
		"finish":                  in(turn.Finish{Call: id, Owner: c.Owner, Fence: c.Fence, Outcome: done}),
		"finish other":            in(turn.Finish{Call: id, Owner: c.Owner, Fence: c.Fence, Outcome: turn.Outcome{Status: utp.StatusFailed, Digest: "r2"}}),
		"not begun":               in(turn.Reconciled{Call: id, Owner: c.Owner, LeaseExpiry: c.LeaseExpiries, Finding: turn.FindingNotBegun}),
		"not begun, says another": in(turn.Reconciled{Call: id, Owner: "o9", LeaseExpiry: c.LeaseExpiries, Finding: turn.FindingNotBegun}),
		"not begun, said late":    in(turn.Reconciled{Call: id, Owner: c.Owner, LeaseExpiry: max(1, c.LeaseExpiries-1), Finding: turn.FindingNotBegun}),
		"done":                    in(turn.Reconciled{Call: id, Owner: "o9", LeaseExpiry: c.LeaseExpiries, Finding: turn.FindingDone, Outcome: done}),
		"no idea":                 in(turn.Reconciled{Call: id, Owner: "o9", LeaseExpiry: c.LeaseExpiries, Finding: turn.FindingUnknown}),
		"finish stopped":          in(turn.Finish{Call: id, Owner: c.Owner, Fence: c.Fence, Outcome: turn.Outcome{Status: utp.StatusCanceled, Code: utp.CodeStopped, Digest: "r5"}}),
		"finish unsure":           in(turn.Finish{Call: id, Owner: c.Owner, Fence: c.Fence, Outcome: turn.Outcome{Status: utp.StatusFailed, Code: utp.CodeOutcomeUnknown, Digest: "r3"}}),
		"finish stale":            in(turn.Finish{Call: id, Owner: c.Owner, Fence: c.Fence, Outcome: turn.Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentStale, Digest: "r4"}}),
		"resume":                  in(turn.Resume{}),
		"deliver":                 in(turn.Deliver{WorkerClaim: w.state.WorkerClaim(), End: turn.End{Status: utp.StatusSuccess}}),
		"stop":                    in(turn.StopTurn{Stop: turn.Stop{By: "me"}}),
		"orphan": func(w *world) error {
			if err := w.feed(turn.Orphan{}); err != nil || w.state.Outside {
				return err
			}
			return w.feed(turn.Claim{Worker: "w", Lease: time.Minute})
		},
		"awaited":  in(turn.Await{Call: id, Within: awaits}),
		"left":     in(turn.Await{Call: id}),
		"gone":     in(turn.Await{Call: id, Abandoned: true}),
		"attached": in(turn.Attached{Holder: "p"}),
		"close":    in(turn.Close{End: turn.End{Status: utp.StatusSuccess}}),
		"restored": in(turn.Restored{}),
		"removed":  in(turn.ToolMissing{Call: id}),
		"denied":   in(turn.Ruled{Call: id, Terms: turn.Terms{Decision: turn.Deny}}),
		"stricter": in(turn.Ruled{Call: id, Terms: turn.Terms{Decision: turn.Ask, Limits: turn.Limits{StartWithin: 20 * time.Second}}}),
		"looser":   in(turn.Ruled{Call: id, Terms: turn.Terms{Decision: turn.Allow, Limits: turn.Limits{StartWithin: time.Second}}}),
	}
}

// walkDepth is 5 in a full run. One less takes a seventh of the time.
func walkDepth() int {
	if testkit.Full() {
		return 5
	}
	return 4
}

// TestEveryShortSequence walks all sequences of inputs to a small depth, once for each
// kind of call, and checks the rules of [world] on every path.
func TestEveryShortSequence(t *testing.T) {
	t.Parallel()
	depth := walkDepth()
	for _, class := range []utp.Class{utp.Read, utp.Idempotent, utp.Reversible, utp.Irreversible} {
		for _, decision := range []turn.Decision{turn.Allow, turn.Ask, turn.Deny} {
			for _, reconciles := range []bool{false, true} {
				for _, hurried := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%v/%v", class, decision, reconciles, hurried), func(t *testing.T) {
						t.Parallel()
						steps := walk(newWorld(class, decision, reconciles, hurried), depth)
						if decision != turn.Deny && steps < 1000 {
							t.Errorf("only %d steps were walked; the walk is not what it says", steps)
						}
					})
				}
			}
		}
	}
}

// TestEveryShortSequenceOutside is the same for a turn whose planner is outside: nothing that cannot be repeated
// starts while nobody waits for it.
func TestEveryShortSequenceOutside(t *testing.T) {
	t.Parallel()
	depth := walkDepth()
	for _, class := range []utp.Class{utp.Read, utp.Idempotent, utp.Reversible, utp.Irreversible} {
		for _, decision := range []turn.Decision{turn.Allow, turn.Ask} {
			t.Run(fmt.Sprintf("%s/%s", class, decision), func(t *testing.T) {
				t.Parallel()
				if steps := walk(newOutsideWorld(class, decision), depth); steps < 1000 {
					t.Errorf("only %d steps were walked; the walk is not what it says", steps)
				}
			})
		}
	}
}

// TestEveryShortSequencePermission is the same for what the program does by itself: nothing of it starts here, and nobody is told yes
// who does not wait for it.
func TestEveryShortSequencePermission(t *testing.T) {
	t.Parallel()
	depth := walkDepth()
	const least = 500
	w := newOutsideWorld(utp.Irreversible, turn.Ask, func(c *turn.Call) { c.Kind = turn.PermissionCall })
	if steps := walk(w, depth); steps < least {
		t.Errorf("only %d steps were walked; the walk is not what it says", steps)
	}
}

// walk visits every state once, breadth first, and returns how many steps it took. From the states of the last level
// nothing goes on, so they are not remembered.
func walk(first *world, depth int) int {
	seen := map[string]bool{}
	level, steps := []*world{first}, 0
	for at := range depth {
		last := at == depth-1
		var next []*world
		for _, w := range level {
			for name, move := range w.moves() {
				c := w.clone()
				c.path = append(c.path, name)
				steps++
				if move(c) != nil || last {
					continue
				}
				if key := c.key(); !seen[key] {
					seen[key] = true
					next = append(next, c)
				}
			}
		}
		level = next
	}
	return steps
}

func (w *world) key() string {
	raw, err := json.Marshal(w.state)
	if err != nil {
		panic(err)
	}
	watched, err := json.Marshal(fmt.Sprint(w.now.Wall.Unix(), w.ended))
	if err != nil {
		panic(err)
	}
	return string(raw) + string(watched)
}
