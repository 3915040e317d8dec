// Package passkey verifies what a person's passkey has signed: an accept of one question, or a change of the person's
// passkeys (WebAuthn, "Verifying an Authentication Assertion"). It takes the standard library alone, so that anybody who
// verifies the audit chain later needs nothing else. What a browser hands over for a new passkey is read by package enrol.
//
// A challenge is not random: it is derived from what is signed. So a signature is good for that one thing, and anybody can
// verify it again from the ledger, years later.
package passkey
