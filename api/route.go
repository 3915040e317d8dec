package api

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Root is where the HTTP API is, AgentRoot where agents that are programs outside come to, AAEPRoot where the addresses of the
// AAEP are (its Appendix B).
const (
	Root      = "/api/v1"
	AgentRoot = Root + "/agent"
	AAEPRoot  = "/aaep/v1"
)

// Route is something that the server does on request over HTTP. The addresses that it serves, who may use
// them, the client's addresses, the OpenAPI document and docs/api.md follow from [Routes].
type Route struct {
	Name   string
	Method string
	// Path has wildcards such as {session}, each a part of the path.
	Path string
	// Summary is a sentence on what it does; Detail is what else a caller needs to know, in Markdown.
	Summary, Detail string
	Right           Right
	// Repeatable: sent twice it changes no more than once and is answered alike. Where Key is set that holds for
	// requests with the same Idempotency-Key.
	Repeatable, Key bool
	// Query are the parameters in the address behind the question mark, Headers those beside the usual ones.
	Query, Headers []Parameter
	// Request is what the body is as JSON; nil where none is read. Answer is what the answer's is; nil where it has
	// none, or is of the type Media.
	Request, Answer reflect.Type
	// Limit is the most bytes of a body.
	Limit int64
	// Example is a body.
	Example string
	Media   string
	// Statuses are those of success, the usual one first. No body goes with 204.
	Statuses []int
	// Refusal is the body of a refusal.
	Refusal reflect.Type
	// kinds are those of refusals beside the ones that follow from the rest of the row.
	kinds []Kind
}

// Parameter is a parameter of a route, as a text.
type Parameter struct {
	Name, Doc string
	// Type is string, integer or boolean.
	Type     string
	Required bool
}

// Pattern is what [net/http.ServeMux] takes the route by.
func (r Route) Pattern() string { return r.Method + " " + r.Path }

// Wildcards are the names of the parts of the path that a caller fills in.
func (r Route) Wildcards() []string {
	var names []string
	for part := range strings.SplitSeq(r.Path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// Refusals are the kinds with which it can be refused, in the order of [Kinds].
func (r Route) Refusals() []Kind {
	can := append([]Kind{KindMisdirected, KindInternal, KindUnavailable}, r.kinds...)
	if r.Right != Anyone {
		can = append(can, KindUnauthenticated, KindForbidden)
	}
	if len(r.Query)+len(r.Headers) > 0 {
		can = append(can, KindInvalid)
	}
	if len(r.Wildcards()) > 0 {
		can = append(can, KindInvalid, KindNotFound)
	}
	if r.Request != nil {
		can = append(can, KindInvalid, KindTooLarge, KindMedia)
	}
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return !slices.Contains(can, k) })
}

// Routes returns all routes, each once: those of [Operations] that people ask for by their names among them. The page
// has addresses of its own, which are not for programs.
func Routes() []Route {
	all := slices.Clone(routes)
	for _, o := range operations {
		if o.Right != Nobody {
			all = append(all, operatorRoute(o))
		}
	}
	return all
}

// Methods are those that routes have, in their alphabetical order.
func Methods() []string {
	all := make([]string, 0, len(routes))
	for _, r := range routes {
		all = append(all, r.Method)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// RouteNamed finds a route; false where there is none of that name.
func RouteNamed(name string) (Route, bool) {
	all := Routes()
	i := slices.IndexFunc(all, func(r Route) bool { return r.Name == name })
	if i < 0 {
		return Route{}, false
	}
	return all[i], true
}

// Address is the method and the path of a route, with the values of its wildcards in their order. Both are empty where
// there is no such route, or the number of values is another one.
func Address(name string, values ...string) (method, path string) {
	r, is := RouteNamed(name)
	wildcards := r.Wildcards()
	if !is || len(wildcards) != len(values) {
		return "", ""
	}
	path = r.Path
	for i, value := range values {
		path = strings.Replace(path, "{"+wildcards[i]+"}", url.PathEscape(value), 1)
	}
	return r.Method, path
}

// OperatorRoute is the name of the route of an operation that people ask for by its name.
func OperatorRoute(op string) string { return "operator." + op }

// operatorRoute is the route of an operation.
func operatorRoute(o Operation) Route {
	r := route(OperatorRoute(o.Name), "POST", Root+"/operator/"+o.Name, o.Right, o.Summary)
	r.Request, r.Answer, r.Limit, r.Example, r.Repeatable = o.Request, o.Answer, operatorLimit, o.Example, o.Repeatable
	return r.refuses(KindNotFound, KindConflict, KindBusy)
}

// route makes a row of the table, of a request without a body that is answered with 200.
func route(name, method, path string, right Right, summary string) Route {
	return Route{
		Name: name, Method: method, Path: path, Right: right, Summary: summary, Repeatable: method == "GET",
		Statuses: []int{200}, Refusal: reflect.TypeFor[Failure](),
	}
}

// withAnswer sets the type of the answer, and its statuses where they are not 200.
func withAnswer[A any](r Route, statuses ...int) Route {
	r.Answer = reflect.TypeFor[A]()
	if statuses != nil {
		r.Statuses = statuses
	}
	return r
}

// withRequest sets the body.
func withRequest[Q any](r Route, limit int64, example string) Route {
	r.Request, r.Limit, r.Example = reflect.TypeFor[Q](), limit, example
	return r
}

// aaepRoute is one whose refusals are messages of the AAEP.
func aaepRoute(r Route) Route {
	r.Refusal = reflect.TypeFor[AAEPMessage]()
	return r
}

func (r Route) refuses(kinds ...Kind) Route {
	r.kinds = append(r.kinds, kinds...)
	return r
}

func (r Route) repeatable() Route {
	r.Repeatable = true
	return r
}

func (r Route) keyed() Route {
	r.Key = true
	r.Headers = append(r.Headers, Parameter{
		Name: KeyHeader, Type: "string", Doc: "1 to 255 visible ASCII characters, such as a UUID. The same request with the same key does it once within 24 hours.",
	})
	return r
}

func (r Route) query(name, kind, doc string) Route {
	r.Query = append(r.Query, Parameter{Name: name, Type: kind, Doc: doc})
	return r
}

// needs adds a parameter that has to be given.
func (r Route) needs(name, kind, doc string) Route {
	r.Query = append(r.Query, Parameter{Name: name, Type: kind, Doc: doc, Required: true})
	return r
}

func (r Route) header(name, doc string) Route {
	r.Headers = append(r.Headers, Parameter{Name: name, Type: "string", Doc: doc})
	return r
}

func (r Route) media(kind string) Route {
	r.Media = kind
	return r
}

func (r Route) detail(text string) Route {
	r.Detail = text
	return r
}
