package passkey

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
)

// The domains keep one kind of signature from standing for another.
const (
	acceptDomain   = "earshot accept v1"
	registerDomain = "earshot passkey register v1"
	addDomain      = "earshot passkey add v1"
	removeDomain   = "earshot passkey remove v1"
	keyDomain      = "earshot passkey v1"
)

// Accept is everything that a signature under an accept is bound to. The consent's digest names the project, the session,
// the call, its arguments, its definition and the rule; a question about an outcome has none.
type Accept struct {
	Consent, Session, Call string
	Question               int
	// Token names this asking of the question, and Generation the run of the runtime: a ledger that is put back to a time
	// when the question was open does not take the old signature again.
	Token, Generation string
}

// Challenge returns what a passkey signs: a SHA-256 in base64url.
func (a Accept) Challenge() string {
	return encode(sum(acceptDomain, a.Consent, a.Session, a.Call, strconv.Itoa(a.Question), a.Token, a.Generation))
}

// Change is everything that a signature under a change of a person's passkeys is bound to.
type Change struct {
	Person, Site string
	// Count is how many changes of passkeys the ledger had before: no change is made twice with one signature.
	Count      int64
	Generation string
}

// Registering returns what a browser gets for a new passkey.
func (c Change) Registering() string { return encode(c.sum(registerDomain, "")) }

// Adding returns what an existing passkey signs, so that another one is added: exactly this key.
func (c Change) Adding(k Key) string { return encode(c.sum(addDomain, k.Digest())) }

// Removing returns what an existing passkey signs, so that the one with this id is removed.
func (c Change) Removing(id string) string { return encode(c.sum(removeDomain, id)) }

func (c Change) sum(domain, what string) []byte {
	return sum(domain, c.Person, c.Site, what, strconv.FormatInt(c.Count, 10), c.Generation)
}

// Key is the public half of a passkey.
type Key struct {
	ID     string // of its credential, in base64url
	Person string // whose it is
	Site   string // the host name of the page that it is for (WebAuthn, "RP ID")
	Public string // SubjectPublicKeyInfo, in base64url
}

// Digest returns the SHA-256, in hex, by which the audit chain names the key.
func (k Key) Digest() string {
	return hex.EncodeToString(sum(keyDomain, k.ID, k.Person, k.Site, k.Public))
}

// sum returns the SHA-256 of texts, each written as its length in bytes, a colon, the text and a comma, so that no two lists
// have the same digest.
func sum(parts ...string) []byte {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write([]byte(strconv.Itoa(len(part)) + ":" + part + ",")) // a hash never fails
	}
	return h.Sum(nil)
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
