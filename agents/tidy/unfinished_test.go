//go:build linux || darwin || freebsd || netbsd

package tidy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy"
)

// A folder that an unfinished removal left is told in words at the end of the turn, and nothing in it counts as a duplicate.
func TestUnfinishedRemovalIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	must(t, os.Mkdir(filepath.Join(w.root, ".earshot-tc_0"), 0o700))
	must(t, os.WriteFile(filepath.Join(w.root, ".earshot-tc_0", "0"), []byte("one"), 0o600))
	answer, text := w.dialogue(tidy.Args{Root: w.root}, nil)
	told := slices.ContainsFunc(answer.Lines, func(line string) bool {
		return strings.HasPrefix(line, "Skipped: ") && strings.Contains(line, "1 private folder of an unfinished removal")
	})
	if !told || answer.Outcome != tidy.Nothing {
		t.Errorf("the dialogue is\n%s", text)
	}
}
