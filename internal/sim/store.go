package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// watchedStore is one kernel's way to the ledger. It implements [store.Ledger].
type watchedStore struct {
	w *world
	p *process
}

// storeError is a database that fails; safe says that nothing was written.
type storeError struct{ safe bool }

func (e storeError) Error() string {
	return fmt.Sprintf("sim: the database fails, safe to retry: %t", e.safe)
}

// SafeToRetry is what the kernel asks of a store's errors.
func (e storeError) SafeToRetry() bool { return e.safe }

// trouble is what befalls a transaction.
type trouble struct {
	before error // and nothing is written
	after  error // what is written is written
	twice  bool  // its function runs twice, as after a commit that failed
	dies   time.Duration
	slow   time.Duration
}

// Update implements [store.Ledger].
func (s *watchedStore) Update(ctx context.Context, fn func(store.Tx) error) error {
	w := s.w
	what := peek(fn)
	t, err := await(ctx, w.schedule, s.p, "updates "+what, w.troubled)
	switch {
	case err != nil:
		return err
	case t.before != nil:
		w.sayf("%s updates %s: %v", s.p.name, what, t.before)
		return t.before
	}
	w.within.Store(s.p)
	if t.twice {
		_ = w.ledger.View(ctx, func(tx store.Tx) error { return fn(dry{tx}) })
	}
	var batches []store.Batch
	err = w.ledger.Update(ctx, func(tx store.Tx) error {
		batches = nil
		return fn(&observed{Tx: w.txOf(tx), batches: &batches})
	})
	w.within.Store(nil)
	if err != nil {
		w.sayf("%s updates %s: %v", s.p.name, what, err)
		return err
	}
	w.committed(s.p, what, batches)
	if t.dies > 0 {
		w.count.diedAfterCommit.Add(1)
		w.kill(s.p, t.dies)
		return errDead
	}
	if t.slow > 0 {
		nap(ctx, t.slow)
	}
	return t.after
}

// View implements [store.Ledger].
func (s *watchedStore) View(ctx context.Context, fn func(store.Tx) error) error {
	failed, err := await(ctx, s.w.schedule, s.p, "views "+peek(fn), func() error {
		if s.w.happens(s.w.weather.store) {
			s.w.count.storeErrors++
			return storeError{safe: true}
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return s.w.ledger.View(ctx, func(tx store.Tx) error { return fn(s.w.txOf(tx)) })
}

// Close implements [store.Ledger].
func (*watchedStore) Close() error { return nil }

// troubled draws what befalls an update.
func (w *world) troubled() trouble {
	var t trouble
	if w.happens(w.weather.store) {
		w.count.storeErrors++
		switch w.rand.IntN(6) {
		case 0:
			t.before = storeError{safe: true}
		case 1:
			t.before = store.ErrFull
		case 2:
			t.before = store.ErrConflict
		case 3:
			t.after = storeError{safe: false}
		case 4:
			t.slow = w.upTo(15 * time.Second)
		case 5:
			t.twice = true
		}
	}
	if w.happens(w.weather.crash) {
		t.dies = w.absence()
	}
	return t
}

// dry is a transaction whose writes go nowhere.
type dry struct{ store.Tx }

// Save refuses, as a race that is lost does.
func (dry) Save(store.Batch) error { return store.ErrConflict }

// Purge refuses in the same way.
func (dry) Purge(store.Purge) (store.Purged, error) { return store.Purged{}, store.ErrConflict }

// Count counts from a place of its own.
func (d dry) Count(counter string, add int64) (int64, error) {
	n, err := d.Tx.Count(counter, 0)
	return n + add, err
}

// observed tells what a kernel has written.
type observed struct {
	store.Tx
	batches *[]store.Batch
}

// Save implements [store.Tx].
func (o *observed) Save(b store.Batch) error {
	*o.batches = append(*o.batches, b)
	return o.Tx.Save(b)
}

// committed tells the judge of it, and keeps a backup now and then.
func (w *world) committed(p *process, what string, batches []store.Batch) {
	for _, b := range batches {
		w.sayf("%s updates %s: %s", p.name, what, describe(b))
		w.judge.committed(p, b)
	}
	w.judge.together(batches)
	if w.weather.restores && len(batches) > 0 {
		w.backups = append(w.backups, w.ledger.Copy())
		if len(w.backups) > keptBackups {
			w.backups = slices.Delete(w.backups, 0, 1)
		}
	}
}

const keptBackups = 8

// describe is a batch in a line.
func describe(b store.Batch) string {
	var out strings.Builder
	if b.Turn != nil {
		s := b.Turn.State
		fmt.Fprintf(&out, "%s v%d %s e%d s%d", s.Turn, b.Turn.Version, s.Status, s.Epoch, s.Step)
		for _, c := range s.Calls {
			fmt.Fprintf(&out, " %s=%s", c.ID, c.State)
		}
	}
	for _, e := range b.Events {
		fmt.Fprintf(&out, " %d:%s", e.Seq, strings.TrimPrefix(e.Type, "aaep:agent."))
	}
	for _, g := range b.Grants {
		fmt.Fprintf(&out, " grant(%s,%d,%s)", g.Call, g.Fence, g.Owner)
	}
	fmt.Fprintf(&out, " out=%d left=%v dead=%d applied=%d", len(b.Outbox), slices.Sorted(slices.Values(b.Published)), len(b.Dead), len(b.Applied))
	return out.String()
}

var errPeek = errors.New("sim: only looking")

// peek finds out what a transaction is about, by what it asks first: a function of a
// transaction may run again, and has no effects of its own. Two goroutines of a process
// that park together are told apart by it.
func peek(fn func(store.Tx) error) (what string) {
	p := &peeking{what: "something"}
	defer func() {
		if recover() != nil {
			what = p.what
		}
	}()
	_ = fn(p)
	return p.what
}

// peeking answers nothing; a question that it does not know panics, and is then none that
// has to be told apart.
type peeking struct {
	store.Tx
	what string
}

func (p *peeking) asks(format string, args ...any) error {
	p.what = fmt.Sprintf(format, args...)
	return errPeek
}

// Turn implements [store.Tx].
func (p *peeking) Turn(ref store.TurnRef) (store.Record, error) {
	return store.Record{}, p.asks("turn %s%s%s%s%d", ref.Turn, ref.Session, ref.Call, ref.Token, ref.Question)
}

// Turns implements [store.Tx].
func (p *peeking) Turns(f store.TurnFilter) ([]store.TurnRow, error) {
	return nil, p.asks("turns %s%s%s %d %d %s %d %t", f.Turn, f.Session, f.Worker, f.Due.UnixMilli(), f.Free.UnixMilli(), f.After, len(f.Statuses), f.Claim)
}

// Outbox implements [store.Tx].
func (p *peeking) Outbox(f store.OutboxFilter) ([]store.Outgoing, error) {
	return nil, p.asks("outbox %s %d %d %t", f.Session, f.Before.UnixMilli(), f.After, f.Dead)
}

// Save implements [store.Tx].
func (p *peeking) Save(b store.Batch) error { return p.asks("saving %s", describe(b)) }

// Purge implements [store.Tx].
func (p *peeking) Purge(q store.Purge) (store.Purged, error) {
	return store.Purged{}, p.asks("purging %s", q.Project)
}

// Count implements [store.Tx].
func (p *peeking) Count(counter string, add int64) (int64, error) {
	return 0, p.asks("count %s %d", counter, add)
}

// Tools implements [store.Tx].
func (p *peeking) Tools(f store.ToolFilter) ([]store.Tool, error) {
	return nil, p.asks("tools %v %s", f.Names, f.After)
}

// Events implements [store.Tx].
func (p *peeking) Events(f store.EventFilter) ([]store.Event, error) {
	return nil, p.asks("events %v %s %d", f.IDs, f.Session, f.After)
}

// Cards implements [store.Tx].
func (p *peeking) Cards(f store.CardFilter) ([]utp.Card, error) {
	return nil, p.asks("cards %v %s %s", f.IDs, f.Turn, f.After)
}

// Calls implements [store.Tx].
func (p *peeking) Calls(f store.CallFilter) ([]turn.Call, error) {
	return nil, p.asks("calls %s %s %s", f.Turn, f.Call, f.After)
}

// Sealed implements [store.Tx].
func (p *peeking) Sealed(call string) ([]store.Sealed, error) { return nil, p.asks("sealed %s", call) }

// OpenCalls implements [store.Tx].
func (p *peeking) OpenCalls(agent string, _ int) (int, error) {
	return 0, p.asks("open calls of %s", agent)
}

// Receipts implements [store.Tx].
func (p *peeking) Receipts(session string) ([]store.Receipt, error) {
	return nil, p.asks("receipts %s", session)
}

// Preferences implements [store.Tx].
func (p *peeking) Preferences(person string) (store.Preferences, error) {
	return store.Preferences{}, p.asks("preferences %s", person)
}

// RequestKey implements [store.Tx].
func (p *peeking) RequestKey(principal, key string) (store.RequestKey, error) {
	return store.RequestKey{}, p.asks("key %s %s", principal, key)
}

// Permissions implements [store.Tx].
func (p *peeking) Permissions(f store.PermissionFilter) ([]standing.Permission, error) {
	return nil, p.asks("permissions %d %s %s %s %d", f.Number, f.Origin, f.Tool, f.Agent, f.After)
}

// counter is one kernel's way to the count outside the ledger. It implements
// incarnation.Copy.
type counter struct {
	w *world
	p *process
}

// Load implements incarnation.Copy.
func (c *counter) Load() (int64, error) {
	return await(c.p.ctx, c.w.schedule, c.p, "reads the incarnation", func() int64 { return c.w.incarnation })
}

// Store implements incarnation.Copy.
func (c *counter) Store(n int64) error {
	failed, err := await(c.p.ctx, c.w.schedule, c.p, fmt.Sprintf("writes the incarnation %d", n), func() error {
		if c.w.happens(c.w.weather.store) {
			c.w.count.storeErrors++
			return storeError{safe: true}
		}
		c.w.incarnation = max(c.w.incarnation, n)
		return nil
	})
	if err == nil {
		err = failed
	}
	return err
}
