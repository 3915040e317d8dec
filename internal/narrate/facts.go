package narrate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Fact says how to find one number or text in a call's arguments or result. Exactly
// one of Count, Sum, Value, Text and List is set; each is a path.
//
// A path is a JSON pointer (RFC 6901) of at most eight segments in which * stands for
// every element of an array and every member of an object:
//
//	{"count": "/sets/*/delete/*"}                           how many there are
//	{"sum": "/sets/*/size"}                                  the sum of whole numbers
//	{"sum": "/sets/*/size", "times": "/sets/*/delete"}       each times the length of the array beside it
//	{"value": "/deleted"}                                    a whole number or a text, as it is
//	{"text": "/root"}                                        a text (or a number, true, false)
//	{"list": "/to/*"}                                        the first few texts, and how many more
//
// "unit": "bytes" says a number as a size, "ms" as a duration. A fact named bytes, or
// ending in _bytes, has that unit anyway.
//
// What is asked of a person must never be understated, so a fact is missing as a
// whole, and the message that needs it is replaced by a plainer one, when anything on
// its path has another shape than the path says: an element without the member, a
// fraction, a negative number, a sum beyond 2^53. A secret is shown as "a secret".
type Fact struct {
	Count string `json:"count,omitzero"`
	Sum   string `json:"sum,omitzero"`
	Times string `json:"times,omitzero"` // with sum: its sibling
	Value string `json:"value,omitzero"`
	Text  string `json:"text,omitzero"`
	List  string `json:"list,omitzero"`
	Unit  string `json:"unit,omitzero"` // bytes, ms
}

// Facts are the facts of one set of arguments by name.
type Facts map[string]Fact

// Bounds of [Facts].
const (
	MaxFacts    = 16
	MaxSegments = 8
	// MaxList is how many texts of a list are shown.
	MaxList = 5

	maxExact = 1 << 53
)

// Units of a [Fact].
const (
	unitBytes = "bytes"
	unitTime  = "ms"
)

var errFact = errors.New("fact")

// ParseFacts reads and checks facts as they stand in a tool's definition. No facts are
// no error.
func ParseFacts(raw jsontext.Value) (Facts, error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // none is a value: nil maps are read like empty ones
	}
	var facts Facts
	if err := json.Unmarshal(raw, &facts, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("facts of a tool: %w", err)
	}
	if len(facts) > MaxFacts {
		return nil, fmt.Errorf("%w: %d of them, at most %d are read", errFact, len(facts), MaxFacts)
	}
	for name, f := range facts {
		if _, err := f.probe(name); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

// Find evaluates the facts over a JSON value in one pass. It takes time linear in the
// value, whatever its shape, and leaves out what it could not establish.
func (f Facts) Find(value jsontext.Value) Params {
	found := Params{}
	if len(f) == 0 || len(value) == 0 || len(f) > MaxFacts {
		return found
	}
	probes := make([]*probe, 0, len(f))
	for name, fact := range f {
		if p, err := fact.probe(name); err == nil {
			probes = append(probes, p)
		}
	}
	if !search(value, probes) {
		return found
	}
	for _, p := range probes {
		if param, ok := p.param(); ok {
			found[p.name] = param
		}
	}
	return found
}

// probe looks for one fact during a search.
type probe struct {
	name string
	fact Fact
	path []string
	// size and times are the two members of a sum whose factors are siblings; path is
	// then that of the object they are in. size alone is a sum of plain numbers.
	size, times string

	total  int64
	texts  []Param
	left   int
	single Param
	hits   int
	failed bool
}

func (f Fact) probe(name string) (*probe, error) {
	p := &probe{name: name, fact: f}
	set := 0
	for _, path := range []string{f.Count, f.Sum, f.Value, f.Text, f.List} {
		if path != "" {
			set++
			p.path = segments(path)
		}
	}
	switch {
	case set != 1:
		return nil, fmt.Errorf("%w: %s sets %d of count, sum, value, text and list; exactly one is wanted", errFact, name, set)
	case len(p.path) == 0 || len(p.path) > MaxSegments:
		return nil, fmt.Errorf("%w: %s needs a path that begins with a slash and has at most %d segments", errFact, name, MaxSegments)
	case f.Unit != "" && f.Unit != unitBytes && f.Unit != unitTime:
		return nil, fmt.Errorf("%w: %s has the unit %q; bytes and ms are known", errFact, name, f.Unit)
	case f.Times != "" && f.Sum == "":
		return nil, fmt.Errorf("%w: %s has times without sum", errFact, name)
	case (f.Value != "" || f.Text != "") && strings.Contains(strings.Join(p.path, "/"), "*"):
		return nil, fmt.Errorf("%w: %s names one value; it can have no *", errFact, name)
	case f.Sum != "":
		if err := p.factors(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// factors splits a sum into its object and its members.
func (p *probe) factors() error {
	last := len(p.path) - 1
	if p.fact.Times == "" {
		if p.path[last] != "*" {
			p.size, p.path = p.path[last], p.path[:last]
		}
		return nil
	}
	times := segments(p.fact.Times)
	if len(times) != len(p.path) || strings.Join(times[:last], "/") != strings.Join(p.path[:last], "/") ||
		times[last] == "*" || p.path[last] == "*" {
		return fmt.Errorf("%w: sum and times of %s must be members of one object", errFact, p.name)
	}
	p.size, p.times, p.path = p.path[last], times[last], p.path[:last]
	return nil
}

// segments splits a pointer; nil if it is none. An escaped slash or tilde is kept
// apart from a plain one by being unescaped here.
func segments(path string) []string {
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil
	}
	out := strings.Split(rest, "/")
	for i, s := range out {
		out[i] = strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
	}
	return out
}

// param is what was found, if the whole of it was.
func (p *probe) param() (Param, bool) {
	switch {
	case p.failed:
		return Param{}, false
	case p.fact.Count != "" || p.fact.Sum != "":
		return p.number(p.total), true
	case p.fact.List != "":
		if len(p.texts) == 0 {
			return Param{}, false
		}
		return Param{List: p.texts, Left: p.left}, true
	}
	return p.single, p.hits == 1
}

func (p *probe) number(n int64) Param {
	unit := p.fact.Unit
	if unit == "" && (p.name == unitBytes || strings.HasSuffix(p.name, "_"+unitBytes)) {
		unit = unitBytes
	}
	switch unit {
	case unitBytes:
		return size(n)
	case unitTime:
		return Param{Time: &n}
	}
	return count(n)
}

// add grows the total, or fails beyond what every reader carries exactly.
func (p *probe) add(n, times int64) {
	if n < 0 || times < 0 || n > maxExact || times > maxExact || times != 0 && n > (maxExact-p.total)/times {
		p.failed = true
		return
	}
	p.total += n * times
}
