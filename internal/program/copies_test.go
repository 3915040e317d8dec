package program_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/internal/program"
)

// TestFreshCopy: a copy can be run as soon as it is ready, also while other programs are being started. For a moment one of those
// holds every file that this process had open, and the system refuses to run a program that somebody has open for writing.
func TestFreshCopy(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	path := filepath.Join(dir, "program")
	if err = errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	bound, err := program.Bind(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer end()
	for range 4 {
		others.Go(func() {
			for ctx.Err() == nil {
				_ = exec.Command("/bin/true").Run()
			}
		})
	}
	for range 30 {
		copies := program.NewCopies(dir)
		copies.Add(bound)
		at, err := copies.Ready(bound)
		if err == nil {
			err = exec.Command(at).Run()
		}
		copies.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
}
