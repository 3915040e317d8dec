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
	malformed := func(found, expected string) *Error { return refuse(MalformedCode, "JWS-02", found, expected) }
	if len(message) > MaxBytes {
		return parts, malformed(fmt.Sprintf("%d bytes", len(message)), fmt.Sprintf("at most %d", MaxBytes))
	}
	texts := strings.Split(message, ".")
	if len(texts) != len(parts) {
		return parts, malformed(fmt.Sprintf("%d parts", len(texts)), "the three of a compact JWS, with dots between them")
	}
	for i, name := range []string{"header", "payload", "signature"} {
		if parts[i], err = decode(texts[i]); err != nil {
			return parts, malformed("a "+name+" that is not base64url", "its only form, without padding").because(err)
		}
	}
	if len(parts[1]) == 0 { // C-96
		return parts, malformed("no payload", "the manifest inside the message")
	}
	return parts, nil
}

// keyFor judges the header, and returns the trusted key that it names.
func (e Expected) keyFor(raw []byte) (Key, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return Key{}, refuse(MalformedCode, "JWS-02", "a header that cannot be read", "one JSON object, each member once").because(err)
	}
	algorithm, id := textOf(members["alg"]), textOf(members["kid"])
	if err := admit(members, algorithm); err != nil {
		return Key{}, err
	}
	key, known := e.Keys.Find(id)
	switch {
	case id == "":
		return Key{}, refuse(UnknownKeyCode, "JWS-04", "no kid", "the name of the key that has signed")
	case !known:
		return Key{}, refuse(UnknownKeyCode, "JWS-04", "the key "+quoted(id)+", which is not trusted", "one of the keys that you have for this agent")
	case string(key.Algorithm) != algorithm:
		return Key{}, refuse(AlgorithmCode, "JWS-09", "the algorithm "+algorithm, string(key.Algorithm)+", the only one of the key "+quoted(id))
	case key.ended(e.Now):
		return Key{}, refuse(ExpiredKeyCode, "JWS-04", "a key that ended at "+key.Until.UTC().Format(time.RFC3339),
			"one that still counts; fetch the manifest again")
	}
	return key, nil
}

// foreignKeys are the members of a header by which a message brings a key of its own.
var foreignKeys = []string{"jwk", "jku", "x5c", "x5u"}

// anyOfOurs is what is expected of a header without a good algorithm.
const anyOfOurs = "ES256, EdDSA or RS256"

// admit refuses the headers that no key could make good (JWS-09).
func admit(members map[string]jsontext.Value, algorithm string) error {
	switch {
	case strings.EqualFold(algorithm, "none"):
		return refuse(UnsignedCode, "JWS-09", "the algorithm none: the manifest is not signed", anyOfOurs)
	case strings.HasPrefix(strings.ToUpper(algorithm), "HS"):
		return refuse(SharedSecretCode, "JWS-09", "the algorithm "+quoted(algorithm)+", which works with the public key alone", anyOfOurs)
	case !slices.Contains(Algorithms(), Algorithm(algorithm)):
		return refuse(AlgorithmCode, "JWS-09", "the algorithm "+quoted(algorithm), anyOfOurs)
	case members["crit"] != nil || members["b64"] != nil:
		return refuse(CriticalCode, "JWS-09", "a header that changes how the signature is read (crit or b64)", "neither of them")
	}
	for _, name := range foreignKeys {
		if members[name] != nil {
			return refuse(EmbeddedKeyCode, "JWS-04", "a message that brings its own key ("+name+")", "the kid of a key that you trust already")
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
		refused := refuse(NotManifestCode, "JWS-02", "a payload that is not a manifest", "one of the type "+aaep.TypeManifest)
		return aaep.Manifest{}, refused.because(err)
	}
	return m, nil
}

// judge holds a manifest against what is expected.
func (e Expected) judge(m aaep.Manifest) error {
	if e.AgentID != "" && m.AgentID != e.AgentID {
		return refuse(OtherAgentCode, "JWS-06", "the manifest of the agent "+quoted(m.AgentID), "that of "+quoted(e.AgentID))
	}
	if e.Offer != nil {
		if err := e.Offer.judge(m); err != nil {
			return err
		}
	}
	return Claims(m)
}
