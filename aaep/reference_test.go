package aaep_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

var update = flag.Bool("update", false, "write the generated page again")

const referencePage = "../docs/reference-aaep.md"

// TestReference: the page in docs is what the table says today. With -update it is
// written again.
func TestReference(t *testing.T) {
	t.Parallel()
	want := aaep.Reference()
	if *update {
		if err := os.WriteFile(referencePage, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; write it again with: go test ./aaep -run TestReference -update", referencePage)
	}
}

// TestReferenceIsWhole: every message has its heading, every field its row, every row
// as many cells as the header, and every link its target.
func TestReferenceIsWhole(t *testing.T) {
	t.Parallel()
	page := string(aaep.Reference())
	for _, name := range aaep.Names() {
		if !strings.Contains(page, "\n## "+name+"\n") || !strings.Contains(page, "\n- ["+name+"](#"+strings.ReplaceAll(name, ".", "")+")\n") {
			t.Errorf("%s has no heading, or no link to it", name)
		}
	}
	for _, m := range everything() {
		for _, f := range m.Fields {
			if !strings.Contains(page, "\n| `"+f.Name+"` | ") || !strings.Contains(page, f.Description) {
				t.Errorf("%s: %s has no row", m.Type, f.Name)
			}
		}
	}
	header := ""
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| Field") {
			header = line
		}
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != strings.Count(header, "|") {
			t.Errorf("a row with other cells than the header: %s", line)
		}
	}
}
