package aaep

import (
	"bytes"
	"cmp"
	"slices"
)

// Repeats are looked for in pairs as long as there are few, and by sorting where a
// text could make that slow.
const fewMembers = 32

// bloom is a set of names that may answer yes too often.
type bloom uint64

func bit(name []byte) bloom {
	if len(name) == 0 {
		return 1
	}
	last := len(name) - 1
	return 1 << ((uint(len(name))*7 + uint(name[0])*3 + uint(name[last])*5 + uint(name[last/2])*11) & 63)
}

// nameOnce notes the names that an object has more than once (ENV-60). It is asked
// for each new member while the object is small.
func (t *tape) nameOnce(object, member uint32, seen bloom) bloom {
	name := t.name(member)
	mask := bit(name)
	if seen&mask != 0 {
		for n := object + 1; n < member; n = t.nodes[n].next {
			if bytes.Equal(t.name(n), name) {
				t.repeated(n, member)
				break
			}
		}
	}
	return seen | mask
}

// namesOnce does the same for a large object as a whole.
func (t *tape) namesOnce(object uint32) {
	t.sorted = t.sorted[:0]
	first, end := t.inside(object)
	for n := first; n < end; n = t.nodes[n].next {
		t.nodes[n].flags &^= flagRepeated
		t.sorted = append(t.sorted, n)
	}
	slices.SortFunc(t.sorted, func(a, b uint32) int {
		return cmp.Or(bytes.Compare(t.name(a), t.name(b)), cmp.Compare(a, b))
	})
	for i := 1; i < len(t.sorted); i++ {
		if bytes.Equal(t.name(t.sorted[i-1]), t.name(t.sorted[i])) {
			t.repeated(t.sorted[i-1], t.sorted[i])
		}
	}
}

// repeated marks two members of one name. The name is told once.
func (t *tape) repeated(earlier, later uint32) {
	reported := t.nodes[earlier].flags&flagRepeated != 0
	t.nodes[earlier].flags |= flagRepeated
	t.nodes[later].flags |= flagRepeated
	if !reported {
		t.fault(later, "ENV-60", "found the name "+quoted(t.name(later))+" twice in one object, expected it once; which value holds cannot be known")
	}
}

// sameItems tells each item of an array that equals an earlier one.
func (t *tape) sameItems(array uint32, report func(later uint32)) {
	t.sorted = t.sorted[:0]
	first, end := t.inside(array)
	for n := first; n < end; n = t.nodes[n].next {
		t.sorted = append(t.sorted, n)
	}
	if len(t.sorted) <= fewMembers {
		for i, later := range t.sorted {
			if slices.ContainsFunc(t.sorted[:i], func(earlier uint32) bool { return t.equal(earlier, later) }) {
				report(later)
			}
		}
		return
	}
	slices.SortFunc(t.sorted, func(a, b uint32) int { return cmp.Or(t.compare(a, b), cmp.Compare(a, b)) })
	for i := 1; i < len(t.sorted); i++ {
		if t.compare(t.sorted[i-1], t.sorted[i]) == 0 {
			report(t.sorted[i])
		}
	}
}

// equal reports whether two values are the same, whatever the notation of numbers and
// the order of members. Objects are compared only where all their members are scalars:
// nothing that must be unique holds more.
func (t *tape) equal(a, b uint32) bool {
	va, vb := &t.nodes[a], &t.nodes[b]
	if va.kind != kindObject || vb.kind != kindObject {
		return t.compare(a, b) == 0
	}
	if va.count != vb.count || va.count > fewMembers {
		return false
	}
	first, end := t.inside(a)
	for n := first; n < end; n = t.nodes[n].next {
		other := t.member(b, string(t.name(n)))
		if other == none || t.compare(n, other) != 0 {
			return false
		}
	}
	return true
}

// compare puts values in an order in which equal scalars are neighbours. No two
// objects or arrays are equal.
func (t *tape) compare(a, b uint32) int {
	va, vb := &t.nodes[a], &t.nodes[b]
	if va.kind != vb.kind {
		return cmp.Compare(va.kind, vb.kind)
	}
	switch va.kind {
	case kindString:
		return bytes.Compare(t.text(a), t.text(b))
	case kindNumber:
		x, _ := t.number(a)
		y, _ := t.number(b)
		return cmp.Compare(x, y)
	case kindBool:
		return cmp.Compare(va.flags&flagTrue, vb.flags&flagTrue)
	case kindObject, kindArray:
		return cmp.Compare(a, b)
	default:
		return 0
	}
}
