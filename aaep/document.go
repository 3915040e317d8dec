package aaep

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Document is one JSON text, read as far as it can be read: names are compared
// exactly, a name that occurs twice is ambiguous and has no value, and text that is
// not UTF-8 is replaced. It is how this package, and a checker of whole streams,
// look at bytes that may be wrong. It refers to the bytes that were read, which must
// not change while it is in use. Judging it notes where its members are, so that it must
// not be used by two goroutines at once. The zero Document holds nothing.
type Document struct{ tape *tape }

// Read reads raw. What is wrong with it as JSON (ENV-01, 02, 05, 60) is in
// [Document.Violations]. A text of more than [MaxBytes], or nested deeper than
// [MaxDepth], is not read. Reading takes time in proportion to the text, and at most
// 32 bytes of memory for each value in it. [Validator.Read] does the same without
// new memory.
func Read(raw []byte) Document {
	t := &tape{nodes: make([]node, 0, len(raw)/16+1)}
	t.read(raw)
	return Document{t}
}

// Violations returns what is wrong with the text as JSON.
func (d Document) Violations() []Violation {
	if d.tape == nil {
		return nil
	}
	all := d.tape.faults
	all.list = slices.Clip(all.list)
	all.more()
	return all.list
}

// Readable reports whether the text is a JSON object.
func (d Document) Readable() bool { return d.tape != nil && d.tape.readable() }

// Text returns the string at path.
func (d Document) Text(path ...string) (string, bool) {
	text, ok := d.Bytes(path...)
	return string(text), ok
}

// Bytes returns the string at path as a slice that belongs to the document and must
// not be changed.
func (d Document) Bytes(path ...string) ([]byte, bool) {
	n := d.tape.at(path)
	if n == none || !d.tape.is(n, kindString) {
		return nil, false
	}
	return d.tape.text(n), true
}

// Whole returns the integer at path; any notation of an integral value counts, so
// 300, 300.0 and 3e2 are the same (C-18). Beyond ±2^53 there is no value.
func (d Document) Whole(path ...string) (int64, bool) {
	n := d.tape.at(path)
	if n == none {
		return 0, false
	}
	return d.tape.whole(n)
}

// Flag returns the boolean at path.
func (d Document) Flag(path ...string) (value, ok bool) {
	n := d.tape.at(path)
	if n == none || !d.tape.is(n, kindBool) {
		return false, false
	}
	return d.tape.nodes[n].flags&flagTrue != 0, true
}

// Texts returns the strings of the array at path; other items are left out.
func (d Document) Texts(path ...string) []string {
	n := d.tape.at(path)
	if n == none || !d.tape.is(n, kindArray) {
		return nil
	}
	var texts []string
	first, end := d.tape.inside(n)
	for n := first; n < end; n = d.tape.nodes[n].next {
		if d.tape.is(n, kindString) {
			texts = append(texts, string(d.tape.text(n)))
		}
	}
	return texts
}

// Has reports whether there is any value at path, null included.
func (d Document) Has(path ...string) bool { return d.tape.at(path) != none }

// Value returns the value at path exactly as it is written, as a slice that belongs
// to the document and must not be changed.
func (d Document) Value(path ...string) (jsontext.Value, bool) {
	n := d.tape.at(path)
	if n == none {
		return nil, false
	}
	return jsontext.Value(d.tape.literal(n)), true
}

// Names returns the names of the object at path in their order, repeats included.
func (d Document) Names(path ...string) []string {
	n := d.tape.at(path)
	if n == none || !d.tape.is(n, kindObject) {
		return nil
	}
	names := make([]string, 0, d.tape.nodes[n].count)
	first, end := d.tape.inside(n)
	for n := first; n < end; n = d.tape.nodes[n].next {
		names = append(names, string(d.tape.name(n)))
	}
	return names
}
