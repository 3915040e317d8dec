package storetest

import (
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func outboxCases() []exercise {
	return []exercise{
		{"keeps messages until they have left", outboxKeeps},
		{"a message is taken for a while, and leaves once where that is asked", outboxClaimed},
		{"leaves in order", outboxInOrder},
		{"leaves by session", outboxBySession},
		{"dead letters stall nobody", outboxDead},
		{"dead letters are listed", outboxDeadListed},
		{"messages of a session keep the order of its steps", outboxRace},
		{"no message of a session comes before one that has left", outboxNeverOvertakes},
	}
}

func outboxKeeps(l *ledger) {
	bare := store.Outgoing{Session: "sess_1", Subject: "x", Payload: []byte("p")}
	l.save(store.Batch{Outbox: []store.Outgoing{outgoing("sess_1", 1), bare}})
	rows := l.outbox()
	if len(rows) != 2 || rows[0].ID == rows[1].ID {
		l.t.Fatalf("got %+v", rows)
	}
	first, second := rows[0].ID, rows[1].ID
	rows[0].ID, rows[1].ID = 0, 0
	same(l, "messages", rows, []store.Outgoing{outgoing("sess_1", 1), bare})
	l.save(store.Batch{Published: []int64{first}})
	l.save(store.Batch{Published: []int64{first}}) // told again: publishing is at least once
	rows = l.outbox()
	if len(rows) != 1 || rows[0].ID != second {
		l.t.Errorf("after the first has left: %+v", rows)
	}
	l.refuse("what is not there, beside one that has left", store.ErrConflict, store.Batch{Published: []int64{second}, Applied: []store.ResultRow{applied(9)}})
	same(l, "messages after a refused step", len(l.outbox()), 1)
	l.save(store.Batch{Published: []int64{999, first}, Dead: []store.DeadLetter{{ID: 999, Reason: "too large"}, {ID: first, Reason: "too large"}}}) // they had left, and are gone
	l.view(func(tx store.Tx) error {
		dead, err := tx.Outbox(store.OutboxFilter{Dead: true})
		same(l, "dead letters of what had left", len(dead), 0)
		return err
	})
	l.save(store.Batch{Published: []int64{second}, Outbox: []store.Outgoing{outgoing("sess_1", 3)}})
	if rows = l.outbox(); len(rows) != 1 || rows[0].ID <= second {
		l.t.Errorf("a later message: %+v, want an id after %d", rows, second)
	}
}

// outboxClaimed: what somebody has taken is too young for others, until it is old again; what
// leaves once is another's from then on, and what has left or died is neither.
func outboxClaimed(l *ledger) {
	l.save(store.Batch{Outbox: []store.Outgoing{outgoing("sess_1", 1), outgoing("sess_1", 2)}})
	rows := l.outbox()
	then := time.Now()
	old := func() (n int) {
		l.view(func(tx store.Tx) error {
			found, err := tx.Outbox(store.OutboxFilter{Before: then, Session: "sess_1"})
			n = len(found)
			return err
		})
		return n
	}
	same(l, "old messages", old(), 2)
	l.save(store.Batch{Claimed: []int64{rows[0].ID}})
	same(l, "old messages, one taken", old(), 1)
	l.save(store.Batch{SendOnce: []int64{rows[0].ID}})
	for name, b := range map[string]store.Batch{
		"leaving a second time":             {SendOnce: []int64{rows[0].ID}},
		"taking what has left":              {Claimed: []int64{rows[0].ID}},
		"leaving what is not there":         {SendOnce: []int64{999}},
		"taking two, of which one has left": {Claimed: []int64{rows[1].ID, rows[0].ID}},
	} {
		l.refuse(name, store.ErrConflict, b)
	}
	same(l, "old messages, none taken by who was refused", old(), 1)
	l.save(store.Batch{Dead: []store.DeadLetter{{ID: rows[1].ID, Reason: "unpublishable"}}})
	l.refuse("leaving what was put aside", store.ErrConflict, store.Batch{SendOnce: []int64{rows[1].ID}})
}

func outboxInOrder(l *ledger) {
	for n := range 20 {
		l.save(store.Batch{Outbox: []store.Outgoing{outgoing(id("sess", n%3), 2*n), outgoing(id("sess", n%3), 2*n+1)}})
	}
	rows := l.outbox()
	for i, o := range rows {
		same(l, "place", o.Call, id("tc", i))
		if i > 0 && o.ID <= rows[i-1].ID {
			l.t.Errorf("the ids %d and %d are not in order", rows[i-1].ID, o.ID)
		}
	}
	l.view(func(tx store.Tx) error {
		page, err := tx.Outbox(store.OutboxFilter{Limit: 7})
		same(l, "a page", page, rows[:7])
		if err != nil {
			return err
		}
		page, err = tx.Outbox(store.OutboxFilter{Limit: 7, After: rows[6].ID})
		same(l, "the next page", page, rows[7:14])
		if err != nil {
			return err
		}
		page, err = tx.Outbox(store.OutboxFilter{After: rows[len(rows)-1].ID})
		same(l, "the last page", len(page), 0)
		return err
	})
}

// outboxBySession: only what belongs to the session that is asked for.
func outboxBySession(l *ledger) {
	const odd = `sess_"7"]` // a name is a name, whatever is in it
	saved := []store.Outgoing{
		outgoing("sess_1", 0), outgoing("sess_2", 1), outgoing(odd, 2),
		outgoing("sess_1", 3), outgoing("sess_3", 4), outgoing("sess_2", 5),
	}
	l.save(store.Batch{Outbox: saved})
	all := l.outbox()
	same(l, "all messages, with the ids that saving has set", all, saved)
	for _, tt := range []struct {
		what   string
		filter store.OutboxFilter
		want   []int // places in all
	}{
		{"of a session", store.OutboxFilter{Session: "sess_1"}, []int{0, 3}},
		{"of a session, a page", store.OutboxFilter{Session: "sess_2", Limit: 1}, []int{1}},
		{"of a session, the next page", store.OutboxFilter{Session: "sess_2", Limit: 1, After: all[1].ID}, []int{5}},
		{"of an odd name", store.OutboxFilter{Session: odd}, []int{2}},
		{"of a session without any", store.OutboxFilter{Session: "sess_9"}, nil},
		{"of before they were saved", store.OutboxFilter{Before: at(-1 << 30)}, nil},
		{"of before the far future", store.OutboxFilter{Session: "sess_3", Before: at(1 << 31)}, []int{4}},
	} {
		l.view(func(tx store.Tx) error {
			got, err := tx.Outbox(tt.filter)
			same(l, tt.what+": messages", len(got), len(tt.want))
			for i, o := range got {
				if i < len(tt.want) {
					same(l, tt.what, o, all[tt.want[i]])
				}
			}
			return err
		})
	}
}

func outboxDead(l *ledger) {
	l.save(store.Batch{Outbox: []store.Outgoing{outgoing("sess_1", 1), outgoing("sess_1", 2), outgoing("sess_2", 3)}})
	rows := l.outbox()
	l.save(store.Batch{Dead: []store.DeadLetter{{ID: rows[0].ID, Reason: "no such stream"}}})
	same(l, "what is left", l.outbox(), rows[1:])
	l.save(store.Batch{Dead: []store.DeadLetter{{ID: rows[0].ID, Reason: "again"}}, Published: []int64{rows[1].ID}})
	same(l, "what is left", l.outbox(), rows[2:])
	l.save(store.Batch{Published: []int64{rows[0].ID}}) // it had left after all
	same(l, "what is left", l.outbox(), rows[2:])
}

// outboxDeadListed: what was put aside is read with when and why, page by page and by
// session, and what waits to leave is not among it.
func outboxDeadListed(l *ledger) {
	l.save(store.Batch{Outbox: []store.Outgoing{outgoing("sess_1", 1), outgoing("sess_2", 2), outgoing("sess_1", 3), outgoing("sess_1", 4)}})
	rows := l.outbox()
	l.save(store.Batch{Dead: []store.DeadLetter{{ID: rows[0].ID, Reason: "no such stream"}, {ID: rows[1].ID, Reason: "too large"}, {ID: rows[2].ID, Reason: "restored"}}})
	list := func(f store.OutboxFilter) (out []store.Outgoing) {
		f.Dead = true
		l.view(func(tx store.Tx) (err error) {
			out, err = tx.Outbox(f)
			return err
		})
		return out
	}
	all := list(store.OutboxFilter{Limit: 9})
	if len(all) != 3 || all[0].Reason != "no such stream" || all[2].Reason != "restored" {
		l.t.Fatalf("dead letters: %+v", all)
	}
	for i, o := range all {
		if o.Died.IsZero() {
			l.t.Errorf("nobody says when %d was put aside", o.ID)
		}
		o.Died, o.Reason = rows[i].Died, ""
		same(l, "a dead letter", o, rows[i])
	}
	same(l, "a page", list(store.OutboxFilter{After: all[0].ID, Limit: 1}), all[1:2])
	same(l, "of a session", list(store.OutboxFilter{Session: "sess_1", After: all[0].ID}), all[2:])
	l.view(func(tx store.Tx) error {
		page, err := tx.Outbox(store.OutboxFilter{After: rows[2].ID, Limit: 9})
		same(l, "what waits behind a row", page, rows[3:])
		return err
	})
}

// outboxRace numbers the steps of few sessions with the turn's version; the order of
// messages must be that of the versions.
func outboxRace(l *ledger) {
	const sessions = 3
	for n := range sessions {
		r := plain(n)
		l.save(store.Batch{Turn: &r})
	}
	race(func(i int) {
		for j := range rounds {
			if err := l.retry(func(tx store.Tx) error {
				r, err := tx.Turn(store.TurnRef{Turn: id("turn", (i+j)%sessions)})
				if err != nil {
					return err
				}
				o := outgoing(r.State.Session, 1)
				o.Payload = []byte(strconv.FormatInt(r.Version, 10))
				return tx.Save(store.Batch{Turn: &r, Outbox: []store.Outgoing{o}})
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

// outboxNeverOvertakes lets many write messages of one session, without its turn, while one
// publishes: what it is shown always comes after what has left.
func outboxNeverOvertakes(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	var last int64
	publish := func() {
		for _, o := range l.outbox() {
			if o.ID <= last {
				l.t.Errorf("the message %d comes after %d has left", o.ID, last)
			}
			last = o.ID
			if err := l.try(store.Batch{Published: []int64{o.ID}}); err != nil {
				l.t.Error(err)
			}
		}
	}
	race(func(i int) {
		for range rounds {
			if i == 0 {
				publish()
				continue
			}
			if err := l.try(store.Batch{Outbox: []store.Outgoing{outgoing("sess_1", i)}}); err != nil {
				l.t.Error(err)
			}
		}
	})
	publish()
	same(l, "what is left", len(l.outbox()), 0)
}
