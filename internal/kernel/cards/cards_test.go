package cards_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
	"github.com/earshot-dev/earshot/utp"
)

var (
	at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	of = turn.State{Turn: "turn_00000000000000000000000000000001", Session: "sess_00000000000000000000000000000001", Project: "default", Channel: "public", Agent: "tidy", Owner: "ada", Status: turn.Running}
)

// twice does something with the turn's cards in one transaction, and looks at them there and in a later one.
func twice(t *testing.T, do, look func(store.Tx, *cards.Tx) error) {
	t.Helper()
	ledger := ledgertest.Open(t)
	names := ids.New(rand.Reader)
	err := ledger.Update(t.Context(), func(tx store.Tx) error {
		c := cards.In(tx, of, at, names)
		if err := errors.Join(do(tx, c), look(tx, c)); err != nil {
			return err
		}
		return tx.Save(store.Batch{Turn: &store.Record{State: of}, Cards: c.Added()})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = ledger.View(t.Context(), func(tx store.Tx) error { return look(tx, cards.In(tx, of, at, names)) })
	if err != nil {
		t.Fatal(err)
	}
}

var call = turn.Call{ID: "tc_1", Card: "card_1", Step: "step_1", Tool: "box.add", Target: "box"}

// TestArgs: the arguments of a call are read in the transaction that adds them and later, small and large, with and
// without what the operator's environment has filled in.
func TestArgs(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"small": "one", "out of line": strings.Repeat("a long line ", 100_000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := jsontext.Value(`{"line":"` + line + `","place":"here"}`)
			supplied := jsontext.Value(`{"line":"` + line + `"}`)
			add := func(_ store.Tx, c *cards.Tx) error {
				return c.AddCall(call, "", argument.Resolved{Args: all, Envs: map[string]string{"place": "PLACE"}})
			}
			twice(t, add, func(_ store.Tx, c *cards.Tx) error {
				got, err := c.Args(call)
				if string(got) != string(all) {
					t.Errorf("found %.80s, %v", got, err)
				}
				got, err = c.SuppliedArgs(call)
				if string(got) != string(supplied) {
					t.Errorf("found %.80s, %v as supplied", got, err)
				}
				if card, err := c.Card("card_1"); err != nil || len(card.Content) > 100_000 {
					t.Errorf("the card has %d bytes, %v", len(card.Content), err)
				}
				return nil
			})
		})
	}
}

// TestArgsMissing: a call whose card is gone is damage, and never a call without arguments.
func TestArgsMissing(t *testing.T) {
	t.Parallel()
	nothing := func(store.Tx, *cards.Tx) error { return nil }
	twice(t, nothing, func(_ store.Tx, c *cards.Tx) error {
		if args, err := c.Args(call); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("found %s, %v", args, err)
		}
		if _, err := c.Card("card_1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("found %v", err)
		}
		return nil
	})
}

// TestResults: a result is reported while it is added, a late one is a card of its own type, and both name their call.
func TestResults(t *testing.T) {
	t.Parallel()
	done := call
	done.Outcome = &turn.Outcome{Status: utp.StatusSuccess}
	var late utp.Card
	twice(t, func(_ store.Tx, c *cards.Tx) (err error) {
		done.Outcome.Card, err = c.AddResult(done, utp.ResultCard{Status: utp.StatusSuccess, Result: jsontext.Value(`"done"`), Source: utp.SourceTool})
		if err != nil {
			return err
		}
		if got, err := c.AddedResult(done); string(got) != `"done"` || err != nil {
			t.Errorf("found %s, %v while it is added", got, err)
		}
		late, err = c.AddLate(done, utp.ResultCard{Status: utp.StatusSuccess, Result: jsontext.Value(`"again"`), Source: utp.SourceTool})
		return err
	}, func(_ store.Tx, c *cards.Tx) error {
		card, err := c.Card(done.Outcome.Card)
		if err != nil {
			return err
		}
		r, err := cards.ResultOn(card, store.ResultRow{Call: call.ID, Card: card.ID})
		if err != nil || r.Status != utp.StatusSuccess || r.Step != call.Step || string(r.Result.Inline) != `"done"` {
			t.Errorf("found %+v, %v", r, err)
		}
		other, err := c.Card(late.ID)
		if err != nil || other.Type != store.CardLate || other.Type == card.Type {
			t.Errorf("found a late result of type %s, %v", other.Type, err)
		}
		return nil
	})
}

// TestOwn: what only the kernel keeps is there in a later transaction, where another turn and a worker read it, and what is
// not there is nothing.
func TestOwn(t *testing.T) {
	t.Parallel()
	var words string
	saved := false
	twice(t, func(_ store.Tx, c *cards.Tx) (err error) {
		words, err = c.AddText("Tidied \u2713 42 files.")
		return errors.Join(err, c.AddStepData("step_1", api.Body{Inline: jsontext.Value(`{"seen":3}`)}))
	}, func(tx store.Tx, _ *cards.Tx) error {
		if !saved { // the first look is in the transaction that adds them
			saved = true
			return nil
		}
		if got, err := cards.Text(tx, words); got != "Tidied \u2713 42 files." || err != nil {
			t.Errorf("found %q, %v", got, err)
		}
		if got, err := cards.StepData(tx, "step_1"); string(got.Inline) != `{"seen":3}` || err != nil {
			t.Errorf("found %s, %v", got.Inline, err)
		}
		if got, err := cards.Text(tx, "card_none"); got != "" || err != nil {
			t.Errorf("found %q, %v of nothing", got, err)
		}
		if got, err := cards.StepData(tx, "step_none"); len(got.Inline) != 0 || err != nil {
			t.Errorf("found %s, %v of nothing", got.Inline, err)
		}
		return nil
	})
}
