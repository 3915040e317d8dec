// Package enrol reads what a browser hands over for a new passkey (WebAuthn, "Registering a New Credential").
//
// Which make of device it is does not matter here, so no certificate of its maker is asked for. Then nothing in a
// registration is signed, and it is worth what the login is worth by which it came.
package enrol

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"math/big"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/passkey"
)

// maxID is the longest id of a credential, in bytes (WebAuthn, "Credential ID").
const maxID = 1023

// Key reads and checks a registration that was made for a person on the page of an origin, with a challenge
// ([passkey.Change.Registering]). The person has to have been verified, as for each signature later. Errors:
// [*passkey.Error].
func Key(r api.PasskeyRegistration, person, origin, challenge string) (key passkey.Key, counter uint32, err error) {
	key = passkey.Key{ID: r.Passkey, Person: person, Site: passkey.Site(origin)}
	if key.Site == "" {
		return key, 0, refused("browsers use no passkeys on the page " + origin)
	}
	parsed, err := parse(r)
	if err != nil {
		return key, 0, refused("it cannot be read")
	}
	_, err = parsed.Verify(challenge, key.Site, []string{origin}, nil, nil, protocol.TopOriginExplicitVerificationMode, false, true, true,
		nil, parameters(), protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return key, 0, refused("it was not made for this person on this page, or without a PIN, a fingerprint or a face")
	}
	data := parsed.Response.AttestationObject.AuthData
	if len(parsed.RawID) > maxID || !bytes.Equal(parsed.RawID, data.AttData.CredentialID) {
		return key, 0, refused("its id is not that of the key in it")
	}
	if key.Public, err = public(data.AttData.CredentialPublicKey); err != nil {
		return key, 0, refused("its key cannot be used")
	}
	if _, err := passkey.PublicKey(key.Public); err != nil {
		return key, 0, err
	}
	return key, data.Counter, nil
}

func refused(why string) error {
	return &passkey.Error{Message: "the new passkey was not taken: " + why}
}

// Algorithms are the ways to sign that are taken, by their COSE numbers, the preferred one first.
func Algorithms() []int {
	return []int{int(webauthncose.AlgES256), int(webauthncose.AlgEdDSA), int(webauthncose.AlgRS256)}
}

func parameters() (all []protocol.CredentialParameter) {
	for _, one := range Algorithms() {
		all = append(all, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.COSEAlgorithmIdentifier(one)})
	}
	return all
}

func parse(r api.PasskeyRegistration) (*protocol.ParsedCredentialCreationData, error) {
	var response protocol.CredentialCreationResponse
	response.ID, response.Type = r.Passkey, string(protocol.PublicKeyCredentialType)
	for _, part := range []struct {
		text string
		into *protocol.URLEncodedBase64
	}{
		{r.Passkey, &response.RawID},
		{r.Attestation, &response.AttestationResponse.AttestationObject},
		{r.Client, &response.AttestationResponse.ClientDataJSON},
	} {
		raw, err := base64.RawURLEncoding.DecodeString(part.text)
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller says what has failed
		}
		*part.into = raw
	}
	return response.Parse() //nolint:wrapcheck // the same
}

// public converts a COSE key to SubjectPublicKeyInfo, which the standard library reads.
func public(cose []byte) (string, error) {
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return "", err //nolint:wrapcheck // the same
	}
	var key crypto.PublicKey
	switch k := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		var ec *ecdsa.PublicKey
		ec, err = k.ToECDSA()
		key = ec
	case webauthncose.OKPPublicKeyData:
		key = ed25519.PublicKey(k.XCoord)
	case webauthncose.RSAPublicKeyData:
		var e int
		e, err = webauthncose.ParseRSAPublicKeyDataExponent(&k)
		key = &rsa.PublicKey{N: new(big.Int).SetBytes(k.Modulus), E: e}
	default:
		err = errors.New("enrol: a key of another sort")
	}
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	return base64.RawURLEncoding.EncodeToString(der), err
}
