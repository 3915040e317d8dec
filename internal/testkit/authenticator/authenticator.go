// Package authenticator is an authenticator of passkeys in software, for tests: what it makes is what a browser hands over.
// Its fields can be set to what a real one would not say.
package authenticator

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
)

// The ways to sign, by their COSE numbers.
const (
	ES256 = -7
	EdDSA = -8
	RS256 = -257
)

// The flags of the authenticator's data (WebAuthn, "Authenticator Data").
const (
	Present, Verified, MayBeBackedUp, BackedUp = 1 << 0, 1 << 2, 1 << 3, 1 << 4
	attested                                   = 1 << 6
)

// Device holds one passkey.
type Device struct {
	ID     []byte
	Origin string // of the page
	Site   string // its host name
	Type   string // of what the browser was asked for; "" is the right one
	Flags  byte
	// Counter is what it counts at the next signature. It goes up by Step.
	Counter, Step uint32
	// CrossOrigin: the browser says that the page is inside another one.
	CrossOrigin bool
	// Self: the device signs its registration with the new key.
	Self bool

	algorithm int
	key       crypto.Signer
}

// New makes a device with a passkey for the page of an origin, whose host name is site.
func New(algorithm int, origin, site string) (*Device, error) {
	d := &Device{ID: make([]byte, 16), Origin: origin, Site: site, Flags: Present | Verified, Counter: 1, Step: 1, algorithm: algorithm}
	_, err := rand.Read(d.ID)
	if err != nil {
		return nil, err //nolint:wrapcheck // it never fails
	}
	switch algorithm {
	case ES256:
		d.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case EdDSA:
		_, d.key, err = ed25519.GenerateKey(rand.Reader)
	case RS256:
		d.key, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		err = fmt.Errorf("authenticator: no way to sign has the number %d", algorithm)
	}
	return d, err
}

// Name is the id of the passkey, as it is sent.
func (d *Device) Name() string { return encode(d.ID) }

// Register makes what the browser hands over for the new passkey.
func (d *Device) Register(challenge string) api.PasskeyRegistration {
	id := binary.BigEndian.AppendUint16(make([]byte, 16), uint16(len(d.ID)))
	data := append(d.data(d.Flags|attested), append(append(id, d.ID...), d.cose()...)...)
	d.Counter += d.Step
	client := d.client("webauthn.create", challenge)
	format, statement := "none", head(5, 0)
	if d.Self {
		signature, err := d.sign(data, client)
		if err != nil {
			panic(err) // its key was generated
		}
		format, statement = "packed", slices.Concat(head(5, 2), text("alg"), head(1, -1-d.algorithm), text("sig"), octets(signature))
	}
	object := slices.Concat(head(5, 3), text("fmt"), text(format), text("attStmt"), statement, text("authData"), octets(data))
	return api.PasskeyRegistration{Passkey: d.Name(), Attestation: encode(object), Client: encode(client)}
}

// Sign signs a challenge.
func (d *Device) Sign(challenge string) (api.Assertion, error) {
	client, data := d.client("webauthn.get", challenge), d.data(d.Flags)
	signature, err := d.sign(data, client)
	d.Counter += d.Step
	return api.Assertion{Passkey: d.Name(), Authenticator: encode(data), Client: encode(client), Signature: encode(signature)}, err
}

func (d *Device) sign(data, client []byte) ([]byte, error) {
	hash := sha256.Sum256(client)
	signed := slices.Concat(data, hash[:])
	digest, options := sha256.Sum256(signed), crypto.SignerOpts(crypto.SHA256)
	message := digest[:]
	if d.algorithm == EdDSA {
		message, options = signed, crypto.Hash(0)
	}
	return d.key.Sign(rand.Reader, message, options) //nolint:wrapcheck // of crypto
}

func (d *Device) client(kind, challenge string) []byte {
	if d.Type != "" {
		kind = d.Type
	}
	raw, err := json.Marshal(struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"` //nolint:tagliatelle // WebAuthn's name
	}{kind, challenge, d.Origin, d.CrossOrigin})
	if err != nil {
		panic(err) // texts can be written
	}
	return raw
}

func (d *Device) data(flags byte) []byte {
	site := sha256.Sum256([]byte(d.Site))
	return binary.BigEndian.AppendUint32(append(site[:], flags), d.Counter)
}

func (d *Device) cose() []byte {
	switch key := d.key.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := key.Bytes() // 4, x, y
		if err != nil {
			panic(err) // it was generated
		}
		const half = 32
		return members(1, 2, 3, ES256, -1, 1, -2, point[1:1+half], -3, point[1+half:])
	case ed25519.PublicKey:
		return members(1, 1, 3, EdDSA, -1, 6, -2, []byte(key))
	case *rsa.PublicKey:
		return members(1, 3, 3, RS256, -1, key.N.Bytes(), -2, big.NewInt(int64(key.E)).Bytes())
	}
	return nil
}

// members writes a map of CBOR, whose members are numbers and bytes.
func members(parts ...any) []byte {
	out := head(5, len(parts)/2)
	for _, part := range parts {
		switch part := part.(type) {
		case int:
			if part < 0 {
				out = append(out, head(1, -1-part)...)
			} else {
				out = append(out, head(0, part)...)
			}
		case []byte:
			out = append(out, octets(part)...)
		}
	}
	return out
}

func octets(raw []byte) []byte { return append(head(2, len(raw)), raw...) }

func text(s string) []byte { return append(head(3, len(s)), s...) }

// head writes the beginning of an item of CBOR: its major type and its number, below 65,536.
func head(major byte, n int) []byte {
	const short, one, two = 24, 24, 25
	switch {
	case n < short:
		return []byte{major<<5 | byte(n)}
	case n < 1<<8:
		return []byte{major<<5 | one, byte(n)}
	default:
		return binary.BigEndian.AppendUint16([]byte{major<<5 | two}, uint16(n))
	}
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
