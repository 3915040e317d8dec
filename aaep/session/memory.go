package session

import "hash/maphash"

// What a [Checker] remembers at most. Beyond these limits it says with an info, once
// for each, that it is no longer exact.
const (
	maxIDs      = 65_536    // event ids and reply tokens of one open session; call and output ids as many
	maxAllIDs   = 1_048_576 // of all open sessions together
	maxEnded    = 100_000   // ended sessions: that they ended, and how
	maxLateID   = 65_536    // event ids and reply tokens of ended sessions together
	maxDoubts   = 4_096     // questions that are forgotten and were acted on before an answer was seen
	maxOpen     = 10_000    // open sessions
	maxThings   = 262_144   // calls, outputs, questions and producers of all open sessions
	maxEach     = 4_096     // of each of these in one session
	maxInterned = 4_096     // names of tools, states and producers that are kept once
)

// Size is how much a [Checker] remembers at present, in entries.
type Size struct {
	Open   int // sessions without a terminal event
	Ended  int // sessions of which the end is remembered
	IDs    int // event ids, reply tokens, and ids of calls and outputs that are used up
	Things int // calls, outputs, questions and producers of open sessions
}

// Size returns how much the checker remembers. None of it grows without bound.
func (c *Checker) Size() Size {
	return Size{Open: c.open.count, Ended: c.ended.count, IDs: c.ids.count + c.doubts.count, Things: c.things}
}

// Sessions is how many sessions the stream has shown so far. One that comes back after
// it was forgotten counts again.
func (c *Checker) Sessions() int64 { return int64(c.serial) }

// mark is what is remembered of an id, in hashes: short ones, since they are compared
// for one id only.
type mark struct {
	content uint32 // what the event says
	session uint16
	agent   uint16 // its producer
}

// table remembers ids by their hash, in a flat row that grows. Hashes are of 64
// bits with a secret seed: that two of the ids which are remembered at one time meet
// is less likely than a fault of the memory. Zero is not a hash.
type table[V any] struct {
	slots []slot[V]
	count int
}

type slot[V any] struct {
	value V
	key   uint64
}

const (
	firstSlots = 64
	fewSlots   = 4096
)

// find returns what is remembered of a key.
func (t *table[V]) find(key uint64) (V, bool) {
	if t.count > 0 {
		for i := t.home(key); t.slots[i].key != 0; i = t.next(i) {
			if t.slots[i].key == key {
				return t.slots[i].value, true
			}
		}
	}
	var none V
	return none, false
}

// add is find, and put where there is nothing yet.
func (t *table[V]) add(key uint64, value V) (V, bool) {
	t.ensureCapacity()
	i := t.home(key)
	for t.slots[i].key != 0 {
		if t.slots[i].key == key {
			return t.slots[i].value, true
		}
		i = t.next(i)
	}
	t.slots[i] = slot[V]{key: key, value: value}
	t.count++
	return value, false
}

// insert adds a key that is not there.
func (t *table[V]) insert(key uint64, value V) {
	t.ensureCapacity()
	i := t.home(key)
	for t.slots[i].key != 0 {
		i = t.next(i)
	}
	t.slots[i] = slot[V]{key: key, value: value}
	t.count++
}

// remove forgets a key, and closes the gap so that what was pushed on by it is found.
func (t *table[V]) remove(key uint64) {
	if t.count == 0 {
		return
	}
	gap := t.home(key)
	for t.slots[gap].key != key {
		if t.slots[gap].key == 0 {
			return
		}
		gap = t.next(gap)
	}
	t.count--
	mask := len(t.slots) - 1
	for i := t.next(gap); t.slots[i].key != 0; i = t.next(i) {
		if home := t.home(t.slots[i].key); (i-home)&mask >= (i-gap)&mask {
			t.slots[gap], gap = t.slots[i], i
		}
	}
	t.slots[gap] = slot[V]{}
}

func (t *table[V]) home(key uint64) int { return int(key>>1) & (len(t.slots) - 1) }
func (t *table[V]) next(i int) int      { return (i + 1) & (len(t.slots) - 1) }

// ensureCapacity makes sure that one more key fits. A small row grows fourfold, so that its keys
// are moved seldom.
func (t *table[V]) ensureCapacity() {
	switch size := len(t.slots); {
	case 5*(t.count+1) <= 4*size:
	case size == 0:
		t.grow(firstSlots)
	case size < fewSlots:
		t.grow(4 * size)
	default:
		t.grow(2 * size)
	}
}

// grow makes room; the size is a power of two.
func (t *table[V]) grow(size int) {
	old := t.slots
	t.slots, t.count = make([]slot[V], size), 0
	for _, s := range old {
		if s.key != 0 {
			t.insert(s.key, s.value)
		}
	}
}

// keyRing is a row of keys, oldest first, of at most so many.
type keyRing struct {
	keys  []uint64
	first int
	count int
}

// push adds a key; where the ring holds most already, it returns the oldest, which is
// forgotten.
func (r *keyRing) push(key uint64, most int) (oldest uint64, full bool) {
	if r.count >= most {
		oldest, full = r.pop()
	}
	if r.count == len(r.keys) {
		r.grow(min(most, max(16, 2*len(r.keys))))
	}
	r.keys[r.wrapped(r.first+r.count)] = key
	r.count++
	return oldest, full
}

// pop takes the oldest key.
func (r *keyRing) pop() (oldest uint64, ok bool) {
	if r.count == 0 {
		return 0, false
	}
	oldest = r.keys[r.first]
	r.first = r.wrapped(r.first + 1)
	r.count--
	return oldest, true
}

// wrapped goes on at the beginning behind the end; it is cheaper than a remainder.
func (r *keyRing) wrapped(i int) int {
	if i >= len(r.keys) {
		return i - len(r.keys)
	}
	return i
}

// emptied is a ring without keys that keeps the room of this one, where it is small.
func (r *keyRing) emptied() keyRing {
	if len(r.keys) > 1024 {
		return keyRing{}
	}
	return keyRing{keys: r.keys}
}

func (r *keyRing) grow(size int) {
	keys := make([]uint64, size)
	n := copy(keys, r.keys[r.first:])
	copy(keys[n:], r.keys[:r.first])
	r.keys, r.first = keys, 0
}

// Each sort of id has hashes of its own.
const (
	ofEvent = iota + 1
	ofSession
	ofToken
	ofCall
	ofOutput
)

// key is the hash of an id of a sort, in a session where that matters. It is never 0.
func (c *Checker) key(sort uint64, session uint32, id []byte) uint64 {
	const golden = 0x9E3779B97F4A7C15
	return (maphash.Bytes(c.seed, id) + (sort<<32|uint64(session))*golden) | 1
}
