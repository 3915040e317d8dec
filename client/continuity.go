package client

import (
	"hash/maphash"

	"github.com/earshot-dev/earshot/aaep"
)

// maxContinuity is how many messages are remembered, so that repeats are recognised.
const maxContinuity = 65_536

// continuity remembers what came on a stream, and so recognises repeats, and messages
// that may be missing because a connection was lost.
type continuity struct {
	seed  maphash.Seed
	known map[uint64]bool
	order []uint64 // of the known ones, oldest first
	any   bool     // a message has come
	last  uint64   // the latest new message; 0 is none

	first   bool   // no new message has come on this connection, which is not the first
	resumed bool   // it was resumed after a message by its id
	missed  uint64 // the message that has to come again before any new one; 0 is none
}

func newContinuity() continuity {
	return continuity{seed: maphash.MakeSeed(), known: map[uint64]bool{}}
}

// connect notes a new connection, which may have been resumed after the last message.
func (t *continuity) connect(resumed bool) {
	t.first, t.resumed, t.missed = t.any, resumed, 0
	if t.any && !resumed {
		t.missed = t.last
	}
}

// receive answers whether a message is new, and whether others may be missing before it:
// where a stream that starts again does not come to the message that was last before, and
// where a producer that could not resume the stream reports the present state of its
// session (TR-SSE-10).
func (t *continuity) receive(m RawMessage) (fresh, lost bool) {
	document := aaep.Read(m.Raw)
	id := m.ID
	if id == "" {
		id, _ = document.Text("event_id")
	}

	if handshake(document) {
		return true, false // each connection has its terms
	}

	key := maphash.String(t.seed, id+"\x00"+string(m.Raw)) | 1
	known := t.known[key] && (id != "" || t.missed != 0) // without an id, the same may well be said twice
	restarted := t.resumed && resyncs(document, t.first)
	if !known {
		t.remember(key)
	}

	if key == t.missed {
		t.missed = 0
	} else if t.missed != 0 && !known || restarted && !known {
		t.missed, t.resumed, lost = 0, false, true
	}

	if !known {
		t.any, t.last, t.first = true, key, false
	}

	return !known, lost
}

// incomplete answers whether messages may be missing at the end of a stream.
func (t *continuity) incomplete() bool { return t.missed != 0 }

func (t *continuity) remember(key uint64) {
	if t.known[key] {
		return
	}

	t.known[key] = true
	t.order = append(t.order, key)

	if len(t.order) > maxContinuity {
		delete(t.known, t.order[0])
		t.order = t.order[1:]
	}
}

// handshake answers whether a message is the answer to a subscription.
func handshake(d aaep.Document) bool {
	body, _ := d.Text("type")

	return body == aaep.TypeSubscriptionAccepted || body == aaep.TypeSubscriptionRejected
}

// resyncs answers whether a producer reports the present state of its session in place of
// what came before: as a move from a state to itself (C-91).
func resyncs(d aaep.Document, first bool) bool {
	if body, _ := d.Text("type"); aaep.CompactType(body) != aaep.TypeStateChanged {
		return false
	}

	if marked, _ := d.Flag("extensions", aaep.PrefixEarshot, "resync"); marked {
		return true
	}

	from, _ := d.Text("from_state")
	to, ok := d.Text("to_state")

	return first && ok && from == to
}
