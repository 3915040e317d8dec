package sqlite_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// lies are the files of a folder with their contents.
func lies(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		raw, err := os.ReadFile(dir + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(raw)
	}
	return all
}

// TestExamine: a closed ledger is read through and left as it was, byte by byte and file by file.
func TestExamine(t *testing.T) {
	t.Parallel()
	dir := filled(t, 20)
	before := lies(t, dir)
	c, err := sqlite.Examine(t.Context(), ledgerIn(dir))
	if err != nil || c.Version == 0 || c.Version != c.Latest {
		t.Fatalf("%+v, %v", c, err)
	}
	after := lies(t, dir)
	if len(after) != len(before) || after["ledger.db"] != before["ledger.db"] {
		t.Errorf("there were %d files, and are %d", len(before), len(after))
	}
}

// TestExamineBeside: a ledger that a program works with is read through beside it, with what its log holds, and the program goes on.
func TestExamineBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for n := range 20 {
		if err := save(t.Context(), s, twoEvents(n)); err != nil {
			t.Fatal(err)
		}
		if c, err := sqlite.Examine(t.Context(), ledgerIn(dir)); err != nil || c.Version != c.Latest {
			t.Fatalf("after %d: %+v, %v", n, c, err)
		}
	}
	shut(t, s)
}

// TestExamineDamaged: what is damaged, no ledger, or of a newer program is said, and left as it is.
func TestExamineDamaged(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		by   func([]byte) []byte
		want error
	}{
		"cut":     {func(raw []byte) []byte { return raw[:8192] }, ledgersql.ErrCorrupt},
		"a text":  {func([]byte) []byte { return slices.Repeat([]byte("no ledger "), 1000) }, ledgersql.ErrCorrupt},
		"rubbish": {func(raw []byte) []byte { return append(raw[:4096:4096], slices.Repeat([]byte{0xa5}, len(raw)-4096)...) }, ledgersql.ErrCorrupt},
	} {
		dir := filled(t, 20)
		change(t, ledgerIn(dir), row.by)
		before := lies(t, dir)
		_, err := sqlite.Examine(t.Context(), ledgerIn(dir))
		if !errors.Is(err, row.want) {
			t.Errorf("%s: %v", name, err)
		}
		if after := lies(t, dir); after["ledger.db"] != before["ledger.db"] {
			t.Errorf("%s: the file has changed", name)
		}
	}
	dir := filled(t, 1)
	outside(t, ledgerIn(dir), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	var newer *ledgersql.VersionError
	if _, err := sqlite.Examine(t.Context(), ledgerIn(dir)); !errors.As(err, &newer) || newer.Found != 9999 {
		t.Errorf("a newer one: %v", err)
	}
	if _, err := sqlite.Examine(t.Context(), ledgerIn(t.TempDir())); !errors.Is(err, ledgersql.ErrAccess) {
		t.Errorf("none: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := sqlite.Examine(ended, ledgerIn(filled(t, 1))); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}
