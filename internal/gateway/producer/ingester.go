package producer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/utp"
)

// Agent is an agent at Earshot; [Client] implements it.
type Agent interface {
	Open(ctx context.Context, q api.AgentOpen) (id string, err error)
	Session(id string) Session
}

// Session is a session of the agent. Its methods are those of [client.AgentSession].
type Session interface {
	Report(ctx context.Context, q api.AgentReport) error
	RequestPermission(ctx context.Context, q api.AgentPermission, wait time.Duration) (api.AgentCall, error)
	Question(ctx context.Context, q api.AgentQuestion, wait time.Duration) (api.AgentCall, error)
	Wait(ctx context.Context, call string, wait time.Duration) (api.AgentCall, error)
	Received(ctx context.Context, call string) error
	Withdraw(ctx context.Context, call string) error
	End(ctx context.Context, q api.AgentEnd) error
}

// Memory stores the states of sessions. Its methods may be called concurrently, but not for one key at once.
type Memory interface {
	// Load returns what was saved under the key, or nil.
	Load(key string) ([]byte, error)
	Save(key string, state []byte) error
}

// Options configure a [Ingester]. All but Now are required.
type Options struct {
	Memory Memory
	// Now is the clock; default time.Now.
	Now func() time.Time
}

// Ingester takes events of producers. It is safe for concurrent use and needs no closing.
type Ingester struct {
	o Options

	mu      sync.Mutex
	streams map[string]*stream
	order   []string // of their keys, the one that was used last at the end
}

// maxStreams is how many sessions are kept in mind. The others are read again from the memory.
const maxStreams = 1000

// stream is one session of a producer.
type stream struct {
	mu      sync.Mutex // held while an event is processed: events of a session are in order
	key     string
	loaded  bool
	machine Machine
	checker *session.Checker
	fresh   int // events since the state was saved
	users   int // requests that are in it; guarded by the ingester
	// waiting ends the requests that wait for the answer to a question, by the producer's token.
	waiting map[string][]*context.CancelFunc
}

// waits notes a request that waits for an answer, until the function that it returns is called. The stream is locked for the first, not for the
// second.
func (r *stream) waits(token string, cancel context.CancelFunc) (done func()) {
	if r.waiting == nil {
		r.waiting = map[string][]*context.CancelFunc{}
	}
	r.waiting[token] = append(r.waiting[token], &cancel)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		left := slices.DeleteFunc(r.waiting[token], func(c *context.CancelFunc) bool { return c == &cancel })
		if r.waiting[token] = left; len(left) == 0 {
			delete(r.waiting, token)
		}
	}
}

// endWaits ends the requests that wait for what the producer does not wait for any more.
func (r *stream) endWaits() {
	for _, q := range r.machine.State.Asked {
		if q.Left {
			for _, cancel := range r.waiting[q.Token] {
				(*cancel)()
			}
		}
	}
}

// NewIngester returns an ingester.
func NewIngester(o Options) *Ingester {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Ingester{o: o, streams: map[string]*stream{}}
}

// Caller is who sends events: the agent, by a name that is its own for ever, and for whom its sessions are; "" is the default of its token.
type Caller struct {
	Agent Agent
	Name  string
	Owner string
}

// acquire returns the stream of a session.
func (d *Ingester) acquire(by Caller, id string) *stream {
	whole := sha256.Sum256([]byte(by.Name + "\n" + id))
	key := hex.EncodeToString(whole[:])
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.streams[key]
	if r == nil {
		d.evict()
		r = &stream{key: key}
		d.streams[key] = r
	} else {
		d.order = slices.DeleteFunc(d.order, func(k string) bool { return k == key })
	}
	d.order = append(d.order, key)
	r.users++
	return r
}

// release ends a use of a stream.
func (d *Ingester) release(r *stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.users--
}

// evict forgets the session that was not used for longest, unless somebody is in every one.
func (d *Ingester) evict() {
	if len(d.order) < maxStreams {
		return
	}
	for i, key := range d.order {
		if d.streams[key].users == 0 {
			delete(d.streams, key)
			d.order = slices.Delete(d.order, i, i+1)
			return
		}
	}
}

// load reads the state of the session, once.
func (d *Ingester) load(r *stream) error {
	if r.loaded {
		return nil
	}
	raw, err := d.o.Memory.Load(r.key)
	if err != nil {
		return err
	}
	if raw != nil {
		if err := json.Unmarshal(raw, &r.machine.State); err != nil {
			r.machine.State = State{}
			return fmt.Errorf("%s: %w", r.key, err)
		}
	}
	r.checker = session.NewStreamChecker(session.Stream{JoinedLate: raw != nil, CutShort: true})
	r.loaded = true
	return nil
}

// save stores the state. If that fails, the events since then are not told twice all the same, for the kernel knows them.
func (d *Ingester) save(r *stream) error {
	raw, err := json.Marshal(r.machine.State, json.Deterministic(true))
	if err == nil {
		err = d.o.Memory.Save(r.key, raw)
	}
	if err == nil {
		r.fresh = 0
	}
	return err
}

// saveEvery is how many events may be told between two times that the state is stored: fewer than the kernel remembers.
const saveEvery = 8

// Accept accepts events in their order. After one that has to be sent again, the ones behind it are not taken.
func (d *Ingester) Accept(ctx context.Context, by Caller, events [][]byte) api.Ingested {
	answer := api.Ingested{Events: make([]api.IngestedEvent, 0, len(events))}
	used := map[string]*stream{}
	deferred := false
	for i, raw := range events {
		var one api.IngestedEvent
		if deferred {
			one = api.IngestedEvent{Status: api.IngestStatusDeferred, Error: waits}
		} else {
			one = d.take(ctx, by, raw, used)
			deferred = one.Status == api.IngestStatusDeferred
		}
		one.Line = i + 1
		if one.Status == api.IngestStatusRefused || one.Status == api.IngestStatusDeferred {
			answer.Refused++
		}
		answer.Events = append(answer.Events, one)
	}
	for _, r := range used {
		r.mu.Lock()
		if r.fresh > 0 {
			_ = d.save(r) // it is tried again with the next event
		}
		r.mu.Unlock()
		d.release(r)
	}
	return answer
}

var waits = &api.IngestError{Code: api.IngestWaits, Message: "an event before it was not accepted", Hint: "send it again, with those before it that were not accepted"}

// take takes one event.
func (d *Ingester) take(ctx context.Context, by Caller, raw []byte, used map[string]*stream) api.IngestedEvent {
	event, found, wrong := read(raw)
	one := api.IngestedEvent{ID: event.ID, Session: event.SessionID, Findings: found, Status: api.IngestStatusRefused, Error: wrong}
	if wrong != nil {
		return one
	}
	r := used[event.SessionID]
	if r == nil {
		r = d.acquire(by, event.SessionID)
		used[event.SessionID] = r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := d.load(r); err != nil {
		one.Status, one.Error = api.IngestStatusDeferred, &api.IngestError{
			Code: string(client.CodeUnreachable), Message: "the state of the session cannot be read: " + err.Error(),
			Hint: "see that the file " + r.key + " of the folder producers of the data directory can be read, or remove it, and send the event again: " +
				"what was told is not told twice, but the answer to a question that was open does not reach the producer",
		}
		return one
	}
	d.admit(ctx, by, r, event, raw, &one)
	one.As = r.machine.State.Session
	return one
}

// admit takes an event that can be read.
func (d *Ingester) admit(ctx context.Context, by Caller, r *stream, event aaep.Event, raw []byte, one *api.IngestedEvent) {
	before, other := r.machine.State.repeats(event.ID, raw)
	switch {
	case other:
		one.Findings = append(one.Findings, api.IngestFinding{
			Rule: "ENV-19", Also: []string{"ENV-20"}, Severity: string(aaep.SeverityError), Path: "/event_id", Spec: "§3.2.3",
			Message: "found the event_id of an earlier event with other content, expected an id of its own",
		})
		one.Error = &api.IngestError{Code: api.IngestConflict, Message: "another event of the session had the id " + event.ID, Hint: "give each event an id of its own"}
		return
	case before:
		one.Status = api.IngestStatusRepeated
		d.asked(r, event, one)
		return
	}
	one.Findings = append(one.Findings, findings(r.checker.Check(raw))...)
	if over := r.machine.State.Ended; over != "" {
		one.Error = ended(over)
		return
	}
	state := r.machine.State.clone()
	effects := r.machine.Event(event)
	r.endWaits()
	for _, e := range effects {
		if err := d.carryOut(ctx, by, &r.machine.State, e); err != nil {
			d.failed(r, state, err, one)
			return
		}
		if _, is := e.(Open); is { // from now on it has to be found again by any event
			_ = d.save(r)
		}
	}
	r.machine.State.took(event.ID, raw)
	one.Status = api.IngestStatusAccepted
	d.asked(r, event, one)
	if r.fresh++; r.fresh >= saveEvery || one.Token != "" || event.IsTerminal() {
		if err := d.save(r); err != nil { // what was told is told; the next save has all of it
			r.fresh++
		}
	}
}

// failed processes an effect that could not be carried out. What was carried out before it is not done again with the next try.
func (d *Ingester) failed(r *stream, before State, err error, one *api.IngestedEvent) {
	opened, asked := r.machine.State.Session, r.machine.State.Asked
	r.machine.State = before
	r.machine.State.Session = cmp.Or(before.Session, opened)
	r.machine.State.Asked = merged(before.Asked, asked)
	e, is := errors.AsType[*client.Error](err)
	switch {
	case is && (e.Stopped || e.Ended):
		r.machine.State.Ended = api.IngestEnded
		if e.Stopped {
			r.machine.State.Ended = api.IngestStopped
		}
		one.Error = ended(r.machine.State.Ended)
		r.fresh++
	case is && e.Code == client.Code(utp.CodeTooManyTurns):
		// To wait would hold up the sessions that are open, and the end of one of them is what makes room.
		one.Error = &api.IngestError{Code: string(e.Code), Message: e.Message, Hint: "send it again once another session of the agent has ended; the events of the others are told"}
	case is && !e.Retry && e.Code != client.CodeUnreachable:
		one.Error = &api.IngestError{Code: string(e.Code), Message: e.Message, Hint: e.Hint}
	default:
		one.Status = api.IngestStatusDeferred
		one.Error = &api.IngestError{Code: string(client.CodeUnreachable), Message: err.Error(), Hint: "send it again, with all that follow it"}
		if is {
			one.Error = &api.IngestError{Code: string(e.Code), Message: e.Message, Hint: "send it again, with all that follow it"}
		}
	}
}

// merged are the questions of before, with those that were asked since.
func merged(before, now []Question) []Question {
	all := slices.Clone(before)
	for _, q := range now {
		if !slices.ContainsFunc(all, func(old Question) bool { return old.Token == q.Token }) {
			all = append(all, q)
		}
	}
	return all
}

func ended(over string) *api.IngestError {
	if over == api.IngestStopped {
		return &api.IngestError{Code: over, Message: "a person has stopped the session", Hint: "stop the agent; nothing more of it is told"}
	}
	return &api.IngestError{Code: over, Message: "the session has ended, or was handed over", Hint: "begin another one, with a session_id of its own"}
}

// asked says which question an event has led to.
func (d *Ingester) asked(r *stream, event aaep.Event, one *api.IngestedEvent) {
	token := ""
	switch p := event.Payload.(type) {
	case aaep.AwaitingConfirmation:
		token = p.ReplyToken
	case aaep.AwaitingClarification:
		token = p.ReplyToken
	}
	if q, is := r.machine.State.question(token); is {
		one.Token, one.Question = q.Token, q.Number
	}
}

// carryOut does at Earshot what an event wants done.
func (d *Ingester) carryOut(ctx context.Context, by Caller, state *State, e Effect) error {
	at := by.Agent.Session(state.Session)
	switch e := e.(type) {
	case Open:
		e.Owner = by.Owner
		id, err := by.Agent.Open(ctx, e.AgentOpen)
		state.Session = id
		return err
	case Report:
		return at.Report(ctx, e.AgentReport)
	case Confirm:
		c, err := at.RequestPermission(ctx, e.AgentPermission, 0)
		if err == nil {
			state.asked(Question{Token: e.Token, Call: c.ID, Number: c.Question, Confirms: true})
		}
		return err
	case Clarify:
		c, err := at.Question(ctx, e.AgentQuestion, 0)
		if err == nil {
			state.asked(Question{Token: e.Token, Call: c.ID, Number: c.Question})
		}
		return err
	case Withdraw:
		return at.Withdraw(ctx, e.Call)
	case End:
		return d.end(ctx, at, state, e)
	}
	return nil
}

// end ends the session here. One that still has a question cannot be handed over: then the wish is told, and the producer's own end ends it.
func (d *Ingester) end(ctx context.Context, at Session, state *State, e End) error {
	err := at.End(ctx, e.AgentEnd)
	if wrong, is := errors.AsType[*client.Error](err); !is || e.Handoff == nil || wrong.Code != client.Code(api.KindConflict) {
		return err
	}
	state.Ended = ""
	return at.Report(ctx, api.AgentReport{Observed: shortened("It asks for someone else to take over: "+e.Handoff.Reason, api.MaxReported)})
}

// read reads an event, and judges it by itself as one that a producer sends.
func read(raw []byte) (aaep.Event, []api.IngestFinding, *api.IngestError) {
	if len(raw) > api.MaxIngestEvent {
		return aaep.Event{}, nil, &api.IngestError{
			Code: api.IngestOversize, Message: fmt.Sprintf("the event has %d bytes; it may have %d", len(raw), api.MaxIngestEvent), Hint: "send text in chunks",
		}
	}
	document := aaep.Read(raw)
	found := findings(document.Validate(aaep.ModeProducer))
	id, _ := document.Text("event_id")
	of, _ := document.Text("session_id")
	named := aaep.Event{ID: id, SessionID: of}
	if version, is := document.Text("aaep_version"); is && !strings.HasPrefix(version, "1.") {
		return named, found, &api.IngestError{Code: api.IngestVersion, Message: fmt.Sprintf("the event is of AAEP %.20q; this server reads 1.0.0", version), Hint: "send events of AAEP 1"}
	}
	event, err := aaep.DecodeEvent(raw)
	if err != nil {
		message := err.Error()
		if e, is := errors.AsType[*aaep.Error](err); is {
			message = e.Message
		}
		return named, found, &api.IngestError{Code: api.IngestUnreadable, Message: message, Hint: "correct what the findings name"}
	}
	return event, found, nil
}

// findings are the rules that were found to be broken.
func findings(all []aaep.Violation) []api.IngestFinding {
	list := make([]api.IngestFinding, 0, len(all))
	for _, v := range all {
		list = append(list, api.IngestFinding{Rule: v.Rule, Also: v.Also, Severity: string(v.Severity), Path: v.Path, Message: v.Message, Spec: v.Spec})
	}
	return list
}
