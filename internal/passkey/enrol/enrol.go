// Package enrol reads what a browser hands over for a new passkey (WebAuthn, "Registering a New Credential").
//
// Which make of device it is does not matter here, so no certificate of its maker is asked for. Then nothing in a
// registration is signed, or only by the new key itself, and it is worth what the login is worth by which it came.
package enrol

import (
	"bytes"
	"encoding/base64"
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/passkey"
)

const (
	// maxID is the longest id of a credential, in bytes (WebAuthn, "Credential ID").
	maxID = 1023
	// maxPart is the most bytes of each part of a registration.
	maxPart = 8 << 10
)

// errUnreadable is for what has another form than WebAuthn says. [Key] says it in words for people.
var errUnreadable = errors.New("enrol: not of the form that WebAuthn has")

// Key reads and checks a registration that was made for a person on the page of an origin, with a challenge
// ([passkey.Change.Registering]). The person has to have been verified, as for each signature later. Errors:
// [*passkey.Error].
func Key(r api.PasskeyRegistration, person, origin, challenge string) (key passkey.Key, counter uint32, err error) {
	key = passkey.Key{ID: r.Passkey, Person: person, Site: passkey.Site(origin)}
	if key.Site == "" {
		return key, 0, refused("browsers use no passkeys on the page " + origin)
	}
	parts, err := decode(r.Passkey, r.Client, r.Attestation)
	if err != nil {
		return key, 0, refused("it cannot be read")
	}
	id, client := parts[0], parts[1]
	object, err := readAttestation(parts[2])
	if err != nil {
		return key, 0, refused("it cannot be read")
	}
	counter, err = passkey.CheckRegistration(client, object.Data, passkey.Expected{Challenge: challenge, Key: key, Origin: origin})
	if err != nil {
		return key, 0, refused("it was not made for this person on this page, or without a PIN, a fingerprint or a face")
	}
	credential, err := readCredential(object.Data)
	if err != nil {
		return key, 0, refused("it cannot be read")
	}
	if len(id) > maxID || !bytes.Equal(id, credential.id) {
		return key, 0, refused("its id is not that of the key in it")
	}
	if key.Public, err = public(credential.key); err != nil {
		return key, 0, refused("its key cannot be used")
	}
	if _, err := passkey.PublicKey(key.Public); err != nil {
		return key, 0, err
	}
	if err := object.check(credential.key, key.Public, client); err != nil {
		return key, 0, refused("it has a statement of its maker, which was not asked for, or one that is wrong")
	}
	return key, counter, nil
}

func refused(why string) error {
	return &passkey.Error{Message: "the new passkey was not taken: " + why}
}

// Algorithms are the ways to sign that are taken, by their COSE numbers, the preferred one first.
func Algorithms() []int { return []int{algES256, algEdDSA, algRS256} }

// decode decodes parts that are sent in base64url without padding.
func decode(texts ...string) ([][]byte, error) {
	parts := make([][]byte, len(texts))
	for i, text := range texts {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
		if err != nil || len(raw) == 0 || len(raw) > maxPart || base64.RawURLEncoding.EncodedLen(len(raw)) != len(text) {
			return nil, errUnreadable // base64 skips line ends
		}
		parts[i] = raw
	}
	return parts, nil
}
