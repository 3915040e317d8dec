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

// Param is one value inside a message. It keeps what was meant, not how one language
// says it, so that a row can be rendered again in another. Exactly one field is set;
// the zero Param is an empty foreign text.
type Param struct {
	// Text is foreign: an argument, a path, somebody's words. It is shown isolated,
	// with whatever does not show itself named. More characters were left out of it.
	Text string `json:"text,omitzero"`
	More int    `json:"more,omitzero"`
	// Exact is a value of an argument, whole but for More characters. It stands between quotation
	// marks, which it cannot close itself, and is shown as Text is.
	Exact string `json:"exact,omitzero"`
	// Name is an identifier of ours, such as a tool's name: printable ASCII.
	Name string `json:"name,omitzero"`
	// Quote is what somebody said. It stands between quotation marks.
	Quote string `json:"quote,omitzero"`
	// Keyword is one of our own words that a select chooses by, and is never shown.
	Keyword string `json:"word,omitzero"`
	// Count is a whole number, Bytes a size, Time a duration in milliseconds.
	Count *int64 `json:"count,omitzero"`
	Bytes *int64 `json:"bytes,omitzero"`
	Time  *int64 `json:"ms,omitzero"`
	// Key is a phrase of the catalogue, Own a template of a tool's definition; Params
	// belong to either.
	Key      string `json:"key,omitzero"`
	Verbatim string `json:"own,omitzero"`
	Params   Params `json:"params,omitzero"`
	// List is said with commas, All sentence by sentence. Left items were left out.
	List []Param `json:"list,omitzero"`
	All  []Param `json:"all,omitzero"`
	Left int     `json:"left,omitzero"`
	// Secret stands for a value that is never shown.
	Secret bool `json:"secret,omitzero"`
}

// Params are the values of a message by name.
type Params map[string]Param

// JSON writes the parameters for a row: the same parameters give the same bytes.
func (p Params) JSON() jsontext.Value {
	if len(p) == 0 {
		return jsontext.Value("{}")
	}
	raw, err := json.Marshal(p, json.Deterministic(true))
	if err != nil { // only text that is not UTF-8, which show names, can get here
		return jsontext.Value("{}")
	}
	return raw
}

// ParseParams reads what [Params.JSON] wrote.
func ParseParams(raw jsontext.Value) (Params, error) {
	var p Params
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("parameters of a message: %w", err)
	}
	return p, nil
}

// with returns a copy that holds the other parameters too.
func (p Params) with(other Params) Params {
	out := maps.Clone(p)
	if out == nil {
		out = Params{}
	}
	maps.Copy(out, other)
	return out
}

// untrusted is text that is not ours, cut to what one listens to.
func untrusted(s string) Param {
	head, more := cut(valid(s), capValue)
	return Param{Text: head, More: more}
}

// identifier is a name that may stand in a sentence as it is, or else foreign text.
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

// quoted is what somebody said, composed, and without what looks like a credential.
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

// clean leaves credentials out of somebody's words and cuts them. It looks no further
// than is shown, with a margin: a credential that the cut would halve is found whole.
func clean(s string, limit int) (head string, more int) {
	near, far := cut(valid(s), 4*limit)
	head, more = cut(redact(near), limit)
	return head, more + far
}

// exact is the text of an argument, of which more characters follow.
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

// none reports whether the parameter holds nothing to show.
func (p Param) none() bool {
	return p.Text == "" && p.Exact == "" && p.Name == "" && p.Quote == "" && p.Keyword == "" && p.Count == nil && p.Bytes == nil && p.Time == nil &&
		p.Key == "" && p.Verbatim == "" && len(p.List) == 0 && len(p.All) == 0 && p.Left == 0 && !p.Secret
}

// number is the value that a plural looks at.
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

// names lists the parameters in order, for error messages.
func (p Params) names() []string { return slices.Sorted(maps.Keys(p)) }
