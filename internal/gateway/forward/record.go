package forward

import (
	"github.com/earshot-dev/earshot/api"
)

// Record is one thing that a gateway has done, for a program. One member is set. No reply token is in it: who has one could answer.
type Record struct {
	Event      *Event      `json:"event,omitzero"`
	Answer     *Answer     `json:"answer,omitzero"`
	Connection *Connection `json:"connection,omitzero"`
}

// Event is what became of an event of the producer; see [api.IngestedEvent].
type Event struct {
	ID      string `json:"event_id,omitzero"`
	Session string `json:"session_id,omitzero"`
	// Status is accepted, repeated or refused.
	Status   string              `json:"status"`
	As       string              `json:"as_session_id,omitzero"`
	Question int                 `json:"question,omitzero"`
	Findings []api.IngestFinding `json:"findings,omitzero"`
	Error    *api.IngestError    `json:"error,omitzero"`
}

func eventOf(e api.IngestedEvent) *Event {
	return &Event{ID: e.ID, Session: e.Session, Status: e.Status, As: e.As, Question: e.Question, Findings: e.Findings, Error: e.Error}
}

// Answer is what came of a question of the producer.
type Answer struct {
	Question int    `json:"question"`
	Session  string `json:"session_id"` // the producer's
	// Outcome is that of an [api.IngestReply]; "" if Earshot had none.
	Outcome string `json:"outcome,omitzero"`
	// Delivered says that the producer has it. Otherwise Error says why not.
	Delivered bool   `json:"delivered"`
	Error     string `json:"error,omitzero"`
}

// ended is what came of a question.
func (q Question) ended(outcome string, err error) *Answer {
	a := &Answer{Question: q.Number, Session: q.Session, Outcome: outcome, Delivered: err == nil}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// Connection is a change of one of the two sides.
type Connection struct {
	Peer  string `json:"peer"`  // producer or earshot
	State string `json:"state"` // lost, back, or incomplete: messages of the producer may be missing
}

// The words of a [Connection].
const (
	PeerProducer    = "producer"
	PeerServer      = "earshot"
	StateLost       = "lost"
	StateBack       = "back"
	StateIncomplete = "incomplete"
)

// Connected records a change of one of the two sides.
func (g *Gateway) Connected(peer, state string) {
	g.record(Record{Connection: &Connection{Peer: peer, State: state}})
}

func (g *Gateway) record(r Record) {
	g.recording.Lock()
	defer g.recording.Unlock()
	g.o.Record(r)
}
