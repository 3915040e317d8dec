package api

import (
	"time"
)

// AuditRequest asks for one part of the data that verifies the audit chain. Without a member, it asks for the chain's
// entries from the first on, page by page. Set at most one of Head, Standing and Calls.
type AuditRequest struct {
	// After is the entry after which the page begins. Entries are numbered from 1; a forged entry may have any number.
	After int64 `json:"after,omitzero"`
	// Head asks only for the newest entry, and for the receipts outside the chain.
	Head bool `json:"head,omitzero"`
	// Standing asks for whatever is in force or reviewed differently from what the chain says.
	Standing bool `json:"standing,omitzero"`
	// Calls asks for calls that the chain does not cover as it should: agreed to, answered or started without a
	// receipt; or with an effect, and started or ended without an entry.
	Calls bool `json:"calls,omitzero"`
	// AfterCall is the call after which the page begins.
	AfterCall string `json:"after_call,omitzero"`
}

// AuditAnswer is a page of the requested part.
type AuditAnswer struct {
	// Entries are the entries of the chain, in order.
	Entries []AuditEntry `json:"entries,omitzero"`
	// More reports that another page follows, which may be empty.
	More bool `json:"more,omitzero"`
	// Unchained is set with the head.
	Unchained AuditUnchained `json:"unchained,omitzero"`
	// Calls is set if calls were requested.
	Calls []AuditCall `json:"calls,omitzero"`
	// Standing is set if it was requested.
	Standing []AuditStanding `json:"standing,omitzero"`
}

// AuditEntry is one entry of the audit chain; package api/audit explains how it is computed.
type AuditEntry struct {
	// N is the entry's number: 1, 2, 3, … in the whole ledger.
	N int64 `json:"n"`
	// Kind is answer, act or forgotten.
	Kind string `json:"kind"`
	// At is when it was created, to the microsecond.
	At time.Time `json:"at"`
	// Of is the entry whose receipt or act was forgotten; only entries of the kind forgotten have it.
	Of int64 `json:"of,omitzero"`
	// Commitment is the commitment to an answer or an act; SHA-256 in hex.
	Commitment string `json:"commitment,omitzero"`
	// Link is the digest of this entry and of the previous link; SHA-256 in hex.
	Link string `json:"link"`
	// Receipt is the answer's receipt, while the ledger has it.
	Receipt *AuditReceipt `json:"receipt,omitzero"`
	// Evidence is what the ledger stores besides the receipt, if the receipt has terms.
	Evidence *AuditEvidence `json:"kept,omitzero"`
	// Act is the act, while the ledger has it.
	Act *AuditAct `json:"act,omitzero"`
	// Done is what the ledger stores about the act's call.
	Done *AuditDone `json:"done,omitzero"`
}

// The acts that have an entry in the audit chain.
const (
	ActStart   = "start"   // a call with an effect was started
	ActOutcome = "outcome" // such a call has ended, or its outcome is unknown
	ActLate    = "late"    // the service reported the outcome later; the subject is the card of that report
	// ActPermission: a standing permission was made, used by a call, or has ended; the subject is its number.
	ActPermission = "permission"
	// The acts of operators on the ledger.
	ActReview  = "review"  // a tool's definition was reviewed
	ActRemove  = "remove"  // a tool was removed
	ActErase   = "erase"   // content was erased before its time
	ActImport  = "import"  // a turn came from another ledger
	ActRestore = "restore" // the ledger was restored to an earlier time, or taken over from another data directory
	// The state that is in force outside the ledger, recorded when it is first seen, changes or disappears.
	ActPolicy     = "policy"
	ActToken      = "token"
	ActLogin      = "login"
	ActCredential = "credential"
	// ActProject: a project was added to the server, or removed; the subject is its name.
	ActProject = "project"
	// ActPasskey is a passkey that a person added, or that was removed.
	ActPasskey = "passkey"
	// ActAgent: the definition of an agent was recorded, or removed; the subject is its name.
	ActAgent = "agent"
	// ActOlder records how many items of a ledger that an older program wrote have no entry.
	ActOlder = "older"
)

// ActEnded is the detail of an act that ends what was in force.
const ActEnded = "ended"

// The subjects of [ActOlder]: receipts from before the chain, and starts from before it had entries of starts.
const OlderReceipts, OlderStarts = "receipts", "starts"

// AuditAct is everything that the commitment to an act is computed from.
type AuditAct struct {
	// Act is the kind of act: start, outcome, late, permission, review, remove, erase, import, restore, policy, token, login,
	// credential, project, passkey, agent or older.
	Act string `json:"act"`
	// At is when it happened, to the microsecond.
	At time.Time `json:"at"`
	// Session, Call and Fence identify the start that a start or an outcome belongs to.
	Session string `json:"session_id,omitzero"`
	Call    string `json:"tool_call_id,omitzero"`
	Fence   int    `json:"fence,omitzero"`
	// Subject is what any other act was about: the name of a tool, a token, a turn.
	Subject string `json:"subject,omitzero"`
	// Detail is the class of a started call, the status of an outcome, or the decision about the subject.
	Detail string `json:"detail,omitzero"`
	// Digest is a SHA-256 in hex: for a start, of the consent or of what policy allowed; for an outcome, of the result
	// card's content; for any other act, of the definition, the file or the row that it was about.
	Digest string `json:"digest,omitzero"`
	// Description is the SHA-256 in hex of a reviewed tool's description, which the definition's digest does not cover.
	Description string `json:"description,omitzero"`
	// By is who did it: the service that started the call, or the person; "" if unknown.
	By string `json:"by,omitzero"`
	// Salt is random, so that nobody can guess the content of the commitment.
	Salt string `json:"salt"`
}

// AuditDone is what the ledger stores about the call of a start or an outcome.
type AuditDone struct {
	// Turn is how much of its turn is stored.
	Turn AuditTurn `json:"turn"`
	// Class is the call's class.
	Class string `json:"class,omitzero"`
	// Consent is the digest of the consent to it, or of what policy allowed.
	Consent string `json:"consent,omitzero"`
	// Agreed reports that the receipt of a consent exists, and is compared with the call's arguments. Allowed is set
	// for a start without one: the digest that follows from the stored arguments, definition and rule.
	Agreed  bool   `json:"agreed,omitzero"`
	Allowed string `json:"allowed,omitzero"`
	// Fence is the fence of the call's last start.
	Fence int `json:"fence,omitzero"`
	// Granted reports that the start is stored.
	Granted bool `json:"granted,omitzero"`
	// Status is the status in the call's report.
	Status string `json:"status,omitzero"`
	// Result is the digest of the result card's content, which is deleted with the content of the turn; for a late
	// result, of that result's card.
	Result string `json:"result,omitzero"`
	// DocumentStatus is the status in the call's document, which people are shown.
	DocumentStatus string `json:"told,omitzero"`
}

// AuditEvidence is what the ledger stores about the subject of an answer. It is read and computed again for each
// request. All digests are SHA-256 in hex; an unreadable item has none.
type AuditEvidence struct {
	Turn AuditTurn `json:"turn"`
	// Arguments is the digest of the arguments in the call's card. Consented is the digest of the consent that follows
	// from them, from the turn and from the receipt's terms.
	Arguments string `json:"arguments,omitzero"`
	Consented string `json:"consented,omitzero"`
	// Shown is the digest of the event that showed them.
	Shown string `json:"shown,omitzero"`
	// Call is the consent's digest that the call stores, Definition the digest of its definition, and Consent the
	// digest of the consent that was given.
	Call       string `json:"call,omitzero"`
	Definition string `json:"definition,omitzero"`
	Consent    string `json:"consent,omitzero"`
	// Response is the digest of the card that answers an agent's question.
	Response string `json:"response,omitzero"`
	// Question reports that the question is stored.
	Question bool `json:"question,omitzero"`
	// Unstarted reports that the call counts as started, but its start is missing.
	Unstarted bool `json:"unstarted,omitzero"`
}

// AuditTurn is how much of a turn the ledger stores.
type AuditTurn string

// How much of a turn is stored.
const (
	AuditTurnWhole    AuditTurn = "whole"    // everything
	AuditTurnErased   AuditTurn = "erased"   // no content, but the rows of its calls, questions and consents
	AuditTurnImported AuditTurn = "imported" // from another ledger: no questions, consents and starts
	AuditTurnMissing  AuditTurn = "gone"     // nothing, although its receipts exist
)

// AuditCall is a call that the chain does not cover as it should.
type AuditCall struct {
	Call     string `json:"tool_call_id"`
	Turn     string `json:"turn_id,omitzero"`
	Question int    `json:"question,omitzero"`
	// Unreceipted reports that the receipt of an answer is missing. Unrecorded reports that the entry of a start or of
	// an outcome is missing.
	Unreceipted bool `json:"unreceipted,omitzero"`
	Unrecorded  bool `json:"unrecorded,omitzero"`
}

// AuditReceipt is everything that the commitment to an answer is computed from.
type AuditReceipt struct {
	ReceiptDetail

	Session string `json:"session_id"`
	Salt    string `json:"salt"`
}

// AuditUnchained counts the receipts without an entry in the chain.
type AuditUnchained struct {
	// Older counts those that are older than the chain.
	Older int64 `json:"older,omitzero"`
	// Later counts those that are newer: their entry is missing, or they never had one.
	Later int64 `json:"later,omitzero"`
	// Starts counts the starts of calls from before the chain had entries of starts.
	Starts int64 `json:"starts,omitzero"`
}

// AuditStanding is something that is in force or reviewed differently from what the chain says.
type AuditStanding struct {
	Kind    string `json:"kind"` // the kind of act that would record it
	Subject string `json:"subject"`
	// Found is what the ledger has, and Recorded what the chain says; "" if it has nothing.
	Found    string `json:"found,omitzero"`
	Recorded string `json:"recorded,omitzero"`
}
