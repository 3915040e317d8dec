package narrate

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// A phrase is a compiled message. Its language is the small part of ICU's message
// format that translators know:
//
//	{name}                                   a parameter
//	{name, plural, =0 {…} one {…} other {…}} by the plural form of a number
//	{name, select, yes {…} other {…}}        by a word; a list and a missing parameter select "none"
//	#                                        inside a plural: the number itself
//	'{' '}' '#'                              a brace or a hash as such
type phrase []node

type node struct {
	text  string // prose, NFC
	param string // or a parameter
	kind  nodeKind
	arms  []selectCase
}

// params returns the names of the parameters that a message shows or selects by.
func (p phrase) params() map[string]bool {
	names := map[string]bool{}
	for _, one := range p {
		if one.param != "" {
			names[one.param] = true
		}
		for _, a := range one.arms {
			maps.Copy(names, a.body.params())
		}
	}
	return names
}

type nodeKind int

const (
	prose nodeKind = iota
	plainParam
	pluralParam
	selectParam
	hash
)

type selectCase struct {
	key  string
	body phrase
}

const (
	maxTemplate = 4096 // bytes
	maxNesting  = 4
)

var errTemplate = errors.New("template")

// parsePhrase compiles a message of at most 4,096 bytes, nested at most four deep.
func parsePhrase(s string) (phrase, error) {
	if len(s) > maxTemplate {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", errTemplate, len(s), maxTemplate)
	}
	p := parser{rest: s}
	out, err := p.body(0)
	if err != nil {
		return nil, err
	}
	if p.rest != "" {
		return nil, fmt.Errorf("%w: a closing brace too many before %q", errTemplate, p.rest)
	}
	return out, nil
}

type parser struct {
	rest     string
	inPlural bool
}

func (p *parser) body(depth int) (phrase, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("%w: nested more than %d deep", errTemplate, maxNesting)
	}
	var out phrase
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			out = append(out, node{text: norm.NFC.String(oneLine(text.String()))})
			text.Reset()
		}
	}
	for p.rest != "" && p.rest[0] != '}' {
		switch c := p.rest[0]; {
		case len(p.rest) >= 3 && c == '\'' && p.rest[2] == '\'' && strings.IndexByte("{}#", p.rest[1]) >= 0:
			text.WriteByte(p.rest[1])
			p.rest = p.rest[3:]
		case c == '{':
			flush()
			next, err := p.argument(depth)
			if err != nil {
				return nil, err
			}
			out = append(out, next)
		case c == '#' && p.inPlural:
			flush()
			out = append(out, node{kind: hash})
			p.rest = p.rest[1:]
		default:
			text.WriteByte(c)
			p.rest = p.rest[1:]
		}
	}
	flush()
	return out, nil
}

// argument parses from an opening brace to its closing one.
func (p *parser) argument(depth int) (node, error) {
	p.rest = p.rest[1:]
	name := p.identifier()
	if name == "" {
		return node{}, fmt.Errorf("%w: a parameter name is wanted before %q", errTemplate, p.rest)
	}
	if p.accept("}") {
		return node{kind: plainParam, param: name}, nil
	}
	if !p.accept(",") {
		return node{}, fmt.Errorf("%w: %s wants a comma or a closing brace", errTemplate, name)
	}
	out := node{param: name}
	switch how := p.identifier(); how {
	case "plural":
		out.kind = pluralParam
	case "select":
		out.kind = selectParam
	default:
		return node{}, fmt.Errorf("%w: %s has the unknown format %q; plural and select are known", errTemplate, name, how)
	}
	if !p.accept(",") {
		return node{}, fmt.Errorf("%w: %s wants its forms after a comma", errTemplate, name)
	}
	outer := p.inPlural
	p.inPlural = outer || out.kind == pluralParam
	defer func() { p.inPlural = outer }()
	return p.arms(out, depth)
}

func (p *parser) arms(out node, depth int) (node, error) {
	other := false
	for !p.accept("}") {
		key := p.identifier()
		if key == "" || !p.accept("{") {
			return node{}, fmt.Errorf("%w: a form of %s is a word and a text in braces", errTemplate, out.param)
		}
		body, err := p.body(depth + 1)
		if err != nil {
			return node{}, err
		}
		if !p.accept("}") {
			return node{}, fmt.Errorf("%w: the form %s of %s is not closed", errTemplate, key, out.param)
		}
		other = other || key == "other"
		out.arms = append(out.arms, selectCase{key: key, body: body})
	}
	if !other {
		return node{}, fmt.Errorf("%w: %s has no form other", errTemplate, out.param)
	}
	return out, nil
}

// accept skips spaces and then the given text, if it follows.
func (p *parser) accept(s string) bool {
	trimmed := strings.TrimLeft(p.rest, " \n\t")
	if !strings.HasPrefix(trimmed, s) {
		return false
	}
	p.rest = trimmed[len(s):]
	return true
}

func (p *parser) identifier() string {
	trimmed := strings.TrimLeft(p.rest, " \n\t")
	end := strings.IndexFunc(trimmed, func(r rune) bool {
		return r != '_' && r != '=' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		end = len(trimmed)
	}
	p.rest = trimmed[end:]
	return trimmed[:end]
}

// oneLine removes line breaks from sentences and names characters that could control a terminal. It is applied both to
// our own prose and to that of a tool's definition.
func oneLine(s string) string { return strings.ReplaceAll(legible.Text(s), "\n", " ") }
