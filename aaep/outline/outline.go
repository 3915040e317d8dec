package outline

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// Bounds of an [Outline].
const (
	// MaxValues is how many values are listed.
	MaxValues = 40
	// MaxCharacters is how many characters, as they are shown, all of them may have together.
	MaxCharacters = 2000

	// beginning is how much of a long value is listed where not everything has room.
	beginning = 200
)

// Kind says what a value is.
type Kind string

// The kinds of values.
const (
	Text    Kind = "text"    // Value is the text itself
	Literal Kind = "literal" // a number, true, false or null, as JSON writes it
	Empty   Kind = "empty"   // a list or an object without anything in it: [] or {}
	Secret  Kind = "secret"  // a reference to a value that is kept elsewhere; Value is ""
	Masked  Kind = "masked"  // a text that its name says is a credential; Value is ""
	Covered Kind = "covered" // what the tool's own sentence stands for; see Count, Size, SHA256
)

// Value is one value of the arguments.
type Value struct {
	// Path is the JSON pointer (RFC 6901) of the value; "" where the arguments are one value.
	Path  string `json:"path"`
	Kind  Kind   `json:"kind"`
	Value string `json:"value,omitzero"`
	// More characters follow that are not listed.
	More int `json:"more,omitzero"`
	// Count, Size and SHA256 are of a covered value: the values in it, its bytes as canonical
	// JSON, and their digest in hex.
	Count  int    `json:"count,omitzero"`
	Size   int    `json:"size,omitzero"`
	SHA256 string `json:"sha256,omitzero"`
}

// Name is the value's place in words: the names of its members, and the places of list elements from
// 1 on: "options color", "list 2".
func (v Value) Name() string {
	var words []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(v.Path, "/"), "/") {
		if n, err := strconv.Atoi(segment); err == nil && strconv.Itoa(n) == segment && len(words) > 0 {
			segment = strconv.Itoa(n + 1)
		}
		words = append(words, unescape(segment))
	}
	return strings.Join(words, " ")
}

// Placeholder is what a surface says in English in the place of a value that has no text of its own; "" where Value is to be said.
func (v Value) Placeholder() string {
	switch v.Kind {
	case Masked:
		return "not shown, because its name says that it is a credential"
	case Secret:
		return "a secret, which is not shown"
	case Covered:
		if v.Count == 1 {
			return "1 value, not listed here; the question stands for it"
		}
		return legible.Counted(int64(v.Count), "value") + ", not listed here; the question stands for all of them"
	case Empty:
		if v.Value == "{}" {
			return "an empty object"
		}
		return "an empty list"
	case Text:
		if v.Value == "" && v.More == 0 {
			return "an empty text"
		}
	case Literal:
	}
	return ""
}

// Outline is what a call's arguments say.
type Outline struct {
	// Values are listed in the order of the arguments.
	Values []Value `json:"values,omitzero"`
	// Left counts the values that are not listed, or not in full; Hidden those that are masked.
	Left   int `json:"left,omitzero"`
	Hidden int `json:"hidden,omitzero"`
	// Size and SHA256 are of the whole arguments: bytes, and hex.
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

// Complete reports whether everything is listed: in full, as a reference, or as covered.
func (o Outline) Complete() bool { return o.Left == 0 && o.Hidden == 0 }

// Unread counts the values that are not listed in full: those that are left, and those that are masked. An outline that
// came from elsewhere is not trusted to count upwards.
func (o Outline) Unread() int64 { return int64(max(o.Left, 0)) + int64(max(o.Hidden, 0)) }

// Covers reports whether a list is stated by its count and digest.
func (o Outline) Covers() bool {
	return slices.ContainsFunc(o.Values, func(v Value) bool { return v.Kind == Covered })
}

// Options of [Of].
type Options struct {
	// Covers are JSON pointers of members that the tool's reviewed sentence stands for.
	Covers []string
}

// Of lays out a JSON value. It takes time linear in the value. What is not JSON value has no outline that
// is complete.
func Of(raw jsontext.Value, o Options) Outline {
	sum := sha256.Sum256(raw)
	out := Outline{Size: len(raw), SHA256: hex.EncodeToString(sum[:])}
	w := walk{covers: o.Covers}
	if !w.read(raw) {
		out.Left = max(1, len(w.values))
		return out
	}
	for _, v := range w.values {
		if v.Kind == Masked {
			out.Hidden++
		}
	}
	if w.total <= MaxValues && w.characters <= MaxCharacters {
		out.Values = w.values
		return out
	}
	out.Values, out.Left = w.fit()
	return out
}

// fit lists as much as there is room for, long values by their beginnings; left counts what is not
// listed in full.
func (w *walk) fit() (listed []Value, left int) {
	space := MaxCharacters
	for _, v := range w.values {
		if len(listed) == MaxValues {
			break
		}
		head, rest := legible.Cut(v.Value, beginning)
		if v.Value, v.More = head, utf8.RuneCountInString(rest); v.characters() > space {
			break
		}
		space -= v.characters()
		if v.More > 0 {
			left++
		}
		listed = append(listed, v)
	}
	return listed, left + w.total - len(listed)
}

// characters is how much room a value takes as it is shown.
func (v Value) characters() int {
	return utf8.RuneCountInString(legible.Value(v.Name())) + utf8.RuneCountInString(legible.Value(v.Value))
}

func unescape(segment string) string {
	return strings.ReplaceAll(strings.ReplaceAll(segment, "~1", "/"), "~0", "~")
}
