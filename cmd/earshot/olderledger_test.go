package main_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api/audit"
)

// TestOlderLedger: a data directory that the program of commit 62c0ac8 has left behind, killed while a question was
// open, is opened, brought up to date and gone on with, and its audit chain verifies. In it are a turn that deleted
// three files, one that was rejected, one that was stopped, and the open one. Nothing is repeated.
func TestOlderLedger(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	must(t, os.MkdirAll(s.data, 0o700))
	for _, name := range []string{"key", "incarnation"} {
		raw, err := os.ReadFile(filepath.Join("testdata", "older", name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(s.data, name), raw, 0o600))
	}
	packed, err := os.Open(filepath.Join("testdata", "older", "ledger.db.gz"))
	must(t, err)
	defer packed.Close() //nolint:errcheck // it was read to its end
	ledger, err := gzip.NewReader(packed)
	must(t, err)
	raw, err := io.ReadAll(ledger)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(s.data, "ledger.db"), raw, 0o600))
	// The open turn works in a folder of that machine.
	alter(t, s.data, `UPDATE turn_inputs SET args = replace(args, '/older/photos', '`+s.folder+`')`)

	var report audit.Report
	s.reads(&report, "audit", "verify", "--json")
	if report.Answers != 2 || report.Receipts != 2 || report.Findings != 0 {
		t.Errorf("before anything was done with it: %+v", report)
	}
	before := s.paths()
	server := s.up()
	server.await("Resumed: sess_")
	for s.open() { // the time to answer was over long ago
		if t.Context().Err() != nil {
			t.Fatal("the turn goes on")
		}
	}
	contains(t, s.does(0, "turns", "list"), "Deleted 3 files.", "You said no.")
	server.signal(os.Interrupt)
	server.ends(0)
	if after := s.paths(); after != before {
		t.Errorf("the folder has changed from %s to %s", before, after)
	}
	s.answered("accept", 0)
	s.reads(&report, "audit", "verify", "--json")
	if report.Answers != 3 || report.Findings != 0 || report.Acts < 6 {
		t.Errorf("after more was done with it: %+v", report)
	}
}

// paths are all files of the scene's folder.
func (s *scene) paths() string {
	s.t.Helper()
	var all []string
	must(s.t, filepath.WalkDir(s.folder, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}))
	return strings.Join(all, " ")
}

// open reports whether a turn has not ended.
func (s *scene) open() bool {
	s.t.Helper()
	return strings.Contains(s.does(0, "turns", "list", "--open", "--json"), "turn_id")
}
