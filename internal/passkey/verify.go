package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// maxPart is the most bytes of each part of an assertion.
const maxPart = 8 << 10

// Error says why an assertion does not count, in words for people. It is final: the same assertion fails again.
type Error struct {
	Message string

	why legible.Sentence
}

func (e *Error) Error() string { return "passkey: " + e.Message }

// Plain returns the message for a person.
func (e *Error) Plain() string { return e.Message }

// Reason returns why an assertion does not count, as a part of a sentence.
func Reason(err error) string {
	if e, is := errors.AsType[*Error](err); is {
		return e.Message
	}
	return err.Error()
}

// Why is [Reason] apart from its values.
func Why(err error) legible.Sentence {
	if e, is := errors.AsType[*Error](err); is && e.why.Form != "" {
		return e.why
	}
	return legible.NewSentence(Reason(err))
}

func refuse(form string, values ...any) error {
	why := legible.NewSentence(form, values...)
	return &Error{Message: why.String(), why: why}
}

// Expected is what an assertion has to be about.
type Expected struct {
	Challenge string // in base64url
	Key       Key
	// Origin is the page's origin, such as https://earshot.example.org. "" takes every origin of the key's site: someone who
	// verifies later does not know the port of then.
	Origin string
}

// Verify verifies an assertion, and returns the passkey's counter of signatures. Errors: [*Error].
func Verify(a api.Assertion, e Expected) (counter uint32, err error) {
	if a.Passkey != e.Key.ID {
		return 0, refuse("it was signed by another passkey")
	}
	client, err := decode(legible.NewSentence("the browser's data"), a.Client)
	if err != nil {
		return 0, err
	}
	data, err := decode(legible.NewSentence("the authenticator's data"), a.Authenticator)
	if err != nil {
		return 0, err
	}
	signature, err := decode(legible.NewSentence("the signature"), a.Signature)
	if err != nil {
		return 0, err
	}
	if err := checkClient(client, "webauthn.get", e); err != nil {
		return 0, err
	}
	if counter, err = checkAuthenticator(data, e.Key.Site); err != nil {
		return 0, err
	}
	return counter, CheckSignature(e.Key.Public, data, client, signature)
}

// CheckRegistration checks what is said of a new passkey beside its key: that a browser made it for the challenge, on the
// page, and that a verified person was there. It returns the passkey's counter. Errors: [*Error].
func CheckRegistration(client, authenticator []byte, e Expected) (counter uint32, err error) {
	if err := checkClient(client, "webauthn.create", e); err != nil {
		return 0, err
	}
	return checkAuthenticator(authenticator, e.Key.Site)
}

// CheckCounter refuses a counter that did not move on: then the passkey was copied. A passkey that does not count, as one
// that is synchronised between devices, always says 0.
func CheckCounter(last, now uint32) error {
	if last == 0 && now == 0 || now > last {
		return nil
	}
	return refuse("the passkey's counter is %d, and was %d before: the passkey may have been copied", now, last)
}

func decode(what legible.Sentence, text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) == 0 || len(raw) > maxPart || strings.ContainsAny(text, "\r\n") {
		return nil, refuse("%s cannot be read: expected base64url without padding, of 1 byte to %d", what, maxPart)
	}
	return raw, nil
}

// checkClient checks what the browser says that it was asked for, and where.
func checkClient(raw []byte, kind string, e Expected) error {
	var client struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"` //nolint:tagliatelle // WebAuthn's name
		TopOrigin   string `json:"topOrigin"`   //nolint:tagliatelle // the same
	}
	if err := json.Unmarshal(raw, &client); err != nil {
		return refuse("the browser's data is not JSON of the form that WebAuthn has")
	}
	switch {
	case client.Type != kind:
		return refuse("it was made for %s, and not to sign", fmt.Sprintf("%.32q", client.Type))
	case client.Challenge != e.Challenge:
		return refuse("it was signed for another question, or for this one as it was before")
	case e.Origin != "" && client.Origin != e.Origin, Site(client.Origin) != e.Key.Site:
		return refuse("it was signed on the page %s, and not on the page of this server", fmt.Sprintf("%.128q", client.Origin))
	case client.CrossOrigin, client.TopOrigin != "":
		return refuse("it was signed in a page inside another one")
	}
	return nil
}

// Site returns the host name of an origin that browsers let use passkeys: by HTTPS, or of this machine by name. "" if they
// let none. An address of digits has none.
func Site(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	host := u.Hostname()
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if host == "" || strings.Contains(host, ":") || isDigits(host) || u.Scheme != "https" && (u.Scheme != "http" || !local) {
		return ""
	}
	return host
}

// isDigits reports whether a host name is an IPv4 address: no name ends in a part of digits.
func isDigits(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// The layout of the authenticator's data (WebAuthn, "Authenticator Data").
const (
	flagsAt, counterAt, leastData       = sha256.Size, sha256.Size + 1, sha256.Size + 5
	present, verified                   = 1 << 0, 1 << 2
	mayBeBackedUp, isBackedUp     uint8 = 1 << 3, 1 << 4
)

// checkAuthenticator checks that a person was there, and that it was that person: by a fingerprint, a face or a PIN.
func checkAuthenticator(data []byte, site string) (counter uint32, err error) {
	if len(data) < leastData {
		return 0, refuse("the authenticator's data has %d bytes, expected at least %d", len(data), leastData)
	}
	flags := data[flagsAt]
	switch {
	case sha256.Sum256([]byte(site)) != [sha256.Size]byte(data[:flagsAt]):
		return 0, refuse("it was signed for another site than %s", site)
	case flags&present == 0:
		return 0, refuse("nobody is said to have been there when it was signed")
	case flags&verified == 0:
		return 0, refuse("it was signed without a PIN, a fingerprint or a face, so that it is not known by whom")
	case flags&mayBeBackedUp == 0 && flags&isBackedUp != 0:
		return 0, refuse("the authenticator says that a passkey is backed up which cannot be")
	}
	return binary.BigEndian.Uint32(data[counterAt:]), nil
}

// CheckSignature verifies a signature over the authenticator's data and the browser's, by ES256, RS256 or Ed25519: which one
// follows from the key. Errors: [*Error].
func CheckSignature(public string, authenticator, client, signature []byte) error {
	key, err := PublicKey(public)
	if err != nil {
		return err
	}
	browser := sha256.Sum256(client)
	signed := slices.Concat(authenticator, browser[:])
	hash := sha256.Sum256(signed)
	good := false
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		good = ecdsa.VerifyASN1(key, hash[:], signature)
	case *rsa.PublicKey:
		good = rsa.VerifyPKCS1v15(key, crypto.SHA256, hash[:], signature) == nil
	case ed25519.PublicKey:
		good = ed25519.Verify(key, signed, signature)
	}
	if !good {
		return refuse("the signature is not that of the passkey")
	}
	return nil
}

// PublicKey reads the public key of a [Key]. Errors: [*Error], also for a key of another sort.
func PublicKey(public string) (crypto.PublicKey, error) {
	raw, err := decode(legible.NewSentence("the public key"), public)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(raw)
	if err != nil {
		return nil, refuse("the public key cannot be read")
	}
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if key.Curve.Params().BitSize == sha256.Size*8 {
			return key, nil
		}
	case *rsa.PublicKey:
		if key.N.BitLen() >= leastRSA {
			return key, nil
		}
	case ed25519.PublicKey:
		return key, nil
	}
	return nil, refuse("the passkey signs by another way than ES256, RS256 with 2048 bits or Ed25519")
}

// leastRSA is the fewest bits of an RSA key.
const leastRSA = 2048
