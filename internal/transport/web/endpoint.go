package web

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// handler is an HTTP handler that gets the authenticated visitor, and may return an error.
type handler func(w http.ResponseWriter, r *http.Request, v visitor) error

// endpoint serves a row of [api.Routes].
type endpoint struct {
	// request and answer are the types that it reads and writes. They are checked against the row's; nil if the handler
	// reads and writes by itself.
	request, answer reflect.Type
	// serves makes the handler for the row.
	serves func(route api.Route) handler
	// authenticatesItself means that the handler authenticates by itself, and refuses in a format of its own.
	authenticatesItself bool
	// judged means that the hub checks the row's right and explains a refusal, to anyone who may read.
	judged bool
}

// endpoints returns those of all routes, by name.
func (s *Server) endpoints() map[string]endpoint {
	all := map[string]endpoint{
		api.RouteStartTurn:      taking(s.startTurn),
		api.RouteSessions:       giving(s.listSessions),
		api.RouteSession:        giving(s.oneSession),
		api.RouteEvents:         raw(s.sessionEvents),
		api.RouteRecap:          giving(s.recap),
		api.RouteAnnouncements:  raw(s.announcements),
		api.RouteElement:        raw(s.listenerElement),
		api.RouteStopSession:    giving(s.stopSession),
		api.RouteQuestions:      giving(s.listQuestions),
		api.RouteArguments:      giving(s.arguments),
		api.RouteReply:          s.decide(VerbAnswer),
		api.RouteExtend:         s.decide(VerbExtend),
		api.RouteUndo:           s.decide(VerbUndo),
		api.RouteStopAsking:     s.decide(VerbStop),
		api.RoutePreferences:    giving(s.preferences),
		api.RouteSetPreferences: taking(s.setPreferences),
		api.RoutePermissions:    giving(s.listPermissions),
		api.RouteRevoke:         taking(s.revokePermission),
		api.RouteMe:             giving(s.me),
		api.RouteCode:           taking(s.newCode),
		api.RouteTerminal:       taking(s.logTerminalIn),
		api.RouteTerminalEnd:    taking(s.logTerminalOut),
		api.RouteCredentials:    taking(s.reloadCredentials),
		api.RouteProjects:       taking(s.rereadProjects),
		api.RouteProjectStates:  giving(s.listProjects),
		api.RouteServices:       taking(s.rereadServices),
		api.RouteOpenAPI:        raw(s.openAPI),

		api.RouteAgentTools:      giving(s.agentTools),
		api.RouteAgentOpen:       taking(s.openAgent),
		api.RouteAgentAct:        taking(s.actForPerson),
		api.RouteAgentSession:    giving(s.agentSession),
		api.RouteAgentInvoke:     asking(s, s.invokeTool),
		api.RouteAgentPermission: asking(s, s.askPermission),
		api.RouteAgentQuestion:   asking(s, s.askPerson),
		api.RouteAgentCall:       {serves: s.awaitCall, answer: reflect.TypeFor[api.AgentCall]()},
		api.RouteAgentWatch:      raw(s.watchCall),
		api.RouteAgentReceived:   giving(s.receivedCall),
		api.RouteAgentReport:     taking(s.agentReport),
		api.RouteAgentEnd:        taking(s.endAgent),

		api.RouteSubscribe:   {serves: func(api.Route) handler { return s.subscribe }, authenticatesItself: true},
		api.RouteStream:      raw(s.events),
		api.RouteSocket:      raw(s.socket),
		api.RouteSendMessage: raw(s.reply),
		api.RouteIngest:      s.ingest(),
		api.RouteIngestReply: {serves: s.ingestReply, answer: reflect.TypeFor[api.IngestReply]()},
		api.RouteManifest:    raw(s.manifest),
		api.RouteKeys:        raw(s.manifestKeys),

		api.RouteHealth:  giving(s.healthy),
		api.RouteReady:   giving(s.ready),
		api.RouteMetrics: raw(s.metrics),
	}
	for _, op := range api.Operations() {
		if op.Right != api.Nobody {
			all[api.OperatorRoute(op.Name)] = endpoint{serves: func(route api.Route) handler { return s.operate(route, op.Name) }, judged: true}
		}
	}
	return all
}

// giving serves a route without a body: the answer is what the function returns.
func giving[A any](f func(w http.ResponseWriter, r *http.Request, v visitor) (A, error)) endpoint {
	return endpoint{answer: reflect.TypeFor[A](), serves: func(route api.Route) handler {
		return func(w http.ResponseWriter, r *http.Request, v visitor) error {
			answer, err := f(w, r, v)
			if err != nil {
				return err
			}
			writeJSON(w, route.Statuses[0], answer)
			return nil
		}
	}}
}

// taking serves a route whose body is a value of type Q.
func taking[Q, A any](f func(w http.ResponseWriter, r *http.Request, v visitor, q Q) (A, error)) endpoint {
	return endpoint{request: reflect.TypeFor[Q](), answer: reflect.TypeFor[A](), serves: func(route api.Route) handler {
		return func(w http.ResponseWriter, r *http.Request, v visitor) error {
			q, err := read[Q](w, r, route)
			if err != nil {
				return err
			}
			answer, err := f(w, r, v, q)
			if err != nil {
				return err
			}
			writeJSON(w, route.Statuses[0], answer)
			return nil
		}
	}}
}

// raw serves a route by a handler that writes the answer itself.
func raw(h handler) endpoint {
	return endpoint{serves: func(api.Route) handler { return h }}
}

// read decodes the body of a request; for a body without members it only checks the format.
func read[Q any](w http.ResponseWriter, r *http.Request, route api.Route) (Q, error) {
	var q Q
	raw, err := body(w, r, route.Limit)
	if err != nil || route.Request == reflect.TypeFor[api.Empty]() {
		return q, err
	}
	if err := json.Unmarshal(raw, &q, json.RejectUnknownMembers(true)); err != nil {
		if wrong, is := errors.AsType[*utp.FieldError](err); is {
			return q, &Refusal{Kind: api.KindInvalid, Message: "the body's " + wrong.Error(), Hint: "send, for example, " + route.Example, Cause: err}
		}
		return q, &Refusal{Kind: api.KindInvalid, Message: "the body is not what this address takes: " + cause.Of(err), Hint: "send, for example, " + route.Example, Cause: err}
	}
	return q, nil
}

// serveRoutes adds the rows of the table to a mux. It is an error if a row has no endpoint, an endpoint no row, or the
// two have different types.
func (s *Server) serveRoutes(mux *http.ServeMux, endpoints map[string]endpoint) error {
	rows := api.Routes()
	if len(endpoints) != len(rows) {
		return fmt.Errorf("web: %d endpoints serve %d routes", len(endpoints), len(rows))
	}
	for _, route := range rows {
		e, served := endpoints[route.Name]
		if !served {
			return errors.New("web: nothing serves the route " + route.Name)
		}
		if (e.request != nil || e.answer != nil) && (e.request != route.Request || e.answer != route.Answer) {
			return fmt.Errorf("web: the route %s is served with %v and %v, and the table has %v and %v", route.Name, e.request, e.answer, route.Request, route.Answer)
		}
		mux.Handle(route.Pattern(), s.serving(route, e))
	}
	return nil
}

// serving returns the handler of a row.
func (s *Server) serving(route api.Route, e endpoint) http.Handler {
	switch {
	case e.authenticatesItself:
		return s.known(api.Anyone, e.serves(route))
	case e.judged:
		return s.known(api.Inspect, e.serves(route))
	}
	return s.known(route.Right, e.serves(route))
}

// known admits only authenticated visitors with the right.
func (s *Server) known(needs api.Right, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.entitled(r, needs)
		if v.form != "" {
			r = s.inLanguageOf(r, v)
		}
		if err == nil {
			err = h(w, r, v)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

// entitled returns the visitor of a request if they have the right; the zero visitor if no right is needed.
func (s *Server) entitled(r *http.Request, needs api.Right) (visitor, error) {
	if needs == api.Anyone {
		return visitor{}, nil
	}
	v, err := s.visitor(r)
	if err == nil && needs == api.Act && s.options.Programs == nil {
		err = refuse(api.KindNotFound, "this server serves no agents of programs outside", "use one that `earshot up` runs")
	}
	if err == nil {
		err = denied(v.Principal, needs)
	}
	if err == nil {
		err = v.byToken(r)
	}
	if err == nil && needs == api.Act {
		s.options.Asked(r, r.Header.Get(api.GatewayHeader))
	}
	return v, err
}
