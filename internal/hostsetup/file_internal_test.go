package hostsetup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/hostfile"
)

// TestChangedMeanwhile: what the host itself has written since the file was read is not written over.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	claude, _ := hostfile.HostOf("claude")
	for _, before := range []string{"", "{\"a\": 1}\n"} {
		path := filepath.Join(t.TempDir(), "claude.json")
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f, err := open(claude, path)
		if err == nil {
			err = f.Set(hostfile.EntryName, claude.Entry("/usr/bin/earshot"))
		}
		if err != nil {
			t.Fatal(err)
		}
		const theirs = "{\"a\": 2}\n"
		if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.write(claude); err == nil || !strings.Contains(err.Error(), "was changed by another program meanwhile") {
			t.Errorf("found %v", err)
		}
		if raw, err := os.ReadFile(path); string(raw) != theirs {
			t.Errorf("found %q, %v", raw, err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 || err != nil {
			t.Errorf("left are %v, %v", left, err)
		}
	}
}
