package store

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/passkey"
)

// Passkey is a registered passkey of a person.
type Passkey struct {
	// ID is the id of its credential, in base64url, and Public its public key, as SubjectPublicKeyInfo in base64url.
	ID, Public string
	// Person is whose it is, Name what they call it, and Site the host name of the page that it is for.
	Person, Name, Site string
	// Counter is what it counted at its last signature; 0 if it does not count.
	Counter uint32
	Added   time.Time
	// Used is when it last signed an accept; zero if it never has.
	Used time.Time
}

// PasskeyUse is a signature of a passkey.
type PasskeyUse struct {
	ID      string
	Counter uint32
	At      time.Time
}

// Key returns its public half.
func (p Passkey) Key() passkey.Key {
	return passkey.Key{ID: p.ID, Person: p.Person, Site: p.Site, Public: p.Public}
}

// Detail returns it in the form that people are shown.
func (p Passkey) Detail() api.Passkey {
	return api.Passkey{ID: p.ID, Person: p.Person, Name: p.Name, Site: p.Site, Added: p.Added, Used: p.Used}
}

// Describe says what it is, in the audit chain.
func (p Passkey) Describe() string { return p.Name + ", for " + p.Site }
