package outline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// secretMember marks an object that stands for a secret.
const secretMember = "$secret"

// walk is one pass over a JSON value.
type walk struct {
	d      *jsontext.Decoder
	covers []string
	path   []string // segments of the pointer to the value that is read, escaped

	// values are the first of all: not more than could be listed.
	values     []Value
	total      int
	characters int // of values
}

// read takes the values in, and reports whether they were one whole JSON value.
func (w *walk) read(raw jsontext.Value) bool {
	w.d = jsontext.NewDecoder(bytes.NewReader(raw))
	if !w.value() {
		return false
	}
	_, err := w.d.ReadToken()
	return errors.Is(err, io.EOF)
}

// value takes the next value in.
func (w *walk) value() bool {
	if len(w.covers) > 0 && slices.Contains(w.covers, w.pointer()) {
		return w.covered()
	}
	switch w.d.PeekKind() {
	case jsontext.KindBeginObject:
		return w.object()
	case jsontext.KindBeginArray:
		return w.array()
	default:
		return w.scalar()
	}
}

func (w *walk) object() bool {
	if _, err := w.d.ReadToken(); err != nil {
		return false
	}
	before, n := *w, 0
	for ; w.d.PeekKind() == jsontext.KindString; n++ {
		name, err := w.d.ReadToken()
		if err != nil {
			return false
		}
		if name.String() == secretMember {
			w.values, w.total, w.characters = w.values[:len(before.values)], before.total, before.characters
			return w.secret()
		}
		w.path = append(w.path, escape(name.String()))
		if !w.value() {
			return false
		}
		w.path = w.path[:len(w.path)-1]
	}
	if n == 0 {
		w.add(Value{Kind: Empty, Value: "{}"})
	}
	_, err := w.d.ReadToken()
	return err == nil
}

func (w *walk) array() bool {
	if _, err := w.d.ReadToken(); err != nil {
		return false
	}
	n := 0
	for ; w.d.PeekKind() != jsontext.KindEndArray; n++ {
		w.path = append(w.path, strconv.Itoa(n))
		if !w.value() {
			return false
		}
		w.path = w.path[:len(w.path)-1]
	}
	if n == 0 {
		w.add(Value{Kind: Empty, Value: "[]"})
	}
	_, err := w.d.ReadToken()
	return err == nil
}

// secret takes the rest of an object in that stands for a secret.
func (w *walk) secret() bool {
	if err := w.d.SkipValue(); err != nil {
		return false
	}
	for w.d.PeekKind() == jsontext.KindString {
		if _, err := w.d.ReadToken(); err != nil {
			return false
		}
		if err := w.d.SkipValue(); err != nil {
			return false
		}
	}
	w.add(Value{Kind: Secret})
	_, err := w.d.ReadToken()
	return err == nil
}

// covered takes a value in that is stated by its count and digest.
func (w *walk) covered() bool {
	raw, err := w.d.ReadValue()
	if err != nil {
		return false
	}
	inside := walk{}
	if !inside.read(raw) {
		return false
	}
	sum := sha256.Sum256(raw)
	w.add(Value{Kind: Covered, Count: inside.total, Size: len(raw), SHA256: hex.EncodeToString(sum[:])})
	return true
}

func (w *walk) scalar() bool {
	token, err := w.d.ReadToken()
	if err != nil {
		return false
	}
	switch {
	case token.Kind() != jsontext.KindString:
		w.add(Value{Kind: Literal, Value: token.String()})
	case slices.ContainsFunc(w.path, namesCredential):
		w.add(Value{Kind: Masked})
	default:
		w.add(Value{Kind: Text, Value: token.String()})
	}
	return true
}

// add counts a value, and keeps it as long as it could be listed.
func (w *walk) add(v Value) {
	w.total++
	if len(w.values) > MaxValues {
		return
	}
	v.Path = w.pointer()
	w.values = append(w.values, v)
	w.characters += v.characters()
}

func (w *walk) pointer() string {
	if len(w.path) == 0 {
		return ""
	}
	return "/" + strings.Join(w.path, "/")
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
