package turn_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestManyCalls plays long sequences of inputs on turns with several calls, clock
// steps and reboots among them. The rules of [world] hold on every path; a refused
// input changes nothing; a state survives JSON; and from wherever the play leaves it,
// the turn comes to its one end.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := &player{rt: rt, world: &world{
			now:   turn.Timestamp{Wall: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), SinceBoot: time.Hour, Boot: "b1"},
			calls: map[string]*watched{},
			state: turn.State{
				Turn: "turn_1", Session: "sess_1", Project: "p", Agent: "a", Status: turn.Queued,
				MaxIdle: rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "patience"),
			},
		}}
		if after := rapid.SampledFrom([]time.Duration{0, time.Minute, 10 * time.Minute}).Draw(rt, "deadline"); after > 0 {
			p.state.Deadline = p.now.Add(after)
		}
		for range rapid.IntRange(5, 80).Draw(rt, "moves") {
			p.move()
		}
		p.drain()
	})
}

// player draws the moves.
type player struct {
	*world

	rt     *rapid.T
	boots  int
	nonces int
}

// step feeds one input and checks what holds for every step.
func (p *player) step(in turn.Input) {
	p.path = append(p.path, "\n"+shown(in))
	before, now := encoded(p.rt, p.state), p.now
	_, _, probe := turn.Step(p.state, now, in)
	if got := encoded(p.rt, p.state); got != before {
		p.brokenf("the step changed the state that it was given")
	}
	err := p.feed(in)
	if (probe == nil) != (err == nil) {
		p.brokenf("the same step was refused once and taken once: %v, %v", probe, err)
	}
	if h, held := holdOf(in); held && h.Nonce == "lost" && err == nil {
		p.brokenf("a word of a lost future was taken")
	}
	if err != nil && encoded(p.rt, p.state) != before {
		p.brokenf("a refused input changed the state: %v", err)
	}
	var again turn.State
	if err := json.Unmarshal([]byte(encoded(p.rt, p.state)), &again); err != nil {
		p.brokenf("the state does not survive JSON: %v", err)
	}
	if encoded(p.rt, again) != encoded(p.rt, p.state) {
		p.brokenf("the state comes back from JSON as another one")
	}
	for _, c := range p.state.Calls {
		within, _ := p.state.Find(c.Within)
		if c.Within != "" && c.State.Open() && within.State != turn.Started {
			p.brokenf("%s is asked in the middle of %s, which is %s", c.ID, c.Within, within.State)
		}
		if c.Within != "" && (c.Consent != nil || c.Fence > 0 || p.of(c.ID).consented) {
			p.brokenf("%s is a question of a service, and was consented to or started", c.ID)
		}
	}
	p.state = again // from here on as a store would hand it out
}

// holdOf is what a worker's word goes by.
func holdOf(in turn.Input) (h turn.WorkerClaim, held bool) {
	switch in := in.(type) {
	case turn.Request:
		return in.WorkerClaim, true
	case turn.Renew:
		return in.WorkerClaim, true
	case turn.Deliver:
		return in.WorkerClaim, true
	}
	return turn.WorkerClaim{}, false
}

func encoded(rt *rapid.T, s turn.State) string {
	raw, err := json.Marshal(s)
	if err != nil {
		rt.Fatal(err)
	}
	return string(raw)
}

// move draws one move, likelier ones first. Workers, owners, fences and questions are
// mostly right and sometimes not.
func (p *player) move() {
	switch rapid.IntRange(0, 9).Draw(p.rt, "area") {
	case 0, 1:
		p.work()
	case 2, 3:
		p.say()
	case 4, 5, 6:
		p.serve()
	case 7, 8:
		p.tick()
	case 9:
		p.disturb()
	}
}

func (p *player) work() {
	worker := rapid.SampledFrom([]string{"w1", "w1", "w2"}).Draw(p.rt, "worker")
	if rapid.Bool().Draw(p.rt, "holder") && p.state.Worker != "" {
		worker = p.state.Worker
	}
	hold := p.state.WorkerClaim()
	hold.Worker = worker
	switch rapid.SampledFrom([]string{"", "", "", "before", "lost"}).Draw(p.rt, "old") {
	case "before":
		hold.Epoch, hold.Nonce = hold.Epoch-1, p.state.PreviousNonce
	case "lost": // of a future that a restored ledger knows nothing of
		hold.Nonce = "lost"
	}
	switch rapid.IntRange(0, 5).Draw(p.rt, "work") {
	case 0:
		p.step(turn.Claim{Worker: worker, Nonce: p.nonce(), Lease: 30 * time.Second})
	case 1, 2:
		in := turn.Request{WorkerClaim: hold, Step: p.state.Step + rapid.SampledFrom([]int{1, 1, 1, 0, 2}).Draw(p.rt, "step")}
		for range rapid.IntRange(1, 4).Draw(p.rt, "calls") {
			in.Calls = append(in.Calls, p.wanted())
		}
		p.step(in)
	case 3:
		p.step(turn.Resume{})
	case 4:
		p.step(turn.Renew{WorkerClaim: hold, Lease: 30 * time.Second})
	case 5:
		if rapid.IntRange(0, 3).Draw(p.rt, "done") == 0 {
			p.step(turn.Deliver{WorkerClaim: hold, End: turn.End{Status: utp.StatusSuccess}})
		}
	}
}

func (p *player) nonce() string {
	p.nonces++
	return fmt.Sprint("n", p.nonces)
}

func (p *player) wanted() turn.Call {
	c := p.call(
		rapid.SampledFrom([]utp.Class{utp.Read, utp.Idempotent, utp.Reversible, utp.Irreversible, "odd"}).Draw(p.rt, "class"),
		rapid.SampledFrom([]turn.Decision{turn.Allow, turn.Ask, turn.Ask, turn.Deny, ""}).Draw(p.rt, "decision"),
		rapid.Bool().Draw(p.rt, "reconciles"),
	)
	c.Range = [2]float64{0, 100}
	c.Limits.Result = rapid.SampledFrom([]time.Duration{0, 20 * time.Second, 2 * time.Minute}).Draw(p.rt, "result")
	c.After = rapid.SampledFrom([]utp.AfterExecution{"", utp.Suspend, utp.Suspend, utp.Terminate}).Draw(p.rt, "after")
	return c
}

// any draws one of the turn's calls; the zero call if there is none.
func (p *player) any() turn.Call {
	if len(p.state.Calls) == 0 {
		return turn.Call{ID: "tc_0"}
	}
	return rapid.SampledFrom(p.state.Calls).Draw(p.rt, "call")
}

func (p *player) say() {
	q := p.any().Question
	switch rapid.IntRange(0, 8).Draw(p.rt, "word") {
	case 8:
		p.step(turn.Responded{Question: q, By: "ada", Outcome: turn.Outcome{Status: utp.StatusSuccess}})
	case 0, 1, 2:
		yes := rapid.Bool().Draw(p.rt, "yes")
		p.step(turn.Answered{Question: q, Accept: yes, Insist: yes && rapid.Bool().Draw(p.rt, "insist"), By: "ada"})
		if rapid.IntRange(0, 3).Draw(p.rt, "told") > 0 {
			p.step(turn.Noticed{Question: q})
		}
	case 3:
		p.step(turn.Unanswered{Question: q, Code: utp.CodeConsentExpired})
	case 4:
		if rapid.IntRange(0, 3).Draw(p.rt, "really") == 0 {
			p.step(turn.Undo{Question: q, By: "ada"})
		}
	case 5:
		if rapid.IntRange(0, 5).Draw(p.rt, "really") == 0 {
			p.step(turn.StopTurn{Stop: turn.Stop{By: "ada"}})
		}
	case 6:
		p.step(turn.Shown{Question: q})
	case 7:
		p.step(turn.Unshown{Question: q})
	}
}

func (p *player) serve() {
	c := p.any()
	owner, fence := c.Owner, c.Fence
	if rapid.IntRange(0, 5).Draw(p.rt, "wrong owner") == 0 || owner == "" {
		owner = rapid.SampledFrom([]string{"o1", "o2"}).Draw(p.rt, "owner")
		fence -= rapid.IntRange(0, 1).Draw(p.rt, "old fence")
	}
	o := turn.Outcome{
		Status: rapid.SampledFrom([]utp.Status{utp.StatusSuccess, utp.StatusPartial, utp.StatusFailed}).Draw(p.rt, "status"),
		Digest: rapid.SampledFrom([]string{"r1", "r1", "r2"}).Draw(p.rt, "result"),
	}
	switch rapid.IntRange(0, 6).Draw(p.rt, "service") {
	case 0, 1, 2:
		check := turn.Check{Call: c.ID, Digest: c.Digest}
		if rapid.IntRange(0, 4).Draw(p.rt, "changed") == 0 {
			check = turn.Check{Call: c.ID, Digest: "other", Reason: "arguments"}
		}
		target := rapid.SampledFrom([]string{"files", "files", "files", "mail"}).Draw(p.rt, "target")
		p.step(turn.Start{Call: c.ID, Owner: owner, Target: target, Lease: 30 * time.Second, Check: check})
	case 3:
		fraction := rapid.Float64Range(-0.1, 1.1).Draw(p.rt, "fraction")
		p.step(turn.Heartbeat{Call: c.ID, Owner: owner, Fence: fence, Lease: 30 * time.Second, Fraction: fraction})
	case 4, 5:
		if o.Status != utp.StatusSuccess {
			o.Code = rapid.SampledFrom([]utp.Code{utp.CodeInternalError, utp.CodeOutcomeUnknown, utp.CodeConsentStale}).Draw(p.rt, "code")
		}
		p.step(turn.Finish{Call: c.ID, Owner: owner, Fence: fence, Outcome: o})
	case 6:
		fate := rapid.SampledFrom([]turn.Finding{turn.FindingDone, turn.FindingNotBegun, turn.FindingUnknown}).Draw(p.rt, "fate")
		lapse := max(0, c.LeaseExpiries-rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(p.rt, "lapse"))
		p.step(turn.Reconciled{Call: c.ID, Owner: owner, LeaseExpiry: lapse, Finding: fate, Outcome: o})
	}
}

func (p *player) tick() {
	p.now = p.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 3 * time.Second, 20 * time.Second, 61 * time.Second}).Draw(p.rt, "passes"))
	var in turn.Tick
	for _, c := range p.state.Calls {
		if c.State != turn.Accepted || rapid.IntRange(0, 4).Draw(p.rt, "unchecked") == 0 {
			continue
		}
		check := turn.Check{Call: c.ID, Digest: c.Digest}
		if rapid.IntRange(0, 5).Draw(p.rt, "changed") == 0 {
			check.Digest, check.Reason = "other", rapid.SampledFrom([]string{"policy", turn.ReasonDenied}).Draw(p.rt, "reason")
		}
		in.Checks = append(in.Checks, check)
	}
	p.step(in)
}

// disturb is what happens to machines: clocks are set, lids are closed, power fails,
// backups are restored; and commands come from outside.
func (p *player) disturb() {
	switch rapid.IntRange(0, 8).Draw(p.rt, "disturbance") {
	case 0:
		p.now.Wall = p.now.Wall.Add(-time.Hour)
	case 1:
		p.now.Wall = p.now.Wall.Add(time.Hour)
	case 2:
		p.now = p.now.Add(48 * time.Hour)
	case 3:
		p.boots++
		p.now.Boot, p.now.SinceBoot = fmt.Sprintf("b%d", 2+p.boots), 0
	case 4:
		p.step(turn.Orphan{})
	case 5:
		p.step(turn.Restored{})
	case 6:
		p.step(turn.Adopt{Call: p.wanted()})
	case 8:
		c := p.call(utp.Read, turn.Allow, false)
		c.Kind, c.Within = turn.QuestionCall, p.any().ID
		p.step(turn.Adopt{Call: c})
	case 7:
		for _, c := range slices.Clone(p.state.Calls) {
			p.step(turn.Ruled{Call: c.ID, Terms: turn.Terms{
				Decision: rapid.SampledFrom([]turn.Decision{turn.Allow, turn.Ask, turn.Ask, turn.Deny}).Draw(p.rt, "rule"),
				Limits:   turn.Limits{StartWithin: rapid.SampledFrom([]time.Duration{0, 30 * time.Second}).Draw(p.rt, "start within")},
			}})
		}
	}
}

// drain lets nobody answer and nobody work but a worker that wants to be done.
func (p *player) drain() {
	const rounds = 40
	for range rounds {
		if p.state.Status == turn.Ended {
			break
		}
		p.now = p.now.Add(2 * time.Minute)
		p.step(turn.Claim{Worker: "last", Nonce: p.nonce(), Lease: 30 * time.Second})
		for _, c := range slices.Clone(p.state.Calls) {
			if c.State == turn.Asked || c.State == turn.Unknown {
				p.step(turn.Unanswered{Question: c.Question, Code: utp.CodeConsentExpired})
			}
		}
		p.step(turn.Tick{})
		p.step(turn.Resume{})
		p.step(turn.Deliver{WorkerClaim: p.state.WorkerClaim(), End: turn.End{Status: utp.StatusSuccess}})
	}
	if p.state.Status != turn.Ended || p.ended != 1 {
		p.brokenf("the turn is %s and has been told to end %d times", p.state.Status, p.ended)
	}
	for _, c := range p.state.Calls {
		if x := p.of(c.ID); x.recorded != 1 {
			p.brokenf("%s (%s) has %d recorded outcomes at the end", c.ID, c.State, x.recorded)
		}
	}
}
