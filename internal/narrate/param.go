package narrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// Param is one value inside a message. It stores the meaning, not the text in one language, so that a row can be
// rendered in another. Exactly one field is set; the zero Param is an empty foreign text.
type Param struct {
	// Text is foreign: an argument, a path, somebody's words. It is shown isolated, with invisible characters named.
	// More characters of it were left out.
	Text string `json:"text,omitzero"`
	More int    `json:"more,omitzero"`
	// Exact is an argument value, complete except for More characters. It is put between quotation marks, which it
	// cannot close itself, and is shown like Text.
	Exact string `json:"exact,omitzero"`
	// Name is an identifier of ours, such as a tool's name: printable ASCII.
	Name string `json:"name,omitzero"`
	// Quote is somebody's words, put between quotation marks.
	Quote string `json:"quote,omitzero"`
	// Keyword selects a case, and is never shown.
	Keyword string `json:"word,omitzero"`
	// Count is a whole number, Bytes a size, Time a duration in milliseconds.
	Count *int64 `json:"count,omitzero"`
	Bytes *int64 `json:"bytes,omitzero"`
	Time  *int64 `json:"ms,omitzero"`
	// Key is a phrase of the catalogue, Own a template of a tool's definition; Params belong to either.
	Key      string `json:"key,omitzero"`
	Verbatim string `json:"own,omitzero"`
	Params   Params `json:"params,omitzero"`
	// List is rendered with commas, All sentence by sentence. Left items were left out.
	List []Param `json:"list,omitzero"`
	All  []Param `json:"all,omitzero"`
	Left int     `json:"left,omitzero"`
	// Secret stands for a value that is never shown.
	Secret bool `json:"secret,omitzero"`
}

// Params are the values of a message by name.
type Params map[string]Param

// JSON encodes the parameters for a row, deterministically.
func (p Params) JSON() jsontext.Value {
	if len(p) == 0 {
		return jsontext.Value("{}")
	}
	raw, err := json.Marshal(p, json.Deterministic(true))
	if err != nil { // only invalid UTF-8, which show names, can get here
		return jsontext.Value("{}")
	}
	return raw
}

// ParseParams parses the result of [Params.JSON].
func ParseParams(raw jsontext.Value) (Params, error) {
	var p Params
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("parameters of a message: %w", err)
	}
	return p, nil
}

// with returns a copy with further parameters.
func (p Params) with(other Params) Params {
	out := maps.Clone(p)
	if out == nil {
		out = Params{}
	}
	maps.Copy(out, other)
	return out
}

// untrusted returns foreign text, cut to a length that one can listen to.
func untrusted(s string) Param {
	head, more := cut(valid(s), capValue)
	return Param{Text: head, More: more}
}

// identifier returns a name if it is one, otherwise foreign text.
func identifier(s string) Param {
	for _, r := range s {
		if r <= ' ' || r > '~' || r == '<' {
			return untrusted(s)
		}
	}
	if len(s) > capValue {
		return untrusted(s)
	}
	return Param{Name: s}
}

// quoted returns somebody's words, normalized, and without apparent credentials.
func quoted(s string) Param { return quotedTo(s, 2*capValue) }

func quotedTo(s string, limit int) Param {
	head, more := clean(strings.TrimSpace(s), limit)
	if cut := strings.TrimRight(head, " "); more > 0 {
		head, more = cut, more+len(head)-len(cut)
	}
	if head == "" {
		return Param{}
	}
	return Param{Quote: norm.NFC.String(head), More: more}
}

// clean removes credentials from somebody's words and cuts them. It examines only what is shown, with a margin, so that
// a credential across the cut is found as a whole.
func clean(s string, limit int) (head string, more int) {
	near, far := cut(valid(s), 4*limit)
	head, more = cut(redact(near), limit)
	return head, more + far
}

// exact returns the text of an argument, which has more further characters.
func exact(s string, more int) Param { return Param{Exact: valid(s), More: more} }

func count(n int64) Param            { return Param{Count: &n} }
func size(n int64) Param             { return Param{Bytes: &n} }
func duration(d time.Duration) Param { n := d.Milliseconds(); return Param{Time: &n} }
func keyword(s string) Param         { return Param{Keyword: s} }
func yes(is bool) Param {
	if is {
		return keyword("yes")
	}
	return keyword("no")
}

func phraseParam(key string, params Params) Param { return Param{Key: key, Params: params} }

// none reports whether the parameter has nothing to show.
func (p Param) none() bool {
	return p.Text == "" && p.Exact == "" && p.Name == "" && p.Quote == "" && p.Keyword == "" && p.Count == nil && p.Bytes == nil && p.Time == nil &&
		p.Key == "" && p.Verbatim == "" && len(p.List) == 0 && len(p.All) == 0 && p.Left == 0 && !p.Secret
}

// number returns the value for a plural.
func (p Param) number() (int64, bool) {
	for _, n := range []*int64{p.Count, p.Bytes, p.Time} {
		if n != nil {
			return *n, true
		}
	}
	if len(p.List) > 0 {
		return int64(len(p.List) + p.Left), true
	}
	return 0, false
}

// names returns the sorted names, for error messages.
func (p Params) names() []string { return slices.Sorted(maps.Keys(p)) }
