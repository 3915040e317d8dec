package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
)

// The kinds of entries.
const (
	// Answer stands for a receipt.
	Answer = "answer"
	// Act stands for something that was done: a start, an outcome, what an operator has changed.
	Act = "act"
	// Forgotten says that retention has dropped the receipt of an answer, or an act.
	Forgotten = "forgotten"
)

// LinkDomain begins every text that a link is the digest of, and LinkBreak stands between its
// parts, none of which has one in it. They are here for ledgers that put the text together in
// their own language; [Link] says in which order.
const (
	LinkDomain = "earshot-audit-link-1"
	LinkBreak  = " "
)

// receiptDomain and actDomain begin every text that a commitment is the digest of.
const receiptDomain, actDomain = "earshot-audit-receipt-1", "earshot-audit-act-1"

// Link is the link of an entry behind one with the link previous; "" is before the first. It
// is the SHA-256 in hex of the domain, previous, n, kind, at (microseconds since 1970), of and
// commitment, with a break between each two.
func Link(previous string, e api.AuditEntry) string {
	return digest(strings.Join([]string{
		LinkDomain, previous, strconv.FormatInt(e.N, 10), e.Kind, strconv.FormatInt(e.At.UnixMicro(), 10), strconv.FormatInt(e.Of, 10), e.Commitment,
	}, LinkBreak))
}

// Commitment is the SHA-256 in hex of a receipt with its salt: of each part its length in
// bytes, a colon, the part and a comma, so that no two receipts have the same text. Of the terms
// each that is there is a part of its own, with its name and an equals sign before it: a receipt
// without terms has the commitment that it had before there were any. What a ledger cannot keep
// in a text counts as what it keeps instead.
func Commitment(r api.AuditReceipt) string {
	return commitment(receiptDomain, slices.Concat([]string{
		r.Salt, r.Session, r.Call, strconv.Itoa(r.Question), r.Decision, r.By, r.Surface,
		strconv.FormatInt(r.At.UnixMicro(), 10), r.Shown, r.Language,
	}, terms(r.Terms)))
}

// ActCommitment is the SHA-256 in hex of an act with its salt, in the same form. A description is a part like a term.
func ActCommitment(a api.AuditAct) string {
	parts := []string{
		a.Salt, a.Act, strconv.FormatInt(a.At.UnixMicro(), 10), a.Session, a.Call, strconv.Itoa(a.Fence), a.Subject, a.Detail, a.Digest, a.By,
	}
	if a.Description != "" {
		parts = append(parts, "description="+a.Description)
	}
	return commitment(actDomain, parts)
}

func commitment(domain string, parts []string) string {
	var text strings.Builder
	text.WriteString(domain)
	for _, part := range parts {
		part = storable(part)
		text.WriteString(strconv.Itoa(len(part)) + ":" + part + ",")
	}
	return digest(text.String())
}

// terms are the terms that are there, in a fixed order.
func terms(t api.ReceiptTerms) []string {
	var parts []string
	for _, term := range [][2]string{
		{"consent", t.Consent},
		{"arguments", t.Arguments},
		{"definition", t.Definition},
		{"policy", t.Policy},
		{"credential", t.Credential},
		{"seen", string(t.Seen)},
		{"covered", t.Covered},
		{"response", t.Response},
		{"event", t.Event},
	} {
		if term[1] != "" {
			parts = append(parts, term[0]+"="+term[1])
		}
	}
	return parts
}

// Storable are terms as every ledger can keep them: one that keeps them as JSON does so with these.
func Storable(t api.ReceiptTerms) api.ReceiptTerms {
	return api.ReceiptTerms{
		Consent: storable(t.Consent), Arguments: storable(t.Arguments), Definition: storable(t.Definition), Policy: storable(t.Policy),
		Credential: storable(t.Credential), Seen: api.Seen(storable(string(t.Seen))), Covered: storable(t.Covered), Response: storable(t.Response),
		Event: storable(t.Event),
	}
}

// StorableAct is an act as every ledger can keep it as JSON; its time is to the microsecond.
func StorableAct(a api.AuditAct) api.AuditAct {
	return api.AuditAct{
		Act: storable(a.Act), At: time.UnixMicro(a.At.UnixMicro()).UTC(), Session: storable(a.Session), Call: storable(a.Call), Fence: a.Fence,
		Subject: storable(a.Subject), Detail: storable(a.Detail), Digest: storable(a.Digest), Description: storable(a.Description), By: storable(a.By),
		Salt: storable(a.Salt),
	}
}

// storable is a text as every ledger can keep it: one of them keeps neither broken UTF-8 nor
// NUL, and what it answers instead has to fit as well.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\x00", string(utf8.RuneError))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
