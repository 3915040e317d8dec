package admin

import (
	"context"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Defaults of [Retention].
const (
	DefaultContent  = 30 * 24 * time.Hour
	DefaultReceipts = 365 * 24 * time.Hour
)

// Retention says how long content is retained, and how long the record that it existed. Both count from the last
// event of a turn that has ended. Open turns are retained.
type Retention struct {
	// Content is how long arguments, results, output, the texts of events and questions, blobs, sealed
	// secrets and narration are retained. Default 30 days; negative is for ever.
	Content time.Duration
	// Receipts is how long receipts, consents and the digests of calls are retained. Default 365 days;
	// negative is for ever. It is never shorter than Content.
	Receipts time.Duration
	// OnErased is called with the calls whose content was erased, after the commit, so that copies
	// elsewhere are removed too. It may get a call twice.
	OnErased func(calls []string)
}

func (r *Retention) fill() {
	if r.Content == 0 {
		r.Content = DefaultContent
	}
	if r.Receipts == 0 {
		r.Receipts = DefaultReceipts
	}
	if r.Content < 0 {
		r.Receipts = -1
	}
	if r.Receipts > 0 {
		r.Receipts = max(r.Receipts, r.Content)
	}
	if r.OnErased == nil {
		r.OnErased = func([]string) {}
	}
}

const (
	// purgeEvery is how often the ledger is purged, purgeTurns how many turns one transaction erases,
	// which others wait for, and purgePause the pause between two transactions.
	purgeEvery = time.Hour
	purgeTurns = 8
	purgePause = 100 * time.Millisecond
)

// Run erases expired content, at the start and then every hour.
func (ad *Admin) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := ad.purgeDue(ctx); err != nil && ctx.Err() == nil {
			ad.o.Logger.Error("what is too old could not be erased; it is tried again", "error", err)
		}
		timer.Reset(purgeEvery)
	}
}

func (ad *Admin) purgeDue(ctx context.Context) error {
	now := ad.o.Now()
	p := store.Purge{Keys: now.Add(-store.KeyLife)}
	if ad.o.Retention.Content > 0 {
		p.Content = now.Add(-ad.o.Retention.Content)
	}
	if ad.o.Retention.Receipts > 0 {
		p.Receipts = now.Add(-ad.o.Retention.Receipts)
	}
	_, err := ad.purge(ctx, p)
	return err
}

// purge runs small transactions until nothing is left to do, and returns what they did in all.
func (ad *Admin) purge(ctx context.Context, p store.Purge) (store.Purged, error) {
	p.Limit = purgeTurns
	var all store.Purged
	for {
		done, err := ad.purgeStep(ctx, p, nil)
		if err != nil {
			return all, err
		}
		all.Erased, all.Calls = append(all.Erased, done.Erased...), append(all.Calls, done.Calls...)
		all.Dropped, all.Blobs = all.Dropped+done.Dropped, all.Blobs+done.Blobs
		if !done.More {
			break
		}
		if err := breathe(ctx, purgePause); err != nil {
			return all, err
		}
	}
	if ad.scrubbed.Load() {
		return all, nil
	}
	return all, ad.scrub(ctx)
}

// purgeStep runs one transaction. What an operator's request erases is recorded as acts.
func (ad *Admin) purgeStep(ctx context.Context, p store.Purge, q *api.EraseRequest) (store.Purged, error) {
	var done store.Purged
	err := store.Update(ctx, ad.o.Ledger, func(tx store.Tx) (err error) {
		if done, err = tx.Purge(p); err != nil || q == nil {
			return err
		}
		var b store.Batch
		for _, erased := range done.Erased {
			a, err := ad.Operated(api.AuditAct{Act: api.ActErase, Subject: erased, By: q.By})
			if err != nil {
				return err
			}
			b.Acts = append(b.Acts, a...)
		}
		return tx.Save(b)
	})
	if err != nil || done.Any() { // a failed transaction may have been written
		ad.scrubbed.Store(false)
	}
	if err == nil {
		ad.o.Retention.OnErased(done.Calls)
	}
	return done, err
}

// scrub scrubs the store's files, and retries for a while if the store is busy. What is left then is done after the
// next purge, whether that finds anything to erase or not.
func (ad *Admin) scrub(ctx context.Context) error {
	ad.scrubbed.Store(true) // set first: somebody may erase more meanwhile
	err := ad.tryScrub(ctx)
	if err != nil {
		ad.scrubbed.Store(false)
	}
	return err
}

func (ad *Admin) tryScrub(ctx context.Context) error {
	s, can := ad.o.Ledger.(store.Scrubber)
	if !can {
		return nil
	}
	const tries = 20
	var err error
	for range tries {
		if err = s.Scrub(ctx); err == nil {
			return nil
		}
		if err := breathe(ctx, purgePause); err != nil {
			return err
		}
	}
	return err
}

func breathe(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
