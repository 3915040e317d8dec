package sqlite_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// TestHashStateFromElsewhere goes on with an upload whose running hash this program
// cannot read: it is computed again from the pieces.
func TestHashStateFromElsewhere(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789"), 70_000)
	sum := sha256.Sum256(data)
	sha := hex.EncodeToString(sum[:])
	for name, state := range map[string]string{"unknown": "x'0102'", "none": "NULL"} {
		dir := t.TempDir()
		s := open(t, dir)
		put := func(from, to int) error {
			return s.Update(t.Context(), func(tx store.Tx) error {
				return tx.Save(store.Batch{Blobs: []api.PutRequest{{SHA256: sha, Size: int64(len(data)), Offset: int64(from), Data: data[from:to]}}})
			})
		}
		if err := put(0, 600_000); err != nil {
			t.Fatal(err)
		}
		outside(t, ledgerIn(dir), "UPDATE blobs SET running = "+state)
		if err := put(600_000, len(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLostPieces: an incomplete blob of which a piece is gone is damage, and says so.
func TestLostPieces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	put := func(from, to int64) error {
		return s.Update(t.Context(), func(tx store.Tx) error {
			return tx.Save(store.Batch{Blobs: []api.PutRequest{{SHA256: nought, Size: 100, Offset: from, Data: make([]byte, to-from)}}})
		})
	}
	if err := put(0, 50); err != nil {
		t.Fatal(err)
	}
	outside(t, ledgerIn(dir), "UPDATE blobs SET running = NULL", "DELETE FROM blob_chunks")
	if err := put(50, 60); !errors.Is(err, ledgersql.ErrCorrupt) {
		t.Errorf("got %v, want %v", err, ledgersql.ErrCorrupt)
	}
}
