package ticker

import (
	"context"
	"maps"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// poll returns the turns that are due, as many as may be ticked beside those being ticked, and when to poll again.
func (t *Ticker) poll(ctx context.Context) (turns []string, wait time.Duration) {
	now := t.o.Clock.Now()
	t.setNext(never)
	p := poller{t: t, now: now.SinceBoot, wait: t.o.Poll}
	err := t.o.Ledger.View(ctx, func(tx store.Tx) error {
		if err := t.o.Clock.Load(tx, now); err != nil {
			return err
		}
		p.turns, p.wait, p.until = nil, t.o.Poll, t.o.Clock.At(now)
		return p.all(tx)
	})
	if err != nil && ctx.Err() == nil {
		t.o.Logger.Error("looking for what is due", "error", err)
		p.wait = Retry
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range p.turns {
		t.ticking[id] = struct{}{}
	}
	t.next = now.SinceBoot + p.wait
	maps.DeleteFunc(t.later, func(_ string, at time.Duration) bool { return at <= now.SinceBoot })
	return p.turns, p.wait
}

// poller lists what is due now, and what will be within one poll interval.
type poller struct {
	t     *Ticker
	now   time.Duration
	until time.Time // what is due by then is ticked
	turns []string
	wait  time.Duration
}

func (p *poller) all(tx store.Tx) error {
	horizon := p.until.Add(p.t.o.Poll)
	if own, only := p.t.o.Active.Owned(); only {
		for _, id := range own {
			if _, err := p.page(tx, store.TurnFilter{Turn: id, Due: horizon}); err != nil {
				return err
			}
		}
		return nil
	}
	f := store.TurnFilter{Due: horizon, Limit: duePage}
	for {
		last, err := p.page(tx, f)
		if err != nil || last.Turn == "" {
			return err
		}
		f.After, f.Position = last.Turn, last.Position
	}
}

// page collects the due turns of one page, and returns its last row, after which the list goes on.
func (p *poller) page(tx store.Tx, f store.TurnFilter) (last store.TurnRow, err error) {
	rows, err := tx.Turns(f)
	if err != nil {
		return last, err
	}
	t := p.t
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range rows {
		if left := row.Position.Sub(p.until); left > 0 {
			p.wait = min(p.wait, left)
			return store.TurnRow{}, nil
		}
		if _, under := t.ticking[row.Turn]; under || !t.o.Active.Has(row.Turn) {
			continue
		}
		if at, put := t.later[row.Turn]; put && at > p.now {
			p.wait = min(p.wait, at-p.now)
			continue
		}
		if len(t.ticking)+len(p.turns) >= atOnce {
			return store.TurnRow{}, nil // the end of a tick wakes the ticker
		}
		p.turns = append(p.turns, row.Turn)
	}
	if f.Limit == 0 || len(rows) < f.Limit {
		return store.TurnRow{}, nil
	}
	return rows[len(rows)-1], nil
}
