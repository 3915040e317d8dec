package api

import "time"

// Assertion is what a passkey has signed, as WebAuthn has it ("AuthenticatorAssertionResponse"). Each member is base64url
// without padding.
type Assertion struct {
	// Passkey is the id of the passkey's credential.
	Passkey string `json:"passkey"`
	// Authenticator and Client are the bytes that are signed: the authenticator's data, then the SHA-256 of the browser's,
	// which is JSON.
	Authenticator string `json:"authenticator_data"`
	Client        string `json:"client_data"`
	Signature     string `json:"signature"`
}

// SignedAccept is a passkey's signature under an accept, with all that it takes to verify it again.
type SignedAccept struct {
	Assertion

	// Key is the passkey's public key, as SubjectPublicKeyInfo in base64url, and Site the host name of the page that it is
	// for.
	Key  string `json:"public_key"`
	Site string `json:"site"`
	// Token names the asking of the question, and Generation the run of the runtime in which it was answered.
	Token      string `json:"reply_token"`
	Generation string `json:"generation"`
}

// Passkey is a registered passkey, without its key.
type Passkey struct {
	ID string `json:"id"`
	// Person is whose it is, Name what they call it.
	Person string `json:"person"`
	Name   string `json:"name"`
	// Site is the host name of the page that it is for. It works on no other page.
	Site  string    `json:"site"`
	Added time.Time `json:"added"`
	// Used is when it last signed an accept; absent if it never has.
	Used time.Time `json:"used,omitzero"`
}

// PasskeysRequest lists passkeys: of one person, or of all if Person is "".
type PasskeysRequest struct {
	Person string `json:"person,omitzero"`
}

// PasskeysAnswer is that list, in the order in which they were added.
type PasskeysAnswer struct {
	Passkeys []Passkey `json:"passkeys"`
	// Required says which accepts take a passkey: high, irreversible or all; "" is none.
	Required string `json:"required,omitzero"`
	// Page is the origin of the page on which passkeys are used; "" is none.
	Page string `json:"page,omitzero"`
}

// RevokePasskeyRequest removes a passkey that is named by its id, or by its name if no other has it. By is the operator.
type RevokePasskeyRequest struct {
	Passkey string `json:"passkey"`
	By      string `json:"by,omitzero"`
}

// The purposes for which a passkey signs.
const (
	PasskeyAccept   = "accept"   // an accept of a question
	PasskeyRegister = "register" // the new passkey itself, when it is made
	PasskeyAdd      = "add"      // by an existing passkey: another one
	PasskeyRemove   = "remove"   // by an existing passkey: one less
)

// PasskeyChallengeRequest asks what a person's passkey has to sign. Question and Token name the question of an accept;
// Passkey is what is added or removed, and Key its public key when it is added.
type PasskeyChallengeRequest struct {
	Purpose  string `json:"purpose"`
	Question int    `json:"question,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	// Registration is the new passkey, for the purpose add.
	Registration PasskeyRegistration `json:"registration,omitzero"`
	Passkey      string              `json:"passkey,omitzero"`
	By           string              `json:"by,omitzero"`
	Credential   string              `json:"credential,omitzero"`
}

// PasskeyChallenge is what has to be signed, in base64url, on the site's page, by one of the passkeys.
type PasskeyChallenge struct {
	Challenge string   `json:"challenge"`
	Site      string   `json:"site"`
	Person    string   `json:"person"`
	Passkeys  []string `json:"passkeys"`
}

// PasskeyRegistration is a new passkey, as WebAuthn has it ("AuthenticatorAttestationResponse"). Each member is base64url
// without padding.
type PasskeyRegistration struct {
	Passkey     string `json:"passkey"`
	Attestation string `json:"attestation_object"`
	Client      string `json:"client_data"`
}

// ChangePasskeyRequest adds a passkey under a name, or removes the one that Passkey names. Assertion is by a passkey that
// the person has. The first one has none: then CodeShown says that the hub was shown a one-time code of that person.
type ChangePasskeyRequest struct {
	Name         string              `json:"name,omitzero"`
	Registration PasskeyRegistration `json:"registration,omitzero"`
	Passkey      string              `json:"passkey,omitzero"`
	Assertion    Assertion           `json:"assertion,omitzero"`
	CodeShown    bool                `json:"code_shown,omitzero"`
	By           string              `json:"by,omitzero"`
	Credential   string              `json:"credential,omitzero"`
}
