package manifest

import (
	"crypto"
	"slices"
	"time"
)

// Key is the public half of a key that signs manifests.
type Key struct {
	ID        string           // the kid: [NewKey] gives the key's thumbprint (RFC 7638)
	Algorithm Algorithm        // the only one that counts with it
	Public    crypto.PublicKey // *ecdsa.PublicKey on P-256, ed25519.PublicKey, or *rsa.PublicKey of 2048 to 8192 bits
	Until     time.Time        // when it stops counting, to the second; zero: never
}

// NewKey describes a public key, with its thumbprint as the kid. Errors: an [*Error] of [KeyCode].
func NewKey(public crypto.PublicKey) (Key, error) {
	algorithm, err := algorithmOf(public)
	if err != nil {
		return Key{}, err
	}
	key := Key{Algorithm: algorithm, Public: public}
	wire, err := key.wire()
	if err != nil {
		return Key{}, err
	}
	key.ID = wire.thumbprint()
	return key, nil
}

// ended reports whether the key no longer counts.
func (k Key) ended(now time.Time) bool { return !k.Until.IsZero() && !now.Before(k.Until) }

// Keys are public keys that are trusted, or published; the one that signs comes first.
type Keys []Key

// Find returns the key with a kid.
func (ks Keys) Find(id string) (Key, bool) {
	if i := slices.IndexFunc(ks, func(k Key) bool { return k.ID == id }); i >= 0 {
		return ks[i], true
	}
	return Key{}, false
}

// At returns the keys that count at a time.
func (ks Keys) At(now time.Time) Keys {
	return slices.DeleteFunc(slices.Clone(ks), func(k Key) bool { return k.ended(now) })
}

// Rotate puts a new key first. The others count until a time, those that have an earlier end only until that, and
// those whose time is over then are dropped.
func (ks Keys) Rotate(next Key, until, now time.Time) Keys {
	rotated := Keys{next}
	for _, k := range ks {
		if k.ID == next.ID {
			continue
		}
		if k.Until.IsZero() || until.Before(k.Until) {
			k.Until = until
		}
		rotated = append(rotated, k)
	}
	return rotated.At(now)
}
