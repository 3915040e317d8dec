package api

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Root is the root of the HTTP API, AgentRoot of the routes for agents that are external programs, and AAEPRoot of the
// AAEP routes (its Appendix B).
const (
	Root      = "/api/v1"
	AgentRoot = Root + "/agent"
	AAEPRoot  = "/aaep/v1"
)

// Route is an HTTP request that the server accepts. The server's addresses, their permissions, the client's addresses,
// the OpenAPI document and docs/api.md follow from [Routes].
type Route struct {
	Name   string
	Method string
	// Path may contain wildcards such as {session}, each a segment of the path.
	Path string
	// Summary is a sentence on what it does; Detail is additional information for callers, in Markdown.
	Summary, Detail string
	Right           Right
	// Repeatable reports that the route is idempotent: a repeated request changes nothing more and gets the same
	// answer. If Key is set, that applies to requests with the same Idempotency-Key.
	Repeatable, Key bool
	// Query are the query parameters, Headers those besides the usual ones.
	Query, Headers []Parameter
	// Request is the type of the JSON body; nil if none is read. Answer is the type of the response; nil if it has
	// none, or has the media type Media.
	Request, Answer reflect.Type
	// Limit is the maximum size of a body, in bytes.
	Limit int64
	// Example is an example of a body.
	Example string
	Media   string
	// Statuses are the statuses of success, the usual one first. 204 has no body; after 101 the connection is a WebSocket.
	Statuses []int
	// Refusal is the type of the body of a refusal.
	Refusal reflect.Type
	// kinds are the kinds of refusals besides those that follow from the other fields.
	kinds []Kind
}

// Parameter is a parameter of a route, as text.
type Parameter struct {
	Name, Doc string
	// Type is string, integer or boolean.
	Type     string
	Required bool
}

// Pattern returns the route's pattern for [net/http.ServeMux].
func (r Route) Pattern() string { return r.Method + " " + r.Path }

// Wildcards returns the names of the segments that a caller fills in.
func (r Route) Wildcards() []string {
	var names []string
	for part := range strings.SplitSeq(r.Path, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// Refusals returns the kinds of refusals, in the order of [Kinds].
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

// Routes returns all routes, including the [Operations] that people request by name. The page has its own addresses,
// which are not for programs.
func Routes() []Route {
	all := slices.Clone(routes())
	for _, o := range operations() {
		if o.Right != Nobody {
			all = append(all, operatorRoute(o))
		}
	}
	return all
}

// Methods returns the methods of all routes, in alphabetical order.
func Methods() []string {
	all := make([]string, 0, len(routes()))
	for _, r := range routes() {
		all = append(all, r.Method)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// RouteNamed finds a route; it returns false if the name is unknown.
func RouteNamed(name string) (Route, bool) {
	all := Routes()
	i := slices.IndexFunc(all, func(r Route) bool { return r.Name == name })
	if i < 0 {
		return Route{}, false
	}
	return all[i], true
}

// Address returns the method and the path of a route, with its wildcards replaced by values, in order. Both are empty
// if the route does not exist, or the number of values is wrong.
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

// OperatorRoute returns the name of the route of an operation that people request by name.
func OperatorRoute(op string) string { return "operator." + op }

// operatorRoute is the route of an operation.
func operatorRoute(o Operation) Route {
	r := route(OperatorRoute(o.Name), "POST", Root+"/operator/"+o.Name, o.Right, o.Summary)
	r.Request, r.Answer, r.Limit, r.Example, r.Repeatable = o.Request, o.Answer, operatorLimit, o.Example, o.Repeatable
	return r.refuses(KindNotFound, KindConflict, KindBusy)
}

// route makes a row of the table: a request without a body, answered with 200.
func route(name, method, path string, right Right, summary string) Route {
	return Route{
		Name: name, Method: method, Path: path, Right: right, Summary: summary, Repeatable: method == "GET",
		Statuses: []int{200}, Refusal: reflect.TypeFor[Failure](),
	}
}

// withAnswer sets the type of the answer, and its statuses if they are not just 200.
func withAnswer[A any](r Route, statuses ...int) Route {
	r.Answer = reflect.TypeFor[A]()
	if statuses != nil {
		r.Statuses = statuses
	}
	return r
}

// withRequest sets the type of the body.
func withRequest[Q any](r Route, limit int64, example string) Route {
	r.Request, r.Limit, r.Example = reflect.TypeFor[Q](), limit, example
	return r
}

// aaepRoute makes the refusals of a route AAEP messages.
func aaepRoute(r Route) Route {
	r.Refusal = reflect.TypeFor[AAEPMessage]()
	return r
}

// upgrade makes a route one that answers with another protocol on the same connection.
func upgrade(r Route) Route {
	r.Statuses = []int{101}
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

// needs adds a required parameter.
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
