package admission_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// together begins turns with these labels in one transaction, and returns their names and the refusals.
func (w *world) together(labels ...string) (names []string, refused []utp.Code) {
	w.Helper()
	gate := w.gate()
	err := w.ledger.Update(w.Context(), func(tx store.Tx) error {
		above := w.of
		above.Agent = "clerk"
		with := &admission.Siblings{}
		var begun []*turn.State
		for i, label := range labels {
			of := w.of
			of.Turn, of.Session = fmt.Sprintf("turn_%032d", i+100), fmt.Sprintf("sess_%032d", i+100)
			t := gate.In(tx, w.now, &of, cards.In(tx, of, w.now.Wall, w.names))
			err := admission.CheckOpenTurns(tx, of.Owner, with)
			if err == nil {
				err = t.BeginWithin(api.EnqueueRequest{Agent: "tidy", Label: label}, with)
			}
			if err == nil {
				err = t.Within(above)
			}
			if fault, is := err.(*api.Fault); is { //nolint:errorlint // it is not wrapped
				refused = append(refused, fault.Code)
				continue
			}
			if err != nil {
				return err
			}
			with.Add(t)
			begun = append(begun, &of)
		}
		if err := with.Name(tx); err != nil {
			return err
		}
		for _, of := range begun {
			names = append(names, of.Name)
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return names, refused
}

// TestNamesOfOthers: a name that an open session of another topic has is passed over, with a number and without one.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, topic, name, want string }{
		{"tidy", "tidy 2, mail", "tidy 2, mail", `["tidy, mail" "tidy 3, mail" "tidy 4, mail"]`},
		{"tidy 2", "tidy, mail", "tidy 2, mail", `["tidy 2 2, mail" "tidy 2 3, mail" "tidy 2 4, mail"]`},
	} {
		w := newWorld(t)
		other := w.of
		other.Turn, other.Session = "turn_00000000000000000000000000000002", "sess_00000000000000000000000000000002"
		other.Name, other.Topic = c.name, c.topic
		w.save(store.Batch{Turn: &store.Record{State: other}})
		define(api.AgentDefinition{Name: "tidy", DisplayName: c.agent})(w)
		if names, _ := w.together("mail", "mail", "mail"); fmt.Sprintf("%q", names) != c.want {
			t.Errorf("beside %q the names are %q; want %s", c.name, names, c.want)
		}
	}
}

// TestSiblings: turns that begin together are named as if one had begun after the other, and count for each other where an agent,
// or the turn that they are within, may have so many.
func TestSiblings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names, refused := w.together("mail", "photos", "mail", "mail")
	if want := []string{"tidy, mail", "tidy, photos", "tidy 2, mail", "tidy 3, mail"}; !slices.Equal(names, want) || refused != nil {
		t.Errorf("their names are %q, refused %v; want %q", names, refused, want)
	}

	if names, refused = w.together(slices.Repeat([]string{"mail"}, 66)...); len(names) != 64 || len(refused) != 2 || refused[0] != utp.CodeTooManyTurns {
		t.Errorf("%d of 66 may begin within one turn, refused %v; want 64", len(names), refused)
	}

	define(api.AgentDefinition{Name: "tidy", MaxOpen: 3})(w) // and one is open
	if names, refused = w.together("mail", "photos", "post"); len(names) != 2 || len(refused) != 1 || refused[0] != utp.CodeTooManyTurns {
		t.Errorf("%q begin, refused %v; want two of three", names, refused)
	}
}
