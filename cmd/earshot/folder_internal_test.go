package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/cli"
)

// TestFolderGoesMeanwhile: a folder that goes away while it is looked at is not there, whichever
// look comes too late.
func TestFolderGoesMeanwhile(t *testing.T) {
	t.Parallel()
	for when, open := range map[string]func(string) (*os.File, error){
		"before it is opened": func(path string) (*os.File, error) {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
			return os.Open(path)
		},
		"before it is listed": func(path string) (*os.File, error) {
			dir, err := os.Open(path)
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
			return dir, err
		},
	} {
		path := filepath.Join(t.TempDir(), "photos")
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		err := cli.FolderFailure(path, listable(path, open))
		if !strings.Contains(err.Error(), "there is no folder") {
			t.Errorf("%s: %v", when, err)
		}
	}
	path := t.TempDir()
	if err := listable(path, os.Open); err != nil {
		t.Errorf("one that is there, and empty: %v", err)
	}
}
