package web

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"reflect"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// Producers is the port for producers of AAEP whose events are sent here. Its methods may be called concurrently. A [Refusal] among its
// errors is sent to the client.
type Producers interface {
	// Accept accepts events in their order, and says what became of each.
	Accept(ctx context.Context, by Sender, events [][]byte) (api.Ingested, error)
	// Reply waits for the answer to a question of the producer.
	Reply(ctx context.Context, by Sender, session, token string, wait time.Duration) (api.IngestReply, error)
}

// Sender is who sends events of a producer: an agent with its token. Owner is whose sessions they are; "" is the token's default.
type Sender struct {
	Principal Principal
	Token     string
	Owner     string
}

// lines is the media type of one JSON text a line.
const lines = "application/x-ndjson"

// ingest serves the route that takes events. Its body is one event, or one a line.
func (s *Server) ingest() endpoint {
	return endpoint{request: reflect.TypeFor[api.AAEPMessage](), answer: reflect.TypeFor[api.Ingested](), serves: func(route api.Route) handler {
		return func(w http.ResponseWriter, r *http.Request, v visitor) error {
			if err := s.takesEvents(v); err != nil {
				return err
			}
			events, err := eventsOf(w, r, route.Limit)
			if err != nil {
				return err
			}
			ctx, leave := s.untilClose(r.Context())
			defer leave()
			answer, err := s.options.Producers.Accept(ctx, Sender{v.Principal, secretOf(r), r.URL.Query().Get("owner")}, events)
			if err != nil {
				return err
			}
			status := http.StatusOK
			if answer.Refused > 0 {
				status = http.StatusMultiStatus
			}
			writeJSON(w, status, answer)
			return nil
		}
	}}
}

// takesEvents reports whether events of producers are taken here, from this visitor. Their sessions are an agent's, so that nobody who may
// answer may send them.
func (s *Server) takesEvents(v visitor) error {
	if s.options.Producers == nil {
		return refuse(api.KindNotFound, "this server takes no events of producers", "use one that `earshot up` runs")
	}
	if len(v.Roles) != 1 {
		return refuse(api.KindForbidden, v.Name+" is more than an agent", "use a token with the role agent and no other")
	}
	return nil
}

// eventsOf reads the events of a request.
func eventsOf(w http.ResponseWriter, r *http.Request, limit int64) ([][]byte, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // what cannot be read is refused by body
	if kind == lines {
		r.Header.Set("Content-Type", "application/json")
	}
	raw, err := body(w, r, limit)
	if err != nil {
		return nil, err
	}
	if kind != lines {
		return [][]byte{raw}, nil
	}
	var events [][]byte
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			events = append(events, line)
		}
	}
	if len(events) == 0 || len(events) > api.MaxIngested {
		return nil, refuse(api.KindInvalid, "found no event, or more than 1000", "send 1 to 1000 events, one a line")
	}
	return events, nil
}

// ingestReply waits for the answer to a question of a producer.
func (s *Server) ingestReply(api.Route) handler {
	return func(w http.ResponseWriter, r *http.Request, v visitor) error {
		if err := s.takesEvents(v); err != nil {
			return err
		}
		wait, err := waiting(r)
		if err != nil {
			return err
		}
		query := r.URL.Query()
		ctx, leave := s.untilClose(r.Context())
		defer leave()
		answer, err := s.options.Producers.Reply(ctx, Sender{Principal: v.Principal, Token: secretOf(r)}, query.Get("session_id"), query.Get("reply_token"), wait.For)
		if err != nil {
			return err
		}
		status := http.StatusOK
		if answer.Outcome == "" {
			status = http.StatusAccepted
		}
		writeJSON(w, status, answer)
		return nil
	}
}
