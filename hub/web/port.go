package web

import (
	"context"
	"iter"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/hub/access"
)

// Hub is the side that is served. Its methods may be called concurrently; rights are
// judged there, for the principal that is given. A [Refusal] among its errors is told
// to the client.
type Hub interface {
	// Subscribe begins a subscription, or says why not.
	Subscribe(ctx context.Context, who Principal, r aaep.SubscriptionRequest) (Subscription, *aaep.SubscriptionRejected, error)
	// Subscription finds a live subscription of that very principal (C-83).
	Subscription(who Principal, id string) (Subscription, bool)
	// Sessions lists a page of the sessions that the principal may hear, newest first.
	Sessions(ctx context.Context, who Principal, w Wanted) (Listed, error)
	// Session finds one of them, and says how it ended.
	Session(ctx context.Context, who Principal, id string) (Session, error)
	// Events yields the events of a session after a sequence number, in order, up to the
	// present end. An error is the last thing it yields.
	Events(ctx context.Context, who Principal, session string, after int64) iter.Seq2[Row, error]
	// Newest names the newest event of the ledger, or "" when there is none: what is read
	// after that, with the deliveries after that event, has no gap.
	Newest(ctx context.Context, who Principal) (string, error)
	// Questions lists the open questions that the principal may hear, oldest first. What it
	// can answer is shown to it by that, and its time to answer starts.
	Questions(ctx context.Context, who Principal) ([]Question, error)
	// Arguments reads a part of the JSON text that a question is about, from a byte on,
	// and the size of the whole.
	Arguments(ctx context.Context, who Principal, question int, offset, limit int64) ([]byte, int64, error)
	// Enqueue starts a turn.
	Enqueue(ctx context.Context, who Principal, t Turn) (Started, error)
	// Prefer sets what the principal wishes, as far as it is not nil, and tells what then holds.
	Prefer(ctx context.Context, who Principal, w Wish) (Wish, error)
	// Operate passes an operation of operators on and its answer back.
	Operate(ctx context.Context, who Principal, op string, request jsontext.Value) (jsontext.Value, error)
	// Say hands a word of a person in.
	Say(ctx context.Context, who Principal, w Word) (Said, error)
}

// Wish is what a person wishes of the questions that are put to them: nil where nothing is said of
// it, and 0 what leaves it to policy and tool.
type Wish struct {
	// AnswerSeconds is how long they stay open: up to 86,400 s, which is as long as a question can.
	AnswerSeconds *int `json:"answer_seconds,omitzero"`
	// UndoSeconds is how long an accept can be taken back, 3 to 120 s.
	UndoSeconds *int `json:"undo_seconds,omitzero"`
}

// Subscription is one subscription. Streams of it come and go; it outlives them for a
// while.
type Subscription interface {
	ID() string
	Accepted() aaep.SubscriptionAccepted
	// Deliveries yields what leaves on a stream, after the event with the id when it is
	// known, else from now on, until the subscription or the context ends. An error is
	// the last thing it yields.
	Deliveries(ctx context.Context, lastEventID string) iter.Seq2[Delivery, error]
	// Reply hands a reply in, as it came. A nil error does not say that it counted.
	Reply(ctx context.Context, raw []byte) error
	// Renegotiate changes the terms, or says why not; then the subscription has ended.
	Renegotiate(ctx context.Context, r aaep.SubscriptionRenegotiate) (aaep.SubscriptionAccepted, *aaep.SubscriptionRejected, error)
	Close()
}

// Access knows who may come in; [access.Store] is one. Its methods may be called
// concurrently.
type Access interface {
	// Authenticate finds the principal of a token.
	Authenticate(secret string) (Principal, error)
	// Login exchanges a one-time code for a page session in a browser.
	Login(code string, in access.Browser) (access.PageSession, error)
	// Code makes a one-time code that logs the principal in.
	Code(p Principal) (string, error)
	// Page finds the principal of a page session by its cookie, which the user of this
	// machine has shown.
	Page(cookie, user string) (Principal, error)
	// Logout ends a page session.
	Logout(cookie string)
	// Watch sends when what counts may have changed, until the context ends; then it
	// closes the channel.
	Watch(ctx context.Context) <-chan struct{}
}

// Row is one event of a session as it lies in the ledger.
type Row struct {
	Seq  int64          `json:"seq"`
	Body jsontext.Value `json:"body"`
}

// Session is one session as a list shows it.
type Session struct {
	ID      string    `json:"session_id"`
	Turn    string    `json:"turn_id"`
	Agent   string    `json:"agent"`
	Name    string    `json:"name,omitzero"` // what people call it
	Owner   string    `json:"owner,omitzero"`
	Request string    `json:"request,omitzero"` // what was asked for, in words
	Status  string    `json:"status"`
	Summary string    `json:"summary,omitzero"` // how it ended
	Created time.Time `json:"created"`
	Last    int64     `json:"last_seq"`
	Ended   bool      `json:"ended"`
	// End is there where a single session was asked for, and has ended.
	End *api.SessionEnd `json:"end,omitzero"`
}

// Question is one open question.
type Question struct {
	Number   int       `json:"number"`
	Session  string    `json:"session_id"`
	Token    string    `json:"reply_token,omitzero"` // only for who may answer it
	Call     string    `json:"tool_call_id,omitzero"`
	Tool     string    `json:"tool,omitzero"`
	Kind     string    `json:"kind"` // confirmation or clarification
	Title    string    `json:"title"`
	Name     string    `json:"session_name,omitzero"` // what its session is called
	Agent    string    `json:"agent,omitzero"`
	Request  string    `json:"request,omitzero"` // what that was asked for; the beginning of it
	Owner    string    `json:"owner,omitzero"`
	Asked    time.Time `json:"asked"`
	Deadline time.Time `json:"deadline"`
	// Parked: its turn is not under way here, so that it can be rejected and not accepted.
	Parked bool           `json:"parked,omitzero"`
	Event  jsontext.Value `json:"event,omitzero"` // as it was sent
}

// Turn is a turn to start.
type Turn struct {
	Agent   string         `json:"agent"`
	Args    jsontext.Value `json:"args"`
	Request string         `json:"request,omitzero"`
	// Label says in a few words what it is about; the session is named after it.
	Label  string `json:"label,omitzero"`
	Answer int    `json:"answer_seconds,omitzero"` // how long questions stay open; 0 leaves it to the tool
	// ResultFields are the names that the agent's answer must have a value for.
	ResultFields []string `json:"result_fields,omitzero"`
	// Key is the request's Idempotency-Key: with one, the same request of the same principal begins
	// one turn within a day, however often it comes.
	Key string `json:"-"`
}

// Started names a new turn.
type Started struct {
	Turn    string `json:"turn_id"`
	Session string `json:"session_id"`
	// Repeated: an earlier request with the same key had begun it.
	Repeated bool `json:"-"`
}

// Verb is what a word of a person does.
type Verb string

// The verbs.
const (
	VerbAnswer Verb = "answer" // Decision or Response
	VerbExtend Verb = "extend" // more time
	VerbUndo   Verb = "undo"   // take an accept back before it starts
	// VerbNoticed says that the surface from which a question was accepted has been told so.
	VerbNoticed Verb = "noticed"
	VerbStop    Verb = "stop" // the session's turn, or the question's call
)

// Word is what a person says about a question or a session.
type Word struct {
	Verb     Verb
	Question int
	Token    string // when given, the question has to be the one with this token, else it is a conflict
	Session  string
	Decision string
	Response string
	Reason   string
	At       time.Time
}

// Said is what the ledger holds after a word.
type Said struct {
	Question   int       `json:"question,omitzero"`
	Resolution string    `json:"resolution"`
	Deadline   time.Time `json:"deadline,omitzero"`
	// UndoSeconds is for how long an accept can be taken back before it starts.
	UndoSeconds int `json:"undo_seconds,omitzero"`
}
