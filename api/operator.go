package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// OperatorAgent is the agent of turns that make a single call for an operator.
const OperatorAgent = "operator"

// OperatorArgs are the arguments of a turn of the [OperatorAgent].
type OperatorArgs struct {
	Tool string         `json:"tool"`
	Args jsontext.Value `json:"args"`
}

// TurnRequest asks for one turn, named by its turn_id or its session_id. The answer has as many of its calls as fit
// into a message, starting after the given one.
type TurnRequest struct {
	Name  string `json:"name"`
	After string `json:"after,omitzero"`
}

// TurnDetail is a turn as an operator sees it.
type TurnDetail struct {
	Turn    string    `json:"turn_id"`
	Session string    `json:"session_id"`
	Project string    `json:"project"`
	Channel string    `json:"channel"`
	Agent   string    `json:"agent"`
	Name    string    `json:"name,omitzero"` // the session's name for people
	Owner   string    `json:"owner"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	// Erased reports that its content was deleted by retention or by an operator.
	Erased bool `json:"erased,omitzero"`
	// Imported is when it was imported from another ledger.
	Imported time.Time      `json:"imported,omitzero"`
	Request  string         `json:"request,omitzero"`
	Args     jsontext.Value `json:"args,omitzero"`
	Step     int            `json:"step"`
	Applied  int            `json:"applied"`
	End      *SessionEnd    `json:"end,omitzero"`
	Message  string         `json:"message,omitzero"`
	// Deliverable is the card that holds the result's fields, if there are any.
	Deliverable string `json:"deliverable_card_id,omitzero"`
	// Open is set in an export of a turn that had not ended.
	Open  *ExportOpen  `json:"open,omitzero"`
	Calls []CallDetail `json:"calls,omitzero"`
	// Receipts are all receipts of the turn, on the first page.
	Receipts []ReceiptDetail `json:"receipts,omitzero"`
	More     bool            `json:"more,omitzero"`
}

// CallDetail is one call of a turn. For an erased call, only the digests remain.
type CallDetail struct {
	ID         string    `json:"tool_call_id"`
	Key        string    `json:"key,omitzero"`
	Step       string    `json:"step_id,omitzero"`
	Number     int       `json:"step,omitzero"`
	Tool       string    `json:"tool_name"`
	Kind       string    `json:"kind,omitzero"` // the kind, if it is not a tool call
	Target     string    `json:"target,omitzero"`
	Definition string    `json:"definition,omitzero"`
	Class      utp.Class `json:"class"`
	Risk       utp.Risk  `json:"risk"`
	Decision   string    `json:"decision,omitzero"`
	State      string    `json:"state"`
	Comment    string    `json:"says,omitzero"`
	Lang       string    `json:"lang,omitzero"`
	Question   int       `json:"question,omitzero"`
	Digest     string    `json:"digest,omitzero"`
	Arguments  string    `json:"arguments,omitzero"`
	// Policy is the rule that applied, in its canonical form.
	Policy     string     `json:"policy,omitzero"`
	Card       string     `json:"card,omitzero"`
	Started    time.Time  `json:"started,omitzero"`
	Status     utp.Status `json:"status,omitzero"`
	Code       utp.Code   `json:"code,omitzero"`
	Message    string     `json:"message,omitzero"`
	Result     string     `json:"result_card,omitzero"`
	Replaces   string     `json:"replaces,omitzero"`
	ReplacedBy string     `json:"replaced_by,omitzero"`
}

// DecidedByNobody is the decision of a receipt for a question that nobody who was connected could answer: its default held
// at once, which never starts anything irreversible. Such a receipt has no By and no Surface.
const DecidedByNobody = "nobody"

// ReceiptDetail says what was answered, by whom, and what they were shown.
type ReceiptDetail struct {
	Call     string    `json:"tool_call_id,omitzero"`
	Question int       `json:"question"`
	Decision string    `json:"decision"`
	By       string    `json:"by"`
	Surface  string    `json:"surface,omitzero"`
	At       time.Time `json:"at"`
	Shown    string    `json:"shown"`
	Language string    `json:"language,omitzero"`
	// Terms are what the answer was bound to; receipts of older programs have none.
	Terms ReceiptTerms `json:"terms,omitzero"`
}

// ReceiptTerms are what an answer was bound to. Members that do not apply are empty: an agent's own question has only
// the event, and only an accept says how its arguments were seen.
type ReceiptTerms struct {
	// Consent is the digest that a consent to the call is bound to, see [Consented]: SHA-256 in hex.
	Consent string `json:"consent,omitzero"`
	// Arguments is the SHA-256 in hex of the call's arguments in their canonical form.
	Arguments string `json:"arguments,omitzero"`
	// Definition is the digest of the tool's definition, Policy the rule that applied.
	Definition string `json:"definition,omitzero"`
	Policy     string `json:"policy,omitzero"`
	// Credential is the id of the token, grant or page session that sent the answer; never the secret itself.
	Credential string `json:"credential,omitzero"`
	Seen       Seen   `json:"seen,omitzero"`
	// Covered are the JSON pointers of the arguments that the tool's reviewed sentence summarises, one per line. The
	// question stated their count and SHA-256, and the person who accepted did not have to read them.
	Covered string `json:"covered,omitzero"`
	// Response is the SHA-256 in hex of the content of the result card that holds the answer to an agent's own
	// question.
	Response string `json:"response,omitzero"`
	// Event is the id of the event that asked the question the last time. The receipt's Shown is the digest of that
	// event.
	Event string `json:"event_id,omitzero"`
	// Signed is the signature of the person's passkey, of an accept that needed one.
	Signed SignedAccept `json:"signed,omitzero"`
}

// Seen says how the person who accepted saw the arguments.
type Seen string

// How they were seen.
const (
	// SeenShown: the event showed all of them.
	SeenShown Seen = "shown"
	// SeenRead: the person has read the rest separately, where they accepted.
	SeenRead Seen = "read"
	// SeenPart: neither; possible only if the effect can be undone and the risk is not high.
	SeenPart Seen = "part"
)

// CardsRequest asks for cards: one by its id, or those of a turn after a given one.
type CardsRequest struct {
	ID    string `json:"card_id,omitzero"`
	Turn  string `json:"turn_id,omitzero"`
	After string `json:"after,omitzero"`
}

// CardsAnswer is a page of cards, each in the form of [utp.EncodeCard].
type CardsAnswer struct {
	Cards []jsontext.Value `json:"cards,omitzero"`
	More  bool             `json:"more,omitzero"`
}

// ToolsRequest asks for tools: one by its name, or all after a given one.
type ToolsRequest struct {
	Tool  string `json:"tool_name,omitzero"`
	After string `json:"after,omitzero"`
}

// ToolsAnswer is a page of tools.
type ToolsAnswer struct {
	Tools []ToolDetail `json:"tools,omitzero"`
	More  bool         `json:"more,omitzero"`
}

// ToolDetail is a registered tool as an operator sees it.
type ToolDetail struct {
	utp.Definition

	Digest   string `json:"digest"`
	Reviewed bool   `json:"reviewed"`
	// EffectiveClass and EffectiveRisk are those in force now. Decision is the policy's decision about a call by an
	// unnamed agent.
	EffectiveClass utp.Class `json:"effective_class"`
	EffectiveRisk  utp.Risk  `json:"effective_risk"`
	Decision       string    `json:"decision"`
	// Enforcement is how strictly the gate controls its service: enforced, broker-only or advisory.
	Enforcement utp.Enforcement `json:"enforcement"`
	// ServiceConnected reports whether a service would receive a call of it now; nil if that is unknown.
	ServiceConnected *bool `json:"service_connected,omitzero"`
	// Seen is the definition that was reviewed last, if it is not the current one.
	Seen jsontext.Value `json:"reviewed_definition,omitzero"`
}

// Unserved reports that no service of the tool is known to be connected.
func (t ToolDetail) Unserved() bool { return t.ServiceConnected != nil && !*t.ServiceConnected }

// ReviewRequest is an operator's decision on the definition with this exact digest.
type ReviewRequest struct {
	Tool   string    `json:"tool_name"`
	Digest string    `json:"digest"`
	Class  utp.Class `json:"class"`
	Risk   utp.Risk  `json:"risk"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// RemoveRequest removes a tool from the registry. A service that offers it again registers it as unreviewed.
type RemoveRequest struct {
	Tool string `json:"tool_name"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// DeadRequest asks for dead messages: one by its id, or all after a given one.
type DeadRequest struct {
	ID    int64 `json:"id,omitzero"`
	After int64 `json:"after,omitzero"`
}

// DeadAnswer is a page of them.
type DeadAnswer struct {
	Dead []DeadDetail `json:"dead,omitzero"`
	More bool         `json:"more,omitzero"`
}

// DeadDetail is a dead message.
type DeadDetail struct {
	ID      int64               `json:"id"`
	Session string              `json:"session_id"`
	Call    string              `json:"tool_call_id,omitzero"`
	Tool    string              `json:"tool_name,omitzero"`
	Class   utp.Class           `json:"class,omitzero"`
	Subject string              `json:"subject"`
	Died    time.Time           `json:"died"`
	Reason  string              `json:"reason"`
	Header  map[string][]string `json:"header,omitzero"`  // only if a single message was requested
	Payload []byte              `json:"payload,omitzero"` // only if a single message was requested
}

// RetryRequest retries a dead message for Owner. A command is not sent again: its call is requested again, like any
// other.
type RetryRequest struct {
	ID    int64  `json:"id"`
	Owner string `json:"owner,omitzero"`
}

// RetryAnswer is the result: the turn of the new call, or that the message was sent again.
type RetryAnswer struct {
	EnqueueAnswer

	Sent bool `json:"sent,omitzero"`
}

// EraseRequest erases the content of turns that have ended: at most 64 named by turn_id or session_id, or all of a
// project, some with each request.
type EraseRequest struct {
	Turns   []string `json:"turns,omitzero"`
	Project string   `json:"project,omitzero"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// EraseAnswer counts the turns and blobs that were erased by this request. More reports that others remain. Open are
// the turns that were skipped because they have not ended, or are still sending their last message.
type EraseAnswer struct {
	Erased int      `json:"erased"`
	Blobs  int      `json:"blobs"`
	Open   []string `json:"open,omitzero"`
	More   bool     `json:"more,omitzero"`
}

// ExportRequest asks for the records of one turn after a cursor; an empty cursor means the beginning.
type ExportRequest struct {
	Turn   string `json:"turn_id"`
	Cursor string `json:"cursor,omitzero"`
}

// ExportAnswer is a part of a turn's records, one [Exported] each. An empty cursor means that it is the last part.
type ExportAnswer struct {
	Records []jsontext.Value `json:"records,omitzero"`
	Cursor  string           `json:"cursor,omitzero"`
	// Owner is whose turn it is. A caller who may not answer for them gets no reply tokens.
	Owner string `json:"owner,omitzero"`
}

// Exported is one line of an export: exactly one member is set.
type Exported struct {
	Begin   *ExportBegin   `json:"export,omitzero"`
	Turn    *TurnDetail    `json:"turn,omitzero"`
	Call    *CallDetail    `json:"call,omitzero"`
	Card    jsontext.Value `json:"card,omitzero"`
	Blob    *PutRequest    `json:"blob,omitzero"`
	Box     *BoxEntry      `json:"box,omitzero"`
	Event   *ExportEvent   `json:"event,omitzero"`
	Receipt *ReceiptDetail `json:"receipt,omitzero"`
	End     *ExportEnd     `json:"end,omitzero"`
}

// ExportVersion is the newest version of an export that this package knows. From version 2 on an export has boxes.
const ExportVersion = 2

// ExportBegin is the first line of an export.
type ExportBegin struct {
	Version int       `json:"version"`
	Project string    `json:"project,omitzero"`
	At      time.Time `json:"at"`
}

// ExportEnd is the last line: the number of lines before it, and their SHA-256 in hex, including line ends. An export
// without it is truncated.
type ExportEnd struct {
	Turns  int    `json:"turns"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256"`
}

// ExportOpen is what is needed to end the session of an unfinished turn wherever it is imported: the narrator's state
// of what was reported so far, and how its calls had ended.
type ExportOpen struct {
	Narration jsontext.Value `json:"narration,omitzero"`
	Tally     Tally          `json:"tally"`
}

// ExportEvent is an event with the data from which other languages are rendered.
type ExportEvent struct {
	Seq      int64          `json:"seq"`
	ID       string         `json:"event_id"`
	Type     string         `json:"type"`
	Body     jsontext.Value `json:"body"`
	Template string         `json:"template,omitzero"`
	Params   jsontext.Value `json:"params,omitzero"`
	At       time.Time      `json:"at"`
}

// ImportRequest imports records of one turn, in the order of the export. Receipts is the number of the first receipt
// among them, from 1. Last reports that no records of the turn follow. The same request may be repeated.
type ImportRequest struct {
	Turn     string           `json:"turn_id"`
	Records  []jsontext.Value `json:"records"`
	Receipts int              `json:"receipts,omitzero"`
	Last     bool             `json:"last,omitzero"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// ImportAnswer reports whether the ledger already had the turn as its own; then nothing is imported.
type ImportAnswer struct {
	Known bool `json:"known,omitzero"`
	// Added counts the records that are new here.
	Added int `json:"added"`
}
