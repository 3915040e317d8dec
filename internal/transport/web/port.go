package web

import (
	"context"
	"iter"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// Hub is the port to the hub. Its methods may be called concurrently. They check the rights of the given principal. A
// [Refusal] among its errors is sent to the client.
type Hub interface {
	// Subscribe begins a subscription, or returns why not.
	Subscribe(ctx context.Context, who Principal, r aaep.SubscriptionRequest) (Subscription, *aaep.SubscriptionRejected, error)
	// Subscription finds a live subscription of that very principal (C-83).
	Subscription(who Principal, id string) (Subscription, bool)
	// Sessions lists a page of the sessions that the principal may follow, newest first.
	Sessions(ctx context.Context, who Principal, w ListOptions) (Page, error)
	// Session returns one of them, with its outcome if it has ended.
	Session(ctx context.Context, who Principal, id string) (api.Session, error)
	// Events yields the events of a session after a sequence number, in order, up to the current end, in a language. One
	// that is not offered, and "", is that of the ledger, whose bytes they then are. An error is the last value.
	Events(ctx context.Context, who Principal, session string, after int64, language string) iter.Seq2[api.EventRow, error]
	// Newest returns the id of the newest event of the ledger, or "" if there is none. What is read after that,
	// together with the deliveries after that event, has no gap.
	Newest(ctx context.Context, who Principal) (string, error)
	// Questions lists a page of the open questions that the principal may see, oldest first. Unless Peek is set, this
	// marks those on the page that the principal can answer as shown, and their time starts.
	Questions(ctx context.Context, who Principal, w QuestionListOptions) (QuestionList, error)
	// Arguments reads a part of the JSON text of a question's arguments, from a byte offset on, and its total size.
	Arguments(ctx context.Context, who Principal, q api.ArgumentsRequest) ([]byte, int64, error)
	// Enqueue starts a turn.
	Enqueue(ctx context.Context, who Principal, t api.TurnStart) (api.EnqueueAnswer, error)
	// Prefer sets the principal's preferences that are not nil, and returns all of them.
	Prefer(ctx context.Context, who Principal, w api.Preferences) (api.Preferences, error)
	// Operate forwards an operator's request and returns the answer.
	Operate(ctx context.Context, who Principal, op string, request jsontext.Value) (jsontext.Value, error)
	Answers
}

// Answers is the part of the port that takes what people say, and lists the yes that still stands.
type Answers interface {
	// Reply forwards a person's command.
	Reply(ctx context.Context, who Principal, w Reply) (api.ReplyAnswer, error)
	// Permissions lists a page of the standing permissions in force that are for the turns that the principal may follow.
	Permissions(ctx context.Context, who Principal, q api.PermissionsRequest) (api.PermissionsAnswer, error)
	// Revoke ends one, and returns it as it is then.
	Revoke(ctx context.Context, who Principal, number int) (api.StandingPermission, error)
}

// Agents is the port for external agents. Its methods may be called concurrently. They check the rights of the given
// principal. A [Refusal] among its errors is sent to the client.
type Agents interface {
	// Offered lists the tools that the agent may call.
	Offered(ctx context.Context, who Principal) ([]api.OfferedTool, error)
	// Open opens a session of the agent.
	Open(ctx context.Context, who Principal, q api.OpenRequest) (api.OpenAnswer, error)
	// Act has one tool called for a person.
	Act(ctx context.Context, who Principal, q api.ActRequest) (api.ActionAnswer, error)
	// Session describes one of the agent's sessions.
	Session(ctx context.Context, who Principal, id string) (api.Session, error)
	// Invoke requests a call, and Await waits for the result of one. Both wait no longer than the context. If the server
	// closes, its cause is [hub.ErrClosing].
	Invoke(ctx context.Context, who Principal, q api.InvokeRequest, args jsontext.Value, wait Wait) (api.AgentCall, error)
	Await(ctx context.Context, who Principal, session, call string, wait Wait) (api.AgentCall, error)
	// Watch yields the status of a call until it or the context has ended. An error is the last value.
	Watch(ctx context.Context, who Principal, session, call string) iter.Seq2[api.AgentCall, error]
	// Received acknowledges that the agent has received the result of a call.
	Received(ctx context.Context, who Principal, session, call string)
	Report(ctx context.Context, who Principal, q api.AgentReportRequest) error
	Close(ctx context.Context, who Principal, q api.CloseRequest) error
}

// Wait is how a request waits for a call: at most how long, and whether an open question about what the agent does itself is
// withdrawn if the agent leaves and does not come back.
type Wait struct {
	For    time.Duration
	Leaves bool
}

// Passkeys is the port for a person's passkeys. Its methods may be called concurrently. They check the rights of the given
// principal. A [Refusal] among its errors is sent to the client.
type Passkeys interface {
	// List returns the principal's own passkeys.
	List(ctx context.Context, who Principal) (api.PasskeysAnswer, error)
	// Challenge returns what has to be signed.
	Challenge(ctx context.Context, who Principal, q api.PasskeyChallengeRequest) (api.PasskeyChallenge, error)
	// Add adds a passkey of the principal's, and Remove removes one.
	Add(ctx context.Context, who Principal, q api.ChangePasskeyRequest) (api.Passkey, error)
	Remove(ctx context.Context, who Principal, q api.ChangePasskeyRequest) (api.Passkey, error)
}

// Subscription is one subscription. It outlives its streams for a while.
type Subscription interface {
	ID() string
	Accepted() aaep.SubscriptionAccepted
	// Deliveries yields events until the subscription or the context ends: those after the event with the id if it is
	// known, otherwise those from now on. An error is the last value.
	Deliveries(ctx context.Context, lastEventID string) iter.Seq2[Delivery, error]
	// Reply forwards an encoded reply. A nil error does not mean that it counted.
	Reply(ctx context.Context, raw []byte) error
	// Renegotiate changes the terms, or returns why not; then the subscription has ended.
	Renegotiate(ctx context.Context, r aaep.SubscriptionRenegotiate) (aaep.SubscriptionAccepted, *aaep.SubscriptionRejected, error)
	Close()
}

// Access authenticates clients; [access.Store] implements it. Its methods may be called concurrently.
type Access interface {
	// Authenticate returns the principal of a token.
	Authenticate(secret string) (Principal, error)
	// Login exchanges a one-time code for a page session in a browser.
	Login(code string, in access.Browser) (access.PageSession, error)
	// Code creates a one-time code that logs the principal in, and ShortCode one for a phone.
	Code(p Principal) (string, error)
	ShortCode(p Principal) (string, error)
	// BeginVouched begins a page session in a browser for a person whom the identity provider vouches for.
	BeginVouched(v access.Vouched, in access.Browser) (access.PageSession, error)
	// Spend consumes a one-time code of a person without a login.
	Spend(person, code string) error
	// Page returns the principal of a page session by its cookie, which the given local account presented.
	Page(cookie, user string) (Principal, error)
	TerminalAccess
	// Logout ends a page session.
	Logout(cookie string)
	// Watch sends when credentials may have changed, until the context ends; then it closes the channel.
	Watch(ctx context.Context) <-chan struct{}
}

// TerminalAccess logs terminals in.
type TerminalAccess interface {
	// AtTerminal returns the principal of the person who has logged in at a terminal, for a principal behind which no
	// person is known to be.
	AtTerminal(p Principal, t access.Terminal) (Principal, error)
	// TerminalCode creates a short code with which that terminal alone logs the principal in.
	TerminalCode(p Principal, t access.Terminal) (string, error)
	// LoginTerminal logs a terminal in with a code, and LogoutTerminal ends that.
	LoginTerminal(person, code string, t access.Terminal) (Principal, time.Time, error)
	LogoutTerminal(p Principal, t access.Terminal) error
}

// Logins lets people log in at an identity provider; [oidc.Logins] implements it. Its methods may be called concurrently. Their errors
// are of type [*access.Error].
type Logins interface {
	// Called is how people know the provider, such as id.example.org.
	Called() string
	// Begin returns the provider's page on which a person logs in, which leads back to an address of ours, and what the browser keeps until
	// then.
	Begin(ctx context.Context, back string) (to, kept string, err error)
	// Finish returns whom the provider vouches for, by what the browser kept and the query with which it came back.
	Finish(ctx context.Context, back, kept string, query url.Values) (access.Vouched, error)
}

// Verb is the kind of a person's command.
type Verb string

// The verbs.
const (
	VerbAnswer Verb = "answer" // Decision or Response
	VerbExtend Verb = "extend" // more time
	VerbUndo   Verb = "undo"   // take an accept back before it starts
	// VerbNoticed acknowledges that the surface on which a question was accepted was informed of that.
	VerbNoticed Verb = "noticed"
	VerbStop    Verb = "stop" // the session's turn, or the question's call
)

// Reply is a person's command about a question or a session.
type Reply struct {
	Verb     Verb
	Question int
	Token    string // if set, the question must be the one with this token; otherwise it is a conflict
	Session  string
	Decision string
	Response api.Response
	Reason   string
	// Standing asks for a standing permission with an accept.
	Standing *api.Standing
	At       time.Time
	// Language is the one that the question was shown in; "" means English.
	Language string
	// Assertion is the signature of the person's passkey, if the accept takes one.
	Assertion api.Assertion
}
