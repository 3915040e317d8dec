package aaep

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What is read at all. The soft limits of §3.7 lie far below.
const (
	// MaxBytes is the size beyond which a text is refused unread: four times what a
	// transport should carry (§8.3).
	MaxBytes = 4 << 20
	// MaxDepth is the nesting beyond which a text is refused.
	MaxDepth = 10_000
)

// byteOrderMark may stand before UTF-8 elsewhere, not in JSON.
var byteOrderMark = []byte("\xef\xbb\xbf")

// scanner reads one text onto a tape, without recursion: what is open is found by the
// parents of the nodes.
type scanner struct {
	*tape
	pos   int
	open  uint32 // the object or array that is open, or none
	seen  bloom  // names of the object that is open
	level int    // how many are open

	complaint string // of the string that was read last
}

// read reads raw as far as it can be read. What is wrong with it as JSON (ENV-01, 02,
// 05, 60) is in the faults of the tape.
func (t *tape) read(raw []byte) {
	t.reset()
	t.size = len(raw)
	if len(raw) > MaxBytes {
		t.wrongText("ENV-49", "§3.7", fmt.Sprintf("found %d bytes, expected at most %d; more than %d are not read", len(raw), softBytes, MaxBytes))
		return
	}
	t.raw = raw
	if body, marked := bytes.CutPrefix(raw, byteOrderMark); marked {
		t.raw, t.bomLength = body, len(byteOrderMark)
		t.wrongText("ENV-02", "§3.8", "found a byte order mark at byte 0, expected plain UTF-8; remove it")
	}
	s := scanner{tape: t, open: none}
	s.space()
	if !s.value(span{}) || !s.rest() {
		t.nodes = t.nodes[:0]
		return
	}
	s.space()
	if s.pos < len(t.raw) {
		t.wrongText("ENV-01", "§2.2.4", fmt.Sprintf("found more text behind the JSON value at byte %d, expected one JSON object", t.bomLength+s.pos))
	}
	if !t.readable() {
		t.wrongText("ENV-01", "§2.2.4", fmt.Sprintf("found %s, expected one JSON object", t.describe(0)))
	}
}

// rest reads until everything that is open is closed.
func (s *scanner) rest() bool {
	for s.open != none {
		s.space()
		if s.pos >= len(s.raw) {
			return s.cut("")
		}
		top := &s.nodes[s.open]
		closing := byte(']')
		if top.kind == kindObject {
			closing = '}'
		}
		c := s.raw[s.pos]
		if c == closing {
			s.pos++
			s.close()
			continue
		}
		if top.count > 0 {
			if c != ',' {
				return s.broken("expected a comma or " + strconv.QuoteRune(rune(closing)))
			}
			s.pos++
			s.space()
			if s.pos < len(s.raw) && s.raw[s.pos] == closing {
				return s.broken("expected no comma before it")
			}
		}
		if !s.child(top.kind) {
			return false
		}
	}
	return true
}

// child reads the next member or item of what is open.
func (s *scanner) child(of kind) bool {
	if of == kindArray {
		return s.value(span{start: s.nodes[s.open].count})
	}
	if s.pos >= len(s.raw) {
		return s.cut("")
	}
	if s.raw[s.pos] != '"' {
		return s.broken("expected a name in double quotes")
	}
	s.pos++
	name, marks := s.text()
	if marks&flagBroken != 0 {
		return false
	}
	s.space()
	if s.pos >= len(s.raw) {
		return s.cut("")
	}
	if s.raw[s.pos] != ':' {
		return s.broken("expected a colon")
	}
	s.pos++
	s.space()
	object, member := s.open, uint32(len(s.nodes))
	if s.complaint != "" {
		s.complain(object)
	}
	mask := flags(0)
	if marks&flagApart != 0 {
		mask = flagNameApart
	}
	s.push(node{name: name, parent: object, flags: mask})
	s.nodes[object].count++
	if s.nodes[object].count <= fewMembers {
		s.seen = s.nameOnce(object, member, s.seen)
	}
	return s.fill(member)
}

// value reads one value that is not a member.
func (s *scanner) value(name span) bool {
	n := uint32(len(s.nodes))
	s.push(node{name: name, parent: s.open})
	if s.open != none {
		s.nodes[s.open].count++
	}
	return s.fill(n)
}

// push appends a node; the memory doubles, so that growing costs no more than it holds.
func (t *tape) push(n node) {
	if len(t.nodes) == cap(t.nodes) {
		t.nodes = slices.Grow(t.nodes, max(len(t.nodes), 32))
	}
	t.nodes = append(t.nodes, n)
}

// fill reads the value of a node, of an object or array only its beginning.
func (s *scanner) fill(n uint32) bool {
	if s.pos >= len(s.raw) {
		return s.cut("")
	}
	v := &s.nodes[n]
	v.next = n + 1
	v.start = uint32(s.pos)
	switch c := s.raw[s.pos]; c {
	case '"':
		return s.stringValue(n)
	case '{':
		v.kind = kindObject
		return s.begin(n)
	case '[':
		v.kind = kindArray
		return s.begin(n)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		v.kind = kindNumber
		return s.numberValue(n)
	case 't':
		v.kind = kindBool
		v.flags |= flagTrue
		return s.literal(n, "true")
	case 'f':
		v.kind = kindBool
		return s.literal(n, "false")
	case 'n':
		return s.literal(n, "null")
	default:
		return s.broken("expected a value")
	}
}

// begin opens an object or array. While something inside it is open, the names that it
// has had are kept where its end will be.
func (s *scanner) begin(n uint32) bool {
	if s.open != none {
		s.nodes[s.open].end, s.nodes[s.open].next = uint32(s.seen), uint32(s.seen>>32)
	}
	s.seen = 0
	s.open = n
	s.pos++
	s.level++
	s.depth = max(s.depth, s.level)
	if s.level > MaxDepth {
		s.wrongText("ENV-02", "§3.8", fmt.Sprintf("found nesting deeper than %d at byte %d, which is not read", MaxDepth, s.bomLength+s.pos-1))
		return false
	}
	return true
}

func (s *scanner) close() {
	closed := s.open
	v := &s.nodes[closed]
	v.end, v.next = uint32(s.pos), uint32(len(s.nodes))
	if v.kind == kindObject && v.count > fewMembers {
		s.namesOnce(closed)
	}
	s.level--
	s.open = v.parent
	if s.open != none {
		top := &s.nodes[s.open]
		s.seen = bloom(top.end) | bloom(top.next)<<32
	}
}

func (s *scanner) literal(n uint32, word string) bool {
	if len(s.raw)-s.pos < len(word) || string(s.raw[s.pos:s.pos+len(word)]) != word {
		return s.broken("expected a value")
	}
	s.pos += len(word)
	s.nodes[n].end = uint32(s.pos)
	return true
}

// numberValue reads a number as RFC 8259 writes it.
func (s *scanner) numberValue(n uint32) bool {
	raw, pos := s.raw, s.pos
	if raw[pos] == '-' {
		pos++
	}
	first := pos
	if pos = digits(raw, pos); pos == first {
		s.pos = pos
		return s.digitExpected()
	}
	if raw[first] == '0' && pos > first+1 {
		s.pos = first
		return s.broken("expected a number without leading zeros")
	}
	if pos < len(raw) && raw[pos] == '.' {
		start := pos + 1
		if pos = digits(raw, start); pos == start {
			s.pos = pos
			return s.digitExpected()
		}
	}
	if pos < len(raw) && raw[pos]|0x20 == 'e' {
		start := pos + 1
		if start < len(raw) && (raw[start] == '+' || raw[start] == '-') {
			start++
		}
		if pos = digits(raw, start); pos == start {
			s.pos = pos
			return s.digitExpected()
		}
	}
	s.pos = pos
	s.nodes[n].end = uint32(pos)
	if fault := numberFault(raw[s.nodes[n].start:pos]); fault != "" {
		s.fault(n, "ENV-05", fault)
	}
	return true
}

func (s *scanner) digitExpected() bool {
	if s.pos >= len(s.raw) {
		return s.cut("inside a number")
	}
	return s.broken("expected a digit")
}

func digits(raw []byte, pos int) int {
	for pos < len(raw) && raw[pos]-'0' <= 9 {
		pos++
	}
	return pos
}

func (s *scanner) stringValue(n uint32) bool {
	s.pos++
	start := uint32(s.pos)
	text, marks := s.text()
	if marks&flagBroken != 0 {
		return false
	}
	v := &s.nodes[n]
	v.kind = kindString
	v.start, v.end = start, uint32(s.pos-1)
	v.flags |= marks
	if marks&flagApart != 0 {
		v.count = uint32(len(s.spans))
		s.spans = append(s.spans, text)
	}
	if s.complaint != "" {
		s.complain(n)
	}
	return true
}

const (
	everyByte = 0x0101010101010101
	topBits   = 0x8080808080808080
)

// special marks the bytes of eight that end a run of plain characters: quotes,
// backslashes and controls. Only the lowest mark is to be trusted.
func special(w uint64) uint64 {
	quote, slash := w^(everyByte*'"'), w^(everyByte*'\\')
	return ((quote-everyByte)&^quote | (slash-everyByte)&^slash | (w-everyByte*0x20)&^w) & topBits
}

// text reads a string behind its opening quote: where its text is, and what there is
// to say of it. One without escapes is a slice of what was read.
func (s *scanner) text() (span, flags) {
	raw, start := s.raw, s.pos
	pos := start
	wide := uint64(0)
	for {
		for pos+8 <= len(raw) {
			w := binary.LittleEndian.Uint64(raw[pos:])
			if marked := special(w); marked != 0 {
				run := bits.TrailingZeros64(marked) &^ 7
				wide |= w & (1<<run - 1)
				pos += run >> 3
				break
			}
			wide |= w
			pos += 8
		}
		if pos >= len(raw) {
			s.cut("inside a string")
			return span{}, flagBroken
		}
		switch c := raw[pos]; {
		case c == '"':
			s.pos = pos + 1
			if wide&topBits == 0 {
				return span{uint32(start), uint32(pos)}, 0
			}
			if !utf8.Valid(raw[start:pos]) {
				return s.unquote(start)
			}
			return span{uint32(start), uint32(pos)}, flagWide
		case c == '\\':
			return s.unquote(start)
		case c < ' ':
			s.pos = pos
			s.broken("expected control characters to be escaped")
			return span{}, flagBroken
		default:
			wide |= uint64(c)
			pos++
		}
	}
}

// unquote reads a string that differs from how it is written, and keeps its text
// apart. What is not a character is replaced.
func (s *scanner) unquote(start int) (span, flags) {
	from, marks := uint32(len(s.apart)), flagApart
	for s.pos = start; ; {
		if s.pos >= len(s.raw) {
			s.cut("inside a string")
			return span{}, flagBroken
		}
		r, size := rune(s.raw[s.pos]), 1
		switch {
		case r == '"':
			s.pos++
			return span{from, uint32(len(s.apart))}, marks
		case r == '\\':
			var ok bool
			if r, ok = s.escape(); !ok {
				return span{}, flagBroken
			}
			size = 0
		case r < ' ':
			s.broken("expected control characters to be escaped")
			return span{}, flagBroken
		case r >= utf8.RuneSelf:
			if r, size = utf8.DecodeRune(s.raw[s.pos:]); r == utf8.RuneError && size == 1 && s.complaint == "" {
				s.complaint = fmt.Sprintf("found bytes that are not UTF-8 at byte %d, expected UTF-8", s.bomLength+s.pos)
			}
		}
		if r >= utf8.RuneSelf {
			marks |= flagWide
		}
		s.apart = utf8.AppendRune(s.apart, r)
		s.pos += size
	}
}

// complain notes what is wrong with the characters of the string that was read last.
func (s *scanner) complain(n uint32) {
	s.fault(n, "ENV-02", s.complaint)
	s.complaint = ""
}

// escape reads one escape, both halves of a surrogate pair. Half a pair is not a character
// and is replaced.
func (s *scanner) escape() (rune, bool) {
	if s.pos+1 >= len(s.raw) {
		s.pos = len(s.raw)
		return 0, s.cut("inside a string")
	}
	switch c := s.raw[s.pos+1]; c {
	case '"', '\\', '/':
		s.pos += 2
		return rune(c), true
	case 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return rune("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)]), true
	case 'u':
	default:
		s.pos++
		return 0, s.broken("expected one of the escapes of JSON")
	}
	r, ok := s.hex(s.pos)
	if !ok {
		return 0, false
	}
	s.pos += 6
	if r < 0xd800 || r > 0xdfff {
		return r, true
	}
	if r < 0xdc00 && bytes.HasPrefix(s.raw[s.pos:], []byte(`\u`)) {
		low, ok := s.hex(s.pos)
		if !ok {
			return 0, false
		}
		if low >= 0xdc00 && low <= 0xdfff {
			s.pos += 6
			return (r-0xd800)<<10 + low - 0xdc00 + 0x10000, true
		}
	}
	if s.complaint == "" {
		s.complaint = fmt.Sprintf("found an escaped half of a surrogate pair at byte %d, which is not a character; expected whole characters", s.bomLength+s.pos-6)
	}
	return utf8.RuneError, true
}

// hex reads the four digits of the escape at pos.
func (s *scanner) hex(pos int) (rune, bool) {
	if pos+6 > len(s.raw) {
		s.pos = len(s.raw)
		return 0, s.cut("inside a string")
	}
	value, err := strconv.ParseUint(string(s.raw[pos+2:pos+6]), 16, 32)
	if err != nil {
		return 0, s.broken("expected four hexadecimal digits")
	}
	return rune(value), true
}

// space passes over white space, of which compact JSON has none.
func (s *scanner) space() {
	if s.pos < len(s.raw) && s.raw[s.pos] > ' ' {
		return
	}
	s.spaces()
}

func (s *scanner) spaces() {
	for s.pos < len(s.raw) {
		switch s.raw[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}
