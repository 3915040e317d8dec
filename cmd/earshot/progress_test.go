package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestHashingShowsProgress: how far a long search is is told in steps of at least 5 % of the
// whole, also where it takes so many calls that each of them is less than that.
func TestHashingShowsProgress(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	const size = 512 << 10
	s := emptyScene(t)
	long := strings.Repeat("x", 240) // with such paths about 130 files make a call
	deep := filepath.Join(s.folder, long, long, long, long)
	must(t, os.MkdirAll(deep, 0o755))
	for i := range 2000 {
		name := filepath.Join(deep, fmt.Sprintf("%04d", i))
		must(t, os.WriteFile(name, nil, 0o600))
		must(t, os.Truncate(name, size)) // a hole, which takes no room
	}
	p := s.run("--no-input", "--json")
	p.ends(3)
	hashes, last, told := 0, 0.0, 0
	for _, line := range jsonLines(p.out.String()) {
		e, err := aaep.DecodeEvent([]byte(line))
		must(t, err)
		switch p := e.Payload.(type) {
		case aaep.ToolInvoked:
			if p.Tool == "files.hash" {
				hashes++
			}
		case aaep.ProgressUpdated:
			if p.Progress.Percent == nil || *p.Progress.Percent < last+5 {
				t.Errorf("after %v %% it tells %s", last, line)
				continue
			}
			last = *p.Progress.Percent
			told++
		}
	}
	if hashes <= 12 { // hashing is 60 % of the whole
		t.Fatalf("hashing took %d calls, so each was more than 5 %%", hashes)
	}
	if told < 3 {
		t.Errorf("in %d calls it was told %d times how far it was", hashes, told)
	}
}
