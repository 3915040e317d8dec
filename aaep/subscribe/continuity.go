package subscribe

import (
	"hash/maphash"

	"github.com/earshot-dev/earshot/aaep"
)

// maxContinuity is how many messages are remembered to recognise repeats.
const maxContinuity = 65_536

// continuity remembers the messages of a stream. It recognises repeats, and places where messages may be missing
// because a connection was lost.
type continuity struct {
	seed  maphash.Seed
	known map[uint64]bool
	order []uint64 // the known keys, oldest first
	any   bool     // whether a message has arrived
	last  uint64   // the latest new message; 0 if none

	first   bool   // whether this connection is not the first and has brought no new message yet
	resumed bool   // whether it was resumed after a message id
	missed  uint64 // the message that must repeat before any new one; 0 if none
}

func newContinuity() continuity {
	return continuity{seed: maphash.MakeSeed(), known: map[uint64]bool{}}
}

// connect starts a new connection, which may have resumed after the last message.
func (t *continuity) connect(resumed bool) {
	t.first, t.resumed, t.missed = t.any, resumed, 0
	if t.any && !resumed {
		t.missed = t.last
	}
}

// receive reports whether a message is new, and whether others may be missing before it. Messages may be missing if a
// restarted stream does not repeat the message that was last before, or if a producer that could not resume reports the
// current state of its session (TR-SSE-10).
func (t *continuity) receive(m Message) (fresh, lost bool) {
	document := aaep.Read(m.Raw)
	id := m.ID
	if id == "" {
		id, _ = document.Text("event_id")
	}

	if handshake(document) {
		return true, false // each connection begins and ends by itself
	}

	key := maphash.String(t.seed, id+"\x00"+string(m.Raw)) | 1
	known := t.known[key] && (id != "" || t.missed != 0) // without an id, the same message may well be sent twice
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

// incomplete reports whether messages may be missing at the end of a stream.
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

// handshake reports whether a message is the answer to a subscription, or ends one.
func handshake(d aaep.Document) bool {
	body, _ := d.Text("type")

	return body == aaep.TypeSubscriptionAccepted || body == aaep.TypeSubscriptionRejected || body == aaep.TypeSubscriptionClose
}

// resyncs reports whether a message gives the current state of its session in place of earlier messages: as a
// transition from a state to itself (C-91).
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
