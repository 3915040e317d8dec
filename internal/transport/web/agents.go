package web

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
)

// maxWait is the maximum, and the default, of how long a request waits for a call, in seconds.
const maxWait = 60

// agentTools lists the tools that an agent may call.
func (s *Server) agentTools(_ http.ResponseWriter, r *http.Request, v visitor) (api.AgentTools, error) {
	offered, err := s.options.Programs.Offered(r.Context(), v.Principal)
	list := api.AgentTools{Tools: []api.AgentTool{}}
	names := make([]string, 0, len(offered))
	for _, t := range offered {
		names = append(names, t.Tool)
	}
	models := api.ModelNames(names)
	for _, t := range offered {
		list.Tools = append(list.Tools, api.AgentTool{
			Name: t.Tool, ModelName: models[t.Tool], Description: t.Description, Parameters: t.Parameters, Class: t.Class, Asks: t.Asks,
		})
	}
	return list, err
}

// openAgent opens a session: 201 and its ids. The same request with the same key gets the same answer.
func (s *Server) openAgent(w http.ResponseWriter, r *http.Request, v visitor, q api.AgentOpen) (api.OpenAnswer, error) {
	key, err := requestKey(r)
	if err != nil {
		return api.OpenAnswer{}, err
	}
	a, err := s.options.Programs.Open(r.Context(), v.Principal, api.OpenRequest{
		Owner: q.Owner, Request: q.Request, Label: q.Label, Answer: q.Answer, Idle: q.Idle, Holder: q.Holder, Key: key,
	})
	if err == nil {
		_, here := api.Address(api.RouteAgentSession, a.Session)
		w.Header().Set("Location", here)
	}
	return a, err
}

// actForPerson has one tool called, or says what became of that.
func (s *Server) actForPerson(_ http.ResponseWriter, r *http.Request, v visitor, q api.AgentAction) (api.ActionAnswer, error) {
	return s.options.Programs.Act(r.Context(), v.Principal, api.ActRequest{Owner: q.Owner, Action: q.Action, Message: q.Message, Tool: q.Tool, Args: q.Args})
}

func (s *Server) agentSession(_ http.ResponseWriter, r *http.Request, v visitor) (api.Session, error) {
	return s.options.Programs.Session(r.Context(), v.Principal, r.PathValue("session"))
}

// asking serves a route that requests a call, with a body of type Q, and waits for its result.
func asking[Q any](s *Server, f func(q Q) (request api.InvokeRequest, args jsontext.Value, err error)) endpoint {
	return endpoint{request: reflect.TypeFor[Q](), answer: reflect.TypeFor[api.AgentCall](), serves: func(route api.Route) handler {
		return func(w http.ResponseWriter, r *http.Request, v visitor) error {
			q, err := read[Q](w, r, route)
			if err != nil {
				return err
			}
			request, args, err := f(q)
			if err != nil {
				return err
			}
			if request.Key, err = requestKey(r); err != nil {
				return err
			}
			wait, err := waiting(r)
			if err != nil {
				return err
			}
			request.Session = r.PathValue("session")
			ctx, leave := s.untilClose(r.Context())
			defer leave()
			c, err := s.options.Programs.Invoke(ctx, v.Principal, request, args, wait)
			return s.answerCall(w, r, v, c, err)
		}
	}}
}

func (s *Server) invokeTool(q api.AgentInvoke) (api.InvokeRequest, jsontext.Value, error) {
	if q.Tool == "" {
		return api.InvokeRequest{}, nil, refuse(api.KindInvalid, "the request names no tool", `name one, such as {"tool":"files.move","args":{…}}; GET `+api.Root+`/agent/tools lists them`)
	}
	if len(q.Args) == 0 {
		q.Args = jsontext.Value("{}")
	}
	return api.InvokeRequest{Tool: q.Tool, Comment: q.Comment, Lang: q.Lang, HostCall: q.HostCall}, q.Args, nil
}

func (s *Server) askPermission(q api.AgentPermission) (api.InvokeRequest, jsontext.Value, error) {
	if q.Tool == "" || q.Input.Kind() != '{' {
		return api.InvokeRequest{}, nil, refuse(api.KindInvalid, "found no tool, or an input that is not an object", `send, for example, {"tool":"Bash","input":{"command":"ls"}}`)
	}
	return api.InvokeRequest{Tool: q.Tool, Permission: true, Ask: q.Ask, Comment: q.Comment, Lang: q.Lang, HostCall: q.HostCall}, q.Input, nil
}

func (s *Server) askPerson(q api.AgentQuestion) (api.InvokeRequest, jsontext.Value, error) {
	if _, err := q.Complete(); err != nil {
		return api.InvokeRequest{}, nil, &Refusal{Kind: api.KindInvalid, Message: "the question's " + err.Error(), Hint: "correct it", Cause: err}
	}
	return api.InvokeRequest{Question: &q.Question}, nil, nil
}

// awaitCall waits for the result of a call.
func (s *Server) awaitCall(api.Route) handler {
	return func(w http.ResponseWriter, r *http.Request, v visitor) error {
		wait, err := waiting(r)
		if err != nil {
			return err
		}
		ctx, leave := s.untilClose(r.Context())
		defer leave()
		c, err := s.options.Programs.Await(ctx, v.Principal, r.PathValue("session"), r.PathValue("call"), wait)
		c.ID = r.PathValue("call")
		return s.answerCall(w, r, v, c, err)
	}
}

// untilClose returns a context that also ends with the server, so that no waiting request outlives it.
func (s *Server) untilClose(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	off := context.AfterFunc(s.life, func() { cancel(hub.ErrClosing) })
	return ctx, func() {
		off()
		cancel(nil)
	}
}

// waiting returns how a request waits.
func waiting(r *http.Request) (Wait, error) {
	query := r.URL.Query()
	wait := Wait{For: maxWait * time.Second, Leaves: query.Get("leave") == "withdraw"}
	text := query.Get("wait")
	if text == "" {
		return wait, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxWait {
		return wait, refuse(api.KindInvalid, fmt.Sprintf("found wait %s, expected a whole number of seconds from 0 to %d", clip(text), maxWait), "correct the address")
	}
	wait.For = time.Duration(n) * time.Second
	return wait, nil
}

// answerCall answers with the status of a call. A result that was sent counts as received.
func (s *Server) answerCall(w http.ResponseWriter, r *http.Request, v visitor, c api.AgentCall, err error) error {
	if err != nil {
		return err
	}
	c.SecondsLeft = s.secondsTo(c.AnswerBy)
	if !c.Ended() {
		writeJSON(w, http.StatusAccepted, c)
		return nil
	}
	writeJSON(w, http.StatusOK, c)
	if r.URL.Query().Get("receipt") == "later" {
		return nil
	}
	if http.NewResponseController(w).Flush() == nil && r.Context().Err() == nil {
		s.options.Programs.Received(r.Context(), v.Principal, r.PathValue("session"), c.ID)
	}
	return nil
}

// receivedCall acknowledges that the agent has received a result.
func (s *Server) receivedCall(_ http.ResponseWriter, r *http.Request, v visitor) (api.Empty, error) {
	session, id := r.PathValue("session"), r.PathValue("call")
	if _, err := s.options.Programs.Await(r.Context(), v.Principal, session, id, Wait{}); err != nil {
		return api.Empty{}, err
	}
	s.options.Programs.Received(r.Context(), v.Principal, session, id)
	return api.Empty{}, nil
}

// watchCall streams the status of a call.
func (s *Server) watchCall(w http.ResponseWriter, r *http.Request, v visitor) error {
	session, id := r.PathValue("session"), r.PathValue("call")
	if _, err := s.options.Programs.Await(r.Context(), v.Principal, session, id, Wait{}); err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		stream.Head(w)
		return nil
	}
	ctx, leave, err := s.enter(r.Context(), v.Principal)
	if err != nil {
		return err
	}
	s.serve(ctx, leave, w, r, s.watch(v), connected, func(ctx context.Context, send func([]stream.Frame) bool) error {
		for c, err := range s.options.Programs.Watch(ctx, v.Principal, session, id) {
			if err != nil {
				return err
			}
			c.SecondsLeft = s.secondsTo(c.AnswerBy)
			raw, err := json.Marshal(c, json.Deterministic(true))
			if err != nil {
				return fmt.Errorf("web: a call: %w", err)
			}
			if !send([]stream.Frame{{Event: "call", Data: raw}}) {
				return nil
			}
			if c.Ended() {
				s.options.Programs.Received(ctx, v.Principal, session, id)
			}
		}
		return nil
	})
	return nil
}

func (s *Server) agentReport(_ http.ResponseWriter, r *http.Request, v visitor, q api.AgentReport) (api.Empty, error) {
	key, err := requestKey(r)
	if err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, s.options.Programs.Report(r.Context(), v.Principal, api.AgentReportRequest{
		OutsideRequest: api.OutsideRequest{Session: r.PathValue("session")}, Key: key, Text: q.Text, Lang: q.Lang, Progress: q.Progress,
		Doing: q.Doing, Observed: q.Observed, Missed: q.Missed, Lease: q.Lease,
	})
}

func (s *Server) endAgent(_ http.ResponseWriter, r *http.Request, v visitor, q api.AgentEnd) (api.Empty, error) {
	return api.Empty{}, s.options.Programs.Close(r.Context(), v.Principal, api.CloseRequest{
		OutsideRequest: api.OutsideRequest{Session: r.PathValue("session")},
		Status:         q.Status, Code: q.Code, Summary: q.Summary, Output: q.Output, Lang: q.Lang, Fields: q.Fields, Handoff: q.Handoff,
	})
}
