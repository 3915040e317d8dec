package main_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/testkit"
)

const unsignedManifest = `{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:producer.manifest","agent_id":"tidy","aaep_versions_supported":["1.0.0"]}`

// manifestSays runs `earshot manifest`, demands an exit code, and returns all that it wrote.
func manifestSays(t *testing.T, code int, args ...string) string {
	t.Helper()
	out, problems, got := says(t, append([]string{"manifest"}, args...)...)
	if got != code {
		t.Errorf("manifest %v: exit %d, expected %d\n%s%s", args, got, code, out, problems)
	}
	return out + problems
}

// TestManifestFiles: a key is made, signs and is changed; what was signed before verifies until the old key ends
// (JWS-02, JWS-04, JWS-05, JWS-06, JWS-09).
func TestManifestFiles(t *testing.T) {
	t.Parallel()
	for _, algorithm := range manifest.Algorithms() {
		dir := t.TempDir()
		key, keys := filepath.Join(dir, "manifest.pem"), filepath.Join(dir, "manifest.pem.jwks")
		document, signed := filepath.Join(dir, "manifest.json"), filepath.Join(dir, "manifest.jws")
		must(t, os.WriteFile(document, []byte(unsignedManifest), 0o644))
		contains(t, manifestSays(t, 0, "keygen", "--algorithm", string(algorithm), key), "Its kid is ")
		for file, want := range map[string]os.FileMode{key: 0o600, keys: 0o644} {
			info, err := os.Stat(file)
			must(t, err)
			if info.Mode().Perm() != want {
				t.Errorf("%s has the mode %v, expected %v", file, info.Mode(), want)
			}
		}
		contains(t, manifestSays(t, 1, "keygen", key), "the key was not written")
		must(t, os.WriteFile(signed, []byte(manifestSays(t, 0, "sign", "--key", key, document)), 0o644))
		contains(t, manifestSays(t, 0, "verify", "--keys", keys, "--agent", "tidy", signed), "The signature holds: "+string(algorithm), "of the agent tidy")
		contains(t, manifestSays(t, 1, "verify", "--keys", keys, "--agent", "chat", signed), `found the manifest of the agent "tidy", expected that of "chat"`)

		contains(t, manifestSays(t, 0, "rotate", key), "counts until")
		contains(t, manifestSays(t, 0, "verify", "--keys", keys, signed), "The signature holds")
		contains(t, manifestSays(t, 0, "rotate", key, "--days", "0"), "is no longer in "+keys, "Until then it signs with the old key")
		contains(t, manifestSays(t, 1, "verify", "--keys", keys, signed), "which is not trusted", "hint: ")

		must(t, os.Chmod(key, 0o640))
		contains(t, manifestSays(t, 1, "sign", "--key", key, document), "is open to others (mode 0640, expected 0600)")
		contains(t, manifestSays(t, 1, "rotate", key), "is open to others")
	}
}

// TestManifestVerifySays: the codes for programs, and what is wrong with the command.
func TestManifestVerifySays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	key := filepath.Join(dir, "key.pem")
	keys := key + ".jwks"
	manifestSays(t, 0, "keygen", key)
	signed := strings.TrimSpace(manifestSays(t, 0, "sign", "--key", key, file("good.json", unsignedManifest)))
	parts := strings.Split(signed, ".")
	for want, text := range map[manifest.Code]string{
		"":                     signed + "\n",
		manifest.MalformedCode: parts[0] + "." + parts[1],
		manifest.UnsignedCode:  "eyJhbGciOiJub25lIn0." + parts[1] + ".", // {"alg":"none"}
		manifest.SignatureCode: parts[0] + "." + parts[1] + "." + strings.Repeat("A", 86),
	} {
		code := 1
		if want == "" {
			code = 0
		}
		var found struct {
			Valid   bool          `json:"valid"`
			Code    manifest.Code `json:"code"`
			Problem string        `json:"problem"`
			Trust   string        `json:"trust"`
			KeyID   string        `json:"kid"`
		}
		must(t, json.Unmarshal([]byte(manifestSays(t, code, "verify", "--json", "--keys", keys, file("case.jws", text))), &found))
		if found.Code != want || found.Valid != (want == "") || found.Trust != "given" || (found.Problem == "") != found.Valid || (found.KeyID == "") == found.Valid {
			t.Errorf("%q: found %+v", want, found)
		}
	}
	contains(t, manifestSays(t, 1, "sign", "--key", key, file("bad.json", "{}")), "the manifest was not signed")
	contains(t, manifestSays(t, 2, "sign", file("bad.json", "{}")), "no key is named")
	contains(t, manifestSays(t, 2, "verify", file("case.jws", signed)), "there are no keys to verify a file with")
	contains(t, manifestSays(t, 2, "verify", "ftp://example.org"), "is not one of a server")
	contains(t, manifestSays(t, 2, "keygen", "--algorithm", "HS256", filepath.Join(dir, "new.pem")), "the algorithm is")
	contains(t, manifestSays(t, 2, "rotate", "--days", "-1", key), "--days is -1")
}

// TestManifestVerifyPrintsNoControls: the names of keys come from elsewhere too, and do not control a terminal.
func TestManifestVerifyPrintsNoControls(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	const name = `a\u001b[2J\u202eb`
	signed := encode([]byte(`{"alg":"EdDSA","kid":"`+name+`"}`)) + "." + encode([]byte(unsignedManifest))
	dir := t.TempDir()
	keys, message := filepath.Join(dir, "keys.jwks"), filepath.Join(dir, "manifest.jws")
	must(t, os.WriteFile(keys, []byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"`+encode(public)+`","kid":"`+name+`"}]}`), 0o644))
	for code, signature := range map[int][]byte{0: ed25519.Sign(private, []byte(signed)), 1: make([]byte, ed25519.SignatureSize)} {
		must(t, os.WriteFile(message, []byte(signed+"."+encode(signature)), 0o644))
		if says := manifestSays(t, code, "verify", "--keys", keys, message); strings.ContainsAny(says, "\x1b\u202e") || !strings.Contains(says, "[2J") {
			t.Errorf("%q", says)
		}
	}
}

// TestManifestServed: `earshot up` serves a manifest that verifies, signs with the new key once it is started again,
// and does not start with a key that others can open (MAN-01, JWS-03).
func TestManifestServed(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	key := filepath.Join(filepath.Dir(s.data), "manifest.pem")
	manifestSays(t, 0, "keygen", key)
	plain := s.up()
	contains(t, manifestSays(t, 1, "verify", s.place().URL), "the server publishes no key")
	contains(t, manifestSays(t, 1, "verify", "--keys", key+".jwks", s.place().URL), "without a signature")
	plain.signal(os.Interrupt)
	plain.ends(0)

	server := s.up("--manifest-key", key, "--contact", "help@example.org")
	contains(t, manifestSays(t, 0, "verify", "--keys", key+".jwks", "--agent", "earshot", s.place().URL), "levels 1, 2, 3", "Transports: sse")
	contains(t, manifestSays(t, 0, "verify", s.place().URL), "The keys came from the same server, so this does not show whose they are.")
	first := published(t, s.place().URL+"/.well-known/aaep-manifest.json")
	m, err := aaep.DecodeManifest(first)
	if err != nil || m.Contact != "help@example.org" || len(aaep.ValidateManifest(first, aaep.ModeProducer)) > 0 {
		t.Errorf("%v: %s", err, first)
	}
	server.signal(os.Interrupt)
	server.ends(0)

	before, err := os.ReadFile(key + ".jwks")
	must(t, err)
	manifestSays(t, 0, "rotate", key)
	server = s.up("--manifest-key", key)
	contains(t, manifestSays(t, 0, "verify", s.place().URL), "The signature holds")
	old := filepath.Join(filepath.Dir(s.data), "before.jwks")
	must(t, os.WriteFile(old, before, 0o644))
	contains(t, manifestSays(t, 1, "verify", "--keys", old, s.place().URL), "which is not trusted")
	keys, err := manifest.ParseKeys(published(t, s.place().URL+"/.well-known/jwks.json"))
	if err != nil || len(keys) != 2 || keys[1].Until.Before(time.Now().AddDate(0, 0, 29)) {
		t.Errorf("%v: published are %v", err, keys)
	}
	server.signal(os.Interrupt)
	server.ends(0)

	must(t, os.Chmod(key, 0o644))
	refused := start(t, options{verb: "up", data: s.data, args: []string{"--http", "127.0.0.1:0", "--manifest-key", key}, nobody: true})
	refused.ends(1)
	contains(t, refused.prompt.String(), "is open to others (mode 0644, expected 0600)")
}

// published is what a server answers to anybody.
func published(t *testing.T, address string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	must(t, err)
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	must(t, err)
	return raw
}
