package turn

import (
	"slices"
	"time"

	"github.com/earshot-dev/earshot/utp"
)

// An outside turn ([State.Outside]) has its planner in a program that the kernel knows only by its requests: no worker
// claims it, and it has no steps. Its calls come one by one, run concurrently, and each has its own answer. The turn is
// suspended while one of them is open. Like any other turn, it ends once its program has sent nothing for
// [State.MaxIdle].
//
// A call whose effect cannot be repeated is dispatched and started only while a request for it is open: nothing is
// started for a program that has gone. An action ([State.Action]) is the command of a person, who need not wait there.

type (
	// Open begins an outside turn. With Action it does one call, asked for by a person at a user interface, and ends with
	// it.
	Open struct{ Action bool }
	// Await says that a request for the result of a call is open for Within, unless another Await follows; 0 means that
	// none is open any more. Answered: the request was answered before the result was there, and the program has that
	// long to ask again. Abandoned: with Within 0, the program does not come back for the answer. What it asked to do itself is then
	// no longer asked about, unless another request for it is open, which this does not end.
	Await struct {
		Call      string
		Within    time.Duration
		Answered  bool
		Abandoned bool
	}
	// Received says that the program has received the result of a call.
	Received struct{ Call string }
	// Attached says that another process acts for the program from now on: requests of the process before it are closed.
	Attached struct{ Holder string }
	// AgentReport is something that the program says about its work. Kind is one of the notes that a program may add. A
	// report with a Key is recorded once.
	AgentReport struct {
		Key     string
		Kind    NoteKind
		Percent float64
	}
	// Present says that the program is there, and says so again within so long. When it does not, it has gone: the turn ends as soon as
	// none of its calls is open. It does not count as work.
	Present struct{ Within time.Duration }
	// Close ends an outside turn with its program's own result, as soon as none of its calls is open.
	Close struct{ End End }
)

func (Open) input()        {}
func (Await) input()       {}
func (Received) input()    {}
func (Attached) input()    {}
func (AgentReport) input() {}
func (Present) input()     {}
func (Close) input()       {}

// PermissionCall is something that an outside program does by itself, and only asks permission for. A person's yes is
// its whole result: nothing is dispatched or started here.
const PermissionCall CallKind = "permission"

const (
	// StaleUnawaited is a yes to a call that nobody waited for when it could have begun. It is not asked for again.
	StaleUnawaited = "gone"

	// EndMissing is the message of the end of a turn whose program has gone.
	EndMissing = "the program has gone"

	// PermissionDeferred is the message of a permission that the policy leaves to the program's own rules.
	PermissionDeferred = "left to the agent's own rules"

	// NotePermitted reports that a person has allowed what an outside program does by itself.
	NotePermitted NoteKind = "permission.given"
	// NoteObserved reports what an outside program says that it has done.
	NoteObserved NoteKind = "agent.observed"
)

const (
	// maxUnreceived is how many results of calls without a key are kept for a program that has not received them.
	maxUnreceived = 64
	// maxReported is how many keys of reports are remembered.
	maxReported = 32
)

// quietAfter is how long nothing was heard from the program of an outside turn until lists say so.
const quietAfter = 5 * time.Minute

// QuietSince returns since when nothing was heard from the program of an outside turn, its last request or the end of its last
// call, if that is a while ago and none of its calls is open; otherwise the zero time.
func (s State) QuietSince(now Timestamp) time.Time {
	if !s.Outside || s.Status != Running || s.IdleFrom.IsZero() || !s.IdleFrom.Add(quietAfter).reached(now) {
		return time.Time{}
	}
	return s.IdleFrom.Wall
}

// applyOutside applies an input of the program of an outside turn.
func (m *machine) applyOutside(in Input) error {
	if !m.Outside {
		return refuse(utp.CodeConflict, "the turn has a worker; nobody outside speaks for it")
	}
	if in, is := in.(Present); is {
		m.Presence = in.Within
		m.seen()
		return nil
	}
	m.seen()
	if m.Status != Queued {
		m.IdleFrom = m.now
	}
	switch in := in.(type) {
	case Open:
		return m.open(in)
	case Await:
		return m.await(in)
	case Received:
		return m.received(in)
	case Attached:
		m.attached(in)
		return nil
	case AgentReport:
		return m.agentReported(in)
	case Close:
		return m.closeOutside(in)
	}
	return refuse(utp.CodeInternalError, "the turn machine does not know the input")
}

// seen notes that the program is there.
func (m *machine) seen() {
	if m.Presence > 0 {
		m.PresentUntil = m.now.Add(m.Presence)
	}
}

// goneAt returns when the program counts as gone; zero means never. While a call is open, another process may come for it.
func (s State) goneAt() Timestamp {
	if !s.Outside || s.Status != Running || s.Closing != nil {
		return Timestamp{}
	}
	return s.PresentUntil
}

// gone ends a turn whose program does not say any more that it is there. Where the tick is late, the program may have slept as well,
// or waited for this server: it gets the whole time again.
func (m *machine) gone() {
	at := m.goneAt()
	switch {
	case at.IsZero() || !at.reached(m.now):
	case at.Add(lateTick).reached(m.now):
		m.seen()
	default:
		m.end(End{Status: utp.StatusSuccess, Code: utp.CodeTimeoutReapedByWatchdog, Message: EndMissing})
	}
}

func (m *machine) open(in Open) error {
	if m.Status != Queued {
		return refuse(utp.CodeConflict, "the turn has begun")
	}
	m.Status, m.IdleFrom, m.Action = Running, m.now, in.Action
	m.emit(Note{Kind: NoteBegan}, Note{Kind: NoteThinking})
	return nil
}

func (m *machine) await(in Await) error {
	c := m.call(in.Call)
	if c == nil {
		return refuse(utp.CodeUnknownCall, "the turn has no such live call")
	}
	switch {
	case !in.Abandoned:
		c.Awaited, c.Answered = Timestamp{}, in.Answered
		if in.Within > 0 {
			c.Awaited = m.now.Add(in.Within)
		}
	case c.Kind == PermissionCall && c.State == Asked && m.unattended(c, m.now):
		c.State, c.Outcome = Closed, &Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentWithdrawn, Message: StaleUnawaited}
		m.emit(Withdraw{Question: c.Question, Reason: StaleUnawaited},
			Note{Kind: NoteRefused, Call: c.ID, Detail: string(utp.CodeConsentWithdrawn)}, RecordOutcome{Call: c.ID})
	}
	return nil
}

func (m *machine) received(in Received) error {
	c := m.call(in.Call)
	if c == nil {
		return refuse(utp.CodeUnknownCall, "the turn has no such live call")
	}
	if c.State.Open() {
		return refuse(utp.CodeConflict, "the call has no result yet")
	}
	c.Received = true
	return nil
}

func (m *machine) attached(in Attached) {
	if in.Holder == m.Holder {
		return
	}
	m.Holder = in.Holder
	for i := range m.Calls {
		m.Calls[i].Awaited = Timestamp{}
	}
}

func (m *machine) agentReported(in AgentReport) error {
	switch {
	case m.Stop != nil:
		return refuse(utp.CodeStopped, "the turn has been stopped and takes no more text")
	case in.Key != "" && slices.Contains(m.Reported, in.Key):
		return nil
	}
	if in.Key != "" {
		m.Reported = append(slices.Clone(m.Reported[max(0, len(m.Reported)-maxReported+1):]), in.Key)
	}
	if in.Kind == NoteProgress {
		percent := min(max(in.Percent, 0), 100)
		if percent <= m.Percent {
			return nil
		}
		m.Percent = percent
		in.Percent = percent
	}
	m.emit(Note{Kind: in.Kind, Percent: in.Percent})
	return nil
}

func (m *machine) closeOutside(in Close) error {
	if m.Closing != nil {
		return nil // the answer to the first request was lost
	}
	m.Closing = &in.End
	for i := range m.Calls {
		switch c := &m.Calls[i]; c.State {
		case Asked:
			m.emit(Withdraw{Question: c.Question, Reason: "ended"})
			m.close(c, utp.CodeConsentWithdrawn, actor{})
		case Requested, Accepted, Dispatched:
			m.close(c, utp.CodeConsentWithdrawn, actor{})
		case Started, LeaseExpired, Unknown, Finished, Resolved, Closed:
		}
	}
	return nil
}

// finishOutside sets the status of an outside turn by its calls, and ends a turn that is closing with the last of them.
func (m *machine) finishOutside() {
	if !m.Outside || m.Status == Ended || m.Status == Queued {
		return
	}
	open := slices.ContainsFunc(m.Calls, func(c Call) bool { return c.State.Open() }) ||
		slices.ContainsFunc(m.effects, func(e Effect) bool { _, is := e.(Replace); return is }) // a call will follow
	switch {
	case open:
		m.Status = Suspended
	case m.Closing != nil:
		m.end(*m.Closing)
	case m.Action:
		if c, is := m.ActionCall(); is {
			m.end(endOfAction(c))
		}
	case m.Status == Suspended:
		m.Status, m.IdleFrom = Running, m.now
		m.emit(Note{Kind: NoteThinking})
	}
}

// ActionCall returns the call that the turn of an action does: the last, where calls have replaced each other.
func (s State) ActionCall() (Call, bool) {
	for _, c := range slices.Backward(s.Calls) {
		if c.Within == "" && c.ReplacedBy == "" {
			return c, true
		}
	}
	return Call{}, false
}

// endOfAction returns how an action ends with its call. A call that the person declined is done as they wanted.
func endOfAction(c Call) End {
	o := c.Outcome
	if o == nil {
		return End{Status: utp.StatusFailed, Code: utp.CodeOutcomeUnknown}
	}
	if o.Code == utp.CodeConsentDeclined {
		return End{Status: utp.StatusSuccess}
	}
	return End{Status: o.Status, Code: o.Code, Message: o.Message}
}

// permitted applies a person's yes to what an outside program does by itself. It counts only while the program waits for
// the answer: the program acts on a yes at once, so a yes cannot wait for the program to come back.
func (m *machine) permitted(c *Call, in Answered) {
	m.emit(Receipt{Call: c.ID, By: in.By, Surface: in.Surface, Decision: "accept"})
	if m.unattended(c, m.now) {
		c.State, c.Outcome = Closed, &Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentStale, Message: StaleUnawaited}
		m.emit(Note{Kind: NoteRefused, Call: c.ID, Detail: string(utp.CodeConsentStale), Reason: StaleUnawaited}, RecordOutcome{Call: c.ID})
		return
	}
	c.State, c.Outcome = Finished, &Outcome{Status: utp.StatusSuccess}
	m.emit(Note{Kind: NotePermitted, Call: c.ID, By: in.By, Surface: in.Surface}, RecordOutcome{Call: c.ID})
}

// unattended reports whether the call may begin only while a request for it is open, and none is.
func (s *State) unattended(c *Call, now Timestamp) bool {
	return s.Outside && !s.Action && c.Kind != QuestionCall && !c.Class.Repeatable() && (c.Awaited.IsZero() || c.Awaited.Passed(now))
}

// dropReceived forgets the ended calls of an outside turn. It keeps the newest results that the program has not received
// and can find only here, and calls that can still get a late result.
func (m *machine) dropReceived() {
	unreceived := 0
	var kept []Call
	for _, c := range slices.Backward(m.Calls) {
		ended := c.State == Finished || c.State == Closed
		replaced := c.ReplacedBy != "" && m.call(c.ReplacedBy) != nil
		if ended && !replaced && c.Key == "" && !c.Received {
			unreceived++
		}
		asked := c.Within != "" && !m.inquired(c)
		if !ended || replaced || asked || c.Key == "" && !c.Received && unreceived <= maxUnreceived {
			kept = append(kept, c)
		}
	}
	slices.Reverse(kept)
	m.Calls = kept
}
