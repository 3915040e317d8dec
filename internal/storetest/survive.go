package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Location is where a ledger lies.
type Location interface {
	// Open opens the ledger that lies here, or makes it.
	Open(t *testing.T) store.Ledger
	// Crashed is a copy of the place as a crash at this moment would leave it: whatever
	// store is open here is not closed and knows nothing of it. Nothing is being written.
	Crashed(t *testing.T) Location
}

// survive proves that what was answered is durable. place makes an empty place each time.
func survive(t *testing.T, place func(t *testing.T) Location) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, Location)
	}{
		{"a close", survivesClose},
		{"a crash", survivesCrash},
		{"a crash after a crash", survivesTwoCrashes},
		{"a close in the middle of updates", survivesBusyClose},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, place(t))
		})
	}
}

// nothingSurvives: nobody takes a volatile store for one that finds again what it had.
func nothingSurvives(t *testing.T, f Factory) {
	t.Helper()
	first := &ledger{store: f.Open(t, time.Now), t: t}
	first.save(everything(1))
	if err := first.store.Close(); err != nil {
		t.Fatal(err)
	}
	opened(t, f.Open(t, time.Now)).untouched()
}

func survivesClose(t *testing.T, p Location) {
	t.Helper()
	l := &ledger{store: p.Open(t), t: t}
	remembered := live(l, 1)
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
	remembered(opened(t, p.Open(t)))
}

func survivesCrash(t *testing.T, p Location) {
	t.Helper()
	l := opened(t, p.Open(t))
	remembered := live(l, 1)
	remembered(opened(t, p.Crashed(t).Open(t)))
	remembered(l)
}

func survivesTwoCrashes(t *testing.T, p Location) {
	t.Helper()
	first := live(opened(t, p.Open(t)), 1)
	p = p.Crashed(t)
	l := opened(t, p.Open(t))
	first(l)
	second := live(l, 2)
	l = opened(t, p.Crashed(t).Open(t))
	first(l)
	second(l)
}

// live leads a small life in a ledger and returns how to recognise it. A step n is for
// handles that are not used yet.
func live(l *ledger, n int) (remembered func(*ledger)) {
	l.t.Helper()
	b := everything(n)
	l.save(b)
	data := content(5000, n)
	l.putAll(data, 1999)
	begun := content(5000, n+100)
	if err := l.put(piece(begun, 0, 1999)); err != nil {
		l.t.Fatal(err)
	}
	if err := l.update(func(tx store.Tx) error { _, err := tx.Count(id("n", n), 7); return err }); err != nil {
		l.t.Fatal(err)
	}
	if err := l.update(func(tx store.Tx) error { return errors.Join(tx.Save(everything(n+100)), errOnPurpose) }); err == nil {
		l.t.Fatal("an update with an error was accepted")
	}
	return func(l *ledger) {
		l.t.Helper()
		readBack(l, n, b)
		l.blob(data)
		same(l, "counter", l.count(id("n", n)), 7)
		l.refuse("a used consent", store.ErrConflict, use(n))
		l.refuse("a grant", store.ErrConflict, store.Batch{Grants: b.Grants})
		l.refuse("a report", store.ErrConflict, store.Batch{Reports: b.Reports})
		l.missing("the turn of a failed update", func(tx store.Tx) error {
			_, err := tx.Turn(store.TurnRef{Turn: id("turn", n+100)})
			return err
		})
		l.noBlob(begun)
		if err := l.put(piece(begun, 1999, 3999)); err != nil {
			l.t.Errorf("going on with an upload: %v", err)
		}
	}
}

// survivesBusyClose closes while many write: anyone who was answered is there, anyone who was
// refused is not.
func survivesBusyClose(t *testing.T, p Location) {
	t.Helper()
	l := &ledger{store: p.Open(t), t: t}
	var mu sync.Mutex
	answers := map[string]error{}
	enough := make(chan struct{})
	var once sync.Once
	closed := make(chan error, 1)
	go func() {
		<-enough
		closed <- l.store.Close()
	}()
	race(func(i int) {
		for j := 0; ; j++ {
			r := plain(i*1_000_000 + j)
			err := l.try(store.Batch{Turn: &r})
			mu.Lock()
			answers[r.State.Turn] = err
			if len(answers) > 4*racers {
				once.Do(func() { close(enough) })
			}
			mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	l = opened(t, p.Open(t))
	for turnID, answer := range answers {
		err := l.store.View(t.Context(), func(tx store.Tx) error {
			_, err := tx.Turn(store.TurnRef{Turn: turnID})
			return err
		})
		if (answer == nil) != (err == nil) {
			t.Error(fmt.Errorf("%s was answered %w, and reading it: %w", turnID, answer, err))
		}
	}
}
