package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/operate"
)

const (
	// rowsPerPage is how many rows a list of operators has, longestQuery how long what is searched for may be, in bytes.
	rowsPerPage  = 50
	longestQuery = 200
)

// operatorRoutes are the lists of operators and auditors. The role is checked here and again by the hub, for each operation.
func (s *Server) operatorRoutes(mux *http.ServeMux) {
	mux.Handle("GET /tools", s.known(api.Inspect, s.toolsPage))
	mux.Handle("GET /tools/{tool}", s.known(api.Inspect, s.toolPage))
	mux.Handle("POST /tools/{tool}/review", s.known(api.Operate, s.byPerson(s.reviewForm)))
	mux.Handle("GET /agents", s.known(api.Inspect, s.agentsPage))
	mux.Handle("GET /audit", s.known(api.Inspect, s.auditPage))
	mux.Handle("POST /audit/verify", s.known(api.Inspect, s.verifyForm))
	mux.Handle("GET /dead", s.known(api.Inspect, s.deadPage))
	mux.Handle("POST /dead/{number}/retry", s.known(api.Operate, s.byPerson(s.retryForm)))
	if s.options.Directory != nil {
		mux.Handle("GET /logins", s.known(api.Inspect, s.loginsPage))
		mux.Handle("POST /logins/{login}/end", s.known(api.Operate, s.byPerson(s.endLoginForm)))
	}
	if s.options.Policy != nil {
		mux.Handle("GET /policy", s.known(api.Inspect, s.policyPage))
	}
}

// byPerson reads a form of a person who is logged in on the page, and refuses any other. Passkeys sign only there, and what
// operators decide is an act of a person, like an answer.
func (s *Server) byPerson(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request, v visitor) error {
		if v.form == "" {
			return refuse(api.KindForbidden, "this form is for a person who is logged in on the page", "log in there, or use the API")
		}
		if err := s.form(w, r); err != nil {
			return err
		}
		if err := v.meant(r); err != nil {
			return err
		}
		return h(w, r, v)
	}
}

// asks requests operations of operators from the kernel, as the visitor.
func (s *Server) asks(v visitor) operate.Ask {
	return func(ctx context.Context, op string, request, answer any) error {
		raw, err := json.Marshal(request)
		if err != nil {
			return internal(err)
		}
		told, err := s.hub.Operate(ctx, v.Principal, op, raw)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(told, answer); err != nil {
			return internal(err)
		}
		return nil
	}
}

// internal is the refusal of what our own parts do not understand of one another.
func internal(err error) error {
	return &Refusal{Kind: api.KindInternal, Message: "the answer of the ledger cannot be read", Hint: "see the log of the server", Cause: err}
}

// query reads what a list is searched for.
func query(r *http.Request) (string, error) {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(text) > longestQuery {
		return "", refuse(api.KindInvalid, "what is searched for is too long", "use at most 200 characters")
	}
	return text, nil
}

// holds reports whether one of the texts holds what is searched for; letters count the same, small or capital.
func holds(query string, texts ...string) bool {
	query = strings.ToLower(query)
	for _, text := range texts {
		if strings.Contains(strings.ToLower(text), query) {
			return true
		}
	}
	return false
}
