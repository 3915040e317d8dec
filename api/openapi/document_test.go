package openapi_test

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

const tokenScheme = "token"

// document is the OpenAPI document of all routes.
func document(s *schemas) object {
	paths, refusals := paths(s), refusals(s)
	return object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Earshot"},
			{"version", "1"},
			{"description", "The HTTP API of an Earshot server. It is generated from the program's own table of routes; docs/api.md is the same for people."},
			{"license", object{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", []object{{{"url", "/"}}}},
		{"security", []object{{{tokenScheme, []string{}}}}},
		{"paths", paths},
		{"components", object{
			{"schemas", s.components()},
			{"responses", refusals},
			{"securitySchemes", object{{tokenScheme, object{
				{"type", "http"}, {"scheme", "bearer"}, {"description", "A token of `earshot token add`."},
			}}}},
		}},
	}
}

// paths are the routes by their paths, in the order of the table.
func paths(s *schemas) object {
	all := object{}
	at := map[string]int{}
	for _, r := range api.Routes() {
		i, known := at[r.Path]
		if !known {
			i = len(all)
			at[r.Path] = i
			all = append(all, member{r.Path, object{}})
		}
		all[i].value = append(all[i].value.(object), member{strings.ToLower(r.Method), operation(s, r)})
	}
	return all
}

func operation(s *schemas, r api.Route) object {
	o := object{{"operationId", r.Name}, {"tags", []string{group(r)}}, {"summary", r.Summary}}
	if text := strings.TrimSpace(r.Detail + "\n\n" + who(r) + "\n\n" + again(r)); text != "" {
		o = append(o, member{"description", text})
	}
	if r.Right == api.Anyone {
		o = append(o, member{"security", []object{}})
	}
	if roles, all := r.Right.Roles(); len(roles) > 0 {
		o = append(o, member{"x-earshot-roles", object{{map[bool]string{true: "all", false: "any"}[all], roles}}})
	}
	o = append(o, member{"x-earshot-repeatable", r.Repeatable})
	if given := parameters(r); len(given) > 0 {
		o = append(o, member{"parameters", given})
	}
	if r.Request != nil {
		o = append(o, member{"requestBody", object{
			{"required", true},
			{"content", object{{"application/json", object{
				{"schema", append(s.use(r.Request), closed(r)...)}, {"example", jsontext.Value(r.Example)},
			}}}},
		}})
	}
	return append(o, member{"responses", responses(s, r)})
}

// closed: a request with other members is refused. That of an AAEP message is open, and so is one whose members
// nobody reads.
func closed(r api.Route) object {
	if r.Request == reflect.TypeFor[api.AAEPMessage]() || r.Request == reflect.TypeFor[api.Empty]() {
		return nil
	}
	return object{{"unevaluatedProperties", false}}
}

func parameters(r api.Route) []object {
	var all []object
	for _, name := range r.Wildcards() {
		all = append(all, object{
			{"name", name}, {"in", "path"}, {"required", true}, {"description", wildcard(name)}, {"schema", object{{"type", wildcardType(name)}}},
		})
	}
	for _, p := range r.Query {
		all = append(all, parameter("query", p))
	}
	for _, p := range r.Headers {
		all = append(all, parameter("header", p))
	}
	return all
}

func parameter(place string, p api.Parameter) object {
	return object{{"name", p.Name}, {"in", place}, {"required", p.Required}, {"description", p.Doc}, {"schema", object{{"type", p.Type}}}}
}

func wildcard(name string) string {
	return map[string]string{"session": "The `session_id`.", "number": "The number of the question."}[name]
}

func wildcardType(name string) string {
	if name == "number" {
		return "integer"
	}
	return "string"
}

func responses(s *schemas, r api.Route) object {
	all := object{}
	for _, status := range r.Statuses {
		answer := object{{"description", http.StatusText(status)}}
		switch {
		case status == http.StatusNoContent, status == http.StatusSwitchingProtocols:
		case r.Answer != nil:
			answer = append(answer, member{"content", object{{"application/json", object{{"schema", s.use(r.Answer)}}}}})
		default:
			kind, _, _ := strings.Cut(r.Media, ";")
			answer = append(answer, member{"content", object{{kind, object{}}}})
		}
		all = append(all, member{strconv.Itoa(status), answer})
	}
	for _, k := range r.Refusals() {
		refused := object{{"$ref", "#/components/responses/" + string(k)}}
		if r.Refusal != reflect.TypeFor[api.Failure]() {
			refused = refusal(s, k, r.Refusal)
		}
		all = append(all, member{strconv.Itoa(k.Status()), refused})
	}
	return all
}

// refusals are what requests are refused with, by their kinds.
func refusals(s *schemas) object {
	all := object{}
	for _, k := range api.Kinds() {
		all = append(all, member{string(k), refusal(s, k, reflect.TypeFor[api.Failure]())})
	}
	return all
}

func refusal(s *schemas, k api.Kind, body reflect.Type) object {
	return object{
		{"description", "`" + string(k) + "`: " + k.Meaning()},
		{"content", object{{"application/json", object{{"schema", s.use(body)}}}}},
	}
}

// group is the part of the API that a route belongs to.
func group(r api.Route) string {
	for _, g := range groups() {
		if strings.HasPrefix(r.Path, g.prefix) {
			return g.name
		}
	}
	return "Server"
}

func groups() []struct{ prefix, name string } {
	return []struct{ prefix, name string }{
		{api.Root + "/turns", "Turns and sessions"},
		{api.Root + "/sessions", "Turns and sessions"},
		{api.Root + "/questions", "Questions"},
		{api.Root + "/preferences", "The caller"},
		{api.Root + "/me", "The caller"},
		{api.Root + "/codes", "The caller"},
		{api.Root + "/operator/", "Operators"},
		{api.AAEPRoot, "AAEP"},
		{"/.well-known/aaep", "AAEP"},
	}
}

// who says who may use a route.
func who(r api.Route) string {
	roles, all := r.Right.Roles()
	names := make([]string, 0, len(roles))
	for _, role := range roles {
		names = append(names, "`"+string(role)+"`")
	}
	switch {
	case len(names) == 0:
		return "It takes no token."
	case len(names) == 1:
		return "It takes the role " + names[0] + "."
	case all:
		return "It takes the roles " + strings.Join(names, " and ") + " together."
	}
	return "It takes one of the roles " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + "."
}

// again says whether a request without an answer may be sent again.
func again(r api.Route) string {
	switch {
	case r.Method == http.MethodGet:
		return ""
	case r.Key:
		return "With an `Idempotency-Key` it may be sent again."
	case r.Repeatable:
		return "It may be sent again."
	}
	return "Where no answer comes, look before you send it again."
}
