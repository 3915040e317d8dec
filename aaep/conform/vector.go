package conform

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what a vector holds.
type Kind string

// The kinds.
const (
	KindEvent    Kind = "event"    // one event
	KindMessage  Kind = "message"  // one message of the handshake, or one reply
	KindStream   Kind = "stream"   // events, and replies among them, in the order of their arrival
	KindExchange Kind = "exchange" // a request and the answer to it
	KindDocument Kind = "document" // the manifest of a producer
	KindSigned   Kind = "signed"   // a signed manifest, as a compact JWS
)

// Mode says for whom is judged.
type Mode string

// The modes.
const (
	ModeProducer Mode = "producer" // what one is about to send
	ModeConsumer Mode = "consumer" // what one has received
	ModeEnvelope Mode = "envelope" // the envelope alone, whatever the payload
)

// Verdict says whether a vector keeps its rule, or how much the finding weighs.
type Verdict string

// The verdicts.
const (
	VerdictValid   Verdict = "valid"   // nothing is found under the rule, and no error at all
	VerdictError   Verdict = "error"   // an error is found under the rule
	VerdictWarning Verdict = "warning" // a warning, and no error at all
	VerdictInfo    Verdict = "info"    // a note, and no error at all
)

// Vector is one file: what is judged, and the verdict. Its README describes each
// member.
type Vector struct {
	ID      string   `json:"id"` // the rule and a few words: ENV-18-hyphen
	Rule    string   `json:"rule"`
	Also    []string `json:"also,omitempty"`    // further rules that the findings must name
	Finding string   `json:"finding,omitempty"` // the rule that is named in place of Rule, which is a duty of judges
	Title   string   `json:"title"`
	Kind    Kind     `json:"kind"`
	Mode    Mode     `json:"mode"`
	Options *Options `json:"options,omitempty"`

	// One of these is what is judged.
	Input  jsontext.Value   `json:"input,omitempty"`
	Raw    *string          `json:"raw,omitzero"`
	Base64 []byte           `json:"base64,omitempty"`
	Stream []jsontext.Value `json:"stream,omitempty"`

	Fill []Fill `json:"fill,omitempty"` // changes of Input

	Verdict Verdict `json:"verdict"`
	At      *int    `json:"at,omitzero"`   // the message of the stream with the finding; its length is the end
	Path    *string `json:"path,omitzero"` // JSON pointer of the finding; absent: any
}

// Options is what the judge is told about what it is given.
type Options struct {
	Expect     string         `json:"expect,omitempty"`      // the type of message that is expected
	Terms      jsontext.Value `json:"terms,omitempty"`       // the honoured capabilities of the subscription that it was sent on
	JoinedLate bool           `json:"joined_late,omitempty"` // the capture begins in the middle of its sessions
	Reordering bool           `json:"reordering,omitempty"`  // the transport may change the order
	CutShort   bool           `json:"cut_short,omitempty"`   // the capture may end before its sessions do
	Keys       jsontext.Value `json:"keys,omitempty"`        // the JWK set that is trusted for a signed manifest
	Answer     jsontext.Value `json:"answer,omitempty"`      // the subscription.accepted that the signed manifest came with
	Transport  string         `json:"transport,omitempty"`   // how that answer came
}

// Fill replaces the string at a place of the input by a text, repeated. It keeps the
// files of long strings short.
type Fill struct {
	Path  string `json:"path"` // JSON pointer
	Text  string `json:"text"`
	Times int    `json:"times"`
}

//go:embed vectors
var vectorFiles embed.FS

// Vectors returns all vectors, by area and id.
func Vectors() ([]Vector, error) {
	var all []Vector
	err := fs.WalkDir(vectorFiles, "vectors", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".json" || path.Dir(name) == "vectors" {
			return err
		}
		v, err := readVector(name)
		all = append(all, v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("conform: %w", err)
	}
	return all, nil
}

func readVector(name string) (Vector, error) {
	var v Vector
	raw, err := vectorFiles.ReadFile(name)
	if err != nil {
		return v, err //nolint:wrapcheck // It names the file.
	}
	if err := json.Unmarshal(raw, &v, json.RejectUnknownMembers(true)); err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// Areas returns the areas that have vectors, sorted.
func Areas() []string {
	entries, err := vectorFiles.ReadDir("vectors")
	if err != nil {
		return nil // an embedded folder can be read
	}
	var areas []string
	for _, e := range entries {
		if e.IsDir() {
			areas = append(areas, e.Name())
		}
	}
	return areas
}

// Area is the folder of the vector: env, seq, cap.
func (v Vector) Area() string { return areaOf(v.Rule) }

// Rules returns the vector's rule and those that it demonstrates also.
func (v Vector) Rules() []string { return append([]string{v.Rule}, v.Also...) }

// Matches reports whether a word of a person selects the vector: its area, its rule
// or its id, in any case.
func (v Vector) Matches(word string) bool {
	return slices.ContainsFunc([]string{v.Area(), v.Rule, v.ID}, func(name string) bool { return strings.EqualFold(name, word) })
}

// Messages returns the bytes to judge: one message, or those of the stream.
func (v Vector) Messages() ([][]byte, error) {
	switch {
	case v.Stream != nil:
		all := make([][]byte, len(v.Stream))
		for i, m := range v.Stream {
			all[i] = []byte(m)
		}
		return all, nil
	case v.Raw != nil:
		return [][]byte{[]byte(*v.Raw)}, nil
	case v.Base64 != nil:
		return [][]byte{v.Base64}, nil
	}
	raw := []byte(v.Input)
	for _, f := range v.Fill {
		filled, err := f.apply(raw)
		if err != nil {
			return nil, fmt.Errorf("conform: %s: filling %s: %w", v.ID, f.Path, err)
		}
		raw = filled
	}
	return [][]byte{raw}, nil
}

// apply writes the message again with the long text in its place.
func (f Fill) apply(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	in, to := jsontext.NewDecoder(bytes.NewReader(raw)), jsontext.NewEncoder(&out)
	done := false
	for in.PeekKind() > 0 {
		token, err := in.ReadToken()
		if err != nil {
			return nil, err //nolint:wrapcheck // Messages names it.
		}
		kind, count := in.StackIndex(in.StackDepth())
		isName := kind == jsontext.KindBeginObject && count%2 == 1
		if string(in.StackPointer()) == f.Path && token.Kind() == jsontext.KindString && !isName {
			token, done = jsontext.String(strings.Repeat(f.Text, f.Times)), true
		}
		if err := to.WriteToken(token); err != nil {
			return nil, err //nolint:wrapcheck // Messages names it.
		}
	}
	if !done {
		return nil, errors.New("found no string there")
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
