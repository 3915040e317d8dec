package tidy_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy"
)

// What the sample says about itself is what a turn finds, removes and skips.
func TestSampleKeepsItsWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	answer, _ := w.dialogue(tidy.Args{Root: w.root}, nil)
	got := answer.Counts
	if got.Files != w.sample.Files || got.Sets != w.sample.Sets || got.Duplicates != w.sample.Duplicates || got.DuplicateBytes != w.sample.Bytes ||
		got.Deleted != w.sample.Duplicates || got.Bytes != w.sample.Bytes {
		t.Errorf("counts are %+v, sample is %+v", got, w.sample)
	}
	if got.Files < 24 || got.Sets < 5 {
		t.Errorf("the sample is too small: %+v", w.sample)
	}
	for _, reason := range []string{"symlink", "hard_link", "empty", "git"} {
		if got.Skipped[reason] != 1 {
			t.Errorf("skipped %v, want one %s", got.Skipped, reason)
		}
	}
}

func TestSampleTouchesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600))
	if _, err := tidy.MakeSample(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v", err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
	if _, err := tidy.MakeSample(filepath.Join(dir, "mine")); err == nil {
		t.Error("a file was taken for a folder")
	}
}
