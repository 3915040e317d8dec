package utp

import "time"

// AuditRequest asks for the entries of the audit chain after one of them, as many as a message
// holds; with Head only for the newest one, and for what is beside the chain. With Calls it asks for
// calls instead: those after AfterCall that a yes was used for, or that were started although they
// cannot be undone, and that no receipt of a yes stands for.
type AuditRequest struct {
	After     int64  `json:"after,omitzero"`
	Head      bool   `json:"head,omitzero"`
	Calls     bool   `json:"calls,omitzero"`
	AfterCall string `json:"after_call,omitzero"`
}

// AuditAnswer is a page of the chain, in its order.
type AuditAnswer struct {
	Entries []AuditEntry `json:"entries,omitzero"`
	More    bool         `json:"more,omitzero"`
	// Unchained is told with the head.
	Unchained AuditUnchained `json:"unchained,omitzero"`
	// Calls are told where they are asked for.
	Calls []AuditCall `json:"calls,omitzero"`
}

// AuditEntry is one entry of the audit chain. What makes it one is in package utp/audit.
type AuditEntry struct {
	N    int64     `json:"n"` // 1, 2, 3, … in the whole ledger
	Kind string    `json:"kind"`
	At   time.Time `json:"at"` // to the microsecond
	// Of is the entry of the answer whose receipt was forgotten, in an entry that says so.
	Of         int64  `json:"of,omitzero"`
	Commitment string `json:"commitment,omitzero"` // of an answer; SHA-256 in hex
	Link       string `json:"link"`                // SHA-256 in hex
	// Receipt is the answer's, while the ledger has it.
	Receipt *AuditReceipt `json:"receipt,omitzero"`
	// Kept is what the ledger keeps beside the receipt, where the receipt has terms.
	Kept *AuditKept `json:"kept,omitzero"`
}

// AuditKept is what the ledger keeps of what an answer was about, read and computed anew whenever it
// is asked for. All digests are SHA-256 in hex; what cannot be read has none.
type AuditKept struct {
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
	AuditTurnGone     AuditTurn = "gone"     // nothing, although its receipts are there
)

// AuditCall is a call that no receipt of a yes stands for.
type AuditCall struct {
	Call     string `json:"tool_call_id"`
	Turn     string `json:"turn_id,omitzero"`
	Question int    `json:"question,omitzero"`
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
}
