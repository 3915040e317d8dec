package storetest

import (
	"strconv"

	"github.com/earshot-dev/earshot/kernel"
)

func outboxCases() []exercise {
	return []exercise{
		{"keeps messages until they have left", outboxKeeps},
		{"leaves in order", outboxInOrder},
		{"dead letters stall nobody", outboxDead},
		{"messages of a session keep the order of its steps", outboxRace},
	}
}

func outboxKeeps(l *ledger) {
	bare := kernel.Outgoing{Session: "sess_1", Subject: "x", Payload: []byte("p")}
	l.save(kernel.Batch{Outbox: []kernel.Outgoing{outgoing("sess_1", 1), bare}})
	rows := l.outbox()
	if len(rows) != 2 || rows[0].ID == rows[1].ID {
		l.t.Fatalf("got %+v", rows)
	}
	first, second := rows[0].ID, rows[1].ID
	rows[0].ID, rows[1].ID = 0, 0
	same(l, "messages", rows, []kernel.Outgoing{outgoing("sess_1", 1), bare})
	l.save(kernel.Batch{Published: []int64{first}})
	l.save(kernel.Batch{Published: []int64{first}}) // told again: publishing is at least once
	rows = l.outbox()
	if len(rows) != 1 || rows[0].ID != second {
		l.t.Errorf("after the first has left: %+v", rows)
	}
	l.refuse("a message that is not there", kernel.ErrNotFound, kernel.Batch{Published: []int64{second, 999}})
	same(l, "messages after a refused step", len(l.outbox()), 1)
	l.save(kernel.Batch{Published: []int64{second}, Outbox: []kernel.Outgoing{outgoing("sess_1", 3)}})
	if rows = l.outbox(); len(rows) != 1 || rows[0].ID <= second {
		l.t.Errorf("a later message: %+v, want an id after %d", rows, second)
	}
}

func outboxInOrder(l *ledger) {
	for n := range 20 {
		l.save(kernel.Batch{Outbox: []kernel.Outgoing{outgoing(id("sess", n%3), 2*n), outgoing(id("sess", n%3), 2*n+1)}})
	}
	rows := l.outbox()
	for i, o := range rows {
		same(l, "place", o.Call, id("tc", i))
		if i > 0 && o.ID <= rows[i-1].ID {
			l.t.Errorf("the ids %d and %d are not in order", rows[i-1].ID, o.ID)
		}
	}
	l.view(func(tx kernel.Tx) error {
		page, err := tx.Outbox(7)
		same(l, "a page", page, rows[:7])
		if err != nil {
			return err
		}
		page, err = tx.Outbox(0)
		same(l, "an empty page", len(page), 0)
		return err
	})
}

func outboxDead(l *ledger) {
	l.save(kernel.Batch{Outbox: []kernel.Outgoing{outgoing("sess_1", 1), outgoing("sess_1", 2), outgoing("sess_2", 3)}})
	rows := l.outbox()
	l.save(kernel.Batch{Dead: []kernel.DeadLetter{{ID: rows[0].ID, Reason: "no such stream"}}})
	same(l, "what is left", l.outbox(), rows[1:])
	l.save(kernel.Batch{Dead: []kernel.DeadLetter{{ID: rows[0].ID, Reason: "again"}}, Published: []int64{rows[1].ID}})
	same(l, "what is left", l.outbox(), rows[2:])
	l.save(kernel.Batch{Published: []int64{rows[0].ID}}) // it had left after all
	same(l, "what is left", l.outbox(), rows[2:])
}

// outboxRace numbers the steps of few sessions with the turn's version; the order of
// messages must be that of the versions.
func outboxRace(l *ledger) {
	const sessions = 3
	for n := range sessions {
		r := plain(n)
		l.save(kernel.Batch{Turn: &r})
	}
	race(func(i int) {
		for j := range rounds {
			if err := l.retry(func(tx kernel.Tx) error {
				r, err := tx.Turn(kernel.TurnRef{Turn: id("turn", (i+j)%sessions)})
				if err != nil {
					return err
				}
				o := outgoing(r.State.Session, 1)
				o.Payload = []byte(strconv.FormatInt(r.Version, 10))
				return tx.Save(kernel.Batch{Turn: &r, Outbox: []kernel.Outgoing{o}})
			}); err != nil {
				l.t.Error(err)
			}
		}
	})
	next := map[string]int{}
	for _, o := range l.outbox() {
		next[o.Session]++
		same(l, "the step of "+o.Session, string(o.Payload), strconv.Itoa(next[o.Session]))
	}
	same(l, "messages", next["sess_0"]+next["sess_1"]+next["sess_2"], racers*rounds)
}
