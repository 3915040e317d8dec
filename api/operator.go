package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// OperatorAgent is the agent of the turns that carry out a single call for an operator.
const OperatorAgent = "operator"

// OperatorArgs are the arguments of a turn of the [OperatorAgent].
type OperatorArgs struct {
	Tool string         `json:"tool"`
	Args jsontext.Value `json:"args"`
}

// TurnRequest asks for one turn, named by its turn_id or its session_id, with its calls after
// one of them, as many as a message holds.
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
	Name    string    `json:"name,omitzero"` // what people call the session
	Owner   string    `json:"owner"`
	Status  string    `json:"status"`
	Created time.Time `json:"created"`
	// Erased: its content is gone, by its age or by an operator's word.
	Erased bool `json:"erased,omitzero"`
	// Imported is when it came from another ledger.
	Imported time.Time      `json:"imported,omitzero"`
	Request  string         `json:"request,omitzero"`
	Args     jsontext.Value `json:"args,omitzero"`
	Step     int            `json:"step"`
	Applied  int            `json:"applied"`
	End      *SessionEnd    `json:"end,omitzero"`
	Message  string         `json:"message,omitzero"`
	// Deliverable is the card that holds the result's fields, where there are any.
	Deliverable string `json:"deliverable_card_id,omitzero"`
	// Open is set in an export of a turn that had not ended.
	Open  *ExportOpen  `json:"open,omitzero"`
	Calls []CallDetail `json:"calls,omitzero"`
	// Receipts are all of the turn's, on the first page.
	Receipts []ReceiptDetail `json:"receipts,omitzero"`
	More     bool            `json:"more,omitzero"`
}

// CallDetail is one call of a turn. Of an erased one the digests stay.
type CallDetail struct {
	ID         string    `json:"tool_call_id"`
	Key        string    `json:"key,omitzero"`
	Step       string    `json:"step_id,omitzero"`
	Number     int       `json:"step,omitzero"`
	Tool       string    `json:"tool_name"`
	Kind       string    `json:"kind,omitzero"` // what it is, where it is not a tool's call
	Target     string    `json:"target,omitzero"`
	Definition string    `json:"definition,omitzero"`
	Class      utp.Class `json:"class"`
	Risk       utp.Risk  `json:"risk"`
	Decision   string    `json:"decision,omitzero"`
	State      string    `json:"state"`
	Comment    string    `json:"says,omitzero"`
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

// ReceiptDetail is what was answered, by whom, on what was shown.
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

// ReceiptTerms are what an answer was bound to. What does not apply to a question is empty: the agent's
// own questions have only the event, and only a yes says how its arguments were seen.
type ReceiptTerms struct {
	// Consent is the digest that a consent to the call is bound to, see [Consented]: SHA-256 in hex.
	Consent string `json:"consent,omitzero"`
	// Arguments is the SHA-256 in hex of the call's arguments in their canonical form.
	Arguments string `json:"arguments,omitzero"`
	// Definition is the digest of the tool's definition, Policy the rule that applied.
	Definition string `json:"definition,omitzero"`
	Policy     string `json:"policy,omitzero"`
	// Credential is the id of the token, grant or page session that the answer came with; never the
	// secret itself.
	Credential string `json:"credential,omitzero"`
	Seen       Seen   `json:"seen,omitzero"`
	// Covered are the JSON pointers of the arguments that the reviewed sentence of the tool stands for, one
	// a line: they were stated by count and SHA-256, and the person who accepted did not have to read them.
	Covered string `json:"covered,omitzero"`
	// Response is the SHA-256 in hex of the content of the result card that holds the answer to a question of the
	// agent's own.
	Response string `json:"response,omitzero"`
	// Event is the id of the event that put the question the last time: the one that Shown of the
	// receipt is the digest of.
	Event string `json:"event_id,omitzero"`
}

// Seen says how somebody who accepted saw the arguments.
type Seen string

// How they were seen.
const (
	// SeenShown: the event showed all of them.
	SeenShown Seen = "shown"
	// SeenRead: the person has read the rest apart from the event, where they accepted.
	SeenRead Seen = "read"
	// SeenPart: neither; only what can be undone, and is of no high risk, is accepted so.
	SeenPart Seen = "part"
)

// CardsRequest asks for cards: one by its id, or those of a turn after one of them.
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

// ToolsRequest asks for tools: one by its name, or all after one of them.
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
	// EffectiveClass and EffectiveRisk are those that count now, Decision what becomes of a call
	// by the policy where no agent is named.
	EffectiveClass utp.Class `json:"effective_class"`
	EffectiveRisk  utp.Risk  `json:"effective_risk"`
	Decision       string    `json:"decision"`
	// Enforcement is how far its service is held to the gate: enforced, broker-only, advisory.
	Enforcement utp.Enforcement `json:"enforcement"`
	// ServiceConnected is whether a service would hear a call of it now; nil where that is not
	// known.
	ServiceConnected *bool `json:"service_connected,omitzero"`
	// Seen is the definition that was reviewed last, where it is not the present one.
	Seen jsontext.Value `json:"reviewed_definition,omitzero"`
}

// Unserved reports that no service of the tool is connected, as far as that is known.
func (t ToolDetail) Unserved() bool { return t.ServiceConnected != nil && !*t.ServiceConnected }

// ReviewRequest is an operator's word on the definition with this very digest.
type ReviewRequest struct {
	Tool   string    `json:"tool_name"`
	Digest string    `json:"digest"`
	Class  utp.Class `json:"class"`
	Risk   utp.Risk  `json:"risk"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// RemoveRequest takes a tool out of the registry. A service that offers it again registers it
// as one that nobody has reviewed.
type RemoveRequest struct {
	Tool string `json:"tool_name"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// DeadRequest asks for messages that were put aside: one by its id, or all after one of them.
type DeadRequest struct {
	ID    int64 `json:"id,omitzero"`
	After int64 `json:"after,omitzero"`
}

// DeadAnswer is a page of them.
type DeadAnswer struct {
	Dead []DeadDetail `json:"dead,omitzero"`
	More bool         `json:"more,omitzero"`
}

// DeadDetail is a message that was put aside.
type DeadDetail struct {
	ID      int64               `json:"id"`
	Session string              `json:"session_id"`
	Call    string              `json:"tool_call_id,omitzero"`
	Tool    string              `json:"tool_name,omitzero"`
	Class   utp.Class           `json:"class,omitzero"`
	Subject string              `json:"subject"`
	Died    time.Time           `json:"died"`
	Reason  string              `json:"reason"`
	Header  map[string][]string `json:"header,omitzero"`  // where one is asked for
	Payload []byte              `json:"payload,omitzero"` // where one is asked for
}

// RetryRequest tries a dead message again, for Owner. A command is not sent again: its call is
// asked for again, as any other is.
type RetryRequest struct {
	ID    int64  `json:"id"`
	Owner string `json:"owner,omitzero"`
}

// RetryAnswer says what became of it: the turn of the new call, or that the message was sent
// again.
type RetryAnswer struct {
	EnqueueAnswer

	Sent bool `json:"sent,omitzero"`
}

// EraseRequest erases the content of turns that have ended: those named, by turn_id or
// session_id and at most 64, or all of a project, a part of them with each request.
type EraseRequest struct {
	Turns   []string `json:"turns,omitzero"`
	Project string   `json:"project,omitzero"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// EraseAnswer says how many turns were erased now, and how many blobs; More that there are
// others. Open are those that have not ended, or are just
// sending their last message, and were left alone.
type EraseAnswer struct {
	Erased int      `json:"erased"`
	Blobs  int      `json:"blobs"`
	Open   []string `json:"open,omitzero"`
	More   bool     `json:"more,omitzero"`
}

// ExportRequest asks for the records of one turn behind a cursor; the empty one is the
// beginning.
type ExportRequest struct {
	Turn   string `json:"turn_id"`
	Cursor string `json:"cursor,omitzero"`
}

// ExportAnswer is a part of a turn's records, one [Exported] each. The empty cursor says that
// it is the last.
type ExportAnswer struct {
	Records []jsontext.Value `json:"records,omitzero"`
	Cursor  string           `json:"cursor,omitzero"`
	// Owner is whose turn it is: who may not answer for them gets no reply token.
	Owner string `json:"owner,omitzero"`
}

// Exported is one line of an export: exactly one member is set.
type Exported struct {
	Begin   *ExportBegin   `json:"export,omitzero"`
	Turn    *TurnDetail    `json:"turn,omitzero"`
	Call    *CallDetail    `json:"call,omitzero"`
	Card    jsontext.Value `json:"card,omitzero"`
	Blob    *PutRequest    `json:"blob,omitzero"`
	Event   *ExportEvent   `json:"event,omitzero"`
	Receipt *ReceiptDetail `json:"receipt,omitzero"`
	End     *ExportEnd     `json:"end,omitzero"`
}

// ExportVersion is the newest form of an export that this package knows.
const ExportVersion = 1

// ExportBegin is the first line of an export.
type ExportBegin struct {
	Version int       `json:"version"`
	Project string    `json:"project,omitzero"`
	At      time.Time `json:"at"`
}

// ExportEnd is the last line: how many lines come before it, and their SHA-256 in hex, line
// ends included. Without it an export is cut off.
type ExportEnd struct {
	Turns  int    `json:"turns"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256"`
}

// ExportOpen is what gives the session of a turn that had not ended its one end, wherever
// the turn is imported: what was told so far, as its narrator keeps it, and how its calls had
// ended.
type ExportOpen struct {
	Narration jsontext.Value `json:"narration,omitzero"`
	Tally     Tally          `json:"tally"`
}

// ExportEvent is an event with what other languages are rendered from.
type ExportEvent struct {
	Seq      int64          `json:"seq"`
	ID       string         `json:"event_id"`
	Type     string         `json:"type"`
	Body     jsontext.Value `json:"body"`
	Template string         `json:"template,omitzero"`
	Params   jsontext.Value `json:"params,omitzero"`
	At       time.Time      `json:"at"`
}

// ImportRequest brings records of one turn in, in the order of the export. Receipts is the
// number of the first receipt among them, from 1; Last says that nothing of the turn comes
// after them. The same may come twice.
type ImportRequest struct {
	Turn     string           `json:"turn_id"`
	Records  []jsontext.Value `json:"records"`
	Receipts int              `json:"receipts,omitzero"`
	Last     bool             `json:"last,omitzero"`
	// By is the operator, as the caller has authenticated them.
	By string `json:"by,omitzero"`
}

// ImportAnswer says whether the ledger had the turn before as one of its own; then nothing of
// it is taken.
type ImportAnswer struct {
	Known bool `json:"known,omitzero"`
	// Added is how many of the records were not here before.
	Added int `json:"added"`
}
