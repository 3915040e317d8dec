package manifest_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
)

// A producer signs its manifest; a subscriber, who has the public key from elsewhere, verifies it.
func Example() {
	private := ed25519.NewKeyFromSeed([]byte("32 bytes that nobody could guess"))
	document, err := aaep.Manifest{AgentID: "tidy", AAEPVersionsSupported: []string{aaep.Version}}.Encode()
	if err != nil {
		panic(err)
	}
	signed, err := manifest.Sign(document, private)
	if err != nil {
		panic(err)
	}

	key, err := manifest.NewKey(private.Public())
	if err != nil {
		panic(err)
	}
	expected := manifest.Expected{Keys: manifest.Keys{key}, AgentID: "tidy", Now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)}
	v, err := expected.Verify(signed)
	fmt.Println(v.Manifest.AgentID, v.Key.Algorithm, err)

	expected.AgentID = "another"
	_, err = expected.Verify(signed)
	refused, _ := errors.AsType[*manifest.Error](err)
	fmt.Println(refused.Code)
	// Output:
	// tidy EdDSA <nil>
	// other_agent
}
