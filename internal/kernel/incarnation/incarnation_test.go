package incarnation_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/incarnation"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
)

// outside is a copy in memory.
type outside struct {
	n      atomic.Int64
	broken bool
}

var errDisk = errors.New("the disk is gone")

func (o *outside) Load() (int64, error) {
	if o.broken {
		return 0, errDisk
	}
	return o.n.Load(), nil
}

func (o *outside) Store(n int64) error {
	if o.broken {
		return errDisk
	}
	o.n.Store(max(n, o.n.Load()))
	return nil
}

func ledger(t *testing.T) store.Ledger {
	t.Helper()
	return ledgertest.Open(t)
}

func counter(l store.Ledger, o *outside, takeover bool) *incarnation.Counter {
	return incarnation.New(incarnation.Options{
		Ledger: l, Copy: o, Takeover: takeover, Numbers: []string{"question"},
		Act: func(a api.AuditAct) ([]api.AuditAct, error) { return []api.AuditAct{a}, nil },
	})
}

// steps counts n changes.
func steps(t *testing.T, c *incarnation.Counter, n int) {
	t.Helper()
	for range n {
		if err := c.Change(t.Context(), func(store.Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func wentBack(t *testing.T, c *incarnation.Counter, want bool) {
	t.Helper()
	if got, err := c.WentBack(t.Context()); got != want || err != nil {
		t.Fatalf("went back is %v, %v; expected %v", got, err, want)
	}
}

// number is the last number that was given out.
func number(t *testing.T, l store.Ledger) (n int64) {
	t.Helper()
	err := l.View(t.Context(), func(tx store.Tx) (err error) {
		n, err = tx.Count("question", 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWentBack: a ledger that is behind the copy outside has gone back. Numbers of the lost part are passed over, and it counts
// as gone back until it is recovered, also for the next process.
func TestWentBack(t *testing.T) {
	t.Parallel()
	o, l := &outside{}, ledger(t)
	c := counter(l, o, false)
	wentBack(t, c, false)
	steps(t, c, 3)
	wentBack(t, counter(l, o, false), false)

	o.n.Store(8) // five steps were lost
	wentBack(t, c, true)
	if n := number(t, l); n != 5 {
		t.Errorf("%d numbers were passed over, expected 5", n)
	}
	next := counter(l, o, false)
	wentBack(t, next, true) // the process died in between
	if n := number(t, l); n != 5 {
		t.Errorf("%d numbers were passed over, expected 5 once", n)
	}
	if err := next.Recovered(t.Context()); err != nil {
		t.Fatal(err)
	}
	wentBack(t, counter(l, o, false), false)
	n, err := incarnation.Count(t.Context(), l)
	if kept := o.n.Load(); err != nil || n <= 8 || n != kept {
		t.Errorf("the ledger counts %d and the copy %d, %v; expected the same, above 8", n, kept, err)
	}
}

// TestTakenOver: the ledger of another server counts as gone back once, although no count says so.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	o, l := &outside{}, ledger(t)
	c := counter(l, o, true)
	wentBack(t, c, true)
	if err := c.Recovered(t.Context()); err != nil {
		t.Fatal(err)
	}
	wentBack(t, c, false)
}

// TestCopyOutOfReach: a copy that cannot be read is an error, and never a ledger that is in order; a change that it missed is saved
// the next time.
func TestCopyOutOfReach(t *testing.T) {
	t.Parallel()
	o, l := &outside{}, ledger(t)
	c := counter(l, o, false)
	o.broken = true
	if _, err := c.WentBack(t.Context()); !errors.Is(err, errDisk) {
		t.Errorf("found %v", err)
	}
	if err := c.Change(t.Context(), func(store.Tx) error { return nil }); !errors.Is(err, errDisk) {
		t.Errorf("found %v", err)
	}
	o.broken = false
	wentBack(t, c, false)
	if o.n.Load() != 1 {
		t.Errorf("the copy counts %d, expected the change that it missed", o.n.Load())
	}
}

// TestChangeFails: a change that fails is not counted.
func TestChangeFails(t *testing.T) {
	t.Parallel()
	o, l := &outside{}, ledger(t)
	c := counter(l, o, false)
	if err := c.Change(t.Context(), func(store.Tx) error { return errDisk }); !errors.Is(err, errDisk) {
		t.Errorf("found %v", err)
	}
	if n, err := incarnation.Count(t.Context(), l); n != 0 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
}

// TestNoCopy: without a copy nothing is detected.
func TestNoCopy(t *testing.T) {
	t.Parallel()
	c := incarnation.New(incarnation.Options{Ledger: ledger(t)})
	steps(t, c, 1)
	wentBack(t, c, false)
}
