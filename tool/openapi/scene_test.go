package openapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/openapi"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// request is one request as the server got it.
type request struct {
	method, uri, body string
	header            http.Header
}

// server is a real server that remembers what it was asked.
type server struct {
	*httptest.Server

	mu  sync.Mutex
	got []request
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.got = append(s.got, request{r.Method, r.RequestURI, string(body), r.Header})
		s.mu.Unlock()
		answer(w, r)
	}))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	return s
}

func (s *server) asked() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.got...)
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

// section is a file of one operation on the server, with the loopback named.
func (s *server) section(operation string, more ...string) string {
	text := "http:\n  target: web\n  hosts: ['" + s.URL + "']\n  networks: [127.0.0.1]\n"
	for _, m := range more {
		text += indent(m, 2)
	}
	return text + "  operations:\n" + indent("- "+strings.ReplaceAll(strings.TrimSpace(operation), "\n", "\n  "), 4)
}

func indent(text string, by int) string {
	var out strings.Builder
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		out.WriteString(strings.Repeat(" ", by) + strings.TrimRight(line, "\n") + "\n")
	}
	return out.String()
}

func load(text string, o openapi.Options) (*openapi.Service, error) {
	root, err := settings.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	section, err := root.Of("http")
	if err != nil {
		return nil, err
	}
	if o.LookupEnv == nil {
		o.LookupEnv = func(name string) (string, bool) { return "sesame-" + strings.ToLower(name), true }
	}
	return openapi.Load(section, o)
}

func loaded(t *testing.T, text string) tool.Tool {
	t.Helper()
	s, err := load(text, openapi.Options{})
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return s.Tools()[0]
}

// said is a result as it is told.
type said struct {
	openapi.Answer

	status utp.Status
	err    *utp.ToolError
	text   string // the body, or its JSON
	all    string // everything, as it would be stored
}

func (s said) code() utp.Code {
	if s.err == nil {
		return ""
	}
	return s.err.Code
}

func call(ctx context.Context, t *testing.T, made tool.Tool, args string) said {
	t.Helper()
	r, err := made.Run(ctx, &tool.Call{ID: "tc_7", Tool: made.Definition.Tool, Args: jsontext.Value(args)})
	out := said{status: r.Status}
	if err != nil && !errors.As(err, &out.err) {
		t.Fatalf("the error is not a tool's: %v", err)
	}
	if answer, is := r.Value.(openapi.Answer); is {
		out.Answer = answer
		switch body := answer.Body.(type) {
		case string:
			out.text = body
		case jsontext.Value:
			out.text = string(body)
		}
	}
	raw, merr := json.Marshal(r.Value)
	if merr != nil {
		t.Errorf("the result is not JSON: %v", merr)
	}
	out.all = string(raw)
	if out.err != nil {
		out.all += out.err.Error() + string(out.err.Detail)
	}
	return out
}

// within is a context that ends long after anything that works.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
