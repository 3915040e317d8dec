package enrol

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/earshot-dev/earshot/internal/passkey"
)

// reading reads CBOR as authenticators have to write it (CTAP2, "Message Encoding"): no name twice, no tags, nothing whose
// length comes later, and little of everything.
var reading = sync.OnceValue(func() cbor.DecMode {
	const most = 16
	mode, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive, IntDec: cbor.IntDecConvertSignedOrFail,
		MaxNestedLevels: 4, MaxMapPairs: most, MaxArrayElements: most,
	}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
})

// writing writes CBOR in the only form that authenticators may use.
var writing = sync.OnceValue(func() cbor.EncMode {
	mode, err := cbor.CTAP2EncOptions().EncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
})

// attestation is WebAuthn's attestation object.
type attestation struct {
	Format    string         `cbor:"fmt"`
	Statement map[string]any `cbor:"attStmt"`
	Data      []byte         `cbor:"authData"`
}

func readAttestation(raw []byte) (attestation, error) {
	var object attestation
	err := reading().Unmarshal(raw, &object)
	if err != nil || object.Statement == nil {
		return object, errUnreadable
	}
	return object, nil
}

// check checks the statement about the device. Browsers are asked for none, and then remove those of its maker. One that the
// new key has signed itself may be left.
func (a attestation) check(key coseKey, public string, client []byte) error {
	if a.Format == "none" && len(a.Statement) == 0 {
		return nil
	}
	signature, is := a.Statement["sig"].([]byte)
	if a.Format != "packed" || !is || len(a.Statement) != 2 || a.Statement["alg"] != key[coseAlgorithm] {
		return errUnreadable
	}
	return passkey.CheckSignature(public, a.Data, client, signature)
}

// The layout of the authenticator's data (WebAuthn, "Authenticator Data"): the site, flags, a counter, the make of device,
// and the length of the credential's id, which is followed by the id, the key and the extensions.
const (
	flagsAt, lengthAt, idAt   = sha256.Size, sha256.Size + 21, sha256.Size + 23
	hasCredential, hasFurther = 1 << 6, 1 << 7
)

// credential is what the authenticator says of a new passkey.
type credential struct {
	id  []byte
	key coseKey
}

// readCredential reads the credential in the authenticator's data, to the last byte.
func readCredential(data []byte) (credential, error) {
	if len(data) < idAt || data[flagsAt]&hasCredential == 0 {
		return credential{}, errUnreadable
	}
	length := int(binary.BigEndian.Uint16(data[lengthAt:]))
	if length == 0 || length > maxID || len(data) < idAt+length {
		return credential{}, errUnreadable
	}
	c := credential{id: data[idAt : idAt+length]}
	rest, err := reading().UnmarshalFirst(data[idAt+length:], &c.key)
	if err != nil {
		return c, errUnreadable
	}
	written := data[idAt+length : len(data)-len(rest)]
	if again, err := writing().Marshal(c.key); err != nil || !bytes.Equal(again, written) {
		return c, errUnreadable
	}
	if data[flagsAt]&hasFurther == 0 {
		if len(rest) > 0 {
			return c, errUnreadable
		}
		return c, nil
	}
	var extensions map[string]any // none was asked for, and none means anything here
	if err := reading().Unmarshal(rest, &extensions); err != nil || extensions == nil {
		return c, errUnreadable
	}
	return c, nil
}
