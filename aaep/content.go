package aaep

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Content returns a hash of what the document says, however it is written: the order of
// members, white space, escapes and the notation of numbers do not matter. Two texts with
// the same hash under one seed, which has to be secret, are the same JSON value, as far as
// 64 bits can tell. A text that cannot be read has the hash 0.
func (d Document) Content(seed uint64) uint64 {
	if d.tape == nil || len(d.tape.nodes) == 0 {
		return 0
	}
	return d.tape.content(seed)
}

// sum is the hash of an object or array in the making. The hashes of its members are
// added up, so that their order does not matter.
type sum struct {
	node   uint32
	end    uint32 // the node behind all that is inside
	added  uint64
	ranked uint64 // members whose name occurs twice: which comes first may matter to a reader
}

// content adds up all values, without recursion.
func (t *tape) content(seed uint64) uint64 {
	if !t.isContainer(0) {
		return t.scalar(seed, 0)
	}
	t.sums = t.sums[:0]
	open := sum{end: t.nodes[0].next}
	for n := uint32(1); ; {
		switch {
		case n == open.end:
			whole := mixed(open.added+uint64(t.nodes[open.node].kind), open.ranked)
			last := len(t.sums) - 1
			if last < 0 {
				return whole
			}
			closed := open.node
			open, t.sums = t.sums[last], t.sums[:last]
			open.add(t.nodes[closed].flags, mixed(t.label(seed, closed), whole))
		case t.isContainer(n):
			t.sums = append(t.sums, open)
			open = sum{node: n, end: t.nodes[n].next}
			n++
		default:
			open.add(t.nodes[n].flags, t.scalar(seed, n))
			n++
		}
	}
}

// isContainer reports whether a node is an object or array.
func (t *tape) isContainer(n uint32) bool { return t.nodes[n].kind >= kindObject }

// add adds a value.
func (s *sum) add(is flags, h uint64) {
	if is&flagRepeated != 0 {
		s.ranked = mixed(s.ranked+1, h)
		return
	}
	s.added += h
}

// scalar is the hash of a value with its name. A member that is text, written plainly
// and compactly, is hashed where it stands, name and all.
func (t *tape) scalar(seed uint64, n uint32) uint64 {
	v := &t.nodes[n]
	switch v.kind {
	case kindString:
		if v.flags&(flagApart|flagNameApart) == 0 && v.start == v.name.end+3 && v.name.end > 0 {
			return hashOf(nameSeed(seed, int(v.name.end-v.name.start)), t.raw[v.name.start:v.end])
		}
		return t.spelled(seed, n)
	case kindNumber:
		return mixed(t.label(seed, n)+uint64(kindNumber), t.amount(seed, n))
	default:
		return mixed(t.label(seed, n)+uint64(v.kind), uint64(v.flags&flagTrue))
	}
}

// spelled is the hash of a text that is written with escapes or white space, as if it
// were not.
func (t *tape) spelled(seed uint64, n uint32) uint64 {
	if n == 0 || t.nodes[t.nodes[n].parent].kind != kindObject {
		return mixed(t.label(seed, n), hashOf(seed, t.text(n)))
	}
	name := t.name(n)
	t.scratch = append(append(append(t.scratch[:0], name...), `":"`...), t.text(n)...)
	return hashOf(nameSeed(seed, len(name)), t.scratch)
}

// nameSeed is the seed of a member's hash. The length of its name tells where its text begins.
func nameSeed(seed uint64, length int) uint64 { return seed + uint64(length)<<32 }

// label is the hash of a member's name, or of an item's place.
func (t *tape) label(seed uint64, n uint32) uint64 {
	if n == 0 {
		return seed
	}
	if v := &t.nodes[n]; t.nodes[v.parent].kind == kindArray {
		return mixed(seed, uint64(v.name.start))
	}
	return hashOf(seed, t.name(n))
}

// amount is the hash of a number by its value (C-18).
func (t *tape) amount(seed uint64, n uint32) uint64 {
	value, ok := t.number(n)
	switch {
	case !ok:
		return hashOf(seed, t.text(n))
	case value == 0:
		return 0 // also the negative one
	default:
		return math.Float64bits(value)
	}
}

// hashOf is the hash of a text. It is quick for the many short texts of a message, and
// its seed keeps anyone who writes them from making two alike.
func hashOf(seed uint64, text []byte) uint64 {
	h := seed + uint64(len(text))
	for ; len(text) > 16; text = text[16:] {
		h = mixed(binary.LittleEndian.Uint64(text)^seed, binary.LittleEndian.Uint64(text[8:])^h)
	}
	var a, b uint64
	switch n := len(text); {
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(text)), uint64(binary.LittleEndian.Uint32(text[n-4:]))
	case n > 0:
		a, b = uint64(text[0])|uint64(text[n/2])<<8, uint64(text[n-1])
	}
	return mixed(a^seed, b^h)
}

// mixed makes one hash of two, so that a small difference in either changes all of it.
func mixed(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9E3779B97F4A7C15, b^0xD6E8FEB86659FD93)
	return high ^ low
}
