package argument

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
	"github.com/earshot-dev/earshot/utp"
)

// KeySize is the length of an operator's key in bytes.
const KeySize = 32

// secretMember marks a reference to a sealed value.
const secretMember = "$secret"

// secretArgument replaces a secret in the arguments. It has a reference and a MAC, so that a changed value is
// detected and the value itself cannot be read anywhere.
type secretArgument struct {
	Ref string `json:"$secret"`
	MAC string `json:"mac"`
}

// derive derives a separate key for each use of the operator's key.
func (h *Handler) derive(use string) []byte {
	sum := hmac.New(sha256.New, h.o.Key)
	io.WriteString(sum, "earshot-"+use) //nolint:errcheck // A hash does not fail.
	return sum.Sum(nil)
}

func (h *Handler) mac(ref, value string) string {
	sum := hmac.New(sha256.New, h.derive("mac"))
	fmt.Fprintf(sum, "%q %q", ref, value)
	return hex.EncodeToString(sum.Sum(nil))
}

func (h *Handler) sealer() (cipher.AEAD, error) {
	block, err := aes.NewCipher(h.derive("seal"))
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
func (h *Handler) seal(call, ref, value string) (store.Sealed, error) {
	aead, err := h.sealer()
	if err != nil {
		return store.Sealed{}, err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := io.ReadFull(h.o.Rand, nonce); err != nil {
		return store.Sealed{}, store.Unexpected("randomness", err)
	}
	return store.Sealed{Call: call, Ref: ref, Box: aead.Seal(nonce, nonce, []byte(value), []byte(call+" "+ref))}, nil
}

func (h *Handler) open(s store.Sealed) (string, error) {
	aead, err := h.sealer()
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

// Open decrypts the secrets of one call, by reference.
func (h *Handler) Open(boxes []store.Sealed) (map[string]string, error) {
	secrets := make(map[string]string, len(boxes))
	for _, b := range boxes {
		value, err := h.open(b)
		if err != nil {
			return nil, err
		}
		secrets[b.Ref] = value
	}
	return secrets, nil
}

// SecretsChanged reports whether a secret behind the arguments is no longer the one that was consented to.
func (h *Handler) SecretsChanged(args jsontext.Value) (bool, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(args, &members); err != nil {
		return false, store.Unexpected("arguments", err)
	}
	for _, raw := range members {
		var sec secretArgument
		if raw.Kind() != '{' || json.Unmarshal(raw, &sec) != nil || sec.Ref == "" {
			continue
		}
		value, found := h.secret(sec.Ref)
		if !found || !hmac.Equal([]byte(h.mac(sec.Ref, value)), []byte(sec.MAC)) {
			return true, nil
		}
	}
	return false, nil
}

const envRef = "env:"

func (h *Handler) secret(ref string) (string, bool) {
	if len(ref) <= len(envRef) || ref[:len(envRef)] != envRef {
		return "", false
	}
	return h.o.Environment(ref[len(envRef):])
}
