package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/utp"
)

// TestRoots: a server that asks for its roots is told of the folders of its entry, and of no others.
func TestRoots(t *testing.T) {
	t.Parallel()
	eachVersion(t, "rooted", func(t *testing.T, mode string) {
		folder := filepath.Join(ownFolder(t), "my photos")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		s := stdio(t, mode, "    roots: ["+folder+"]\n")
		want := "my photos file://" + strings.ReplaceAll(folder, " ", "%20")
		if got := s.call("roots", `{}`, utp.Read); got.err != nil || !strings.Contains(got.text, want) {
			t.Errorf("%v, %s; want %s", got.err, got.text, want)
		}
	})
}

// TestRootsAreDefined: other roots are another definition, which nobody has reviewed.
func TestRootsAreDefined(t *testing.T) {
	t.Parallel()
	folder := ownFolder(t)
	meaning := func(more string) string {
		s := newScene(t, section(t, "rooted", folder, more))
		s.run()
		s.offered()
		raw, err := json.Marshal(s.tool("roots").Definition, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	none, same, one := meaning(""), meaning("    roots: []\n"), meaning("    roots: ["+folder+"]\n")
	if none != same || none == one {
		t.Errorf("without roots the definition is %s; with an empty list %s; with one root %s", none, same, one)
	}
}
