package web

import (
	"context"
	"iter"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
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
	Sessions(ctx context.Context, who Principal, w ListOptions) (Page, error)
	// Session finds one of them, and says how it ended.
	Session(ctx context.Context, who Principal, id string) (api.Session, error)
	// Events yields the events of a session after a sequence number, in order, up to the
	// present end. An error is the last thing it yields.
	Events(ctx context.Context, who Principal, session string, after int64) iter.Seq2[api.EventRow, error]
	// Newest names the newest event of the ledger, or "" when there is none: what is read
	// after that, with the deliveries after that event, has no gap.
	Newest(ctx context.Context, who Principal) (string, error)
	// Questions lists a page of the open questions that the principal may hear, oldest first. What it
	// can answer of that page is shown to it by that, and its time to answer starts, unless it only looks.
	Questions(ctx context.Context, who Principal, w QuestionListOptions) (QuestionList, error)
	// Arguments reads a part of the JSON text that a question is about, from a byte on,
	// and the size of the whole.
	Arguments(ctx context.Context, who Principal, q api.ArgumentsRequest) ([]byte, int64, error)
	// Enqueue starts a turn.
	Enqueue(ctx context.Context, who Principal, t api.TurnStart) (api.EnqueueAnswer, error)
	// Prefer sets what the principal wishes, as far as it is not nil, and tells what then holds.
	Prefer(ctx context.Context, who Principal, w api.Preferences) (api.Preferences, error)
	// Operate passes an operation of operators on and its answer back.
	Operate(ctx context.Context, who Principal, op string, request jsontext.Value) (jsontext.Value, error)
	// Reply hands in what a person says.
	Reply(ctx context.Context, who Principal, w Reply) (api.ReplyAnswer, error)
}

// Agents is the side of agents that are programs outside. Its methods may be called concurrently; rights are judged there, for
// the principal that is given. A [Refusal] among its errors is told to the client.
type Agents interface {
	// Offered lists the tools that the agent may ask for.
	Offered(ctx context.Context, who Principal) ([]api.OfferedTool, error)
	// Open opens a session of the agent.
	Open(ctx context.Context, who Principal, q api.OpenRequest) (api.OpenAnswer, error)
	// Session describes one of the agent's.
	Session(ctx context.Context, who Principal, id string) (api.Session, error)
	// Invoke asks for a call, and Await for the result of one; both wait so long at most, and no longer than the context.
	Invoke(ctx context.Context, who Principal, q api.InvokeRequest, args jsontext.Value, wait time.Duration) (api.AgentCall, error)
	Await(ctx context.Context, who Principal, session, call string, wait time.Duration) (api.AgentCall, error)
	// Watch yields how a call stands, until it has ended or the context has. An error is the last thing that it yields.
	Watch(ctx context.Context, who Principal, session, call string) iter.Seq2[api.AgentCall, error]
	// Received says that the agent has got the result of a call.
	Received(ctx context.Context, who Principal, session, call string)
	Report(ctx context.Context, who Principal, q api.AgentReportRequest) error
	Close(ctx context.Context, who Principal, q api.CloseRequest) error
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

// Reply is what a person says about a question or a session.
type Reply struct {
	Verb     Verb
	Question int
	Token    string // when given, the question has to be the one with this token, else it is a conflict
	Session  string
	Decision string
	Response api.Response
	Reason   string
	At       time.Time
}
