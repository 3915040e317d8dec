package api

// IngestLimit is the most bytes of a request with events of a producer, MaxIngestEvent of one event in it, and MaxIngested how many events it
// may have.
const (
	IngestLimit    = 16 << 20
	MaxIngestEvent = 1 << 20
	MaxIngested    = 1000
)

// Ingested says what became of the events of a producer, in their order.
type Ingested struct {
	Events []IngestedEvent `json:"events"`
	// Refused counts those that were not accepted.
	Refused int `json:"refused,omitzero"`
}

// The states of an [IngestedEvent].
const (
	IngestStatusAccepted = "accepted" // it is told
	IngestStatusRepeated = "repeated" // it had been accepted before, and is not told again
	IngestStatusRefused  = "refused"  // it is not told; the error says why, and what to do
	IngestStatusDeferred = "deferred" // it is not told; send it again, with all that follow it
)

// IngestedEvent says what became of one event.
type IngestedEvent struct {
	// Line is its number in the request, from 1. ID and Session are as the producer wrote them, as far as they can be read.
	Line    int    `json:"line"`
	ID      string `json:"event_id,omitzero"`
	Session string `json:"session_id,omitzero"`
	// Status is accepted, repeated, refused or deferred.
	Status string `json:"status"`
	// As is the session that listeners of this server hear it in.
	As string `json:"as_session_id,omitzero"`
	// Question is the number of the question that a person is asked because of it, and Token the producer's own token of that question: ask for the
	// answer with it.
	Question int    `json:"question,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	// Findings are the rules of AAEP that it breaks, by itself or in its place.
	Findings []IngestFinding `json:"findings,omitzero"`
	// Error says why it was not accepted.
	Error *IngestError `json:"error,omitzero"`
}

// IngestFinding is one rule that an event breaks; see docs/conformance.md.
type IngestFinding struct {
	Rule string   `json:"rule"`
	Also []string `json:"also,omitzero"`
	// Severity is error, warning or info.
	Severity string `json:"severity"`
	// Path is a JSON pointer into the event.
	Path    string `json:"path"`
	Message string `json:"message"`
	Spec    string `json:"spec"`
}

// IngestError says why an event was not accepted.
type IngestError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
}

// The codes of an [IngestError], besides those of a refusal.
const (
	IngestUnreadable = "unreadable"          // it is not an event that can be acted on
	IngestVersion    = "version_unsupported" // it is of another major version of AAEP
	IngestOversize   = "too_large"           // the event is larger than allowed
	IngestConflict   = "conflict"            // another event had the same id
	IngestEnded      = "session_ended"       // its session has ended
	IngestStopped    = "stopped"             // a person has stopped its session
	IngestWaits      = "deferred"            // one before it was not accepted
)

// UnnamedTool stands for the tool of a question whose producer names none.
const UnnamedTool = "unnamed"

// IngestReply is what came of a question of a producer.
type IngestReply struct {
	// Outcome is accepted, rejected, answered, expired, withdrawn or stopped; "" while the question is open.
	Outcome string `json:"outcome,omitzero"`
	// Reply is the message of AAEP that answers the question, to be given to the producer; absent where there is no answer to give.
	Reply AAEPMessage `json:"reply,omitzero"`
	// Question is the number of the open question.
	Question int `json:"question,omitzero"`
	// Message says it in a sentence.
	Message string `json:"message,omitzero"`
}

// The outcomes of an [IngestReply].
const (
	IngestAccepted  = "accepted"
	IngestRejected  = "rejected"
	IngestAnswered  = "answered"
	IngestExpired   = "expired"
	IngestWithdrawn = "withdrawn"
)
