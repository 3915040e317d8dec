package sim

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// judge watches a run from outside: what the kernels write, what the machines are told, what
// the tools do to the world. It keeps its own log, which no crash and no backup touches, and
// holds it against the promises.
type judge struct {
	w *world

	mu       sync.Mutex
	wrongs   []string
	last     map[string]store.Record // turns as they were written last
	seq      map[string]int64        // of sessions: the last event's
	calls    map[string]*callLog
	used     map[string]string        // call: the digest of the consent that was used up
	accepted map[string]bool          // calls to which a person has said yes, no matter who heard it
	yes      map[string]time.Duration // those whose yes a kernel has recorded, and when
	aware    map[string]time.Duration // those of which a surface said that it was told of the yes, and when
	sent     map[string]bool          // messages that have left, by their span
	due      map[string]string        // messages that have to leave: what they are
	turns    []string                 // begun, as a person was told
	// results are what agents were told of calls; answers what people have said to an agent's
	// question, and acknowledged what of it was taken, as they were told.
	results, acknowledged map[string]string
	answers               map[string][]string
	asks                  map[*process]int // requests, counted since
	counted               time.Time
	given                 map[string]bool        // calls with whose yes a person has asked for a standing permission
	permissions           map[int]*permissionLog // by number
	back                  time.Time              // when the ledger last went back
	backs                 int
	// children are turns that a call of another turn has begun; begun those of each task, and below those of each turn.
	children map[string]childLog
	begun    map[string]string
	below    map[string][]string
	tags     map[string]string // of plans, by the turns that workers have read them for
	// told are the turns that agents were told to have begun, and promised what each of them is to do.
	told, promised map[string]string
}

// callLog is what the world knows of one call.
type callLog struct {
	turn, key, tool string
	class           utp.Class
	asked           bool
	startBy         turn.Timestamp
	grants          int
	handed          map[string]bool // owners that were told of a start
	notBegun        int             // services that said so, and the call went back
	finishes        int
	effects         int
	outcome         *turn.Outcome
}

func newJudge(w *world) *judge {
	return &judge{
		w: w, last: map[string]store.Record{}, seq: map[string]int64{}, calls: map[string]*callLog{}, used: map[string]string{},
		results: map[string]string{}, acknowledged: map[string]string{}, answers: map[string][]string{}, asks: map[*process]int{},
		accepted: map[string]bool{}, yes: map[string]time.Duration{}, aware: map[string]time.Duration{}, sent: map[string]bool{}, due: map[string]string{},
		given: map[string]bool{}, permissions: map[int]*permissionLog{},
		children: map[string]childLog{}, begun: map[string]string{}, below: map[string][]string{}, tags: map[string]string{},
		told: map[string]string{}, promised: map[string]string{},
	}
}

// wrongf notes a broken promise.
func (j *judge) wrongf(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.brokenf(format, args...)
}

func (j *judge) brokenf(format string, args ...any) {
	const most = 20
	if len(j.wrongs) < most {
		j.wrongs = append(j.wrongs, fmt.Sprintf(format, args...))
	}
	j.w.sayf("WRONG: "+format, args...)
}

func (j *judge) violations() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.wrongs)
}

// records are the turns as they were written last, in the order of their ids.
func (j *judge) records() []store.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]store.Record, 0, len(j.last))
	for _, id := range slices.Sorted(maps.Keys(j.last)) {
		all = append(all, j.last[id])
	}
	return all
}

// step watches what a turn machine takes.
func (j *judge) step(p *process, next stepping) stepping {
	return func(s turn.State, now turn.Timestamp, in turn.Input) (turn.State, []turn.Effect, error) {
		out, effects, err := next(s, now, in)
		if err == nil && (len(effects) > 0 || out.Step != s.Step || out.Status != s.Status || out.Lease != s.Lease) {
			j.applied(p, s, in)
		}
		return out, effects, err
	}
}

// applied: a worker's word counts under its own epoch only, and a service's under its own fence.
func (j *judge) applied(p *process, s turn.State, in turn.Input) {
	hold := s.WorkerClaim()
	var call, owner string
	fence := 0
	switch in := in.(type) {
	case turn.Request:
		hold = in.WorkerClaim
	case turn.Renew:
		hold = in.WorkerClaim
	case turn.Deliver:
		hold = in.WorkerClaim
	case turn.AgentText:
		j.w.did(textWhilePlanning)
		hold = in.WorkerClaim
	case turn.Release:
		j.w.did(letGo)
		hold = in.WorkerClaim
	case turn.Finish:
		call, owner, fence = in.Call, in.Owner, in.Fence
	case turn.Heartbeat:
		call, owner, fence = in.Call, in.Owner, in.Fence
	}
	if hold != s.WorkerClaim() {
		j.wrongf("%s takes %T of %+v; %s is held as %+v", p.name, in, hold, s.Turn, s.WorkerClaim())
	}
	if c, _ := s.Find(call); call != "" && (c.Owner != owner || c.Fence != fence) {
		j.wrongf("%s takes %T of %s, fence %d, for %s, which is held under fence %d", p.name, in, owner, fence, call, c.Fence)
	}
}

// asked looks at a request before a kernel does.
func (j *judge) asked(x *exchange) {
	j.hurried(x)
	if x.op != api.OpSettle {
		return
	}
	var q api.SettleRequest
	if json.Unmarshal(x.request, &q) != nil || q.Outcome != string(tool.NotBegun) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.calls[q.Call]; c != nil {
		c.finishes++
	}
}

// hurried: nobody asks without a pause for what does not change.
func (j *judge) hurried(x *exchange) {
	const most, within = 400, 10 * time.Second
	j.mu.Lock()
	defer j.mu.Unlock()
	if time.Since(j.counted) > within {
		j.counted = time.Now()
		clear(j.asks)
	}
	j.asks[x.from]++
	if j.asks[x.from] == most {
		j.brokenf("%s has asked %d times within %v, the last time for %s", x.from.name, most, within, x.op)
	}
}

// answered: an answer has left a kernel.
func (j *judge) answered(x *exchange, raw []byte) {
	var start api.StartRequest
	if x.op != api.OpStart || decode(x.request, &start) != nil || api.DecodeAnswer(raw, nil) != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.calls[start.Call]; c != nil {
		c.handed[start.Owner] = true
	}
}

// turnBegan: somebody was told that their turn has begun.
func (j *judge) turnBegan(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.turns = append(j.turns, id)
}

// accepts: a person says yes, heard or not.
func (j *judge) accepts(call string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.accepted[call] = true
}

// noticed: a surface is told of a yes, and says so.
func (j *judge) noticed(call string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, before := j.aware[call]; !before {
		j.aware[call] = j.w.clock.true()
	}
}

// acceptedYes: a person was told that their yes is taken.
func (j *judge) acceptedYes(call string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, recorded := j.yes[call]; !recorded {
		j.brokenf("a person was told that their yes to %s is taken, and none is recorded", call)
	}
}

// stopped: somebody was told that their turn is stopped.
func (j *judge) stopped(session string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.back.IsZero() && time.Since(j.back) < time.Minute {
		return // the stop may have gone with the ledger
	}
	for _, rec := range j.last {
		if s := rec.State; s.Session == session && s.Stop == nil && s.Status != turn.Ended {
			j.brokenf("%s was told to be stopped, and is not", s.Turn)
		}
	}
}

// published: a message has left.
func (j *judge) published(_ string, header map[string][]string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent[first(header, utp.HeaderTraceparent)] = true
}

// effect: a tool has done something to the world.
func (j *judge) effect(p *process, k kit, c *tool.Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	log := j.calls[c.ID]
	if log == nil {
		j.brokenf("%s does %s, which no ledger knows", p.name, c.ID)
		return
	}
	var args struct {
		Name string `json:"name"`
	}
	log.effects++
	switch {
	case log.grants == 0:
		j.brokenf("%s does %s, whose start nobody has granted", p.name, c.ID)
	case log.tool != k.name:
		j.brokenf("%s does %s for %s, which is %s", p.name, k.name, c.ID, log.tool)
	case decode(c.Args, &args) != nil || args.Name != log.key:
		j.brokenf("%s does %s with the arguments %s; it was to be %s", p.name, c.ID, c.Args, log.key)
	case !k.class.Repeatable() && log.effects > 1:
		j.brokenf("%s does %s for the %d. time, which is %s", p.name, c.ID, log.effects, k.class)
	case k.class.Effectful() && j.tooLate(log.startBy):
		j.brokenf("%s does %s after its time to start, %v", p.name, c.ID, log.startBy.Wall)
	}
}

// tooLate judges by the clock that a service measures with; its time of day may be wrong.
func (j *judge) tooLate(by turn.Timestamp) bool {
	return !by.IsZero() && by.Boot == j.w.clock.boot() && j.w.clock.mono() >= by.SinceBoot
}

func (j *judge) effects(call string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := j.calls[call]; c != nil {
		return c.effects
	}
	return 0
}

// restored: the ledger is what it was. The log is not.
func (j *judge) restored() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.back, j.backs = time.Now(), j.backs+1
	clear(j.last)
	clear(j.seq)
	clear(j.used)
	clear(j.due) // what waited to leave is put aside
	known := map[string]int{}
	contents := j.w.ledger.Contents()
	for _, g := range contents.Grants {
		known[g.Call]++
	}
	for id, log := range j.calls { // a start that nobody was told of, and that is lost, is none
		log.grants = max(len(log.handed), known[id])
	}
	for _, rec := range j.w.stored() {
		j.last[rec.State.Turn] = rec
		j.seq[rec.State.Session] = rec.Last
	}
	for _, c := range contents.Consents {
		if c.Used {
			j.used[c.Call] = c.Digest
		}
	}
	j.family()
}

// committed looks at what a kernel has written, in one transaction.
func (j *judge) committed(p *process, b store.Batch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range b.Events {
		if e.Seq != j.seq[e.Session]+1 {
			j.brokenf("event %d of %s follows event %d", e.Seq, e.Session, j.seq[e.Session])
		}
		j.seq[e.Session] = e.Seq
	}
	for _, c := range b.Consumed {
		j.used[c.Call] = c.Digest
	}
	for _, r := range b.Receipts {
		if r.Decision == string(consent.Accept) && r.By == person {
			if !j.accepted[r.Call] {
				j.brokenf("%s has recorded a yes to %s, and nobody has said it", p.name, r.Call)
			}
			j.yes[r.Call] = j.w.clock.true()
		}
	}
	j.permissionsChanged(p, b)
	for _, o := range b.Outbox {
		j.due[first(o.Header, utp.HeaderTraceparent)] = fmt.Sprintf("%s of %s", o.Subject, o.Call)
	}
	if b.Turn == nil {
		return
	}
	was := j.last[b.Turn.State.Turn]
	for _, c := range b.Turn.State.Calls {
		before, _ := was.State.Find(c.ID)
		j.callChanged(*b.Turn, before, c)
	}
	j.turnChanged(was.State, b.Turn.State)
	j.correlated(b.Turn.State)
	for _, q := range b.Turn.Questions {
		j.questionChanged(was, q)
	}
	for _, g := range b.Grants {
		j.granted(p, *b.Turn, g)
	}
	j.last[b.Turn.State.Turn] = recordOf(*b.Turn)
}

// correlated: of a request under one correlation id, of a person or within one turn, there is one turn, however often it was sent.
func (j *judge) correlated(s turn.State) {
	if _, known := j.last[s.Turn]; known || s.Correlation == "" {
		return
	}
	for id, other := range j.last {
		if other.State.Correlation == s.Correlation && other.State.Parent == s.Parent {
			j.brokenf("%s and %s are of one request, %s", id, s.Turn, s.Correlation)
		}
	}
}

// callChanged holds a call against what it was before.
func (j *judge) callChanged(rec store.Record, before, c turn.Call) {
	log := j.calls[c.ID]
	if log == nil {
		log = &callLog{turn: rec.State.Turn, key: c.Key, tool: c.Tool, handed: map[string]bool{}}
		j.calls[c.ID] = log
	}
	log.class, log.asked, log.startBy = c.Class, c.Decision == turn.Ask, c.StartBy
	switch {
	case before.ID == "":
	case !before.State.Open() && c.State != before.State:
		j.brokenf("%s was %s and is %s", c.ID, before.State, c.State)
	case before.State == turn.LeaseExpired && c.State == turn.Dispatched && log.finishes > log.notBegun:
		log.notBegun++
	case before.State.Open() && before.State != turn.Unknown && unknown(c) && c.State == turn.Resolved &&
		rec.State.Stop == nil && rec.State.Status != turn.Ended:
		j.brokenf("the fate of %s is unknown, and nobody was asked", c.ID)
	}
	if c.State == turn.Unknown && !asksOutcome(rec, c.Question) {
		j.brokenf("the fate of %s is unknown, and no question about it is open", c.ID)
	}
	if !c.State.Open() && c.Outcome == nil {
		j.brokenf("%s is %s without an outcome", c.ID, c.State)
	}
	log.outcome = c.Outcome
	j.timesChanged(before, c)
}

// timesChanged: what a call was given is not taken away again. Where the time to take its yes back
// begins, it gets another time to start.
func (j *judge) timesChanged(before, c turn.Call) {
	if before.Noticed() == c.Noticed() && shrunk(before.StartBy, c.StartBy) {
		j.brokenf("the time to start %s was %v and is %v", c.ID, before.StartBy, c.StartBy)
	}
	if shrunk(before.EndBy, c.EndBy) {
		j.brokenf("the time for a result of %s was %v and is %v", c.ID, before.EndBy, c.EndBy)
	}
}

// turnChanged: a call that ends its turn does, and a deadline is kept, once nothing stands in
// the way.
func (j *judge) turnChanged(was, s turn.State) {
	for _, c := range s.Calls {
		if c.Applied && c.After == utp.Terminate && c.State != turn.Closed && !c.Adopted && c.ReplacedBy == "" && s.Status != turn.Ended {
			j.brokenf("%s goes on after the result of %s, with which it was to end", s.Turn, c.ID)
		}
		before, _ := was.Find(c.ID)
		if before.State == turn.Started && j.overdue(before.EndBy) {
			j.brokenf("%s runs on, long after it was to have a result: %v", c.ID, before.EndBy)
		}
		if c.Outcome != nil && before.Outcome == nil {
			j.outcome(c)
		}
	}
	j.stoppedWith(was, s)
	if s.Status != turn.Ended || was.Status == turn.Ended || s.End == nil {
		return
	}
	switch {
	case s.End.Code == utp.CodeInternalError:
		j.brokenf("%s ends %s: %s", s.Turn, s.End.Code, s.End.Message)
	case s.End.Deliverable != "":
		j.w.did(delivered)
	}
}

// outcome counts how calls end.
func (j *judge) outcome(c turn.Call) {
	switch {
	case c.Outcome.Code == utp.CodeToolTimeout || c.Overdue:
		j.w.did(overdue)
	case c.Kind == turn.QuestionCall && c.Outcome.Status == utp.StatusSuccess:
		j.w.did(answered)
	case c.Kind == turn.SubmitCall:
		j.w.did(refusedResult)
	case c.After == utp.Terminate && c.State != turn.Closed:
		j.w.did(terminated)
	}
}

// overdue reports whether a time is over for long, all of it after the weather has cleared up.
func (j *judge) overdue(end turn.Timestamp) bool {
	const most = 2 * time.Minute
	late := j.w.clock.mono() - end.SinceBoot
	return !end.IsZero() && end.Boot == j.w.clock.boot() && late > most && j.w.weather.ceased.Load() && late < time.Since(j.w.cleared)
}

func unknown(c turn.Call) bool { return c.Outcome != nil && c.Outcome.Code == utp.CodeOutcomeUnknown }

func asksOutcome(rec store.Record, number int) bool {
	return slices.ContainsFunc(rec.Questions, func(q consent.Question) bool {
		return q.Number == number && q.Kind == consent.Clarification && q.State == consent.Open
	})
}

// shrunk reports whether a deadline has moved nearer, on the clock that is never set.
func shrunk(before, now turn.Timestamp) bool {
	return !before.IsZero() && !now.IsZero() && before.Boot == now.Boot && now.SinceBoot < before.SinceBoot
}

// questionChanged: more time is more, on the clock that is never set.
func (j *judge) questionChanged(was store.Record, q consent.Question) {
	for _, old := range was.Questions {
		if old.Number != q.Number || old.State != consent.Open || q.State != consent.Open || old.Unseen || old.Waiting {
			continue
		}
		if q.Timeout < old.Timeout && q.AskedAt.Equal(old.AskedAt) {
			j.brokenf("question %d had %d seconds and has %d", q.Number, old.Timeout, q.Timeout)
		}
	}
}

// undone holds the start of what cannot be undone against the time in which its yes could be
// taken back, and the life in which it was given.
func (j *judge) undone(p *process, c turn.Call) {
	heard, told := j.aware[c.ID]
	switch passed := j.w.clock.true() - heard; {
	case !told:
		j.brokenf("%s is started, and no surface was told of the yes to it", c.ID)
	case passed < c.Limits.UndoTime():
		j.brokenf("%s is started %v after the surface of its yes was told; it could be taken back for %v", c.ID, passed, c.Limits.UndoTime())
	}
	if c.Consent == nil || c.Consent.Generation != p.generation {
		j.brokenf("%s is started by %s with a yes of another generation", c.ID, p.name)
	}
}

// granted holds a start against the consent to that very call, its time and its definition.
func (j *judge) granted(p *process, rec store.Record, g store.Grant) {
	c, _ := rec.State.Find(g.Call)
	log := j.calls[g.Call]
	if log == nil {
		j.brokenf("%s grants %s, which is in no turn", p.name, g.Call)
		return
	}
	log.grants++
	limit := c.Limits.StartWithin
	if limit <= 0 {
		limit = turn.DefaultStartWithin
	}
	if c.Decision != turn.Ask {
		j.permitted(rec.State, c)
	}
	agreed, said := j.yes[c.ID]
	if c.Class == utp.Irreversible {
		j.undone(p, c)
		limit += turn.NoticeWithin + c.Limits.UndoTime()
	}
	switch {
	case c.Decision != turn.Ask && !c.Class.Valid(), c.Decision != turn.Ask && c.Class == utp.Irreversible:
		j.brokenf("%s, which is irreversible, is started without a question", c.ID)
	case c.Decision == turn.Ask && !said:
		j.brokenf("%s is started, and nobody has said yes to question %d about it", c.ID, c.Question)
	case c.Decision == turn.Ask && (j.used[c.ID] == "" || j.used[c.ID] != c.Digest):
		j.brokenf("%s is started, and no consent to %q was used up for it, but %q", c.ID, c.Digest, j.used[c.ID])
	case c.Decision == turn.Ask && j.w.clock.true()-agreed > limit:
		j.brokenf("%s is started %v after the yes", c.ID, j.w.clock.true()-agreed)
	case !c.Class.Repeatable() && log.grants > 1+log.notBegun:
		j.brokenf("%s, which is %s, is started %d times; %d services said that they had not begun", c.ID, c.Class, log.grants, log.notBegun)
	case j.w.tool(c.Tool).Digest != c.Definition:
		j.brokenf("%s is started with another definition of %s than was agreed to", c.ID, c.Tool)
	case rec.State.Stop != nil:
		j.brokenf("%s is started in a turn that is stopped", c.ID)
	}
}
