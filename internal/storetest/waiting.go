package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// waiters is how many turns wait in a ledger made by [Waiting].
const waiters = 3000

// Waiting fills a ledger with turns that wait for a day, two thirds of them for others, and returns lists that a kernel reads often:
// none of them has any of those turns in it.
func Waiting(t *testing.T, s store.Ledger) map[string]store.TurnFilter {
	t.Helper()
	const page = 250
	for from := 0; from < waiters; from += page {
		err := s.Update(t.Context(), func(tx store.Tx) error {
			for n := from; n < from+page; n++ {
				r := waiting(n)
				if err := tx.Save(store.Batch{Turn: &r}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	soon := at(1)
	return map[string]store.TurnFilter{
		"what is due":               {Due: soon, Limit: 64},
		"what is free":              {Agent: "tidy", Free: soon, Limit: 1},
		"what is free in the queue": {Agent: "tidy", Free: soon, Limit: 1, Statuses: []turn.Status{turn.Queued}},
		"what takes a place":        {Agent: "tidy", Active: true, Limit: 16},
		"what a worker has":         {Agent: "tidy", Worker: "wrk_1", Open: true},
		"what an agent has open":    {Agent: "rare", Open: true, Limit: 64},
		"what a person has open":    {Owners: []string{"bob"}, Open: true, Limit: 64},
		"what is of a topic":        {Topic: "tidy, mail", Open: true, Limit: 1},
		"what is called so":         {Project: "default", Names: []string{"tidy, mail", "tidy 2, mail"}, Open: true},
	}
}

// waiting is a turn whose call waits for turns of others, or each third time for a service.
func waiting(n int) store.Record {
	r := plain(n)
	r.State.Owner = fmt.Sprint("owner", n/50)
	r.State.Status, r.State.Step, r.State.Worker = turn.Suspended, 1, fmt.Sprint("seat", n)
	c := turn.Call{ID: id("tc", n), Key: "k1", Tool: "fork_join", State: turn.Started}
	if n%3 > 0 {
		c.Batch = &turn.Batch{Waits: true, Children: []turn.Child{{Agent: "clerk", Turn: id("turn", n+waiters)}}}
	} else {
		r.State.Agent = "clerk"
	}
	r.State.Calls = []turn.Call{c}
	r.State.Topic, r.State.Name = fmt.Sprint("clerk, box ", n/2), fmt.Sprint("clerk ", n, ", box ", n/2)
	r.Due = at(0).Add(24*time.Hour + time.Duration(n))
	return r
}
