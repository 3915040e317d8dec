package openapi_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

const intro = `# The HTTP API

<!-- Generated from the table of routes in package api and the comments of its types. Do not edit:
     go test ./api/openapi -update -->

Start turns, hear what happens, answer questions and operate a server over HTTP. [server.md](server.md#start-a-turn-over-http) shows how to
begin. The same description is an OpenAPI 3.1 document, at ` + "`GET /api/v1/openapi.json`" + ` of every server.

- **Address.** ` + "`earshot up`" + ` prints it; by default it is ` + "`http://127.0.0.1:7411`" + `. Below, ` + "`$URL`" + ` is the address and ` + "`$TOKEN`" + ` a token of
  ` + "`earshot token add NAME --role approver`" + `.
- **Token.** Send it as ` + "`Authorization: Bearer $TOKEN`" + `. A login of the page may read and changes nothing here.
- **Bodies** are JSON objects, sent as ` + "`application/json`" + `. An unknown member, or one that is there twice, is refused with ` + "`bad_request`" + `.
  In an answer, a member that is marked optional is left out when it is empty; new members may be added.
- **Times** are RFC 3339 in UTC. A time in seconds is a whole number.
- **Refusals** have the form [Failure](#failure). ` + "`safe_to_retry`" + ` says whether the same request may be sent again; the header
  ` + "`Retry-After`" + `, when. The codes are in [errors.md](errors.md).
- **Roles.** Which sessions a principal reaches depends on their owners, too: see [security.md](security.md).
`

// reference is docs/api.md.
func reference(s *schemas) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("\n## Routes\n\n| route | does | roles |\n|---|---|---|\n")
	all := grouped()
	for _, r := range all {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", r.Pattern(), anchor(heading(r)), r.Summary, rolesCell(r))
	}
	before := ""
	for _, r := range all {
		if g := group(r); g != before {
			fmt.Fprintf(&b, "\n## %s\n", g)
			before = g
		}
		writeRoute(&b, r)
	}
	b.WriteString("\n## Refusals\n\n| status | code, unless the refusal has one of its own | meaning |\n|---|---|---|\n")
	for _, k := range api.Kinds() {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", k.Status(), k, k.Meaning())
	}
	writeTypes(&b, s)
	return b.String()
}

// grouped are the routes in the order of their groups.
func grouped() []api.Route {
	var all []api.Route
	seen := map[string]bool{}
	for _, first := range api.Routes() {
		g := group(first)
		if seen[g] {
			continue
		}
		seen[g] = true
		for _, r := range api.Routes() {
			if group(r) == g {
				all = append(all, r)
			}
		}
	}
	return all
}

func heading(r api.Route) string { return r.Method + " " + r.Path }

// anchor is the address of a heading in the page.
func anchor(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
			return c
		}
		return -1
	}, strings.ToLower(text))
}

func rolesCell(r api.Route) string {
	roles, all := r.Right.Roles()
	if len(roles) == 0 {
		return "no token"
	}
	names := make([]string, 0, len(roles))
	for _, role := range roles {
		names = append(names, string(role))
	}
	return strings.Join(names, map[bool]string{true: " and ", false: ", "}[all])
}

func writeRoute(b *strings.Builder, r api.Route) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", heading(r), strings.TrimSpace(r.Summary+" "+r.Detail))
	fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(who(r)+" "+again(r)))
	if len(r.Wildcards())+len(r.Query)+len(r.Headers) > 0 {
		b.WriteString("\n| parameter | in | type | meaning |\n|---|---|---|---|\n")
		for _, name := range r.Wildcards() {
			fmt.Fprintf(b, "| `%s` | path | %s | %s |\n", name, wildcardType(name), wildcard(name))
		}
		for _, p := range r.Query {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, inWith("query", p), p.Type, p.Doc)
		}
		for _, p := range r.Headers {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, inWith("header", p), p.Type, p.Doc)
		}
	}
	fmt.Fprintf(b, "\n```\n%s\n```\n\n", curl(r))
	if r.Request != nil {
		fmt.Fprintf(b, "- Body: %s, at most %d KiB.\n", typeLink(r.Request), r.Limit>>10)
	}
	for _, status := range r.Statuses {
		fmt.Fprintf(b, "- %d: %s.\n", status, answer(r, status))
	}
	var codes []string
	for _, k := range r.Refusals() {
		codes = append(codes, fmt.Sprintf("%d `%s`", k.Status(), k))
	}
	fmt.Fprintf(b, "- Refusals: %s.\n", strings.Join(codes, ", "))
}

func inWith(place string, p api.Parameter) string {
	if p.Required {
		return place + ", required"
	}
	return place
}

func answer(r api.Route, status int) string {
	switch {
	case status == http.StatusNoContent:
		return "no body"
	case status == http.StatusSwitchingProtocols:
		return "the connection is a WebSocket from then on"
	case r.Answer != nil:
		return typeLink(r.Answer)
	}
	return "`" + r.Media + "`"
}

// curl is a request of the route.
func curl(r api.Route) string {
	address := strings.NewReplacer("{session}", "sess_01", "{number}", "4").Replace(r.Path)
	line := "curl"
	if r.Method != http.MethodGet && (r.Request == nil || r.Method != http.MethodPost) {
		line += " -X " + r.Method
	}
	for _, p := range r.Query {
		if p.Required {
			address += "?" + p.Name + "=…"
		}
	}
	line += ` "$URL` + address + `"`
	if r.Right != api.Anyone {
		line += ` -H "Authorization: Bearer $TOKEN"`
	}
	if r.Request != nil {
		line += " \\\n  -H 'Content-Type: application/json'"
		if r.Key {
			line += ` -H "Idempotency-Key: $(uuidgen)"`
		}
		line += " -d '" + r.Example + "'"
	}
	return line
}

func writeTypes(b *strings.Builder, s *schemas) {
	b.WriteString("\n## Types\n")
	for _, name := range s.names() {
		of := s.named[name]
		fmt.Fprintf(b, "\n### %s\n", name)
		if doc := s.doc(of); doc != "" {
			fmt.Fprintf(b, "\n%s\n", doc)
		}
		if of.Kind() != reflect.Struct {
			continue
		}
		b.WriteString("\n| member | type | meaning |\n|---|---|---|\n")
		for _, f := range s.fields(of) {
			kind := typeLink(f.kind)
			if f.text {
				kind = "string"
			}
			if !f.required {
				kind += ", optional"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.name, kind, strings.ReplaceAll(f.doc, "|", `\|`))
		}
	}
}

// typeLink is the name of a type, which leads to its table where it has one.
func typeLink(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[jsontext.Value]():
		return "JSON"
	case reflect.TypeFor[[]byte]():
		return "base64"
	case reflect.TypeFor[api.Empty]():
		return "`{}`"
	case reflect.TypeFor[api.Response]():
		return "string, boolean or number"
	}
	switch of.Kind() { //nolint:exhaustive // the others follow
	case reflect.Pointer:
		return typeLink(of.Elem())
	case reflect.Slice:
		if of.PkgPath() == "" {
			return "list of " + typeLink(of.Elem())
		}
	case reflect.Map:
		return "object of " + typeLink(of.Elem())
	}
	switch {
	case of.PkgPath() != "":
		return "[" + of.Name() + "](#" + anchor(of.Name()) + ")"
	case of.Kind() == reflect.Int || of.Kind() == reflect.Int64:
		return "integer"
	}
	return map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean"}[of.Kind()]
}
