package manifest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
)

// Algorithm is how a key signs. There are three, and a key has exactly one of them (JWS-02).
type Algorithm string

// The algorithms.
const (
	ES256 Algorithm = "ES256" // ECDSA on P-256 with SHA-256, which AAEP recommends
	EdDSA Algorithm = "EdDSA" // Ed25519
	RS256 Algorithm = "RS256" // RSA PKCS #1 v1.5 with SHA-256
)

// Algorithms returns all of them, the recommended one first.
func Algorithms() []Algorithm { return []Algorithm{ES256, EdDSA, RS256} }

// The sizes of keys and signatures. An RSA key has as many bits as others still verify in good time.
const (
	halfBytes              = 32 // of a number on P-256
	minRSABits, maxRSABits = 2048, 8192
)

// algorithmOf is the one algorithm of a public key.
func algorithmOf(public crypto.PublicKey) (Algorithm, error) {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return "", unusable("a key on the curve "+key.Params().Name, "one on P-256")
		}
		return ES256, nil
	case ed25519.PublicKey:
		return EdDSA, nil
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return "", unusable(fmt.Sprintf("an RSA key of %d bits", bits), fmt.Sprintf("%d to %d", minRSABits, maxRSABits))
		}
		return RS256, nil
	default:
		return "", unusable(fmt.Sprintf("a key of the type %T", public), "a key on P-256, of Ed25519, or of RSA")
	}
}

// signatureOf signs bytes. The same key and bytes always give the same signature: keys of the standard library take no randomness.
func signatureOf(signed []byte, private crypto.Signer) ([]byte, error) {
	digest := sha256.Sum256(signed)
	switch private.Public().(type) {
	case ed25519.PublicKey:
		return private.Sign(nil, signed, crypto.Hash(0)) //nolint:wrapcheck // Sign says what has failed
	case *ecdsa.PublicKey:
		der, err := private.Sign(nil, digest[:], crypto.SHA256)
		if err != nil {
			return nil, err //nolint:wrapcheck // the same
		}
		return rawSignature(der)
	default:
		return private.Sign(nil, digest[:], crypto.SHA256) //nolint:wrapcheck // the same
	}
}

// pair is an ECDSA signature in DER form.
type pair struct{ R, S *big.Int }

// rawSignature is R and S, 32 bytes each (RFC 7518, section 3.4).
func rawSignature(der []byte) ([]byte, error) {
	var both pair
	if rest, err := asn1.Unmarshal(der, &both); err != nil || len(rest) > 0 {
		return nil, errors.Join(errors.New("the key's signature is not in DER form"), err)
	}
	if outside(both.R) || outside(both.S) {
		return nil, errors.New("the key's signature has numbers that are not on P-256")
	}
	raw := make([]byte, 2*halfBytes)
	both.R.FillBytes(raw[:halfBytes])
	both.S.FillBytes(raw[halfBytes:])
	return raw, nil
}

// outside reports whether a number does not fit into its half of a signature.
func outside(n *big.Int) bool { return n.Sign() < 0 || n.BitLen() > 8*halfBytes }

// check reports why a signature over bytes is not of the key.
func (k Key) check(signed, signature []byte) *Error {
	digest := sha256.Sum256(signed)
	holds := false
	switch public := k.Public.(type) {
	case *ecdsa.PublicKey:
		if len(signature) != 2*halfBytes {
			return wrongLength(signature)
		}
		r, s := new(big.Int).SetBytes(signature[:halfBytes]), new(big.Int).SetBytes(signature[halfBytes:])
		holds = ecdsa.Verify(public, digest[:], r, s)
	case ed25519.PublicKey:
		holds = len(public) == ed25519.PublicKeySize && ed25519.Verify(public, signed, signature)
	case *rsa.PublicKey:
		holds = rsa.VerifyPKCS1v15(public, crypto.SHA256, digest[:], signature) == nil
	}
	if !holds {
		return &Error{
			Code: SignatureCode, Rule: "JWS-05", Found: "a signature that does not hold under the key " + quoted(k.ID),
			Expected: "one that this key has made over these very bytes; the manifest was altered, or signed with another key",
		}
	}
	return nil
}

// wrongLength tells a signature in DER form, a common mistake, from any other (C-95).
func wrongLength(signature []byte) *Error {
	var both pair
	if rest, err := asn1.Unmarshal(signature, &both); err == nil && len(rest) == 0 {
		return refuse(DERCode, "JWS-09", "an ES256 signature in DER form", "the 32 bytes of R, and the 32 bytes of S")
	}
	return refuse(SignatureCode, "JWS-05", fmt.Sprintf("an ES256 signature of %d bytes", len(signature)), "64")
}
