package api

import (
	"time"
)

// AuditRequest asks for one part of what the audit chain is verified with: without anything for its entries from the
// first on, page by page. At most one of Head, Standing and Calls is set.
type AuditRequest struct {
	// After is the entry behind which the page begins. Entries have numbers from 1; one that was put in may have any.
	After int64 `json:"after,omitzero"`
	// Head asks for the newest entry only, and for what is beside the chain.
	Head bool `json:"head,omitzero"`
	// Standing asks for what is in force or reviewed otherwise than the chain says.
	Standing bool `json:"standing,omitzero"`
	// Calls asks for calls of which the chain says too little: agreed to, answered or started without a receipt; with
	// an effect, and started or ended without an entry.
	Calls bool `json:"calls,omitzero"`
	// AfterCall is the call behind which that page begins.
	AfterCall string `json:"after_call,omitzero"`
}

// AuditAnswer is a page of what was asked for.
type AuditAnswer struct {
	// Entries are those of the chain, in its order.
	Entries []AuditEntry `json:"entries,omitzero"`
	// More: another page follows, which may be empty.
	More bool `json:"more,omitzero"`
	// Unchained comes with the head.
	Unchained AuditUnchained `json:"unchained,omitzero"`
	// Calls come where they were asked for.
	Calls []AuditCall `json:"calls,omitzero"`
	// Standing comes where it was asked for.
	Standing []AuditStanding `json:"standing,omitzero"`
}

// AuditEntry is one entry of the audit chain; package api/audit says what makes it one.
type AuditEntry struct {
	// N is its number: 1, 2, 3, … in the whole ledger.
	N int64 `json:"n"`
	// Kind is answer, act or forgotten.
	Kind string `json:"kind"`
	// At is when it was made, to the microsecond.
	At time.Time `json:"at"`
	// Of is the entry whose receipt or act was forgotten, in an entry that says so.
	Of int64 `json:"of,omitzero"`
	// Commitment is that of an answer or an act; SHA-256 in hex.
	Commitment string `json:"commitment,omitzero"`
	// Link is the digest of this entry and of the link before it; SHA-256 in hex.
	Link string `json:"link"`
	// Receipt is the answer's, while the ledger has it.
	Receipt *AuditReceipt `json:"receipt,omitzero"`
	// Evidence is what the ledger keeps beside the receipt, where the receipt has terms.
	Evidence *AuditEvidence `json:"kept,omitzero"`
	// Act is what was done, while the ledger has it.
	Act *AuditAct `json:"act,omitzero"`
	// Done is what the ledger keeps of the act's call.
	Done *AuditDone `json:"done,omitzero"`
}

// The acts that have an entry in the audit chain.
const (
	ActStart   = "start"   // a call with an effect was started
	ActOutcome = "outcome" // such a call has ended, or nobody can tell how
	ActLate    = "late"    // its service told how it ended after all; the subject is the card of that
	// What operators do with the ledger.
	ActReview  = "review"  // a tool's definition was reviewed
	ActRemove  = "remove"  // a tool was taken out
	ActErase   = "erase"   // content was erased before its time
	ActImport  = "import"  // a turn came from another ledger
	ActRestore = "restore" // the ledger went back in time, or was taken over from another data directory
	// What is in force beside it: found when it is first seen, changes or is gone.
	ActPolicy     = "policy"
	ActToken      = "token"
	ActLogin      = "login"
	ActCredential = "credential"
	// ActOlder says how much of an older program's ledger no entry stands for.
	ActOlder = "older"
)

// The subjects of [ActOlder]: receipts from before the chain, starts from before it had entries of starts.
const OlderReceipts, OlderStarts = "receipts", "starts"

// AuditAct is all that the commitment of an act is made of.
type AuditAct struct {
	// Act is what kind of act: start, outcome, late, review, remove, erase, import, restore, policy, token, login,
	// credential or older.
	Act string `json:"act"`
	// At is when it was done, to the microsecond.
	At time.Time `json:"at"`
	// Session, Call and Fence name the start that a start or an outcome is of.
	Session string `json:"session_id,omitzero"`
	Call    string `json:"tool_call_id,omitzero"`
	Fence   int    `json:"fence,omitzero"`
	// Subject is what another act was about: the name of a tool, a token, a turn.
	Subject string `json:"subject,omitzero"`
	// Detail is the class of what was started, the status of an outcome, what was decided about the subject.
	Detail string `json:"detail,omitzero"`
	// Digest is a SHA-256 in hex: of the consent to a start, or of what policy allowed, of the result card's
	// content of an outcome, of the definition, the file or the row that another act was about.
	Digest string `json:"digest,omitzero"`
	// Description is the SHA-256 in hex of a reviewed tool's description, of which the definition's digest is not.
	Description string `json:"description,omitzero"`
	// By is who did it: the service that started, the person; "" where nobody can tell.
	By string `json:"by,omitzero"`
	// Salt is random, and makes the commitment one that nobody can guess.
	Salt string `json:"salt"`
}

// AuditDone is what the ledger keeps of the call of a start or an outcome.
type AuditDone struct {
	// Turn is how much of its turn is kept.
	Turn AuditTurn `json:"turn"`
	// Class is that of the call.
	Class string `json:"class,omitzero"`
	// Consent is the digest of the consent to it, or of what policy allowed.
	Consent string `json:"consent,omitzero"`
	// Agreed: the receipt of a yes to it is there, and is held against its arguments. Allowed is, of a start without
	// one, the digest that follows from the arguments, the definition and the rule, as they are kept now.
	Agreed  bool   `json:"agreed,omitzero"`
	Allowed string `json:"allowed,omitzero"`
	// Fence is that of its last start.
	Fence int `json:"fence,omitzero"`
	// Granted: the start is there.
	Granted bool `json:"granted,omitzero"`
	// Status is that of its report.
	Status string `json:"status,omitzero"`
	// Result is the digest of the result card's content, which goes with the content of the turn; of a late result,
	// that of its own card.
	Result string `json:"result,omitzero"`
	// DocumentStatus is the status of the call as its own document, which people are shown, has it.
	DocumentStatus string `json:"told,omitzero"`
}

// AuditEvidence is what the ledger keeps of what an answer was about, read and computed again whenever it
// is asked for. All digests are SHA-256 in hex; what cannot be read has none.
type AuditEvidence struct {
	Turn AuditTurn `json:"turn"`
	// Arguments is the digest of the arguments that the card of the call holds, and Consented that of
	// the consent that follows from them, from the turn and from the receipt's terms.
	Arguments string `json:"arguments,omitzero"`
	Consented string `json:"consented,omitzero"`
	// Shown is the digest of the event that showed them.
	Shown string `json:"shown,omitzero"`
	// Call is the consent's digest that the call keeps, Definition that of its definition, and Consent
	// that of the consent that was given.
	Call       string `json:"call,omitzero"`
	Definition string `json:"definition,omitzero"`
	Consent    string `json:"consent,omitzero"`
	// Response is the digest of the card with the answer to a question of the agent's own.
	Response string `json:"response,omitzero"`
	// Question: the question is there.
	Question bool `json:"question,omitzero"`
	// Unstarted: the call counts as started, and the start is not there.
	Unstarted bool `json:"unstarted,omitzero"`
}

// AuditTurn says how much of a turn the ledger keeps.
type AuditTurn string

// How much is kept.
const (
	AuditTurnWhole    AuditTurn = "whole"    // all of it
	AuditTurnErased   AuditTurn = "erased"   // no content, but the rows of its calls, questions and consents
	AuditTurnImported AuditTurn = "imported" // from another ledger: no questions, consents and starts
	AuditTurnMissing  AuditTurn = "gone"     // nothing, although its receipts are there
)

// AuditCall is a call of which the chain does not say what it should.
type AuditCall struct {
	Call     string `json:"tool_call_id"`
	Turn     string `json:"turn_id,omitzero"`
	Question int    `json:"question,omitzero"`
	// Unreceipted: the receipt of an answer is missing. Unrecorded: the entry of a start or of an outcome is.
	Unreceipted bool `json:"unreceipted,omitzero"`
	Unrecorded  bool `json:"unrecorded,omitzero"`
}

// AuditReceipt is all that the commitment of an answer is made of.
type AuditReceipt struct {
	ReceiptDetail

	Session string `json:"session_id"`
	Salt    string `json:"salt"`
}

// AuditUnchained counts the receipts that no entry of the chain stands for.
type AuditUnchained struct {
	// Older were there before the chain was.
	Older int64 `json:"older,omitzero"`
	// Later were not: an entry of theirs is gone, or they never had one.
	Later int64 `json:"later,omitzero"`
	// Starts are those of calls from before the chain had entries of starts.
	Starts int64 `json:"starts,omitzero"`
}

// AuditStanding is something that is in force or reviewed otherwise than the chain says.
type AuditStanding struct {
	Kind    string `json:"kind"` // the act that it would have
	Subject string `json:"subject"`
	// Found is what the ledger has of it, and Recorded what the chain says; "" where either has nothing.
	Found    string `json:"found,omitzero"`
	Recorded string `json:"recorded,omitzero"`
}
