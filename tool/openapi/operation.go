package openapi

import (
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// operation is one request with its places.
type operation struct {
	tool, description string
	class             utp.Class
	risk              utp.Risk
	method            string
	base              *url.URL // scheme, host and the fixed query
	path              string   // escaped, with places in braces
	parameters        []parameter
	body              *body
	binary            bool
	limits            limits
	phrases           settings.Phrases

	definition utp.Definition
	shared     *shared
	client     *http.Client
}

// body is what a request carries.
type body struct {
	Arg      string `json:"arg"`
	Media    string `json:"media"`
	required bool
	schema   any
}

// shared is what all operations of a section have in common.
type shared struct {
	secrets     settings.Secrets
	credentials []credential
	uses        []string // the secrets that the credentials name
	headers     map[string]string
	idempotency string // the header that carries the call's id
	origins     []origin
	ca          *x509.CertPool
	o           Options
}

// bodyArg is the argument that is the body.
const bodyArg = "body"

var pathPlaceholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{([^{}]*)\}`)
})

// ofDocument reads an operation of a document.
func ofDocument(d *document, s operationSettings, base *url.URL) (*operation, *converter, error) {
	f := d.byID[s.Operation]
	c := &converter{doc: d, defs: map[string]any{}}
	op := &operation{
		tool: s.Tool, description: s.Description, class: s.Class, risk: s.Risk, method: f.method, base: base, binary: s.Binary,
		path: strings.TrimSuffix(base.EscapedPath(), "/") + f.path,
	}
	if op.description == "" {
		summary, _ := f.op["summary"].(string)
		text, _ := f.op["description"].(string)
		op.description = settings.Clip(strings.Join(strings.Fields(summary+" "+text), " "), 500)
	}
	all := map[string]parameter{}
	var order []string
	for _, list := range []any{f.item["parameters"], f.op["parameters"]} { // an operation's own replace those of its path
		items, _ := list.([]any)
		for _, item := range items {
			p, err := c.parameter(item)
			if err != nil {
				return nil, nil, err
			}
			if p.In == inHeader && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.Name)) {
				continue // OpenAPI says that they are not parameters
			}
			key := p.In + " " + p.Name
			if _, again := all[key]; !again {
				order = append(order, key)
			}
			all[key] = p
		}
	}
	for _, key := range order {
		op.parameters = append(op.parameters, all[key])
	}
	var err error
	op.body, err = c.body(f.op["requestBody"])
	return op, c, err
}

// parameter reads a parameter object.
func (c *converter) parameter(value any) (parameter, error) {
	in, err := c.doc.object(value)
	if err != nil {
		return parameter{}, fmt.Errorf("a parameter: %w", err)
	}
	p := parameter{}
	p.Name, _ = in["name"].(string)
	p.In, _ = in["in"].(string)
	p.required, _ = in["required"].(bool)
	p.Style, _ = in["style"].(string)
	if p.Style == "" {
		p.Style = map[string]string{inPath: "simple", inHeader: "simple"}[p.In]
	}
	if p.Style == "" {
		p.Style = "form"
	}
	explode, said := in["explode"].(bool)
	p.Explode = explode || !said && p.Style == "form"
	schema := in["schema"]
	if content, given := in["content"].(map[string]any); given {
		media, ok := content["application/json"].(map[string]any)
		if !ok || len(content) != 1 {
			return p, fmt.Errorf("the parameter %s has a content that is not application/json", p.Name)
		}
		p.JSON, schema = true, media["schema"]
	}
	if schema == nil {
		schema = map[string]any{"type": "string"}
	}
	if p.schema, err = c.convert(schema, false, 0); err != nil {
		return p, fmt.Errorf("the parameter %s: %w", p.Name, err)
	}
	return p, nil
}

// body reads a request body object, in the first of its forms that is spoken here.
func (c *converter) body(value any) (*body, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // no body, and nothing wrong
	}
	in, err := c.doc.object(value)
	if err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	content, _ := in["content"].(map[string]any)
	forms := slices.Sorted(maps.Keys(content))
	for _, accepts := range []func(string) bool{isJSON, func(m string) bool { return m == formMedia }, func(m string) bool { return m == textMedia }} {
		for _, media := range forms {
			if !accepts(media) {
				continue
			}
			b := &body{Arg: bodyArg, Media: media}
			b.required, _ = in["required"].(bool)
			about, _ := content[media].(map[string]any)
			if about["schema"] == nil {
				about = map[string]any{"schema": true}
			}
			if b.schema, err = c.convert(about["schema"], false, 0); err != nil {
				return nil, fmt.Errorf("the body: %w", err)
			}
			return b, nil
		}
	}
	return nil, fmt.Errorf("the body has the forms %s; JSON, %s and %s are spoken here", strings.Join(forms, ", "), formMedia, textMedia)
}

const (
	jsonMedia = "application/json"
	formMedia = "application/x-www-form-urlencoded"
	textMedia = "text/plain"
)

func isJSON(media string) bool {
	return media == jsonMedia || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// finish names the arguments, checks the places, and makes the definition.
func (op *operation) finish(target string, defs map[string]any) error {
	if err := op.nameArguments(); err != nil {
		return err
	}
	if err := op.checkPath(); err != nil {
		return err
	}
	properties, required := map[string]any{}, []string{}
	for _, p := range op.parameters {
		properties[p.Arg] = p.schema
		if p.required || p.In == inPath {
			required = append(required, p.Arg)
		}
	}
	if op.body != nil {
		properties[op.body.Arg] = op.body.schema
		if op.body.required {
			required = append(required, op.body.Arg)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if len(defs) > 0 {
		schema["$defs"] = defs
	}
	raw, err := json.Marshal(schema, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("its parameters: %w", err)
	}
	closed, _, err := settings.Closed(raw)
	if err != nil {
		return fmt.Errorf("its parameters: %w", err)
	}
	op.definition, err = settings.Offer{
		Target: target, Tool: op.tool, Description: op.description, Class: op.class, Risk: op.risk, Parameters: closed, Meaning: op.meaning(), Phrases: op.phrases,
	}.Definition()
	return err
}

// nameArguments gives each place an argument of its own.
func (op *operation) nameArguments() error {
	used := map[string]bool{}
	if op.body != nil {
		used[op.body.Arg] = true
	}
	for i := range op.parameters {
		p := &op.parameters[i]
		if p.Arg == "" {
			p.Arg = p.Name
		}
		if used[p.Arg] {
			p.Arg = p.In + "_" + p.Name
		}
		if used[p.Arg] {
			return fmt.Errorf("two parameters have the name %s", p.Name)
		}
		used[p.Arg] = true
		if err := p.check(); err != nil {
			return err
		}
		if p.In == inHeader && (strings.EqualFold(p.Name, op.shared.idempotency) || op.shared.sets(p.Name)) {
			return fmt.Errorf("the header %s is set by the operator, and not for an agent", p.Name)
		}
		if p.In == inQuery && (op.shared.queries(p.Name) || op.base.Query().Has(p.Name)) {
			return fmt.Errorf("the query parameter %s is set by the operator, and not for an agent", p.Name)
		}
	}
	return nil
}

// sets reports whether the operator sets a header.
func (s *shared) sets(header string) bool {
	fixed := slices.ContainsFunc(slices.Collect(maps.Keys(s.headers)), func(name string) bool { return strings.EqualFold(name, header) })
	return fixed || slices.ContainsFunc(s.credentials, func(c credential) bool { return strings.EqualFold(c.Header, header) })
}

// queries reports whether the operator sets a query parameter.
func (s *shared) queries(name string) bool {
	return slices.ContainsFunc(s.credentials, func(c credential) bool { return c.Query == name && c.Query != "" })
}

// checkPath demands a parameter for each place, and a place for each parameter.
func (op *operation) checkPath() error {
	var placeholders []string
	for _, match := range pathPlaceholder().FindAllStringSubmatch(op.path, -1) {
		if !slices.ContainsFunc(op.parameters, func(p parameter) bool { return p.In == inPath && p.Name == match[1] }) {
			return fmt.Errorf("the place {%s} of the path has no parameter", match[1])
		}
		placeholders = append(placeholders, match[1])
	}
	for _, p := range op.parameters {
		if p.In == inPath && !slices.Contains(placeholders, p.Name) {
			return fmt.Errorf("the path has no place {%s}", p.Name)
		}
	}
	fixed := pathPlaceholder().ReplaceAllString(op.path, "x")
	u, err := url.Parse(fixed)
	if err != nil || !strings.HasPrefix(fixed, "/") || strings.ContainsAny(fixed, "{}?#\\") || u.Host != "" || strings.HasPrefix(fixed, "//") {
		return fmt.Errorf("%q is not a path", settings.Clip(op.path, 120))
	}
	if climbs(u.Path) {
		return errors.New("a part of the path is . or .. and leads elsewhere")
	}
	return nil
}

// meaning is what a call does, for the digest.
func (op *operation) meaning() any {
	secrets := map[string]settings.Secret{}
	for _, name := range op.shared.uses {
		secrets[name] = op.shared.secrets[name]
	}
	return map[string]any{
		"method": op.method, "server": op.base.Scheme + "://" + op.base.Host, "path": op.path, "query": op.base.RawQuery, "parameters": op.parameters,
		"body": op.body, "headers": op.shared.headers, "auth": op.shared.credentials, "secrets": secrets, "origins": op.shared.origins,
	}
}
