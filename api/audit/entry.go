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
	// Act stands for something that was done: a start, an outcome, or a change by an operator.
	Act = "act"
	// Forgotten records that retention has deleted the receipt of an answer, or an act.
	Forgotten = "forgotten"
)

// LinkDomain begins every text that a link is the digest of, and LinkBreak separates its parts, which never contain
// one. They are exported for ledgers that assemble the text in another language; [Link] defines the order.
const (
	LinkDomain = "earshot-audit-link-1"
	LinkBreak  = " "
)

// receiptDomain and actDomain begin every text that a commitment is the digest of.
const receiptDomain, actDomain = "earshot-audit-receipt-1", "earshot-audit-act-1"

// Link returns the link of an entry that follows an entry with the link previous, which is "" for the first. It is the
// SHA-256 in hex of the domain, previous, n, kind, at (microseconds since 1970), of and commitment, separated by
// [LinkBreak].
func Link(previous string, e api.AuditEntry) string {
	return digest(strings.Join([]string{
		LinkDomain, previous, strconv.FormatInt(e.N, 10), e.Kind, strconv.FormatInt(e.At.UnixMicro(), 10), strconv.FormatInt(e.Of, 10), e.Commitment,
	}, LinkBreak))
}

// Commitment returns the SHA-256 in hex of a receipt with its salt. Each part is written as its length in bytes, a
// colon, the part and a comma, so that no two receipts have the same text. Each term that is set is a part, prefixed
// with its name and an equals sign. A receipt without terms therefore has the same commitment as before terms existed.
// Text that a ledger cannot store counts as what it stores instead.
func Commitment(r api.AuditReceipt) string {
	return commitment(receiptDomain, slices.Concat([]string{
		r.Salt, r.Session, r.Call, strconv.Itoa(r.Question), r.Decision, r.By, r.Surface,
		strconv.FormatInt(r.At.UnixMicro(), 10), r.Shown, r.Language,
	}, terms(r.Terms)))
}

// ActCommitment returns the SHA-256 in hex of an act with its salt, in the same form. A description is a part like a
// term.
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

// terms returns the terms that are set, in a fixed order.
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
		{"signed", signed(t.Signed)},
	} {
		if term[1] != "" {
			parts = append(parts, term[0]+"="+term[1])
		}
	}
	return parts
}

// Storable returns terms in a form that every ledger can store, as JSON too. What is signed has been verified, and so is
// storable as it is.
func Storable(t api.ReceiptTerms) api.ReceiptTerms {
	return api.ReceiptTerms{
		Consent: storable(t.Consent), Arguments: storable(t.Arguments), Definition: storable(t.Definition), Policy: storable(t.Policy),
		Credential: storable(t.Credential), Seen: api.Seen(storable(string(t.Seen))), Covered: storable(t.Covered), Response: storable(t.Response),
		Event: storable(t.Event), Signed: t.Signed,
	}
}

// signed returns the signature of a passkey as one term; "" if there is none.
func signed(s api.SignedAccept) string {
	if s == (api.SignedAccept{}) {
		return ""
	}
	return strings.Join([]string{s.Passkey, s.Authenticator, s.Client, s.Signature, s.Key, s.Site, s.Token, s.Generation}, "\n")
}

// StorableAct returns an act in a form that every ledger can store as JSON, with its time in microseconds.
func StorableAct(a api.AuditAct) api.AuditAct {
	return api.AuditAct{
		Act: storable(a.Act), At: time.UnixMicro(a.At.UnixMicro()).UTC(), Session: storable(a.Session), Call: storable(a.Call), Fence: a.Fence,
		Subject: storable(a.Subject), Detail: storable(a.Detail), Digest: storable(a.Digest), Description: storable(a.Description), By: storable(a.By),
		Salt: storable(a.Salt),
	}
}

// storable returns a text that every ledger can store: one of them stores neither invalid UTF-8 nor NUL, and the
// replacement has to be the same everywhere.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\x00", string(utf8.RuneError))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
