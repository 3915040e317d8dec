package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// answerTime is how long an answer may take to be found; that of a stream, or of a record
// which is read as it is written, has no such end.
const answerTime = 30 * time.Second

// bounded bounds the time that a request can hold: its body has to arrive, also where nobody
// reads it, its answer has to be found, and taken. No cache keeps an answer unless it says
// otherwise itself.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 { // it has a body, or may have
			deadline(w, bodyTime)
		}
		most := answerTime
		if strings.HasPrefix(r.URL.Path, api.AgentRoot+"/") { // they wait for people
			most += maxWait * time.Second
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(most + writeTimeout)) // not every writer has one
		w.Header().Set("Cache-Control", "no-store")
		if isMCP(r) { // each of its writes has a bound of its own
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		} else if !strings.HasSuffix(r.URL.Path, "/events") {
			ctx, cancel := context.WithTimeout(r.Context(), most)
			defer cancel()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// elsewhere answers what no route takes: whether there is something at the address with
// another method, and which (RFC 9110, 15.5.6).
func (s *Server) elsewhere(mux *http.ServeMux, hint string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		allowed := methods(mux, r)
		if len(allowed) == 0 {
			s.fail(w, r, refuse(api.KindNotFound, "there is nothing at this address", hint))
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		s.fail(w, r, refuse(api.KindMethod, "found the method "+clip(r.Method)+", expected "+strings.Join(allowed, ", "), "use one of these"))
	}
}

// methods are those with which there is something at an address, in their alphabetical order.
func methods(mux *http.ServeMux, r *http.Request) []string {
	var found []string
	for _, method := range methodsServed() {
		_, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host})
		if !strings.HasPrefix(pattern, method+" ") {
			continue
		}
		if found = append(found, method); method == http.MethodGet {
			found = append(found, http.MethodHead)
		}
	}
	if found != nil {
		found = append(found, http.MethodOptions)
	}
	slices.Sort(found)
	return found
}
