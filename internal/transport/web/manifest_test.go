package web_test

import (
	"crypto/ed25519"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestManifestNamesDeviations: the manifest names each deviation of docs/deviations.md, by its rules and its address,
// and no other. Where policy decides when nobody is there, CONF-82 and CONF-83 are kept, and not named.
func TestManifestNamesDeviations(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/deviations.md")
	if err != nil {
		t.Fatal(err)
	}
	written := onPurpose(string(page))
	kept := slices.DeleteFunc(slices.Clone(written), func(n named) bool { return slices.Contains(n.Rules, "CONF-82") })
	if len(kept) == 0 || len(kept) != len(written)-1 {
		t.Fatalf("docs/deviations.md has %v", written)
	}
	manifestNames(t, played(t), written)
	manifestNames(t, newScene(t, func(o *web.Options) { o.Decides = true }), kept)
}

// manifestNames fails if the published manifest does not name these deviations.
func manifestNames(t *testing.T, s *scene, want []named) {
	t.Helper()
	w := s.do("GET", "/.well-known/aaep-manifest.json", "", "")
	m, err := aaep.DecodeManifest(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var ours struct {
		Deviations []named `json:"deviations"`
	}
	if err := json.Unmarshal(m.Extensions[aaep.PrefixEarshot], &ours); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(ours.Deviations, want, named.equal) {
		t.Errorf("the manifest names\n%v\nexpected\n%v", ours.Deviations, want)
	}
}

// TestSignedManifest: those who ask for it get it at the same address, others the manifest as before; the keys that
// still count are published (JWS-03).
func TestSignedManifest(t *testing.T) {
	t.Parallel()
	const address, keysAddress = "/.well-known/aaep-manifest.json", "/.well-known/jwks.json"
	plain := played(t)
	if w := plain.do("GET", address, "", "", "Accept", "application/jose"); w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Vary") != "" {
		t.Errorf("without a key: %v", w.Header())
	}
	if w := plain.do("GET", keysAddress, "", ""); strings.TrimSpace(w.Body.String()) != `{"keys":[]}` {
		t.Errorf("without a key: %s", w.Body)
	}
	key, err := manifest.NewKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public())
	if err != nil {
		t.Fatal(err)
	}
	former := key
	former.ID, former.Until = "former", time.Unix(1, 0)
	signed := newScene(t, func(o *web.Options) { o.SignedManifest, o.ManifestKeys = "a.b.c", manifest.Keys{key, former} })
	if w := signed.do("GET", address, "", "", "Accept", "application/jose, */*;q=0.1"); w.Body.String() != "a.b.c" || w.Header().Get("Content-Type") != "application/jose" || w.Header().Get("Vary") != "Accept" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	for _, other := range []string{"application/jose+json", "application/josephine", "application/jose;q=0", "text/plain;of=application/jose", "*/*"} {
		if w := signed.do("GET", address, "", "", "Accept", other); w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s gets %v", other, w.Header())
		}
	}
	if w := signed.do("GET", address, "", ""); !strings.HasPrefix(w.Body.String(), "{") || w.Header().Get("Vary") != "Accept" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	keys, err := manifest.ParseKeys(signed.do("GET", keysAddress, "", "").Body.Bytes())
	if err != nil || len(keys) != 1 || keys[0].ID != key.ID {
		t.Errorf("%v: %v", err, keys)
	}
}

type named struct {
	Rules []string `json:"rules"`
	See   string   `json:"see"`
}

func (n named) equal(other named) bool {
	return n.See == other.See && slices.Equal(n.Rules, other.Rules)
}

var marks = regexp.MustCompile(`[^a-z0-9 -]`)

// onPurpose reads the headings below "On purpose", and the line of rules below each.
func onPurpose(page string) []named {
	_, rest, _ := strings.Cut(page, "\n## On purpose\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	var all []named
	for part := range strings.SplitSeq(section, "\n### ") {
		heading, text, _ := strings.Cut(part, "\n")
		_, rules, found := strings.Cut(text, "Rules: ")
		if strings.TrimSpace(heading) == "" || !found {
			continue
		}
		rules, _, _ = strings.Cut(rules, ".")
		anchor := strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
		all = append(all, named{
			Rules: strings.Split(rules, ", "),
			See:   "https://github.com/earshot-dev/earshot/blob/main/docs/deviations.md#" + anchor,
		})
	}
	return all
}
