package manifest

import "fmt"

// Code says why a manifest was refused. The words are stable.
type Code string

// The codes of [Error]. None of them is worth a retry with the same input: fetch the manifest, or the keys, again.
const (
	// MalformedCode: it is not a compact JWS with a payload, or its header cannot be read in one way only.
	MalformedCode Code = "malformed"
	// UnsignedCode: the header says alg none, so there is no signature.
	UnsignedCode Code = "unsigned"
	// SharedSecretCode: the header names an HMAC. Anyone who has the public key could have made it.
	SharedSecretCode Code = "shared_secret"
	// AlgorithmCode: the algorithm is not one of ours, or not that of the key.
	AlgorithmCode Code = "wrong_algorithm"
	// CriticalCode: the header demands an extension of JWS, and this package has none.
	CriticalCode Code = "critical_header"
	// EmbeddedKeyCode: the message brings its own key, or the address of one.
	EmbeddedKeyCode Code = "embedded_key"
	// UnknownKeyCode: the message names no key, or one that is not trusted.
	UnknownKeyCode Code = "unknown_key"
	// ExpiredKeyCode: the time of the key is over.
	ExpiredKeyCode Code = "expired_key"
	// DERCode: an ES256 signature in DER form, where the 64 bytes of both numbers are expected.
	DERCode Code = "der_signature"
	// SignatureCode: the signature is not of this key over these bytes.
	SignatureCode Code = "bad_signature"
	// NotManifestCode: the signature holds, and what is signed is not a manifest.
	NotManifestCode Code = "not_a_manifest"
	// OtherAgentCode: the manifest is of another agent than the one expected.
	OtherAgentCode Code = "other_agent"
	// OfferCode: what was offered is not in the manifest.
	OfferCode Code = "offer_differs"
	// ClaimCode: the manifest claims a level that AAEP does not have, or that its own event types or transports cannot keep.
	ClaimCode Code = "empty_claim"
	// KeyCode: a key, or a set of keys, cannot be used.
	KeyCode Code = "bad_key"
)

// Error is the one error type of this package.
type Error struct {
	Code     Code
	Rule     string // the rule of AAEP that is broken; "" if none is
	Found    string // a part of a sentence
	Expected string // the same
	Cause    error  // the error below this one, if any
}

// Error is the code, and what a person can read.
func (e *Error) Error() string { return fmt.Sprintf("manifest: %s: %s", e.Code, e.Plain()) }

// Plain is what a person can read: what was found, and what was expected.
func (e *Error) Plain() string {
	text := fmt.Sprintf("found %s, expected %s", e.Found, e.Expected)
	if e.Cause != nil {
		text += fmt.Sprintf(" (%v)", e.Cause)
	}
	return text
}

// Unwrap returns the error below this one.
func (e *Error) Unwrap() error { return e.Cause }

// refuse is an error about a message.
func refuse(code Code, rule, found, expected string) *Error {
	return &Error{Code: code, Rule: rule, Found: found, Expected: expected}
}

// unusable is an error about a key.
func unusable(found, expected string) *Error { return refuse(KeyCode, "", found, expected) }

// because adds the error below.
func (e *Error) because(cause error) *Error {
	e.Cause = cause
	return e
}
