package manifest_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/earshot-dev/earshot/aaep/manifest"
)

var moment = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// pairs are a fresh key of each algorithm.
func pairs(tb testing.TB) map[manifest.Algorithm]crypto.Signer {
	tb.Helper()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(tb, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	must(tb, err)
	modulus, err := rsa.GenerateKey(rand.Reader, 2048)
	must(tb, err)
	return map[manifest.Algorithm]crypto.Signer{manifest.ES256: curve, manifest.EdDSA: edwards, manifest.RS256: modulus}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func keyOf(tb testing.TB, private crypto.Signer) manifest.Key {
	tb.Helper()
	key, err := manifest.NewKey(private.Public())
	must(tb, err)
	return key
}

// wantCode demands a refusal, and that it can be read.
func wantCode(t *testing.T, err error, code manifest.Code) {
	t.Helper()
	refused, is := errors.AsType[*manifest.Error](err)
	if !is || refused.Code != code || refused.Found == "" || refused.Expected == "" {
		t.Errorf("got %v, want %s", err, code)
	}
}

// TestKeysAgreeWithAnotherLibrary: what we publish is read by go-jose, and what it publishes by us, with the same
// thumbprints.
func TestKeysAgreeWithAnotherLibrary(t *testing.T) {
	t.Parallel()
	for algorithm, private := range pairs(t) {
		key := keyOf(t, private)
		ours, err := manifest.Keys{key}.Encode()
		must(t, err)
		var theirs jose.JSONWebKeySet
		must(t, json.Unmarshal(ours, &theirs))
		thumbprint, err := theirs.Keys[0].Thumbprint(crypto.SHA256)
		must(t, err)
		encoded := jose.JSONWebKey{Key: private.Public(), KeyID: key.ID, Algorithm: string(algorithm), Use: "sig"}
		raw, err := encoded.MarshalJSON()
		must(t, err)
		read, err := manifest.ParseKeys([]byte(`{"keys":[` + string(raw) + `]}`))
		must(t, err)
		if !reflect.DeepEqual(read, manifest.Keys{key}) || encode(thumbprint) != key.ID || !theirs.Keys[0].Valid() {
			t.Errorf("%s:\nwe   %s\nthey %s", algorithm, ours, raw)
		}
	}
}

// TestKeysRoundTrip: also with an end, and without a kid, which is then the thumbprint.
func TestKeysRoundTrip(t *testing.T) {
	t.Parallel()
	all := pairs(t)
	keys := manifest.Keys{keyOf(t, all[manifest.ES256]), keyOf(t, all[manifest.RS256])}
	keys[1].Until = moment
	raw, err := keys.Encode()
	must(t, err)
	again, err := manifest.ParseKeys(raw)
	if err != nil || !reflect.DeepEqual(again, keys) {
		t.Fatalf("%v\n%v\n%v", err, again, keys)
	}
	unnamed := bytes.Replace(raw, []byte(`"kid":"`+keys[0].ID+`",`), nil, 1)
	if again, err = manifest.ParseKeys(unnamed); err != nil || again[0].ID != keys[0].ID {
		t.Errorf("%v: %v", err, again)
	}
	if _, there := again.Find(""); there {
		t.Error("found a key without a name")
	}
}

// TestKeysOfOthersAreLeftOut: a set may have keys that this package does not use; one without any of ours is refused.
func TestKeysOfOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	ours, err := manifest.Keys{keyOf(t, pairs(t)[manifest.EdDSA])}.Encode()
	must(t, err)
	one := strings.TrimSuffix(strings.TrimPrefix(string(ours), `{"keys":[`), `]}`)
	for _, other := range []string{
		`{"kty":"oct","k":"c2VjcmV0","kid":"shared"}`,
		`{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}`,
		`{"kty":"OKP","crv":"X25519","x":"AA"}`,
		strings.Replace(one, `"use":"sig"`, `"use":"enc"`, 1),
		`{"kty":"RSA","alg":"PS256","n":"AA","e":"AQAB"}`,
	} {
		keys, err := manifest.ParseKeys([]byte(`{"keys":[` + other + `,` + one + `]}`))
		if err != nil || len(keys) != 1 || keys[0].Algorithm != manifest.EdDSA {
			t.Errorf("%s: %v %v", other, keys, err)
		}
		_, err = manifest.ParseKeys([]byte(`{"keys":[` + other + `]}`))
		wantCode(t, err, manifest.KeyCode)
	}
}

func TestKeysRefused(t *testing.T) {
	t.Parallel()
	good, err := manifest.Keys{keyOf(t, pairs(t)[manifest.ES256])}.Encode()
	must(t, err)
	key := strings.TrimSuffix(strings.TrimPrefix(string(good), `{"keys":[`), `]}`)
	for name, raw := range map[string]string{
		"nothing":         ``,
		"no set":          `[]`,
		"no keys":         `{"keys":[]}`,
		"a name twice":    `{"keys":[` + key + `,` + key + `]}`,
		"a member twice":  `{"keys":[],"keys":[]}`,
		"a private key":   `{"keys":[` + strings.Replace(key, `"kty"`, `"d":"AA","kty"`, 1) + `]}`,
		"no point":        `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`,
		"off the curve":   `{"keys":[{"kty":"EC","crv":"P-256","x":"` + strings.Repeat("A", 43) + `","y":"` + strings.Repeat("A", 43) + `"}]}`,
		"a short Ed25519": `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}`,
		"a small RSA":     `{"keys":[{"kty":"RSA","n":"` + strings.Repeat("_", 171) + `","e":"AQAB"}]}`,
		"an even e":       `{"keys":[{"kty":"RSA","n":"` + strings.Repeat("_", 342) + `","e":"Ag"}]}`,
		"a huge e":        `{"keys":[{"kty":"RSA","n":"` + strings.Repeat("_", 342) + `","e":"` + strings.Repeat("_", 22) + `"}]}`,
		"padding":         `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + strings.Repeat("A", 43) + `="}]}`,
		"a line break":    `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + strings.Repeat("A", 43) + `\n"}]}`,
		"too many":        `{"keys":[` + strings.TrimSuffix(strings.Repeat(`{"kty":"oct"},`, 65), ",") + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, err := manifest.ParseKeys([]byte(raw))
			wantCode(t, err, manifest.KeyCode)
			if keys != nil {
				t.Errorf("got %v", keys)
			}
		})
	}
}

// TestNewKeyRefuses: a key that others could not verify with, or that is too weak.
func TestNewKeyRefuses(t *testing.T) {
	t.Parallel()
	curve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(t, err)
	small := pairs(t)[manifest.RS256].Public().(*rsa.PublicKey)
	small.N = small.N.Rsh(small.N, 1024)
	for _, public := range []crypto.PublicKey{nil, "key", curve.Public(), small} {
		_, err := manifest.NewKey(public)
		wantCode(t, err, manifest.KeyCode)
		_, err = manifest.Keys{{ID: "a", Public: public}}.Encode()
		wantCode(t, err, manifest.KeyCode)
	}
}

// TestKeysTooMany: what would not be read again is not written.
func TestKeysTooMany(t *testing.T) {
	t.Parallel()
	keys := slices.Repeat(manifest.Keys{keyOf(t, pairs(t)[manifest.EdDSA])}, 65)
	_, err := keys.Encode()
	wantCode(t, err, manifest.KeyCode)
	_, err = keys[:64].Encode()
	must(t, err)
}

// TestKeysRotate: the new key comes first, the others end, and those that have ended are gone.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	until := moment.Add(time.Hour)
	keys := manifest.Keys{{ID: "now"}, {ID: "former", Until: moment.Add(time.Minute)}, {ID: "later", Until: until.Add(time.Hour)}, {ID: "gone", Until: moment}}
	want := manifest.Keys{{ID: "next"}, {ID: "now", Until: until}, {ID: "former", Until: moment.Add(time.Minute)}, {ID: "later", Until: until}}
	if got := keys.Rotate(manifest.Key{ID: "next"}, until, moment); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if got := want.Rotate(want[0], until, moment); !reflect.DeepEqual(got, want) {
		t.Errorf("once again: %v", got)
	}
	if got := want.At(until); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("at the end: %v", got)
	}
	if got := keys.Rotate(want[0], moment, moment); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("ended at once: %v", got)
	}
	if keys[0].Until != (time.Time{}) {
		t.Error("the original has changed")
	}
}
