package manifest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// MaxBytes is the most bytes of a signed manifest.
const MaxBytes = 1 << 20

// Expected is what a verifier knows before it reads the message.
type Expected struct {
	Keys    Keys      // trusted for this agent; required
	Now     time.Time // for keys that end; required
	AgentID string    // the producer's agent_id in subscription.accepted (JWS-06); "" takes any
	Offer   *Offer    // what was offered (JWS-07); nil compares nothing
}

// Verified is a manifest whose signature holds.
type Verified struct {
	Manifest aaep.Manifest
	Raw      []byte // the manifest as it was signed
	Key      Key    // the key that has signed it
}

// Verify verifies a compact JWS: first the signature, then that the manifest is of the expected agent, agrees with the
// offer and claims nothing that it cannot keep. Errors: an [*Error], whose [Code] says which of these did not hold;
// none of the manifest may be used then. The signature itself is not secret, so no time is kept constant.
func (e Expected) Verify(message string) (Verified, error) {
	v, err := e.verifySignature(message)
	if err != nil {
		return Verified{}, err
	}
	if v.Manifest, err = readManifest(v.Raw); err != nil {
		return Verified{}, err
	}
	if err := e.judge(v.Manifest); err != nil {
		return Verified{}, err
	}
	return v, nil
}

// verifySignature returns the bytes that were signed.
func (e Expected) verifySignature(message string) (Verified, error) {
	parts, err := split(message)
	if err != nil {
		return Verified{}, err
	}
	key, err := e.keyFor(parts[0])
	if err != nil {
		return Verified{}, err
	}
	signed := message[:strings.LastIndexByte(message, '.')]
	if err := key.check([]byte(signed), parts[2]); err != nil {
		return Verified{}, err
	}
	return Verified{Raw: parts[1], Key: key}, nil
}

// split decodes the header, the payload and the signature.
func split(message string) (parts [3][]byte, err error) {
	malformed := func(found, expected string, cause error) error {
		return &Error{Code: MalformedCode, Rule: "JWS-02", Found: found, Expected: expected, Cause: cause}
	}
	if len(message) > MaxBytes {
		return parts, malformed(fmt.Sprintf("%d bytes", len(message)), fmt.Sprintf("at most %d", MaxBytes), nil)
	}
	texts := strings.Split(message, ".")
	if len(texts) != len(parts) {
		return parts, malformed(fmt.Sprintf("%d parts", len(texts)), "the three of a compact JWS: header, payload and signature, with dots between them", nil)
	}
	for i, name := range []string{"header", "payload", "signature"} {
		if parts[i], err = decode(texts[i]); err != nil {
			return parts, malformed("a "+name+" that is not base64url", "its only form, without padding", err)
		}
	}
	if len(parts[1]) == 0 {
		return parts, malformed("no payload", "the manifest inside the message (C-96)", nil)
	}
	return parts, nil
}

// keyFor judges the header, and returns the trusted key that it names.
func (e Expected) keyFor(raw []byte) (Key, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return Key{}, &Error{Code: MalformedCode, Rule: "JWS-02", Found: "a header that cannot be read", Expected: "one JSON object, each member once", Cause: err}
	}
	algorithm, id := textOf(members["alg"]), textOf(members["kid"])
	if err := admit(members, algorithm); err != nil {
		return Key{}, err
	}
	key, known := e.Keys.Find(id)
	switch {
	case id == "":
		return Key{}, &Error{Code: UnknownKeyCode, Rule: "JWS-04", Found: "no kid", Expected: "the name of the key that has signed"}
	case !known:
		return Key{}, &Error{Code: UnknownKeyCode, Rule: "JWS-04", Found: "the key " + quoted(id) + ", which is not trusted", Expected: "one of the keys that you have for this agent"}
	case string(key.Algorithm) != algorithm:
		return Key{}, &Error{Code: AlgorithmCode, Rule: "JWS-09", Found: "the algorithm " + algorithm, Expected: string(key.Algorithm) + ", the only one of the key " + quoted(id)}
	case key.ended(e.Now):
		return Key{}, &Error{
			Code: ExpiredKeyCode, Rule: "JWS-04", Found: fmt.Sprintf("a key that ended at %s", key.Until.UTC().Format(time.RFC3339)),
			Expected: "one that still counts; fetch the manifest again",
		}
	}
	return key, nil
}

// foreignKeys are the members of a header by which a message brings a key of its own.
var foreignKeys = []string{"jwk", "jku", "x5c", "x5u"}

// admit refuses the headers that no key could make good (JWS-09).
func admit(members map[string]jsontext.Value, algorithm string) error {
	switch {
	case strings.EqualFold(algorithm, "none"):
		return &Error{Code: UnsignedCode, Rule: "JWS-09", Found: "the algorithm none: the manifest is not signed", Expected: "ES256, EdDSA or RS256"}
	case strings.HasPrefix(strings.ToUpper(algorithm), "HS"):
		return &Error{Code: SharedSecretCode, Rule: "JWS-09", Found: "the algorithm " + quoted(algorithm) + ", which works with the public key alone", Expected: "ES256, EdDSA or RS256"}
	case !slices.Contains(Algorithms(), Algorithm(algorithm)):
		return &Error{Code: AlgorithmCode, Rule: "JWS-09", Found: "the algorithm " + quoted(algorithm), Expected: "ES256, EdDSA or RS256"}
	case members["crit"] != nil || members["b64"] != nil:
		return &Error{Code: CriticalCode, Rule: "JWS-09", Found: "a header that changes how the signature is read (crit or b64)", Expected: "none"}
	}
	for _, name := range foreignKeys {
		if members[name] != nil {
			return &Error{Code: EmbeddedKeyCode, Rule: "JWS-04", Found: "a message that brings its own key (" + name + ")", Expected: "the kid of a key that you trust already"}
		}
	}
	return nil
}

// textOf is a text of the header; "" if there is none.
func textOf(raw jsontext.Value) string {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return ""
	}
	return text
}

func readManifest(raw []byte) (aaep.Manifest, error) {
	m, err := aaep.DecodeManifest(raw)
	if err != nil {
		return aaep.Manifest{}, &Error{Code: NotManifestCode, Rule: "JWS-02", Found: "a payload that is not a manifest", Expected: "one of the type " + aaep.TypeManifest, Cause: err}
	}
	return m, nil
}

// judge holds a manifest against what is expected.
func (e Expected) judge(m aaep.Manifest) error {
	if e.AgentID != "" && m.AgentID != e.AgentID {
		return &Error{Code: OtherAgentCode, Rule: "JWS-06", Found: "the manifest of the agent " + quoted(m.AgentID), Expected: "that of " + quoted(e.AgentID)}
	}
	if e.Offer != nil {
		if err := e.Offer.judge(m); err != nil {
			return err
		}
	}
	return Claims(m)
}
