package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// answerTime is how long a handler may take to produce an answer. It does not apply to a stream, or to a record that is
// written while it is read.
const answerTime = 30 * time.Second

// writeTimeout is how long one write of an answer may take before the reader is disconnected.
const writeTimeout = 30 * time.Second

// bounded limits how long a request can hold resources: its body must arrive even if nobody reads it, and its answer
// must be produced and taken in time. An answer is not cached unless it says otherwise itself.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 { // it has a body, or may have one
			deadline(w, bodyTime)
		}
		most := answerTime
		if strings.HasPrefix(r.URL.Path, api.AgentRoot+"/") || strings.HasPrefix(r.URL.Path, api.AAEPRoot+"/ingest") { // these wait for people
			most += maxWait * time.Second
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(most + writeTimeout)) // not every writer has one
		w.Header().Set("Cache-Control", "no-store")
		if isMCP(r) { // each of its writes has its own deadline
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		} else if !isStream(r) && !isSocket(r) && !isCall(r) {
			ctx, cancel := context.WithTimeout(r.Context(), most)
			defer cancel()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// isStream reports whether an answer goes on until one side ends it.
func isStream(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/events") || strings.HasSuffix(r.URL.Path, "/announcements")
}

// elsewhere answers requests that match no route. It says whether other methods are allowed at the path, and which (RFC
// 9110, 15.5.6).
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

// methods returns the methods that are allowed at a path, sorted.
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
