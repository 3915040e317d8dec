package manifest_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
)

const document = `{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:producer.manifest","agent_id":"tidy","aaep_versions_supported":["1.0.0"],` +
	`"conformance_levels_supported":[1,2],"transports_supported":["stdio-jsonrpc"],"languages_supported":["en","yo-NG"],"event_types_emitted":["aaep:agent.*"]}`

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// forge is a JWS with any header and payload, signed with the key.
func forge(tb testing.TB, private crypto.Signer, head, payload string) string {
	tb.Helper()
	signed := encode([]byte(head)) + "." + encode([]byte(payload))
	digest := sha256.Sum256([]byte(signed))
	message, hash := digest[:], crypto.SHA256
	if _, is := private.(ed25519.PrivateKey); is {
		message, hash = []byte(signed), crypto.Hash(0)
	}
	signature, err := private.Sign(nil, message, hash)
	must(tb, err)
	return signed + "." + encode(signature)
}

// TestSignRoundTrip: each algorithm signs, verifies, and is verified by another library; which signs for us, too
// (JWS-02, JWS-05).
func TestSignRoundTrip(t *testing.T) {
	t.Parallel()
	for algorithm, private := range pairs(t) {
		signed, err := manifest.Sign([]byte(document), private)
		must(t, err)
		key := keyOf(t, private)
		theirs, err := jose.ParseSignedCompact(signed, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(algorithm)})
		must(t, err)
		payload, err := theirs.Verify(private.Public())
		if err != nil || string(payload) != document || theirs.Signatures[0].Header.KeyID != key.ID {
			t.Errorf("%s: %v: %s", algorithm, err, payload)
		}
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: jose.JSONWebKey{Key: private, KeyID: key.ID}}, nil)
		must(t, err)
		object, err := signer.Sign([]byte(document))
		must(t, err)
		other, err := object.CompactSerialize()
		must(t, err)
		for _, message := range []string{signed, other} {
			v, err := manifest.Expected{Keys: manifest.Keys{key}, Now: moment, AgentID: "tidy"}.Verify(message)
			if err != nil || string(v.Raw) != document || v.Key.ID != key.ID || v.Manifest.AgentID != "tidy" {
				t.Errorf("%s: %v: %+v", algorithm, err, v)
			}
		}
		if again, err := manifest.Sign([]byte(document), private); err != nil || again != signed {
			t.Errorf("%s: %v: another signature of the same bytes", algorithm, err)
		}
	}
}

// attack is a message, and the code by which it is refused.
type attack struct {
	name, message string
	code          manifest.Code
}

// TestAttacks: each is refused with its own code, for each algorithm (JWS-02, JWS-04, JWS-05, JWS-09).
func TestAttacks(t *testing.T) {
	t.Parallel()
	all := pairs(t)
	for algorithm, private := range all {
		key := keyOf(t, private)
		signed, err := manifest.Sign([]byte(document), private)
		must(t, err)
		expected := manifest.Expected{Keys: manifest.Keys{key}, Now: moment}
		for _, a := range slices.Concat(shapes(signed), headers(t, private, key), signatures(t, signed, private)) {
			t.Run(string(algorithm)+" "+a.name, func(t *testing.T) {
				t.Parallel()
				v, err := expected.Verify(a.message)
				wantCode(t, err, a.code)
				if v.Raw != nil || v.Manifest.AgentID != "" {
					t.Errorf("something of it is given out: %+v", v)
				}
			})
		}
	}
}

// shapes are messages that are no compact JWS.
func shapes(signed string) []attack {
	parts := strings.Split(signed, ".")
	return []attack{
		{"nothing", "", manifest.MalformedCode},
		{"the plain manifest", document, manifest.MalformedCode},
		{"two parts", parts[0] + "." + parts[1], manifest.MalformedCode},
		{"four parts", signed + ".AA", manifest.MalformedCode},
		{"detached", parts[0] + ".." + parts[2], manifest.MalformedCode}, // C-96
		{"padding", parts[0] + "=." + parts[1] + "." + parts[2], manifest.MalformedCode},
		{"a line break", parts[0] + "\n." + parts[1] + "." + parts[2], manifest.MalformedCode},
		{"a line break at the end", signed + "\n", manifest.MalformedCode},
		{"bits that say nothing", parts[0] + "." + parts[1] + "." + parts[2][:len(parts[2])-1] + "_", manifest.MalformedCode},
		{"too long", strings.Repeat("A", manifest.MaxBytes+1), manifest.MalformedCode},
		{"JSON form", `{"payload":"` + parts[1] + `","signatures":[]}`, manifest.MalformedCode},
	}
}

// headers are messages whose header no key makes good. All but the unsigned ones are signed by the trusted key.
func headers(tb testing.TB, private crypto.Signer, key manifest.Key) []attack {
	tb.Helper()
	alg, kid := `"alg":"`+string(key.Algorithm)+`"`, `"kid":"`+key.ID+`"`
	forged := func(head string) string { return forge(tb, private, head, document) }
	unsigned := func(head string) string { return encode([]byte(head)) + "." + encode([]byte(document)) + "." }
	return []attack{
		{"none", unsigned(`{"alg":"none",` + kid + `}`), manifest.UnsignedCode},
		{"nOnE", unsigned(`{"alg":"nOnE",` + kid + `}`), manifest.UnsignedCode},
		{"none, and a signature", forged(`{"alg":"none",` + kid + `}`), manifest.UnsignedCode},
		{"no algorithm", forged(`{` + kid + `}`), manifest.AlgorithmCode},
		{"a number as algorithm", forged(`{"alg":256,` + kid + `}`), manifest.AlgorithmCode},
		{"PS256", forged(`{"alg":"PS256",` + kid + `}`), manifest.AlgorithmCode},
		{"small letters", forged(`{"alg":"` + strings.ToLower(string(key.Algorithm)) + `",` + kid + `}`), manifest.AlgorithmCode},
		{"another of ours", forged(`{"alg":"` + string(otherThan(key.Algorithm)) + `",` + kid + `}`), manifest.AlgorithmCode},
		{"HS256 with the public key", shared(tb, private, `{"alg":"HS256",`+kid+`}`), manifest.SharedSecretCode},
		{"hs512", forged(`{"alg":"hs512",` + kid + `}`), manifest.SharedSecretCode},
		{"crit", forged(`{` + alg + `,` + kid + `,"crit":["exp"],"exp":1}`), manifest.CriticalCode},
		{"b64", forged(`{` + alg + `,` + kid + `,"b64":false}`), manifest.CriticalCode},
		{"jwk", forged(`{` + alg + `,` + kid + `,"jwk":{"kty":"oct"}}`), manifest.EmbeddedKeyCode},
		{"jwk without a kid", forged(`{` + alg + `,"jwk":{"kty":"oct"}}`), manifest.EmbeddedKeyCode},
		{"jku", forged(`{` + alg + `,` + kid + `,"jku":"https://example.org/keys"}`), manifest.EmbeddedKeyCode},
		{"x5c", forged(`{` + alg + `,` + kid + `,"x5c":[]}`), manifest.EmbeddedKeyCode},
		{"x5u", forged(`{` + alg + `,` + kid + `,"x5u":null}`), manifest.EmbeddedKeyCode},
		{"no kid", forged(`{` + alg + `}`), manifest.UnknownKeyCode},
		{"another kid", forged(`{` + alg + `,"kid":"other"}`), manifest.UnknownKeyCode},
		{"a kid twice", forged(`{` + alg + `,` + kid + `,` + kid + `}`), manifest.MalformedCode},
		{"an algorithm twice", forged(`{"alg":"none",` + alg + `,` + kid + `}`), manifest.MalformedCode},
		{"a header that is null", forged(`null`), manifest.MalformedCode},
		{"a header that is a list", forged(`[]`), manifest.MalformedCode},
		{"a header that is not UTF-8", forged("{" + alg + "," + kid + ",\"x\":\"\xff\"}"), manifest.MalformedCode},
	}
}

func otherThan(a manifest.Algorithm) manifest.Algorithm {
	if a == manifest.RS256 {
		return manifest.ES256
	}
	return manifest.RS256
}

// shared is the attack of those who have the public key: it serves as the secret of an HMAC.
func shared(tb testing.TB, private crypto.Signer, head string) string {
	tb.Helper()
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	must(tb, err)
	signed := encode([]byte(head)) + "." + encode([]byte(document))
	mac := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// signatures are messages with a good header whose signature is not of these bytes by this key.
func signatures(tb testing.TB, signed string, private crypto.Signer) []attack {
	tb.Helper()
	key := keyOf(tb, private)
	parts := strings.Split(signed, ".")
	raw, err := base64.RawURLEncoding.DecodeString(parts[2])
	must(tb, err)
	head := `{"alg":"` + string(key.Algorithm) + `","kid":"` + key.ID + `"}`
	with := func(payload string, signature []byte) string {
		return parts[0] + "." + encode([]byte(payload)) + "." + encode(signature)
	}
	flipped := bytes.Clone(raw)
	flipped[len(flipped)-1] ^= 1
	same := pairs(tb)[key.Algorithm]
	all := []attack{
		{"tampered manifest", with(strings.Replace(document, "tidy", "tide", 1), raw), manifest.SignatureCode},
		{"tampered signature", with(document, flipped), manifest.SignatureCode},
		{"no signature", with(document, nil), manifest.SignatureCode},
		{"zeros", with(document, make([]byte, len(raw))), manifest.SignatureCode},
		{"a byte less", with(document, raw[:len(raw)-1]), manifest.SignatureCode},
		{"a byte more", with(document, append(bytes.Clone(raw), 0)), manifest.SignatureCode},
		{"another key under this kid", forgeRaw(tb, same, head), manifest.SignatureCode},
		{"tampered header", encode([]byte(head[:len(head)-1]+`,"typ":"JWT"}`)) + "." + parts[1] + "." + parts[2], manifest.SignatureCode},
	}
	if _, is := private.(*ecdsa.PrivateKey); is {
		all = append(all, attack{"DER", forge(tb, private, head, document), manifest.DERCode}) // C-95
	}
	return all
}

// forgeRaw is a good JWS of another key that takes the kid of this one.
func forgeRaw(tb testing.TB, other crypto.Signer, head string) string {
	tb.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(keyOf(tb, other).Algorithm), Key: jose.JSONWebKey{Key: other, KeyID: strings.Split(head, `"`)[7]}}, nil)
	must(tb, err)
	object, err := signer.Sign([]byte(document))
	must(tb, err)
	text, err := object.CompactSerialize()
	must(tb, err)
	return text
}

// TestExpectedIsJudged: a good signature is not enough (JWS-02, JWS-06, JWS-07).
func TestExpectedIsJudged(t *testing.T) {
	t.Parallel()
	private := pairs(t)[manifest.EdDSA]
	key := keyOf(t, private)
	head := `{"alg":"EdDSA","kid":"` + key.ID + `"}`
	edit := func(old, replacement string) string { return strings.Replace(document, old, replacement, 1) }
	answer := aaep.SubscriptionAccepted{AAEPVersion: "1.0.0", HonoredCapabilities: aaep.Capabilities{SupportedConformanceLevels: []int{1, 2}, Languages: []string{"yo", "EN-GB"}}}
	all := *manifest.OfferOf(answer, aaep.TransportStdio)
	for name, tt := range map[string]struct {
		payload string
		agent   string
		offer   manifest.Offer
		code    manifest.Code
	}{
		"as expected":             {document, "tidy", all, ""},
		"nothing expected":        {document, "", manifest.Offer{}, ""},
		"another agent":           {document, "chat", all, manifest.OtherAgentCode},
		"another case":            {document, "Tidy", all, manifest.OtherAgentCode},
		"another version":         {document, "", manifest.Offer{Version: "2.0.0"}, manifest.OfferCode},
		"another transport":       {document, "", manifest.Offer{Transport: aaep.TransportSSE}, manifest.OfferCode},
		"another level":           {document, "", manifest.Offer{Levels: []int{1, 3}}, manifest.OfferCode},
		"another language":        {document, "", manifest.Offer{Languages: []string{"en", "de"}}, manifest.OfferCode},
		"no such prefix":          {document, "", manifest.Offer{Languages: []string{"e"}}, manifest.OfferCode},
		"no event for level 2":    {edit(`"aaep:agent.*"`, `"aaep:agent.s*","aaep:agent.tool.*","aaep:agent.output.streaming"`), "", manifest.Offer{}, manifest.ClaimCode},
		"just enough for 1":       {edit(`[1,2],"transports_supported":["stdio-jsonrpc"],"languages_supported":["en","yo-NG"],"event_types_emitted":["aaep:agent.*"]`, `[1],"event_types_emitted":["aaep:agent.s*","aaep:agent.tool.*","aaep:agent.output.streaming"]`), "", manifest.Offer{}, ""},
		"no event at all":         {edit(`["aaep:agent.*"]`, `[]`), "", manifest.Offer{}, manifest.ClaimCode},
		"events are not said":     {edit(`,"event_types_emitted":["aaep:agent.*"]`, ``), "", manifest.Offer{}, ""},
		"no way back":             {edit(`"stdio-jsonrpc"`, `"pigeon"`), "", manifest.Offer{}, manifest.ClaimCode},
		"transports are not said": {edit(`"transports_supported":["stdio-jsonrpc"],`, ``), "", manifest.Offer{}, ""},
		"a level that is none":    {edit(`[1,2]`, `[-5]`), "", manifest.Offer{}, manifest.ClaimCode},
		"levels are not said":     {edit(`"conformance_levels_supported":[1,2],`, ``), "", manifest.Offer{}, ""},
		"an event":                {aaep.Messages()[0].Example, "", manifest.Offer{}, manifest.NotManifestCode},
		"no JSON":                 {"hello", "", manifest.Offer{}, manifest.NotManifestCode},
		"an agent twice":          {edit(`"agent_id":"tidy"`, `"agent_id":"tidy","agent_id":"chat"`), "", manifest.Offer{}, manifest.NotManifestCode},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.Expected{Keys: manifest.Keys{key}, Now: moment, AgentID: tt.agent, Offer: &tt.offer}.Verify(forge(t, private, head, tt.payload))
			if tt.code == "" {
				must(t, err)
				return
			}
			wantCode(t, err, tt.code)
		})
	}
}

// TestClaimsOfNoLevel: a manifest that nobody has validated may claim any number (JWS-07).
func TestClaimsOfNoLevel(t *testing.T) {
	t.Parallel()
	for _, level := range []int{math.MinInt, -2, -1, 0, 4, math.MaxInt} {
		for _, levels := range [][]int{{level}, {level, 1}} {
			err := manifest.Claims(aaep.Manifest{ConformanceLevelsSupported: levels, EventTypesEmitted: []string{"aaep:agent.*"}})
			wantCode(t, err, manifest.ClaimCode)
		}
	}
	must(t, manifest.Claims(aaep.Manifest{ConformanceLevelsSupported: []int{1, 2, 3}, EventTypesEmitted: []string{"aaep:agent.*"}}))
}

// TestNameOfKey: the name of a key comes with it, and does not control the terminal that the refusal is read on.
func TestNameOfKey(t *testing.T) {
	t.Parallel()
	private := pairs(t)[manifest.ES256]
	key := keyOf(t, private)
	key.ID = "a\x1b[2Jb"
	message := forge(t, private, `{"alg":"ES256","kid":"a\u001b[2Jb"}`, document)
	_, err := manifest.Expected{Keys: manifest.Keys{key}, Now: moment}.Verify(message[:len(message)-86] + encode(make([]byte, 64)))
	wantCode(t, err, manifest.SignatureCode)
	if strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q", err)
	}
}

// TestKeyEnds: to the second (JWS-04).
func TestKeyEnds(t *testing.T) {
	t.Parallel()
	private := pairs(t)[manifest.ES256]
	key := keyOf(t, private)
	key.Until = moment
	signed, err := manifest.Sign([]byte(document), private)
	must(t, err)
	if _, err := (manifest.Expected{Keys: manifest.Keys{key}, Now: moment.Add(-time.Nanosecond)}).Verify(signed); err != nil {
		t.Error(err)
	}
	_, err = manifest.Expected{Keys: manifest.Keys{key}, Now: moment}.Verify(signed)
	wantCode(t, err, manifest.ExpiredKeyCode)
	_, err = manifest.Expected{Now: moment}.Verify(signed)
	wantCode(t, err, manifest.UnknownKeyCode)
}

// device is a key that signs in a way of its own.
type device struct {
	crypto.Signer
	sign func(digest []byte) ([]byte, error)
}

func (d device) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	return d.sign(digest)
}

func der(r, s *big.Int) []byte {
	raw, _ := asn1.Marshal(struct{ R, S *big.Int }{r, s}) // two numbers can be written
	return raw
}

// TestSignRefuses: what is not a manifest, and a device that does not do what it says.
func TestSignRefuses(t *testing.T) {
	t.Parallel()
	all := pairs(t)
	for _, payload := range []string{``, `{}`, strings.Replace(document, "1.0.0", "1", 1), aaep.Messages()[0].Example} {
		_, err := manifest.Sign([]byte(payload), all[manifest.ES256])
		wantCode(t, err, manifest.NotManifestCode)
	}
	for algorithm, private := range all {
		_, err := manifest.Sign([]byte(document), device{private, func([]byte) ([]byte, error) { return nil, io.ErrClosedPipe }})
		wantCode(t, err, manifest.KeyCode)
		for _, signature := range [][]byte{
			[]byte("no signature"), der(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 256)), der(big.NewInt(-1), big.NewInt(1)), append(der(big.NewInt(1), big.NewInt(1)), 0),
		} {
			_, err = manifest.Sign([]byte(document), device{private, func([]byte) ([]byte, error) { return signature, nil }})
			if algorithm == manifest.ES256 {
				wantCode(t, err, manifest.KeyCode)
			} else {
				wantCode(t, err, manifest.SignatureCode)
			}
			if strings.Contains(err.Error(), "%!") {
				t.Error(err)
			}
		}
	}
}

// FuzzVerify: no text makes the verifier panic, and nothing but what the key has signed is accepted. The other library
// is asked about everything, too: what we accept, it accepts.
func FuzzVerify(f *testing.F) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	key := keyOf(f, private)
	signed, err := manifest.Sign([]byte(document), private)
	must(f, err)
	for _, a := range slices.Concat([]attack{{message: signed}}, shapes(signed)[:9], headers(f, private, key), signatures(f, signed, private)) {
		f.Add(a.message)
	}
	f.Fuzz(func(t *testing.T, message string) {
		v, err := manifest.Expected{Keys: manifest.Keys{key}, Now: moment}.Verify(message)
		if err != nil {
			return
		}
		theirs, err := jose.ParseSignedCompact(message, []jose.SignatureAlgorithm{jose.EdDSA})
		must(t, err)
		if payload, err := theirs.Verify(private.Public()); err != nil || !bytes.Equal(payload, v.Raw) {
			t.Errorf("%v: %s", err, payload)
		}
	})
}

// FuzzParseKeys: no text makes the reader panic, and what it reads is written and read the same again.
func FuzzParseKeys(f *testing.F) {
	for _, private := range pairs(f) {
		raw, err := manifest.Keys{keyOf(f, private)}.Encode()
		must(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		keys, err := manifest.ParseKeys(raw)
		if err != nil {
			return
		}
		written, err := keys.Encode()
		must(t, err)
		again, err := manifest.ParseKeys(written)
		must(t, err)
		if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, written) {
			t.Errorf("%v:\n%s\n%s", err, written, twice)
		}
	})
}
