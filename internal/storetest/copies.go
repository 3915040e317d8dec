package storetest

import (
	"reflect"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func copyCases() []exercise {
	return []exercise{
		{"what was given can be changed", givenIsCopied},
		{"what was read can be changed", readIsCopied},
		{"times come back in microseconds and UTC", timesAreStored},
	}
}

// spoil changes everything that a value refers to.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Map:
		for _, one := range v.Seq2() {
			spoil(one) // what it refers to
		}
		v.Clear()
	case reflect.Struct:
		for _, field := range v.Fields() {
			spoil(field)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("spoiled")
		}
	default:
		if v.CanSet() {
			v.SetZero()
		}
	}
}

// rich is a step that writes into each part of the ledger, also into those that have exercises of their own.
func rich() store.Batch {
	b := everything(1)
	p := permission(1)
	p.Ended = &standing.End{At: at(2), Why: "revoked"}
	b.Permissions = []standing.Permission{p}
	b.Passkeys = []store.Passkey{passkey(1)}
	b.InForce = []store.InForce{{Kind: "token", Subject: "a", Digest: digest("token", 1), Detail: "Ada's", By: "ann"}}
	b.Agents = []store.AgentChange{{Name: agent(1).Definition.Name, After: agent(1)}}
	b.Acts = append(b.Acts, start(1))
	return b
}

// reads is all that the port shows of what rich has written.
func (l *ledger) reads() []any {
	l.t.Helper()
	var all []any
	keep := func(v any, err error) error {
		all = append(all, v)
		return err
	}
	for _, read := range []func(store.Tx) error{
		func(tx store.Tx) error { return keep(tx.Turn(store.TurnRef{Turn: "turn_1"})) },
		func(tx store.Tx) error { return keep(tx.Calls(store.CallFilter{Turn: "turn_1"})) },
		func(tx store.Tx) error { return keep(tx.Turns(store.TurnFilter{})) },
		func(tx store.Tx) error { return keep(tx.Results("turn_1", 0, 9)) },
		func(tx store.Tx) error { return keep(tx.Events(store.EventFilter{Session: "sess_1", Limit: 9})) },
		func(tx store.Tx) error { return keep(tx.Events(store.EventFilter{IDs: []string{"sess_1/evt_1"}})) },
		func(tx store.Tx) error { return keep(tx.Cards(store.CardFilter{})) },
		func(tx store.Tx) error {
			raw, _, err := tx.Blob(digestOf(content(10, 1)), 0, 10)
			return keep(raw, err)
		},
		func(tx store.Tx) error { return keep(tx.Tools(store.ToolFilter{})) },
		func(tx store.Tx) error { return keep(tx.Agents(store.AgentFilter{})) },
		func(tx store.Tx) error { return keep(tx.Outbox(store.OutboxFilter{})) },
		func(tx store.Tx) error { return keep(tx.Sealed("tc_1")) },
		func(tx store.Tx) error { return keep(tx.Preferences("ann_1")) },
		func(tx store.Tx) error { return keep(tx.Permissions(store.PermissionFilter{})) },
		func(tx store.Tx) error { return keep(tx.RequestKey("ann_1", digest("key", 1))) },
		func(tx store.Tx) error { return keep(tx.Passkeys()) },
		func(tx store.Tx) error { return keep(tx.Receipts("sess_1")) },
		func(tx store.Tx) error { return keep(tx.Audit(store.AuditFilter{Limit: 9})) },
		func(tx store.Tx) error { return keep(tx.InForce("token")) },
	} {
		l.view(read)
	}
	return all
}

func givenIsCopied(l *ledger) {
	b := rich()
	l.save(b)
	before := l.reads()
	spoil(reflect.ValueOf(&b).Elem())
	for i, got := range l.reads() {
		same(l, "what is read after that", got, before[i])
	}
}

func readIsCopied(l *ledger) {
	l.save(rich())
	want := l.reads()
	for _, v := range l.reads() {
		spoil(reflect.ValueOf(v))
	}
	for i, got := range l.reads() {
		same(l, "what is read after that", got, want[i])
	}
}

// timesAreStored: a time has more digits and another zone where it is made.
func timesAreStored(l *ledger) {
	given := at(0).Add(789 * time.Nanosecond).In(time.FixedZone("somewhere", 2*60*60))
	r := plain(1)
	r.Created, r.Due, r.Free, r.State.Status = given, given, given, turn.Queued
	e, c, k := event("sess_1", 1), card(1), requestKey(1)
	e.At, c.CreatedAt, k.At = given, given, given
	l.save(store.Batch{Turn: &r, Events: []store.Event{e}, Cards: []utp.Card{c}, Keys: []store.RequestKey{k}})
	got := l.turn(store.TurnRef{Turn: "turn_1"})
	for what, is := range map[string]time.Time{
		"created": got.Created, "due": got.Due, "free": got.Free, "event": l.events("sess_1")[0].At, "card": l.card("result_1").CreatedAt,
		"key": l.key(k.Principal, k.Key).At,
	} {
		same(l, what, is, at(0))
	}
	c.CreatedAt = at(0)
	l.save(cards(c)) // the same card
	same(l, "turns that are due", len(first(l.listed(store.TurnFilter{Due: at(0)}))), 1)
}

func first[A, B any](a A, _ B) A { return a }
