package manifest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// maxKeys is how many keys a set may have.
const maxKeys = 64

// jwk is a key as it is published (RFC 7517, RFC 7518, RFC 8037). Members in this order, without those that are no
// part of the key itself, are what its thumbprint is taken of.
type jwk struct {
	Curve string `json:"crv,omitzero"`
	E     string `json:"e,omitzero"`
	Type  string `json:"kty"`
	N     string `json:"n,omitzero"`
	X     string `json:"x,omitzero"`
	Y     string `json:"y,omitzero"`

	ID        string `json:"kid,omitzero"`
	Algorithm string `json:"alg,omitzero"`
	Use       string `json:"use,omitzero"`
	Until     int64  `json:"exp,omitzero"` // seconds since 1970
	Private   string `json:"d,omitzero"`   // never written; a set that has it is refused
}

type jwkSet struct {
	Keys []jwk `json:"keys"`
}

// Encode writes the keys as a JWK set, the same keys always as the same bytes. Errors: an [*Error] of [KeyCode] for a key that
// cannot be used, and for more keys than [ParseKeys] takes (64).
func (ks Keys) Encode() ([]byte, error) {
	if err := countable(len(ks)); err != nil {
		return nil, err
	}
	set := jwkSet{Keys: make([]jwk, len(ks))}
	for i, k := range ks {
		wire, err := k.wire()
		if err != nil {
			return nil, err
		}
		wire.ID, wire.Algorithm, wire.Use = k.ID, string(k.Algorithm), "sig"
		if !k.Until.IsZero() {
			wire.Until = k.Until.Unix()
		}
		set.Keys[i] = wire
	}
	raw, err := json.Marshal(set, json.Deterministic(true))
	if err != nil {
		return nil, unusable("keys that cannot be written", "texts that are UTF-8").because(err)
	}
	return raw, nil
}

// ParseKeys reads a JWK set. Keys of other kinds or for another use are left out, as RFC 7517 wants; one of ours that
// is damaged, a private key, two keys with one kid, and a set without a usable key are refused with an [*Error] of
// [KeyCode].
func ParseKeys(raw []byte) (Keys, error) {
	var set jwkSet
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, unusable("no JWK set", `an object with the member "keys"`).because(err)
	}
	if err := countable(len(set.Keys)); err != nil {
		return nil, err
	}
	var keys Keys
	for _, wire := range set.Keys {
		key, err := wire.key()
		if err != nil {
			return nil, err
		}
		if key.Public == nil {
			continue
		}
		if _, twice := keys.Find(key.ID); twice {
			return nil, unusable("two keys with the kid "+quoted(key.ID), "a kid of its own for each")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, unusable("no key that signs by ES256, EdDSA or RS256", "at least one")
	}
	return keys, nil
}

// countable refuses more keys than a set may have.
func countable(keys int) error {
	if keys > maxKeys {
		return unusable(fmt.Sprintf("%d keys", keys), fmt.Sprintf("at most %d", maxKeys))
	}
	return nil
}

// wire is the key itself, without kid and use.
func (k Key) wire() (jwk, error) {
	if _, err := algorithmOf(k.Public); err != nil {
		return jwk{}, err
	}
	switch public := k.Public.(type) {
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			return jwk{}, unusable("a key that is not on its curve", "a point on P-256").because(err)
		}
		return jwk{Type: "EC", Curve: "P-256", X: encode(point[1 : 1+halfBytes]), Y: encode(point[1+halfBytes:])}, nil
	case ed25519.PublicKey:
		return jwk{Type: "OKP", Curve: "Ed25519", X: encode(public)}, nil
	case *rsa.PublicKey:
		return jwk{Type: "RSA", N: encode(public.N.Bytes()), E: encode(big.NewInt(int64(public.E)).Bytes())}, nil
	default:
		return jwk{}, nil // algorithmOf knows no other
	}
}

// thumbprint is that of RFC 7638.
func (w jwk) thumbprint() string {
	own := jwk{Curve: w.Curve, E: w.E, Type: w.Type, N: w.N, X: w.X, Y: w.Y}
	raw, err := json.Marshal(own)
	if err != nil {
		return "" // its texts are base64url
	}
	sum := sha256.Sum256(raw)
	return encode(sum[:])
}

// key reads a key; one without Public is of another kind.
func (w jwk) key() (Key, error) {
	algorithm, read := w.kind()
	if read == nil || w.Use != "" && w.Use != "sig" || w.Algorithm != "" && w.Algorithm != string(algorithm) {
		return Key{}, nil
	}
	if w.Private != "" {
		return Key{}, unusable("a private key", "public keys alone; the private one is known to others now, so make another")
	}
	public, err := read()
	if err != nil {
		return Key{}, unusable(fmt.Sprintf("a damaged key (kid %s)", quoted(w.ID)), "a key of "+string(algorithm)).because(err)
	}
	if _, err := algorithmOf(public); err != nil {
		return Key{}, err
	}
	key := Key{ID: w.ID, Algorithm: algorithm, Public: public}
	if key.ID == "" {
		key.ID = w.thumbprint()
	}
	if w.Until != 0 {
		key.Until = time.Unix(w.Until, 0).UTC()
	}
	return key, nil
}

// kind is the algorithm of a key by its type and curve, and how to read it; nil for any other.
func (w jwk) kind() (Algorithm, func() (crypto.PublicKey, error)) {
	switch {
	case w.Type == "EC" && w.Curve == "P-256":
		return ES256, w.point
	case w.Type == "OKP" && w.Curve == "Ed25519":
		return EdDSA, w.edwards
	case w.Type == "RSA":
		return RS256, w.modulus
	default:
		return "", nil
	}
}

func (w jwk) point() (crypto.PublicKey, error) {
	x, y, err := decodeBoth(w.X, w.Y)
	if err != nil {
		return nil, err
	}
	if len(x) != halfBytes || len(y) != halfBytes {
		return nil, fmt.Errorf("x has %d bytes and y %d, expected 32 each", len(x), len(y))
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y)) //nolint:wrapcheck // key says what it was
}

func (w jwk) edwards() (crypto.PublicKey, error) {
	x, err := decode(w.X)
	if err == nil && len(x) != ed25519.PublicKeySize {
		err = fmt.Errorf("x has %d bytes, expected %d", len(x), ed25519.PublicKeySize)
	}
	return ed25519.PublicKey(x), err
}

func (w jwk) modulus() (crypto.PublicKey, error) {
	n, e, err := decodeBoth(w.N, w.E)
	if err != nil {
		return nil, err
	}
	exponent := new(big.Int).SetBytes(e)
	if !exponent.IsInt64() || exponent.Int64() < 3 || exponent.Int64() > math.MaxInt32 || exponent.Bit(0) == 0 {
		return nil, fmt.Errorf("the exponent is %s, expected an odd number from 3 on", exponent)
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
}

func decodeBoth(one, other string) (first, second []byte, err error) {
	if first, err = decode(one); err != nil {
		return nil, nil, err
	}
	second, err = decode(other)
	return first, second, err
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// decode reads base64url without padding, in its only form: no line breaks, and no bits that say nothing.
func decode(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("it has a line break in it")
	}
	return base64.RawURLEncoding.Strict().DecodeString(text) //nolint:wrapcheck // the callers say what it was
}

// quoted is a text of somebody else, short and on one line.
func quoted(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strconv.Quote(text)
}
