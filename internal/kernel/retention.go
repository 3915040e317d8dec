package kernel

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

// Retention says how long is kept what people and tools have said, and how long that there
// was something: counted from the last event of a turn that has ended. What is open stays.
type Retention struct {
	// Content is kept so long: arguments, results, output, the texts of events and questions,
	// blobs, sealed secrets, narration. Default 30 days; negative keeps it for ever.
	Content time.Duration
	// Receipts, consents and the digests of calls are kept so long. Default 365 days; negative
	// keeps them for ever. It is never shorter than Content.
	Receipts time.Duration
	// OnErased is told of the calls whose content was erased, after the commit, so that what lies
	// elsewhere goes too. It may be told of a call twice.
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
	// purgeEvery is how often the ledger is looked through; purgeTurns how many turns go in one
	// transaction, which others wait for, and purgePause what lies between two.
	purgeEvery = time.Hour
	purgeTurns = 8
	purgePause = 100 * time.Millisecond
)

// purger erases what its time is over of, at the start and then every hour.
func (k *Kernel) purger(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := k.purgeDue(ctx); err != nil && ctx.Err() == nil {
			k.o.Logger.Error("what is too old could not be erased; it is tried again", "error", err)
		}
		timer.Reset(purgeEvery)
	}
}

func (k *Kernel) purgeDue(ctx context.Context) error {
	now := k.o.Clock.Now()
	p := store.Purge{Keys: now.Add(-store.KeyLife)}
	if k.o.Retention.Content > 0 {
		p.Content = now.Add(-k.o.Retention.Content)
	}
	if k.o.Retention.Receipts > 0 {
		p.Receipts = now.Add(-k.o.Retention.Receipts)
	}
	_, err := k.purge(ctx, p)
	return err
}

// purge runs small transactions until nothing is left to do, and says what they did in all.
func (k *Kernel) purge(ctx context.Context, p store.Purge) (store.Purge, error) {
	p.Limit = purgeTurns
	var all store.Purge
	for {
		if err := k.purgeStep(ctx, &p, nil); err != nil {
			return all, err
		}
		all.Erased, all.Calls = append(all.Erased, p.Erased...), append(all.Calls, p.Calls...)
		all.Dropped, all.Blobs = all.Dropped+p.Dropped, all.Blobs+p.Blobs
		if !p.More {
			break
		}
		if err := breathe(ctx, purgePause); err != nil {
			return all, err
		}
	}
	if k.scrubbed.Load() {
		return all, nil
	}
	return all, k.scrub(ctx)
}

// purgeStep is one transaction. Of what was erased in it an operator's word has acts.
func (k *Kernel) purgeStep(ctx context.Context, p *store.Purge, word *api.EraseRequest) error {
	err := k.update(ctx, func(tx store.Tx) error {
		if err := tx.Save(store.Batch{Purge: p}); err != nil || word == nil {
			return err
		}
		var b store.Batch
		for _, erased := range p.Erased {
			a, err := k.operated(api.AuditAct{Act: api.ActErase, Subject: erased, By: word.By})
			if err != nil {
				return err
			}
			b.Acts = append(b.Acts, a...)
		}
		return tx.Save(b)
	})
	if err != nil || p.ErasedAny() { // what has failed may have been written
		k.scrubbed.Store(false)
	}
	if err == nil {
		k.o.Retention.OnErased(p.Calls)
	}
	return err
}

// scrub asks the store for as long as it is busy, for a while. What it could not do then is left
// to the next purge, whether that finds anything to erase or not.
func (k *Kernel) scrub(ctx context.Context) error {
	k.scrubbed.Store(true) // before: somebody may erase more meanwhile
	err := k.tryScrub(ctx)
	if err != nil {
		k.scrubbed.Store(false)
	}
	return err
}

func (k *Kernel) tryScrub(ctx context.Context) error {
	s, can := k.o.Store.(store.Scrubber)
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
