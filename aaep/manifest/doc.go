// Package manifest signs the document by which a producer describes itself, and verifies one that somebody else has
// signed (§10.4). Keys and bytes go in and come out: the package reads no file, no clock and no network.
//
// [Sign] makes a compact JSON Web Signature (RFC 7515) around a manifest that [aaep.Manifest.Encode] has written. The
// algorithm is fixed by the key: ES256 for a key on P-256, which AAEP recommends, EdDSA for Ed25519, RS256 for RSA.
// What is signed is the manifest's own bytes, so nothing has to be brought into a canonical form first.
//
// [Expected.Verify] decides by what the caller trusts and by nothing that the message brings along. The kid of the
// message chooses one of the trusted [Keys], and that key says which algorithm counts. An unsigned message, a shared
// secret (HS256), a key inside the message, a critical header, and a DER signature are refused, each with its own [Code].
// Then the manifest itself is judged: it must be of the expected agent, agree with what was offered ([Offer]), and
// claim no level that its own event types and transports cannot keep ([Claims]).
//
// [Keys] are published and exchanged as a JWK set (RFC 7517). [Keys.Rotate] makes room for a new key and lets the old
// ones count until a set time, so that manifests signed before still verify. How anybody comes to trust a key is left
// open by AAEP (JWS-10).
package manifest
