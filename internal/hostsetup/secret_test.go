package hostsetup_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/hostsetup"
	"github.com/earshot-dev/earshot/internal/toolfile"
)

// TestRemoveSecrets: with a server go the credentials that were written for it, and no others: not those of another place, nor those
// that another server needs.
func TestRemoveSecrets(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	folder := filepath.Join(data, "secrets")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	elsewhere := filepath.Join(data, "token")
	for _, path := range []string{at("hub.TOKEN"), at("hub.SHARED"), at("den.TOKEN"), elsewhere} {
		if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ref := func(path string) toolfile.SecretRef { return toolfile.SecretRef{File: path} }
	before := map[string]toolfile.MCPServer{
		"hub": {Secrets: map[string]toolfile.SecretRef{
			"TOKEN": ref(at("hub.TOKEN")), "SHARED": ref(at("hub.SHARED")), "GONE": ref(at("hub.GONE")), "OWN": ref(elsewhere), "ENV": {Env: "HUB"}, "THEIRS": ref(at("den.TOKEN")),
		}},
		"den": {Secrets: map[string]toolfile.SecretRef{"TOKEN": ref(at("den.TOKEN")), "SHARED": ref(at("hub.SHARED"))}},
	}
	removed, err := hostsetup.RemoveSecrets(data, "hub", before)
	if err != nil || !slices.Equal(removed, []string{at("hub.TOKEN")}) {
		t.Errorf("removed were %q, %v", removed, err)
	}
	left, err := filepath.Glob(at("*"))
	if err != nil || !slices.Equal(left, []string{at("den.TOKEN"), at("hub.SHARED")}) {
		t.Errorf("left are %q, %v", left, err)
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
}
