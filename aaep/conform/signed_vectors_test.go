package conform_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/manifest"
)

// signers are keys that everybody can make again, and that therefore protect nothing: one of each algorithm, and one
// that nobody trusts.
type signers struct{ curve, edwards, modulus, stranger crypto.Signer }

var testSigners = sync.OnceValue(func() signers {
	curve, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{1}, 32))
	if err != nil {
		panic(err)
	}
	return signers{
		curve: curve, edwards: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32)), modulus: knownRSA(),
		stranger: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, 32)),
	}
})

// knownRSA is a key of 2048 bits from the first primes behind two digests.
func knownRSA() *rsa.PrivateKey {
	one, p, q := big.NewInt(1), primeBehind("p"), primeBehind("q")
	key := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, Primes: []*big.Int{p, q}}
	phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	key.D = new(big.Int).ModInverse(big.NewInt(65537), phi)
	key.Precompute()
	if err := key.Validate(); err != nil {
		panic(err)
	}
	return key
}

func primeBehind(name string) *big.Int {
	var digits []byte
	for i := byte(0); len(digits) < 128; i++ {
		sum := sha256.Sum256([]byte(name + string('0'+i)))
		digits = append(digits, sum[:]...)
	}
	digits[0] |= 0xc0 // so that the product has all its bits
	digits[127] |= 1
	n := new(big.Int).SetBytes(digits)
	for !n.ProbablyPrime(20) {
		n.Add(n, big.NewInt(2))
	}
	return n
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func trusted(keys ...crypto.Signer) jsontext.Value {
	var all manifest.Keys
	for _, private := range keys {
		key, err := manifest.NewKey(private.Public())
		if err != nil {
			panic(err)
		}
		all = append(all, key)
	}
	raw, err := all.Encode()
	if err != nil {
		panic(err)
	}
	return raw
}

func signedBy(private crypto.Signer, document object) string {
	signed, err := manifest.Sign(document.JSON(), private)
	if err != nil {
		panic(err)
	}
	return signed
}

// headed is a JWS of the Ed25519 key under any header.
func headed(header string, payload []byte) string {
	signed := base64url([]byte(header)) + "." + base64url(payload)
	return signed + "." + base64url(ed25519.Sign(testSigners().edwards.(ed25519.PrivateKey), []byte(signed)))
}

// signedVectors are about signed manifests: what a verifier takes, and what it must not.
func signedVectors() []source {
	document := object{
		{"@context", aaep.CoreContext},
		{"type", "aaep:producer.manifest"},
		{"agent_id", "vector-agent"},
		{"aaep_versions_supported", list("1.0.0")},
		{"conformance_levels_supported", list(1, 2)},
		{"transports_supported", list("stdio-jsonrpc")},
		{"languages_supported", list("en", "yo-NG")},
		{"event_types_emitted", list("aaep:agent.*")},
	}
	return joined(signatureVectors(document), headerVectors(document.JSON()), agreementVectors(document))
}

// joined makes signed manifests of vectors, with the keys that are trusted.
func joined(groups ...[]source) []source {
	var all []source
	keys := testSigners()
	for _, group := range groups {
		for _, s := range group {
			if s.Options == nil {
				s.Options = &conform.Options{}
			}
			s.Kind, s.Mode, s.Options.Keys = conform.KindSigned, conform.ModeConsumer, trusted(keys.curve, keys.edwards, keys.modulus)
			all = append(all, s)
		}
	}
	return all
}

func signatureVectors(document object) []source {
	keys := testSigners()
	es, ed, rs := signedBy(keys.curve, document), signedBy(keys.edwards, document), signedBy(keys.modulus, document)
	parts := strings.Split(es, ".")
	other := base64url(document.with("agent_id", "other-agent").JSON())
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	der, err := keys.curve.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		panic(err)
	}
	return []source{
		good("JWS-02", "es256", "ES256", es).also("JWS-05", "JWS-09"),
		good("JWS-02", "eddsa", "EdDSA, which is permitted", ed).also("JWS-05"),
		good("JWS-02", "rs256", "RS256", rs).also("JWS-05"),
		bad("JWS-02", "plain", "a manifest without a signature", anywhere, string(document.JSON())),
		bad("JWS-02", "detached", "the payload is not inside", anywhere, parts[0]+".."+parts[2]), // C-96
		bad("JWS-02", "padded", "base64url with padding", anywhere, es+"=="),
		bad("JWS-02", "event", "an event is signed", anywhere, headed(`{"alg":"EdDSA","kid":"`+kidOf(keys.edwards)+`"}`, on("started").JSON())),
		good("JWS-05", "holds", "the signature is of these bytes", es),
		bad("JWS-05", "altered", "the manifest was altered", anywhere, parts[0]+"."+other+"."+parts[2]),
		bad("JWS-05", "zeros", "the signature is all zeros", anywhere, parts[0]+"."+parts[1]+"."+base64url(make([]byte, 64))),
		bad("JWS-05", "short", "the signature is a byte short", anywhere, parts[0]+"."+parts[1]+"."+base64url(make([]byte, 63))),
		bad("JWS-04", "stranger", "a good signature of a key that nobody trusts", anywhere, signedBy(keys.stranger, document)),
		bad("JWS-09", "der", "an ES256 signature in DER form", anywhere, parts[0]+"."+parts[1]+"."+base64url(der)), // C-95
	}
}

func kidOf(private crypto.Signer) string {
	key, err := manifest.NewKey(private.Public())
	if err != nil {
		panic(err)
	}
	return key.ID
}

func headerVectors(document []byte) []source {
	keys := testSigners()
	kid := `"kid":"` + kidOf(keys.edwards) + `"`
	none := base64url([]byte(`{"alg":"none",`+kid+`}`)) + "." + base64url(document) + "."
	secret := base64url([]byte(`{"alg":"HS256",`+kid+`}`)) + "." + base64url(document)
	mac := hmac.New(sha256.New, keys.edwards.Public().(ed25519.PublicKey))
	mac.Write([]byte(secret))
	bare := strings.TrimSuffix(strings.TrimPrefix(string(trusted(keys.stranger)), `{"keys":[`), `]}`)
	return []source{
		bad("JWS-09", "none", "no signature, and the algorithm none", anywhere, none),
		bad("JWS-09", "none-signed", "a good signature, and the algorithm none", anywhere, headed(`{"alg":"none",`+kid+`}`, document)),
		bad("JWS-09", "hmac", "HS256 with the public key as its secret", anywhere, secret+"."+base64url(mac.Sum(nil))),
		bad("JWS-09", "other", "the algorithm of another key", anywhere, headed(`{"alg":"ES256",`+kid+`}`, document)),
		bad("JWS-09", "unknown", "an algorithm that nobody has", anywhere, headed(`{"alg":"XX256",`+kid+`}`, document)),
		bad("JWS-09", "crit", "a critical extension that nobody has", anywhere, headed(`{"alg":"EdDSA",`+kid+`,"crit":["urn:example:x"],"urn:example:x":1}`, document)),
		bad("JWS-04", "no-kid", "no key is named", anywhere, headed(`{"alg":"EdDSA"}`, document)),
		bad("JWS-04", "jwk", "the message brings its own key", anywhere, headed(`{"alg":"EdDSA","jwk":`+bare+`}`, document)),
		good("JWS-04", "kid", "the key is named by its kid", headed(`{"alg":"EdDSA",`+kid+`}`, document)).also("JWS-09"),
	}
}

// answered adds the answer that the manifest came with.
func (s source) answered(changes ...any) source {
	s.Options = &conform.Options{Answer: on("accepted", changes...).JSON(), Transport: string(aaep.TransportStdio)}
	return s
}

func agreementVectors(document object) []source {
	key := testSigners().curve
	plain := signedBy(key, document)
	levels, languages := "honored_capabilities/supported_conformance_levels", "honored_capabilities/languages"
	return []source{
		good("JWS-06", "same", "the agent of the answer", plain).answered(),
		bad("JWS-06", "other", "another agent than that of the answer", anywhere, plain).answered("producer/agent_id", "other-agent"),
		bad("JWS-06", "case", "the agent in other letters", anywhere, plain).answered("producer/agent_id", "Vector-Agent"),
		good("JWS-07", "all", "levels and languages of the answer", plain).answered(levels, list(1, 2), languages, list("en", "yo")),
		bad("JWS-07", "level", "a level that the manifest does not have", anywhere, plain).answered(levels, list(3)),
		bad("JWS-07", "language", "a language that the manifest does not have", anywhere, plain).answered(languages, list("de")),
		bad("JWS-07", "transport", "a transport that the manifest does not have", anywhere, signedBy(key, document.with("transports_supported", list("grpc")))).answered(),
		bad("JWS-07", "events", "a level without the events that it takes", anywhere, signedBy(key, document.with("event_types_emitted", list("aaep:agent.session.*", "aaep:agent.state.changed")))),
		bad("JWS-07", "way-back", "level 2, and no transport with a meaning", anywhere, signedBy(key, document.with("transports_supported", list("pigeon")))),
	}
}
