package postgres_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// interrupted is a ledger in which something happens once a transaction has read whether a session of a topic is open.
type interrupted struct {
	store.Ledger

	meanwhile func()
}

func (l interrupted) Update(ctx context.Context, fn func(store.Tx) error) error {
	return l.Ledger.Update(ctx, func(tx store.Tx) error { return fn(interruptedTx{tx, l.meanwhile}) })
}

type interruptedTx struct {
	store.Tx

	meanwhile func()
}

func (t interruptedTx) Turns(f store.TurnFilter) ([]store.TurnRow, error) {
	rows, err := t.Tx.Turns(f)
	if f.Topic != "" {
		t.meanwhile()
	}
	return rows, err
}

// TestNamesAtOnce: a session that begins finds no other of its topic open. Before it is saved two more begin through
// another kernel, and the one without a number ends. Sessions of the topic still begin after that, each under another name.
func TestNamesAtOnce(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	w := &town{t: t, active: 1, effects: map[string]int{}}
	w.open(dsn)
	began := 0
	meanwhile := func() {
		if began++; began > 1 {
			return
		}
		first := w.begin(0)
		w.begin(0)
		w.ask(api.OpStop, api.ReplyRequest{Session: first.Session, By: "ada"}, nil)
	}
	w.wrap = func(l store.Ledger) store.Ledger { return interrupted{l, meanwhile} }
	w.open(dsn)
	w.begin(1)
	w.begin(0)
	err := open(t, dsn).View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{Open: true})
		var names []string
		for _, r := range rows {
			names = append(names, r.Name)
		}
		slices.Sort(names)
		if want := []string{"tidy 2", "tidy 3", "tidy 4"}; !slices.Equal(names, want) {
			t.Errorf("the open sessions are called %q; want %q", names, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// begin begins a turn through one of the kernels.
func (w *town) begin(at int) (a api.EnqueueAnswer) {
	w.t.Helper()
	q := api.EnqueueRequest{Agent: "tidy", Args: jsontext.Value(`{}`)}
	if err := rpc.Ask(w.t.Context(), one{w.kernels[at]}, api.OpEnqueue, q, &a); err != nil {
		w.t.Fatal(err)
	}
	return a
}

// one asks one kernel as a hub.
type one struct{ *kernel.Kernel }

func (o one) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	return o.Handle(ctx, kernel.Caller{Kind: kernel.HubCaller, Name: "ada"}, op, request), nil
}
