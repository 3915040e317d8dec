package aaep

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Document is one JSON text, read as far as it can be read: names are compared
// exactly, a name that occurs twice is ambiguous and has no value, and text that is
// not UTF-8 is replaced. It is how this package, and a checker of whole streams,
// look at bytes that may be wrong. The zero Document holds nothing.
type Document struct {
	root  *node
	size  int // bytes
	depth int // deepest nesting of objects and arrays; the outermost is 1
	found []Violation
}

// node is one JSON value of a Document.
type node struct {
	kind    jsontext.Kind // false and true share KindTrue
	text    string        // a string's text, a number's literal
	truth   bool
	members []member // an object's, in their order, repeats included
	items   []*node
}

type member struct {
	name  string
	value *node
}

// maxSafeInteger is the largest integer that every double carries exactly.
const maxSafeInteger = 1 << 53

// Read reads raw. What is wrong with it as JSON (ENV-01, 02, 05, 60) is in
// [Document.Violations].
func Read(raw []byte) Document {
	d := Document{size: len(raw)}
	body, hadMark := bytes.CutPrefix(raw, []byte("\xef\xbb\xbf"))
	if hadMark {
		d.add("ENV-02", "", "§3.8", "found a byte order mark, expected plain UTF-8; remove it")
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := d.value(decoder, "", 1)
	if err != nil {
		d.add("ENV-02", "", "§3.8", "not readable as JSON: "+syntaxMessage(err))
		return d
	}
	d.root = root
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		d.add("ENV-01", "", "§2.2.4", "found more text after the JSON value, expected one JSON object")
	}
	if root.kind != jsontext.KindBeginObject {
		d.add("ENV-01", "", "§2.2.4", fmt.Sprintf("found %s, expected one JSON object", root.describe()))
	}
	return d
}

// Violations returns what is wrong with the text as JSON.
func (d Document) Violations() []Violation { return d.found }

// Readable answers whether the text is a JSON object.
func (d Document) Readable() bool {
	return d.root != nil && d.root.kind == jsontext.KindBeginObject
}

// Text returns the string at path.
func (d Document) Text(path ...string) (string, bool) {
	n := d.root.at(path)
	if n == nil || n.kind != jsontext.KindString {
		return "", false
	}
	return n.text, true
}

// Whole returns the integer at path; any notation of an integral value counts, so
// 300, 300.0 and 3e2 are the same (C-18). Beyond ±2^53 there is no value.
func (d Document) Whole(path ...string) (int64, bool) {
	n := d.root.at(path)
	if n == nil {
		return 0, false
	}
	return n.whole()
}

// Flag returns the boolean at path.
func (d Document) Flag(path ...string) (value, ok bool) {
	n := d.root.at(path)
	if n == nil || n.kind != jsontext.KindTrue {
		return false, false
	}
	return n.truth, true
}

// Texts returns the strings of the array at path; other items are left out.
func (d Document) Texts(path ...string) []string {
	n := d.root.at(path)
	if n == nil {
		return nil
	}
	return n.texts()
}

// Has answers whether there is any value at path, null included.
func (d Document) Has(path ...string) bool { return d.root.at(path) != nil }

func (d *Document) add(rule, path, spec, message string) {
	d.found = append(d.found, Violation{Rule: rule, Severity: SeverityError, Path: path, Message: message, Spec: spec})
}

// value reads one value. The decoder itself refuses nesting beyond 10,000.
func (d *Document) value(decoder *jsontext.Decoder, path string, depth int) (*node, error) {
	switch kind := decoder.PeekKind(); kind {
	case jsontext.KindBeginObject:
		return d.object(decoder, path, depth)
	case jsontext.KindBeginArray:
		return d.array(decoder, path, depth)
	case jsontext.KindString:
		text, err := d.text(decoder, path)
		return &node{kind: kind, text: text}, err
	default:
		token, err := decoder.ReadToken()
		if err != nil {
			return nil, err //nolint:wrapcheck // Read names it
		}
		return d.scalar(token, path), nil
	}
}

func (d *Document) scalar(token jsontext.Token, path string) *node {
	switch kind := token.Kind(); kind {
	case jsontext.KindNumber:
		n := &node{kind: kind, text: token.String()}
		if fault := n.numberFault(); fault != "" {
			d.add("ENV-05", path, "§3.8", fault)
		}
		return n
	case jsontext.KindTrue, jsontext.KindFalse:
		return &node{kind: jsontext.KindTrue, truth: token.Bool()}
	default:
		return &node{kind: kind}
	}
}

func (d *Document) object(decoder *jsontext.Decoder, path string, depth int) (*node, error) {
	d.depth = max(d.depth, depth)
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err //nolint:wrapcheck // Read names it
	}
	object := &node{kind: jsontext.KindBeginObject}
	count := map[string]int{}
	for decoder.PeekKind() != jsontext.KindEndObject {
		name, err := d.text(decoder, path)
		if err != nil {
			return nil, err
		}
		at := pointer(path, name)
		value, err := d.value(decoder, at, depth+1)
		if err != nil {
			return nil, err
		}
		object.members = append(object.members, member{name: name, value: value})
		if count[name]++; count[name] == 2 {
			d.add("ENV-60", at, "§3.8", fmt.Sprintf("found the name %q twice in one object, expected it once; which value holds cannot be known", name))
		}
	}
	_, err := decoder.ReadToken()
	return object, err //nolint:wrapcheck // Read names it
}

func (d *Document) array(decoder *jsontext.Decoder, path string, depth int) (*node, error) {
	d.depth = max(d.depth, depth)
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err //nolint:wrapcheck // Read names it
	}
	array := &node{kind: jsontext.KindBeginArray}
	for decoder.PeekKind() != jsontext.KindEndArray {
		item, err := d.value(decoder, path+"/"+strconv.Itoa(len(array.items)), depth+1)
		if err != nil {
			return nil, err
		}
		array.items = append(array.items, item)
	}
	_, err := decoder.ReadToken()
	return array, err //nolint:wrapcheck // Read names it
}

// text reads one JSON string, a name or a value.
func (d *Document) text(decoder *jsontext.Decoder, path string) (string, error) {
	literal, err := decoder.ReadValue()
	if err != nil {
		return "", err //nolint:wrapcheck // Read names it
	}
	text, err := jsontext.AppendUnquote(nil, literal)
	switch {
	case err == nil:
	case utf8.Valid(literal):
		d.add("ENV-02", path, "§3.8", "found an escaped half of a surrogate pair, which is no character; expected whole characters")
	default:
		d.add("ENV-02", path, "§3.8", "found bytes that are not UTF-8, expected UTF-8")
	}
	return string(text), nil
}

// at follows path through objects. A name that is missing or repeated leads nowhere.
func (n *node) at(path []string) *node {
	for _, name := range path {
		if n = n.member(name); n == nil {
			return nil
		}
	}
	return n
}

// member returns the only member with this exact name, or nil.
func (n *node) member(name string) *node {
	if n == nil {
		return nil
	}
	var only *node
	for _, m := range n.members {
		if m.name != name {
			continue
		}
		if only != nil {
			return nil
		}
		only = m.value
	}
	return only
}

func (n *node) textOf(name string) string {
	if v := n.member(name); v != nil && v.kind == jsontext.KindString {
		return v.text
	}
	return ""
}

func (n *node) isTrue(name string) bool {
	v := n.member(name)
	return v != nil && v.kind == jsontext.KindTrue && v.truth
}

func (n *node) texts() []string {
	var texts []string
	for _, item := range n.items {
		if item.kind == jsontext.KindString {
			texts = append(texts, item.text)
		}
	}
	return texts
}

// number returns the double that a number stands for.
func (n *node) number() (float64, bool) {
	if n.kind != jsontext.KindNumber {
		return 0, false
	}
	value, err := strconv.ParseFloat(n.text, 64)
	return value, err == nil
}

// whole returns the integer that a number stands for, whatever its notation.
func (n *node) whole() (int64, bool) {
	value, ok := n.number()
	if !ok || value != math.Trunc(value) || math.Abs(value) > maxSafeInteger {
		return 0, false
	}
	return int64(value), true
}

// numberFault says why a double cannot carry the number, or "".
func (n *node) numberFault() string {
	value, ok := n.number()
	if !ok {
		return fmt.Sprintf("found the number %s, expected one that a double can hold", clip(n.text))
	}
	if !strings.ContainsAny(n.text, ".eE") && math.Abs(value) > maxSafeInteger {
		return fmt.Sprintf("found the integer %s beyond 2^53, expected it as a string", clip(n.text))
	}
	return ""
}

// describe names a value in a message, short enough for one line.
func (n *node) describe() string {
	switch n.kind {
	case jsontext.KindString:
		return strconv.Quote(clip(n.text))
	case jsontext.KindNumber:
		return "the number " + clip(n.text)
	case jsontext.KindTrue:
		return strconv.FormatBool(n.truth)
	case jsontext.KindNull:
		return "null"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	default:
		return "nothing"
	}
}

// clip shortens what a message quotes.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// pointer appends a name to a JSON pointer.
func pointer(path, name string) string {
	return string(jsontext.Pointer(path).AppendToken(name))
}

// syntaxMessage is the decoder's finding without the name of the library.
func syntaxMessage(err error) string {
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok && syntactic.Err != nil {
		return fmt.Sprintf("%v, at byte %d", syntactic.Err, syntactic.ByteOffset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the text ends too early"
	}
	return err.Error()
}
