package memory

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Ledger is a [store.Ledger] in memory. Make it with [New]. Updates run one after the other, and views beside them. A function
// that is given to Update or View must not call Close, Copy or Restore, and one that is given to Update must not call Update.
type Ledger struct {
	now     func() time.Time
	running sync.RWMutex // which every transaction holds, and Close waits for
	writing sync.Mutex   // held by the update that runs

	mu     sync.Mutex
	rows   *tables
	views  int
	closed bool
}

var _ store.Ledger = (*Ledger)(nil)

// New makes an empty ledger. Its own clock dates what the kernel gives no time for; nil is [time.Now].
func New(now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{now: now, rows: &tables{}}
}

// Update implements [store.Ledger].
func (l *Ledger) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.enter("updating"); err != nil {
		return err
	}
	defer l.running.RUnlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	rows := *l.rows
	l.mu.Unlock()
	t := &tx{rows: &rows, writes: true, now: l.now}
	if err := t.call(fn); err != nil {
		l.drop(t.condemned)
		return err
	}
	l.commit(&rows)
	return nil
}

// View implements [store.Ledger].
func (l *Ledger) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := l.enter("viewing"); err != nil {
		return err
	}
	defer l.running.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	rows := l.rows
	l.views++
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.views--
		l.mu.Unlock()
	}()
	return (&tx{rows: rows, now: l.now}).call(fn)
}

// Close implements [store.Ledger].
func (l *Ledger) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.running.Lock() // no transaction asks for it any more
	defer l.running.Unlock()
	return nil
}

// Copy returns another ledger with what is committed in this one, as a backup would.
func (l *Ledger) Copy() *Ledger {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Ledger{now: l.now, rows: l.rows.copied()}
}

// Restore replaces everything in the ledger by what is committed in another.
func (l *Ledger) Restore(from *Ledger) {
	rows := from.Copy().rows
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = rows
}

// enter counts a transaction in, unless the ledger is closed.
func (l *Ledger) enter(op string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return &ledgersql.Error{Kind: ledgersql.ErrClosed, Op: op, Found: "a closed store", Advice: "open it again; nothing was done"}
	}
	l.running.RLock() // under mu, so that none waits behind Close
	return nil
}

func (l *Ledger) commit(rows *tables) {
	l.mu.Lock()
	defer l.mu.Unlock()
	inUse := l.views > 0
	rows.each(func(t anyTable) {
		t.commit(inUse)
	})
	rows.commits++
	l.rows = rows
}

// drop removes incomplete blobs whose content does not match their name.
func (l *Ledger) drop(blobs []string) {
	if len(blobs) == 0 {
		return
	}
	l.mu.Lock()
	rows := *l.rows
	l.mu.Unlock()
	for _, sha := range blobs {
		if !rows.blobs.row(sha).complete {
			rows.blobs.remove(sha)
		}
	}
	l.commit(&rows)
}

// tx is one transaction.
type tx struct {
	rows   *tables
	writes bool
	now    func() time.Time
	used   bool
	ended  bool
	// failed is the first write that failed: after it nothing more is done.
	failed error
	// condemned are blobs whose content does not match their name.
	condemned []string
	toolsRead map[string]store.Tool // as they were read
}

var _ store.Tx = (*tx)(nil)

func (t *tx) call(fn func(store.Tx) error) (err error) {
	defer func() {
		t.ended = true
		if v := recover(); v != nil {
			err = &ledgersql.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.failed
}
