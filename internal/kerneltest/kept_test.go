package kerneltest_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/kerneltest"
	"github.com/earshot-dev/earshot/internal/storetest"
)

var keep = flag.Bool("keep", false, "write the ledger that TestKeptLedger opens again, with today's schema; the one before it stays a test of its own")

// kept are ledgers that programs of earlier days have left behind, made by -keep. What comes later has to open each.
func kept(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.db.gz")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	return names
}

// TestKeptLedger: each kept ledger is opened, brought up to date and gone on with, and its audit chain verifies before and after.
func TestKeptLedger(t *testing.T) {
	t.Parallel()
	if *keep {
		writeKept(t, filepath.Join("testdata", "schema25.db.gz"))
	}
	for _, name := range kept(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			path := unpack(t, name)
			s := openAt(t, path)
			before := storetest.Audit(t, s)
			kerneltest.GoOn(t, s)
			if after := storetest.Audit(t, s); before.Findings != 0 || after.Findings != 0 || after.Entries <= before.Entries {
				t.Errorf("the audit chain was %+v, and is %+v", before, after)
			}
		})
	}
}

// TestFillAndGoOn: the same with a ledger of today.
func TestFillAndGoOn(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir())
	kerneltest.Fill(t, s)
	kerneltest.GoOn(t, s)
}

// writeKept makes a ledger and keeps a copy of it.
func writeKept(t *testing.T, name string) {
	t.Helper()
	s := openAt(t, t.TempDir())
	kerneltest.Fill(t, s)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o750)
	}
	if err == nil {
		err = os.WriteFile(name, packed.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unpack puts a kept ledger into a folder of its own.
func unpack(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	path := t.TempDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(path, "ledger.db"), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func openAt(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
