package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/utp"
)

// hostCalls are the metadata keys in which hosts put their own id of a call.
var hostCalls = []string{"claudecode/toolUseId", "callId"}

// hostCall returns the host's own id of a call; "" if there is none.
func hostCall(meta sdk.Meta) string {
	for _, name := range hostCalls {
		if id, is := meta[name].(string); is {
			return id
		}
	}
	return ""
}

// call makes one call of a tool that Earshot offers.
func (g *Gateway) call(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	args := jsontext.Value(r.Params.Arguments)
	if len(args) == 0 {
		args = jsontext.Value("{}")
	}
	q := api.AgentInvoke{Tool: g.tools.toolNamed(r.Params.Name), Args: args, HostCall: hostCall(r.Params.Meta)}
	return g.until(ctx, r, func(ctx context.Context, s Session, wait time.Duration) (api.AgentCall, error) {
		return s.Invoke(ctx, q, wait)
	})
}

// asks is one request for a call.
type asks func(ctx context.Context, s Session, wait time.Duration) (api.AgentCall, error)

// until repeats the request until there is a result, or until just before the host's timeout.
func (g *Gateway) until(ctx context.Context, r *sdk.CallToolRequest, ask asks) (*sdk.CallToolResult, error) {
	deadline := time.Now().Add(g.o.Wall)
	report, quiet := g.reportProgress(ctx, r)
	defer quiet()
	request := g.requested()
	var known api.AgentCall
	wait := firstWait
	for {
		left := time.Until(deadline).Truncate(time.Second)
		if left <= 0 && known.ID != "" {
			return stillOpen(known), nil
		}
		s, err := g.at(ctx)
		var c api.AgentCall
		if err == nil {
			c, err = g.poll(ctx, s, known.ID, max(0, min(wait, left)), ask)
		}
		if err == nil {
			g.stands(request, c)
			g.pointers.follow(g, r.Session, c)
		}
		switch {
		case ctx.Err() != nil:
			g.pointers.leave(known.ID)
			return nil, context.Cause(ctx) //nolint:wrapcheck // the host has gone
		case err == nil && c.Ended():
			return resultOf(c), nil
		case err == nil:
			known, wait = c, longestWait
			report(c.Message)
			continue
		case client.Stopped(err):
			g.forget(request)
			return failed(stoppedText, c), nil
		case hasEnded(err) && known.ID == "":
			g.ended(s)
			continue
		case !lost(err) || time.Now().After(deadline):
			g.forget(request)
			return failed(messageOf(err), known), nil
		}
		report("Earshot cannot be reached at the moment.")
		if rest(ctx, pause) != nil {
			return nil, context.Cause(ctx) //nolint:wrapcheck // the host has gone
		}
	}
}

// poll makes one request: for the call itself, or for the result of a known one.
func (g *Gateway) poll(ctx context.Context, s Session, known string, wait time.Duration, ask asks) (api.AgentCall, error) {
	if known != "" {
		return s.Wait(ctx, known, wait)
	}
	g.receipts.wait(ctx)
	return ask(ctx, s, wait)
}

const stoppedText = "A person has stopped this session. Nothing more is done in it. Stop your work and say so."

// hasEnded reports whether the session has ended without anybody stopping it.
func hasEnded(err error) bool {
	e, is := errors.AsType[*client.Error](err)
	return is && e.Ended
}

// lost reports whether the server could not be reached, so that a retry makes sense.
func lost(err error) bool {
	e, is := errors.AsType[*client.Error](err)
	return is && (e.Retry || e.Code == client.CodeUnreachable)
}

func messageOf(err error) string {
	if e, is := errors.AsType[*client.Error](err); is {
		return strings.TrimSpace("Not done: " + e.Message + ". " + e.Hint)
	}
	return "Not done: " + err.Error()
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the caller says it
	case <-timer.C:
		return nil
	}
}

// reportProgress regularly reports the status of a call to the host, if the host has requested that. quiet ends that
// and waits for it.
func (g *Gateway) reportProgress(ctx context.Context, r *sdk.CallToolRequest) (report func(string), quiet func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func(string) {}, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	said := "Asked for."
	var owned sync.WaitGroup
	owned.Go(func() {
		ticker := time.NewTicker(g.o.ProgressInterval)
		defer ticker.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			mu.Lock()
			p := &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: said}
			mu.Unlock()
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				g.o.Logger.Debug("progress", "reason", err)
			}
		}
	})
	report = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		said = text
	}
	return report, func() {
		cancel()
		owned.Wait()
	}
}

// callMeta is the metadata key of a result with the id of its call.
const callMeta = "earshot/call_id"

// resultOf converts the result of a call for the host.
func resultOf(c api.AgentCall) *sdk.CallToolResult {
	if !succeeded(c) {
		if c.Status == utp.StatusCanceled || c.Result.Kind() == 'n' {
			c.Result = nil // it only repeats the message
		}
		return failed(c.Message, c)
	}
	out := &sdk.CallToolResult{Meta: sdk.Meta{callMeta: c.ID}}
	if upstream := fromMCP(c.Result); upstream != nil {
		out.Content, out.StructuredContent = upstream.Content, upstream.StructuredContent
		return out
	}
	text := string(c.Result)
	if text == "" {
		text = "Done."
	}
	if c.Result.Kind() == '{' {
		out.StructuredContent = c.Result
	}
	out.Content = []sdk.Content{&sdk.TextContent{Text: text}}
	return out
}

// fromMCP returns the result of a tool of an MCP server, in the form in which package tool/mcp stores it; nil for
// another form.
func fromMCP(result jsontext.Value) *sdk.CallToolResult {
	var members map[string]jsontext.Value
	if result.Kind() != '{' || json.Unmarshal(result, &members) != nil || members["content"].Kind() != '[' {
		return nil
	}
	for name := range members {
		if name != "content" && name != "structuredContent" {
			return nil
		}
	}
	var out sdk.CallToolResult
	if out.UnmarshalJSON(result) != nil {
		return nil
	}
	return &out
}

func succeeded(c api.AgentCall) bool { return c.Status == "success" || c.Status == "partial" }

// failed returns an error result, typed for a host that parses it.
func failed(message string, c api.AgentCall) *sdk.CallToolResult {
	text := strings.TrimSpace(message + "\n" + string(c.Result))
	out := &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	if c.ID != "" {
		out.Meta = sdk.Meta{callMeta: c.ID}
		out.StructuredContent = state{Message: message, CallID: c.ID, State: c.State, Status: string(c.Status), Code: string(c.Code), Result: c.Result}
	}
	return out
}

// state is the structured part of an answer without a result. It repeats the text, because some hosts give their model
// nothing else.
type state struct {
	Message  string         `json:"message"`
	CallID   string         `json:"call_id"`
	State    string         `json:"state"`
	Status   string         `json:"status,omitempty"`
	Code     string         `json:"code,omitempty"`
	Result   jsontext.Value `json:"result,omitzero"`
	Question int            `json:"question,omitempty"`
	AnswerBy string         `json:"answer_by,omitempty"`
	Seconds  int            `json:"seconds_left,omitempty"`
}

// stillOpen is the answer to a call that is open just before the host's timeout. It is not an error: nothing has
// failed.
func stillOpen(c api.AgentCall) *sdk.CallToolResult {
	text := fmt.Sprintf("Not done yet. %s Call earshot_wait with {\"call_id\": %q} to wait for it. "+
		"It starts only while you wait, so do not leave it, and do not do it in another way.", c.Message, c.ID)
	s := state{Message: text, CallID: c.ID, State: c.State, Question: c.Question, Seconds: c.SecondsLeft}
	if !c.AnswerBy.IsZero() {
		s.AnswerBy = c.AnswerBy.UTC().Format(time.RFC3339)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: s}
}
