package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestProgramChangedWhileDown: a server that starts by itself has reviewed nothing. A tool whose program changed under the same
// path counts as unreviewed, also at the starts after that, until an operator reviews it or the program is put back.
func TestProgramChangedWhileDown(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir, m := t.TempDir(), officeMain()
	program, file := filepath.Join(dir, "look"), filepath.Join(dir, "tools.yaml")
	write := func(word string) {
		t.Helper()
		err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(program+".new", []byte("#!/bin/sh\necho "+word+"\n"), 0o700), os.Rename(program+".new", program))
		if err != nil {
			t.Fatal(err)
		}
	}
	yaml := `command:
  target: desk
  operations:
    - {tool: desk.look, description: Look., class: read, program: ` + program + `, argv: []}
`
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	for _, row := range []struct {
		word   string
		review bool
		asked  bool
	}{
		{word: "first"},
		{word: "first"},
		{word: "second", asked: true},
		{word: "second", asked: true},
		{word: "first"},
		{word: "third", asked: true, review: true},
		{word: "third"},
	} {
		write(row.word)
		services, err := toolfile.Read(file, toolfile.Options{LookupEnv: m.LookupEnv, Private: data})
		if err != nil {
			t.Fatal(err)
		}
		h := officeInstance(ctx, t, m, services, instance.Options{Data: data})
		results, asked := errand(ctx, t, h, []worker.Call{{Key: "look", Tool: "desk.look"}}, "accept")
		if (len(asked) > 0) != row.asked || (len(h.Changed) > 0) != row.asked || results["look"].Status != utp.StatusSuccess {
			t.Fatalf("%s: asked about %v, changed %v, %+v", row.word, asked, h.Changed, results)
		}
		if row.review {
			digest, err := services[0].Definitions()[0].Digest()
			if err == nil {
				err = h.Kernel.Admin().Review(ctx, "desk.look", digest, utp.Read, utp.RiskLow)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		h.Close()
		if left, err := filepath.Glob(filepath.Join(data, "earshot-programs-*")); err != nil || len(left) > 0 {
			t.Errorf("private copies are left: %q, %v", left, err)
		}
	}
}
