package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/kernel"
)

// journalSuffix ends the names of the journals of the files service; before it is the call.
const journalSuffix = ".jsonl"

// journalsEvery is how often journals are looked for that nothing refers to.
const journalsEvery = time.Hour

// forgetJournals removes what the files service has kept of calls whose content is erased.
func (h *house) forgetJournals(calls []string) {
	for _, call := range calls {
		if strings.ContainsAny(call, `/\`) || call == "" {
			continue
		}
		path := filepath.Join(h.data.File(datadir.JournalDir), call+journalSuffix)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.log.Error("the journal of an erased call stays", "error", fmt.Errorf("removing: %w", err))
		}
	}
}

// sweepJournals looks at the start and then every hour for journals that are older than
// content is kept, and of whose calls the ledger keeps no content: whoever erased that had
// no time to remove them, or the ledger never had the call.
func (h *house) sweepJournals(ctx context.Context, content time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := h.dropJournals(ctx, h.now().Add(-content)); err != nil && ctx.Err() == nil {
			h.log.Error("journals that are too old could not be looked for; it is tried again", "error", err)
		}
		timer.Reset(journalsEvery)
	}
}

func (h *house) dropJournals(ctx context.Context, before time.Time) error {
	files, err := os.ReadDir(h.data.File(datadir.JournalDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("journals: %w", err)
	}
	var old []string
	for _, f := range files {
		call, is := strings.CutSuffix(f.Name(), journalSuffix)
		if info, err := f.Info(); is && err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			old = append(old, call)
		}
	}
	var gone []string
	for _, call := range old {
		kept, err := h.keepsContent(ctx, call)
		if err != nil {
			return err
		}
		if !kept {
			gone = append(gone, call)
		}
	}
	h.forgetJournals(gone)
	return nil
}

// keepsContent reports whether the ledger has the content of a call. What cannot be read
// may be it.
func (h *house) keepsContent(ctx context.Context, call string) (bool, error) {
	kept := false
	err := h.store.View(ctx, func(tx kernel.Tx) error {
		rec, err := tx.Turn(kernel.TurnRef{Call: call})
		switch {
		case errors.Is(err, kernel.ErrNotFound):
			return nil
		case errors.Is(err, kernel.ErrDamaged):
			kept = true
			return nil
		}
		kept = !rec.Erased
		return err
	})
	if err != nil {
		return true, fmt.Errorf("the call of a journal: %w", err)
	}
	return kept, nil
}
