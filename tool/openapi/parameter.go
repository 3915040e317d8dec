package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Where a parameter stands.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
	inCookie = "cookie"
)

// parameter is one place of a request that an argument fills.
type parameter struct {
	Arg      string `json:"arg"`
	Name     string `json:"name"` // on the wire
	In       string `json:"in"`
	Style    string `json:"style"`
	Explode  bool   `json:"explode"`
	JSON     bool   `json:"json"` // the value is written as JSON
	required bool
	schema   any
}

// reservedHeaders are those that a parameter may not set: they frame the request, say where it
// goes, or are the operator's.
var reservedHeaders = []string{
	"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect",
	"authorization", "cookie", "accept", "accept-encoding", "range", "proxy-authorization", "proxy-connection", "x-http-method-override", "x-method-override",
	"x-http-method", "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-original-url", "x-rewrite-url",
}

// check says why a parameter cannot be served, or nil.
func (p parameter) check() error {
	styles := map[string][]string{
		inPath: {"simple"}, inQuery: {"form", "spaceDelimited", "pipeDelimited", "deepObject"}, inHeader: {"simple"}, inCookie: {"form"},
	}[p.In]
	switch {
	case styles == nil:
		return fmt.Errorf("the parameter %s is in %q; expected path, query, header or cookie", p.Name, p.In)
	case !slices.Contains(styles, p.Style):
		return fmt.Errorf("the parameter %s has the style %s, which is not served in %s", p.Name, p.Style, p.In)
	case p.Name == "":
		return errors.New("a parameter has no name")
	case (p.In == inHeader || p.In == inCookie) && !httpToken(p.Name):
		return fmt.Errorf("%q is not a %s name", p.Name, p.In)
	case p.In == inHeader && slices.Contains(reservedHeaders, strings.ToLower(p.Name)):
		return fmt.Errorf("the header %s is not for an agent to set", p.Name)
	}
	return nil
}

// plainValues are the values of an argument in their plain form: one for a scalar, one for
// each item of a list, and name and value in turn for an object.
func plainValues(v jsontext.Value) (list []string, kind jsontext.Kind, err error) {
	switch kind = v.Kind(); kind {
	case jsontext.KindBeginArray:
		var items []jsontext.Value
		if err := json.Unmarshal(v, &items); err != nil {
			return nil, kind, fmt.Errorf("cannot be read: %w", err)
		}
		for _, item := range items {
			text, err := scalar(item)
			if err != nil {
				return nil, kind, err
			}
			list = append(list, text)
		}
	case jsontext.KindBeginObject:
		members, err := membersOf(v)
		if err != nil {
			return nil, kind, err
		}
		for _, m := range members {
			text, err := scalar(m.value)
			if err != nil {
				return nil, kind, err
			}
			list = append(list, m.name, text)
		}
	default:
		text, err := scalar(v)
		return []string{text}, kind, err
	}
	return list, kind, nil
}

type member struct {
	name  string
	value jsontext.Value
}

// membersOf are the members of an object in their order.
func membersOf(v jsontext.Value) ([]member, error) {
	var m map[string]jsontext.Value
	if err := json.Unmarshal(v, &m); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	all := make([]member, 0, len(m))
	for name, value := range m {
		all = append(all, member{name, value})
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// scalar is a string as it is, and a number or a truth value by its literal.
func scalar(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case jsontext.KindString:
		raw, err := jsontext.AppendUnquote(nil, v)
		if err != nil {
			return "", fmt.Errorf("cannot be read: %w", err)
		}
		return string(raw), nil
	case jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse:
		return v.String(), nil
	default:
		return "", errors.New("holds something other than text, a number or a boolean")
	}
}

// segment is the value of a parameter within a path, escaped. It stays within its
// segment, no matter who unescapes it: a value that would name the folder above, read once or
// several times, is refused.
func (p parameter) segment(v jsontext.Value) (string, error) {
	if p.JSON {
		return url.PathEscape(string(v)), nil
	}
	list, kind, err := plainValues(v)
	if err != nil {
		return "", err
	}
	escaped := make([]string, len(list))
	for i, text := range list {
		if climbs(text) {
			return "", errors.New("would lead out of its place in the path, by a part that is . or .. there")
		}
		escaped[i] = url.PathEscape(text)
	}
	text := strings.Join(escaped, ",")
	if kind == jsontext.KindBeginObject && p.Explode {
		pairs := make([]string, 0, len(list)/2)
		for i := 0; i+1 < len(escaped); i += 2 {
			pairs = append(pairs, escaped[i]+"="+escaped[i+1])
		}
		text = strings.Join(pairs, ",")
	}
	if text == "" {
		return "", errors.New("is empty, and would leave its place in the path out")
	}
	return text, nil
}

// unescapes is how often a path is looked through for what it could be taken for.
const unescapes = 4

// climbs reports whether a part of a value is a dot segment, also after unescaping.
func climbs(value string) bool {
	for range unescapes {
		for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '/' || r == '\\' }) {
			part, _, _ = strings.Cut(part, ";") // some servers take what follows for parameters
			if strings.Trim(part, "\x00\t\r\n ") == "." || strings.Trim(part, "\x00\t\r\n ") == ".." {
				return true
			}
		}
		next, err := url.PathUnescape(value)
		if err != nil || next == value {
			return false
		}
		value = next
	}
	return true // escaped more often than anybody has a reason to
}

// query is the parameter as parts of a query, escaped.
func (p parameter) query(v jsontext.Value) ([]string, error) {
	name := url.QueryEscape(p.Name)
	if p.JSON {
		return []string{name + "=" + url.QueryEscape(string(v))}, nil
	}
	list, kind, err := plainValues(v)
	if err != nil {
		return nil, err
	}
	escaped := make([]string, len(list))
	for i, text := range list {
		escaped[i] = strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	}
	var parts []string
	switch {
	case kind == jsontext.KindBeginObject && p.Style == "deepObject":
		for i := 0; i+1 < len(escaped); i += 2 {
			parts = append(parts, name+"%5B"+escaped[i]+"%5D="+escaped[i+1])
		}
	case kind == jsontext.KindBeginObject && p.Explode:
		for i := 0; i+1 < len(escaped); i += 2 {
			parts = append(parts, escaped[i]+"="+escaped[i+1])
		}
	case kind == jsontext.KindBeginArray && p.Explode:
		for _, e := range escaped {
			parts = append(parts, name+"="+e)
		}
	case len(escaped) == 0:
	default:
		between := map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C"}[p.Style]
		if between == "" {
			between = ","
		}
		parts = []string{name + "=" + strings.Join(escaped, between)}
	}
	return parts, nil
}

// plain is the parameter as the value of a header or a cookie, as it is: what would end
// the value, or begin another, is refused.
func (p parameter) plain(v jsontext.Value) (string, error) {
	text := string(v)
	if !p.JSON {
		list, kind, err := plainValues(v)
		if err != nil {
			return "", err
		}
		if kind == jsontext.KindBeginObject {
			return "", errors.New("is an object; expected one value or a list")
		}
		text = strings.Join(list, ",")
	}
	if !fieldValue(text) {
		return "", errors.New("holds what may not stand in a header, such as the end of a line")
	}
	if p.In == inCookie && strings.ContainsAny(text, ";,\" \\") {
		return "", errors.New("holds what may not stand in a cookie")
	}
	return text, nil
}

// httpToken reports whether a text is a token of HTTP (RFC 9110 §5.6.2).
func httpToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// fieldValue reports whether a text is the value of a header, in ASCII, with nothing that
// could end it.
func fieldValue(s string) bool {
	return strings.TrimSpace(s) == s && !strings.ContainsFunc(s, func(r rune) bool { return (r < ' ' && r != '\t') || r > '~' })
}
