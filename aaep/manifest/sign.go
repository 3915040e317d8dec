package manifest

import (
	"crypto"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// header is what a signature says of itself.
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
}

// Sign signs a manifest, and returns the compact JWS that belongs into subscription.accepted or is served as
// application/jose (JWS-03). The key is in memory or in a device; its kind fixes the algorithm, and its thumbprint is
// the kid. Its method Sign gets nil as the source of randomness: a device that needs one has its own. Errors: an [*Error]
// of [KeyCode] if the key cannot be used, or of [NotManifestCode] if the document breaks a rule of manifests.
func Sign(document []byte, private crypto.Signer) (string, error) {
	key, err := NewKey(private.Public())
	if err != nil {
		return "", err
	}
	if found := aaep.Errors(aaep.ValidateManifest(document, aaep.ModeProducer)); len(found) > 0 {
		return "", refuse(NotManifestCode, "JWS-02", "a document that breaks a rule: "+found[0].String(), "one that keeps them all")
	}
	head, err := json.Marshal(header{Algorithm: string(key.Algorithm), KeyID: key.ID})
	if err != nil {
		return "", unusable("a kid that cannot be written", "a text that is UTF-8").because(err)
	}
	signed := encode(head) + "." + encode(document)
	signature, err := signatureOf([]byte(signed), private)
	if err != nil {
		return "", unusable("a key that did not sign", "a signature").because(err)
	}
	if err := key.check([]byte(signed), signature); err != nil { // a device can sign with another key than it says
		return "", err
	}
	return signed + "." + encode(signature), nil
}
