package kernel

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const keySize = 32

// secretMember marks a reference to a sealed value.
const secretMember = "$secret"

// secretArgument replaces a secret in the arguments. It has a reference and a MAC, so that a changed value is
// detected and the value itself cannot be read anywhere.
type secretArgument struct {
	Ref string `json:"$secret"`
	MAC string `json:"mac"`
}

// derive derives a separate key for each use of the operator's key.
func (k *Kernel) derive(use string) []byte {
	h := hmac.New(sha256.New, k.o.Key)
	io.WriteString(h, "earshot-"+use) //nolint:errcheck // A hash does not fail.
	return h.Sum(nil)
}

func (k *Kernel) mac(ref, value string) string {
	h := hmac.New(sha256.New, k.derive("mac"))
	fmt.Fprintf(h, "%q %q", ref, value)
	return hex.EncodeToString(h.Sum(nil))
}

func (k *Kernel) sealer() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.derive("seal"))
	if err != nil {
		return nil, store.Unexpected("the key", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, store.Unexpected("the key", err)
	}
	return aead, nil
}

// seal encrypts a secret for one call; it can be decrypted only with the same call and ref.
func (k *Kernel) seal(call, ref, value string) (store.Sealed, error) {
	aead, err := k.sealer()
	if err != nil {
		return store.Sealed{}, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := io.ReadFull(k.o.Rand, nonce); err != nil {
		return store.Sealed{}, store.Unexpected("randomness", err)
	}
	return store.Sealed{Call: call, Ref: ref, Box: aead.Seal(nonce, nonce, []byte(value), []byte(call+" "+ref))}, nil
}

func (k *Kernel) open(s store.Sealed) (string, error) {
	aead, err := k.sealer()
	if err != nil {
		return "", err
	}
	if len(s.Box) < aead.NonceSize() {
		return "", api.NewFault(utp.CodeInternalError, "a sealed value is cut short")
	}
	nonce, box := s.Box[:aead.NonceSize()], s.Box[aead.NonceSize():]
	value, err := aead.Open(nil, nonce, box, []byte(s.Call+" "+s.Ref))
	if err != nil {
		return "", api.NewFault(utp.CodeInternalError, "a sealed value does not open with this key")
	}
	return string(value), nil
}

// unsealed returns the arguments of a granted call, and its secrets separately.
func (s *step) unsealed(c turn.Call) (jsontext.Value, map[string]string, error) {
	args, err := s.args(c)
	if err != nil {
		return nil, nil, err
	}
	boxes, err := s.tx.Sealed(c.ID)
	if err != nil || len(boxes) == 0 {
		return args, nil, err
	}
	secrets := make(map[string]string, len(boxes))
	for _, b := range boxes {
		if secrets[b.Ref], err = s.k.open(b); err != nil {
			return nil, nil, err
		}
	}
	return args, secrets, nil
}

// secretsChanged reports whether a secret behind the arguments is no longer the one that was consented to.
func (s *step) secretsChanged(args jsontext.Value) (bool, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(args, &members); err != nil {
		return false, store.Unexpected("arguments", err)
	}
	for _, raw := range members {
		var sec secretArgument
		if raw.Kind() != '{' || json.Unmarshal(raw, &sec) != nil || sec.Ref == "" {
			continue
		}
		value, found := s.k.secret(sec.Ref)
		if !found || !hmac.Equal([]byte(s.k.mac(sec.Ref, value)), []byte(sec.MAC)) {
			return true, nil
		}
	}
	return false, nil
}

const envRef = "env:"

func (k *Kernel) secret(ref string) (string, bool) {
	if len(ref) <= len(envRef) || ref[:len(envRef)] != envRef {
		return "", false
	}
	return k.o.Environment(ref[len(envRef):])
}
