package narrate

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// secretMember marks an object that represents a secret.
const secretMember = "$secret"

// search walks a JSON value once and feeds the probes with what is on their paths. It reports whether the value could
// be parsed to its end.
func search(value jsontext.Value, probes []*probe) bool {
	s := searcher{value: value, decoder: jsontext.NewDecoder(bytes.NewReader(value))}
	_, err := s.visit(0, probes)
	return err == nil
}

type searcher struct {
	value   jsontext.Value
	decoder *jsontext.Decoder
}

// seen describes one value.
type seen struct {
	kind   jsontext.Kind
	text   string // of a string, a number, true, false
	length int    // of an array
	secret bool   // {"$secret": …}
}

// visit reads the next value, which is depth segments below the root; the probes are those whose paths lead here or
// further down.
func (s *searcher) visit(depth int, probes []*probe) (seen, error) {
	var here []*probe // end here
	var below []*probe
	for _, p := range probes {
		if len(p.path) == depth {
			here = append(here, p)
		} else {
			below = append(below, p)
		}
	}
	kind := s.decoder.PeekKind()
	var got seen
	var err error
	switch kind {
	case jsontext.KindBeginObject:
		got, err = s.object(depth, here, below)
	case jsontext.KindBeginArray:
		got, err = s.array(depth, below)
	default:
		got, err = s.scalar(kind)
		fail(below)
	}
	if err != nil {
		return got, err
	}
	for _, p := range here {
		p.see(got)
	}
	return got, nil
}

func (s *searcher) scalar(kind jsontext.Kind) (seen, error) {
	raw, err := s.decoder.ReadValue()
	if err != nil {
		return seen{}, err //nolint:wrapcheck // only its being there counts
	}
	got := seen{kind: kind, text: string(raw)}
	if kind == jsontext.KindString {
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return seen{}, err //nolint:wrapcheck // only its being there counts
		}
		got.text = string(text)
	}
	return got, nil
}

func (s *searcher) array(depth int, below []*probe) (seen, error) {
	got := seen{kind: jsontext.KindBeginArray}
	if _, err := s.decoder.ReadToken(); err != nil {
		return got, err //nolint:wrapcheck // only its being there counts
	}
	inside := step(below, depth, "*", true)
	failOthers(below, inside)
	for s.decoder.PeekKind() != jsontext.KindEndArray {
		if err := s.element(depth, inside); err != nil {
			return got, err
		}
		got.length++
	}
	_, err := s.decoder.ReadToken()
	return got, err //nolint:wrapcheck // only its being there counts
}

func (s *searcher) element(depth int, inside []*probe) error {
	if len(inside) == 0 {
		return s.decoder.SkipValue() //nolint:wrapcheck // only its being there counts
	}
	_, err := s.visit(depth+1, inside)
	return err
}

// object reads an object. It feeds the probes that end here and sum up its members.
func (s *searcher) object(depth int, here, below []*probe) (seen, error) {
	got := seen{kind: jsontext.KindBeginObject}
	if _, err := s.decoder.ReadToken(); err != nil {
		return got, err //nolint:wrapcheck // only its being there counts
	}
	met := map[*probe]bool{}
	factors := make([]factor, len(here))
	for s.decoder.PeekKind() != jsontext.KindEndObject {
		token, err := s.decoder.ReadToken()
		if err != nil {
			return got, err //nolint:wrapcheck // only its being there counts
		}
		name := token.String()
		got.secret = got.secret || name == secretMember
		inside := step(below, depth, name, false)
		for _, p := range inside {
			met[p] = true
		}
		if len(inside) == 0 && !isProbed(here, name) {
			if err := s.decoder.SkipValue(); err != nil {
				return got, err //nolint:wrapcheck // only its being there counts
			}
			continue
		}
		member, err := s.visit(depth+1, inside)
		if err != nil {
			return got, err
		}
		for i, p := range here {
			factors[i].apply(p, name, member)
		}
	}
	if got.secret { // secrets are not searched
		fail(below)
	}
	for _, p := range below { // named by a path, but missing
		if !met[p] && p.path[depth] != "*" {
			p.failed = true
		}
	}
	for i, p := range here {
		factors[i].close(p)
	}
	_, err := s.decoder.ReadToken()
	return got, err //nolint:wrapcheck // only its being there counts
}

// step keeps the probes whose next segment is name, or *.
func step(probes []*probe, depth int, name string, array bool) []*probe {
	var inside []*probe
	for _, p := range probes {
		if p.path[depth] == "*" || !array && p.path[depth] == name {
			inside = append(inside, p)
		}
	}
	return inside
}

// failOthers fails the probes that name a member of an array.
func failOthers(probes, inside []*probe) {
	if len(inside) == len(probes) {
		return
	}
	for _, p := range probes {
		kept := false
		for _, in := range inside {
			kept = kept || in == p
		}
		p.failed = p.failed || !kept
	}
}

func fail(probes []*probe) {
	for _, p := range probes {
		p.failed = true
	}
}

func isProbed(probes []*probe, name string) bool {
	for _, p := range probes {
		if p.size != "" && (p.size == name || p.times == name) {
			return true
		}
	}
	return false
}

// factor collects the two members of one object that a sum multiplies.
type factor struct {
	size, times       int64
	hasSize, hasTimes bool
}

func (f *factor) apply(p *probe, name string, member seen) {
	if p.size == "" {
		return
	}
	if name == p.size {
		f.size, f.hasSize = member.whole()
	}
	if name == p.times && p.times != "" {
		f.times, f.hasTimes = member.lengthOrWhole()
	}
}

func (f *factor) close(p *probe) {
	switch {
	case p.size == "":
	case !f.hasSize || p.times != "" && !f.hasTimes:
		p.failed = true
	case p.times == "":
		p.add(f.size, 1)
	default:
		p.add(f.size, f.times)
	}
}

// see processes a value at the end of the probe's path.
func (p *probe) see(got seen) {
	p.hits++
	switch {
	case p.fact.Count != "":
		p.add(1, 1)
	case p.size != "":
		p.failed = p.failed || got.kind != jsontext.KindBeginObject
	case p.fact.Sum != "":
		n, ok := got.whole()
		if !ok {
			n = -1
		}
		p.add(n, 1)
	case p.fact.List != "":
		p.list(got)
	default:
		p.single = p.one(got)
	}
}

func (p *probe) list(got seen) {
	if len(p.texts) == MaxList {
		p.left++
		return
	}
	p.texts = append(p.texts, p.one(got))
}

func (p *probe) one(got seen) Param {
	switch {
	case got.secret:
		return Param{Secret: true}
	case got.kind == jsontext.KindBeginObject || got.kind == jsontext.KindBeginArray || got.kind == jsontext.KindNull:
		p.failed = true
		return Param{}
	}
	if n, ok := got.whole(); ok && p.fact.Value != "" {
		return p.number(n)
	}
	return untrusted(got.text)
}

// whole returns the value as an integer from 0 to 2^53, in any notation without an exponent or a fraction.
func (g seen) whole() (int64, bool) {
	if g.kind != jsontext.KindNumber {
		return 0, false
	}
	n, err := strconv.ParseInt(g.text, 10, 64)
	return n, err == nil && n >= 0 && n <= maxExact
}

func (g seen) lengthOrWhole() (int64, bool) {
	if g.kind == jsontext.KindBeginArray {
		return int64(g.length), true
	}
	return g.whole()
}
