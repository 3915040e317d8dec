package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// TestErasedIsGone: of what was erased nothing is left in the files of the ledger, not in pages
// that are no longer used and not in the log; what was not erased is still there.
func TestErasedIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	const large = 40
	for n := range large { // over many pages, and written more than once
		b := storetest.Content(n+1, "")
		b.Turn.Request = storetest.Marker + string(bytes.Repeat([]byte("~"), 30_000))
		if err := save(t.Context(), s, b); err != nil {
			t.Fatal(err)
		}
		again := b.Turn
		again.Version, again.Request = 1, storetest.Marker
		if err := save(t.Context(), s, store.Batch{Turn: again, Published: []int64{b.Outbox[0].ID}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := marks(t, dir); n == 0 {
		t.Fatal("the mark is in none of the files before: the test shows nothing")
	}
	var done store.Purged
	err := s.Update(t.Context(), func(tx store.Tx) (err error) {
		done, err = tx.Purge(store.Purge{Project: storetest.Content(1, "").Turn.State.Project, Limit: 1000})
		return err
	})
	if err != nil || len(done.Erased) != large {
		t.Fatalf("%d turns were erased: %v", len(done.Erased), err)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Turns(store.TurnFilter{}); err != nil { // it reads from the log
			return err
		}
		if err := save(t.Context(), s, twoEvents(900)); err != nil { // and the log has more than that by now
			return err
		}
		return s.Scrub(context.WithoutCancel(t.Context()))
	})
	if !errors.Is(err, ledgersql.ErrBusy) {
		t.Errorf("while somebody reads: %v; want %v", err, ledgersql.ErrBusy)
	}
	if err := s.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := marks(t, dir); n != 0 {
		t.Errorf("the mark is still there, %d times", n)
	}
	if !holds(t, s, 900) {
		t.Error("what was not erased is gone too")
	}
}

// marks counts the mark in all files of a folder.
func marks(t *testing.T, dir string) int {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		raw, err := os.ReadFile(dir + "/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(raw, []byte(storetest.Marker))
	}
	return n
}
