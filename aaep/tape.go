package aaep

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// tape is a JSON text as a flat row of its values, in the order of the text, each
// behind the object or array that holds it. Texts are slices of what was read; only
// those that are written with escapes, or are not UTF-8, are kept apart. A tape is
// read again and again without new memory.
type tape struct {
	raw       []byte // without a byte order mark
	bomLength int    // bytes of the mark before raw
	size      int    // bytes that were given
	depth     int    // deepest nesting of objects and arrays; the outermost is 1
	nodes     []node
	apart     []byte // texts that differ from how they are written
	spans     []span // of the texts in apart
	sorted    []uint32
	chain     []uint32
	sums      []sum  // of the objects and arrays that are being hashed
	scratch   []byte // of a string that is being hashed
	faults    findings

	known   memberNodes // of the members of the outermost object, when located
	located bool
	clock   instant // the timestamp that was judged last
	clockAt uint32  // its node, or 0 where there is no such instant
}

// node is one value of a tape.
type node struct {
	start, end uint32 // in raw; of a string without its quotes
	name       span   // of a member, without quotes; of an item its index in the array
	next       uint32 // the value behind this one and all that is inside it
	parent     uint32
	count      uint32 // members or items; of a text that is kept apart the index of its span
	kind       kind
	flags      flags
}

// span is a stretch of bytes.
type span struct{ start, end uint32 }

// kind is the JSON type of a node.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindObject
	kindArray
)

// flags say more about a node.
type flags uint8

const (
	flagTrue      flags = 1 << iota // the boolean true
	flagApart                       // the text is in apart
	flagWide                        // the text has characters beyond ASCII
	flagNameApart                   // the name is in apart
	flagRepeated                    // another member of the object has the same name
	flagBroken                      // there is no such text
)

// none is not a node.
const none = ^uint32(0)

// The memory that a tape keeps for its next text; beyond, it is given back.
const (
	retainedNodes = 4096
	retainedBytes = 256 << 10
)

// reset forgets the text.
func (t *tape) reset() {
	if cap(t.nodes) > retainedNodes {
		t.nodes, t.spans, t.sorted, t.chain, t.sums = nil, nil, nil, nil, nil
	}
	if cap(t.apart) > retainedBytes {
		t.apart, t.scratch = nil, nil
	}
	t.raw, t.bomLength, t.size, t.depth = nil, 0, 0, 0
	t.located, t.clockAt = false, 0
	t.nodes, t.apart, t.spans = t.nodes[:0], t.apart[:0], t.spans[:0]
	t.faults.reset()
}

// readable reports whether the text is a JSON object.
func (t *tape) readable() bool { return len(t.nodes) > 0 && t.nodes[0].kind == kindObject }

// text returns the text of a string or the literal of a number.
func (t *tape) text(n uint32) []byte {
	v := &t.nodes[n]
	if v.flags&flagApart != 0 {
		s := t.spans[v.count]
		return t.apart[s.start:s.end]
	}
	return t.raw[v.start:v.end]
}

// name returns the name of a member.
func (t *tape) name(n uint32) []byte {
	v := &t.nodes[n]
	if v.flags&flagNameApart != 0 {
		return t.apart[v.name.start:v.name.end]
	}
	return t.raw[v.name.start:v.name.end]
}

// literal returns a value as it is written.
func (t *tape) literal(n uint32) []byte {
	v := &t.nodes[n]
	if v.kind == kindString {
		return t.raw[v.start-1 : v.end+1]
	}
	return t.raw[v.start:v.end]
}

// inside returns the nodes of an object or array: the first, and the one behind the last.
func (t *tape) inside(container uint32) (first, end uint32) {
	return container + 1, t.nodes[container].next
}

// is reports whether a node is of a kind; none is of no kind.
func (t *tape) is(n uint32, k kind) bool { return n != none && t.nodes[n].kind == k }

// member returns the only member of an object with this exact name, or none.
func (t *tape) member(object uint32, name string) uint32 {
	if !t.is(object, kindObject) {
		return none
	}
	first, end := t.inside(object)
	for n := first; n < end; n = t.nodes[n].next {
		if v := &t.nodes[n]; v.flags&flagNameApart == 0 && int(v.name.end-v.name.start) != len(name) {
			continue
		}
		if string(t.name(n)) != name {
			continue
		}
		if t.nodes[n].flags&flagRepeated != 0 {
			return none
		}
		return n
	}
	return none
}

// at follows names through objects.
func (t *tape) at(path []string) uint32 {
	if t == nil || len(t.nodes) == 0 {
		return none
	}
	n := uint32(0)
	for _, name := range path {
		if n = t.member(n, name); n == none {
			return none
		}
	}
	return n
}

// textOf returns the text of a member, or nothing.
func (t *tape) textOf(object uint32, name string) []byte {
	if n := t.member(object, name); t.is(n, kindString) {
		return t.text(n)
	}
	return nil
}

// hasText reports whether a member is the text word.
func (t *tape) hasText(object uint32, name, word string) bool {
	return string(t.textOf(object, name)) == word
}

// isTrue reports whether a member is true.
func (t *tape) isTrue(object uint32, name string) bool {
	n := t.member(object, name)
	return t.is(n, kindBool) && t.nodes[n].flags&flagTrue != 0
}

// has reports whether one of the strings of an array is word.
func (t *tape) has(array uint32, word string) bool {
	if !t.is(array, kindArray) {
		return false
	}
	first, end := t.inside(array)
	for n := first; n < end; n = t.nodes[n].next {
		if t.is(n, kindString) && string(t.text(n)) == word {
			return true
		}
	}
	return false
}

// strings counts the strings of an array.
func (t *tape) strings(array uint32) int {
	if !t.is(array, kindArray) {
		return 0
	}
	count := 0
	first, end := t.inside(array)
	for n := first; n < end; n = t.nodes[n].next {
		if t.is(n, kindString) {
			count++
		}
	}
	return count
}

// length counts the code points of a text (C-13).
func (t *tape) length(n uint32) int {
	if t.nodes[n].flags&flagWide == 0 {
		return len(t.text(n))
	}
	return utf8.RuneCount(t.text(n))
}

// describe names a value in a message, short enough for one line.
func (t *tape) describe(n uint32) string {
	if n == none {
		return "nothing"
	}
	switch v := &t.nodes[n]; v.kind {
	case kindString:
		return strconv.Quote(clip(t.text(n)))
	case kindNumber:
		return "the number " + clip(t.text(n))
	case kindBool:
		return strconv.FormatBool(v.flags&flagTrue != 0)
	case kindObject:
		return "an object"
	case kindArray:
		return "an array"
	default:
		return "null"
	}
}

// clip shortens what a message quotes.
func clip[T ~[]byte | ~string](text T) string {
	const most = 60
	s := string(text[:min(len(text), most*utf8.UTFMax+1)])
	count := 0
	for i := range s {
		if count++; count > most {
			return s[:i] + "…"
		}
	}
	if len(s) < len(text) {
		return s + "…"
	}
	return s
}

// longestPointer is the most that a pointer may take; a longer one ends at the
// deepest object or array that it can name.
const longestPointer = 1024

// path returns the JSON pointer of a node.
func (t *tape) path(n uint32) string {
	t.chain = t.chain[:0]
	for ; n != none && n != 0; n = t.nodes[n].parent {
		t.chain = append(t.chain, n)
	}
	path := make([]byte, 0, 64)
	for _, n := range slices.Backward(t.chain) {
		shorter := len(path)
		if path = t.step(path, n); len(path) > longestPointer {
			path = path[:shorter]
			break
		}
	}
	return string(path)
}

// step appends one node to the pointer of what holds it.
func (t *tape) step(path []byte, n uint32) []byte {
	v := &t.nodes[n]
	path = append(path, '/')
	if t.nodes[v.parent].kind == kindArray {
		return strconv.AppendUint(path, uint64(v.name.start), 10)
	}
	name := t.name(n)
	for _, c := range name[:min(len(name), longestPointer+1)] {
		switch c {
		case '~':
			path = append(path, "~0"...)
		case '/':
			path = append(path, "~1"...)
		default:
			path = append(path, c)
		}
	}
	return path
}

// pointer appends a name to a JSON pointer.
func pointer(path, name string) string {
	return string(jsontext.Pointer(path).AppendToken(name))
}
