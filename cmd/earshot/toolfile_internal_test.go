package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus/bustest"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// errands is a planner that makes one call after the other, whatever comes back.
type errands struct {
	calls []worker.Call
	got   []worker.Result
	told  func(worker.Result)
}

func (e *errands) Observe(r worker.Result) error {
	e.got = append(e.got, r)
	e.told(r)
	return nil
}

func (e *errands) Next() (worker.Decision, error) {
	if n := len(e.got); n < len(e.calls) {
		return worker.Decision{Calls: e.calls[n : n+1]}, nil
	}
	return worker.Decision{Answer: &worker.Answer{Summary: "The errands are done."}}, nil
}

// office is a file with a read and an irreversible command, and a read and a writing
// operation of a server, in a folder of its own.
type office struct {
	file, log string
	server    *httptest.Server

	mu   sync.Mutex
	keys []string // Idempotency-Key of each POST
}

func newOffice(t *testing.T) *office {
	t.Helper()
	dir := t.TempDir()
	d := &office{file: filepath.Join(dir, "tools.yaml"), log: filepath.Join(dir, "log")}
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body)
			d.mu.Lock()
			d.keys = append(d.keys, r.Header.Get("Idempotency-Key"))
			d.mu.Unlock()
			_, _ = fmt.Fprintf(w, `{"got":%s,"by":%q}`, body, r.Header.Get("Authorization"))
			return
		}
		_, _ = fmt.Fprintf(w, `{"path":%q}`, r.URL.EscapedPath())
	}))
	t.Cleanup(d.server.Close)
	write := filepath.Join(dir, "write")
	program := "#!/bin/sh\nprintf '%s %s\\n' \"$EARSHOT_CALL\" \"$1\" >>" + d.log + "\necho \"wrote $1\"\n"
	document := `{"openapi":"3.0.3","servers":[{"url":"` + d.server.URL + `"}],"paths":{"/tickets":{"post":{"operationId":"add","summary":"Add a ticket.","requestBody":{"required":true,"content":{"application/json":{"schema":
		{"allOf":[{"$ref":"#/components/schemas/Base"},{"type":"object","properties":{"level":{"type":"integer"}}}]}}}}}}},
		"components":{"schemas":{"Base":{"type":"object","required":["title"],"properties":{"title":{"type":"string"}}}}}}`
	yaml := `command:
  target: desk
  operations:
    - tool: desk.say
      description: Say a word.
      class: read
      program: /bin/echo
      argv: ["--", "{word}"]
      parameters: {type: object, properties: {word: {type: string}}, required: [word]}
    - tool: desk.write
      description: Write a line.
      class: irreversible
      program: ` + write + `
      argv: ["{line}"]
      parameters: {type: object, properties: {line: {type: string}}, required: [line]}
http:
  target: tickets
  document: tickets.json
  hosts: ["` + d.server.URL + `"]
  networks: [127.0.0.1]
  secrets: {token: {env: TICKETS_TOKEN}}
  auth: [{header: Authorization, value: "Bearer {token}"}]
  operations:
    - tool: tickets.get
      description: Read a ticket.
      method: GET
      url: ` + d.server.URL + `/tickets/{id}
      parameters: {id: {in: path}}
    - operation: add
`
	for path, text := range map[string]string{write: program, filepath.Join(dir, "tickets.json"): document, d.file: yaml} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// written are the lines that the irreversible command has written.
func (d *office) written(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(d.log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(raw)))
}

func officeCalls() []worker.Call {
	return []worker.Call{
		{Key: "say", Tool: "desk.say", Args: map[string]string{"word": "-n $(id) *"}},
		{Key: "write", Tool: "desk.write", Args: map[string]string{"line": "hello; rm x"}},
		{Key: "get", Tool: "tickets.get", Args: map[string]string{"id": "a/b"}},
		{Key: "add", Tool: "tickets.add", Args: map[string]any{"body": map[string]any{"title": "x", "level": 3}}},
		{Key: "wrong", Tool: "tickets.add", Args: map[string]any{"body": map[string]any{"title": "x", "other": 3}}},
	}
}

// errand runs a turn of the planner, answers its questions with word, and returns what
// came back by key and which tools were asked about.
func errand(ctx context.Context, t *testing.T, h *instance.Instance, calls []worker.Call, word string) (results map[string]worker.Result, asked []string) {
	t.Helper()
	results = map[string]worker.Result{}
	var mu sync.Mutex
	tell := func(r worker.Result) {
		mu.Lock()
		defer mu.Unlock()
		results[r.Key] = r
	}
	err := h.Work(ctx, worker.Agent{Name: cli.TidyName, Plan: func(context.Context, jsontext.Value) (worker.Planner, error) {
		return &errands{calls: calls, told: tell}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := h.Hub.Enqueue(ctx, api.EnqueueRequest{Agent: cli.TidyName, Args: jsontext.Value(`{}`), Owner: instance.LocalUser()})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range h.Hub.Follow(ctx, a.Session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		event, err := aaep.DecodeEvent(row.Body)
		if err != nil {
			t.Fatal(err)
		}
		switch p := event.Payload.(type) {
		case aaep.AwaitingConfirmation:
			open, err := h.Hub.Questions(ctx)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(open, func(q api.QuestionRow) bool { return q.Token == p.ReplyToken })
			if i < 0 {
				continue
			}
			asked = append(asked, open[i].Tool)
			r := api.ReplyRequest{Token: p.ReplyToken, Decision: word, By: instance.LocalUser(), Surface: "terminal", At: time.Now()}
			if _, err := h.Hub.Answer(ctx, r); err != nil {
				t.Fatal(err)
			}
			if word == "accept" {
				h.Hub.Noticed(ctx, api.ReplyRequest{Question: open[i].Number, By: r.By, Surface: r.Surface})
			}
		case aaep.SessionCompleted, aaep.SessionErrored, aaep.SessionCancelled:
			mu.Lock()
			all := maps.Clone(results)
			mu.Unlock()
			return all, asked
		}
	}
	t.Fatal("the turn did not end")
	return nil, nil
}

func officeInstance(ctx context.Context, t *testing.T, m *Main, services []toolfile.Service, o instance.Options) *instance.Instance {
	t.Helper()
	if o.Data == "" {
		o.Data = filepath.Join(t.TempDir(), "data")
	}
	o.Agents, o.LookupEnv = []string{cli.TidyName}, m.LookupEnv
	for _, s := range services {
		o.Services = append(o.Services, instance.Service{Name: s.Name, Tools: s.Tools, Close: s.Close})
	}
	h, err := instance.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	if err := h.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return h
}

func officeMain() *Main {
	lookup := func(name string) (string, bool) {
		if name == "TICKETS_TOKEN" {
			return "sesame-sesame", true
		}
		return os.LookupEnv(name)
	}
	return &Main{Program: cli.Program{Getenv: os.Getenv, LookupEnv: lookup, Now: time.Now, Stdout: io.Discard, Stderr: io.Discard}}
}

// TestToolsOfAFile: what a file configures is called by an agent over the bus, through the
// gate, with the classes that the operator's file names; and no secret is in the ledger.
func TestToolsOfAFile(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, word := range []string{"accept", "reject"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			d, m := newOffice(t), officeMain()
			services, err := toolfile.Read(d.file, toolfile.Options{LookupEnv: m.LookupEnv, Private: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			h := officeInstance(ctx, t, m, services, instance.Options{})
			results, asked := errand(ctx, t, h, officeCalls(), word)
			if !slices.Equal(asked, []string{"desk.write", "tickets.add"}) {
				t.Errorf("asked about %v; reads are allowed, and all else is asked for", asked)
			}
			if v := string(results["say"].Value); !strings.Contains(v, `"output":"-- -n $(id) *\n"`) {
				t.Errorf("say: %s %s", v, results["say"].Message)
			}
			if v := string(results["get"].Value); !strings.Contains(v, `"path":"/tickets/a%2Fb"`) {
				t.Errorf("get: %s %s", v, results["get"].Message)
			}
			if r := results["wrong"]; r.Code != utp.CodeBadRequest {
				t.Errorf("what does not fit the document: %+v", r)
			}
			written := d.written(t)
			if word == "reject" {
				if len(written)+len(d.keys) != 0 || results["write"].Code != utp.CodeConsentDeclined {
					t.Errorf("after a no: %v, %v", written, d.keys)
				}
				return
			}
			if len(written) != 1 || written[0] != results["write"].Call+" hello; rm x\n" {
				t.Errorf("written is %q by %s", written, results["write"].Call)
			}
			if len(d.keys) != 1 || d.keys[0] != results["add"].Call {
				t.Errorf("the keys are %q; the call is %s", d.keys, results["add"].Call)
			}
			if v := string(results["add"].Value); !strings.Contains(v, `{"level":3,"title":"x"}`) || !strings.Contains(v, "[secret") || strings.Contains(v, "sesame") {
				t.Errorf("add: %s %s", v, results["add"].Message)
			}
			h.Close()
			for _, name := range []string{datadir.LedgerFile, datadir.LedgerFile + "-wal"} {
				if raw, err := os.ReadFile(h.Data.File(name)); err == nil && strings.Contains(string(raw), "sesame") {
					t.Errorf("%s holds the secret", name)
				}
			}
		})
	}
}

// swap puts another program in the place of the one that writes, as an installer or an attacker does.
func (d *office) swap(t *testing.T) {
	t.Helper()
	write := filepath.Join(filepath.Dir(d.file), "write")
	if err := errors.Join(os.WriteFile(write+".new", []byte("#!/bin/sh\necho swapped >>"+d.log+"\n"), 0o700), os.Rename(write+".new", write)); err != nil {
		t.Error(err)
	}
}

// TestProgramSwappedBetweenYesAndStart: the yes was for the program that was there when the tools were offered. Another one that has
// taken its place since does not run, and the person hears why.
func TestProgramSwappedBetweenYesAndStart(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d, m := newOffice(t), officeMain()
	services, err := toolfile.Read(d.file, toolfile.Options{LookupEnv: m.LookupEnv, Private: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	h := officeInstance(ctx, t, m, services, instance.Options{Reached: func(point string) {
		if point == "answer.saved" { // the yes is recorded, and nothing has left yet
			once.Do(func() { d.swap(t) })
		}
	}})
	results, asked := errand(ctx, t, h, officeCalls()[1:2], "accept")
	if !slices.Equal(asked, []string{"desk.write"}) || len(d.written(t)) != 0 {
		t.Fatalf("asked about %v; written is %q", asked, d.written(t))
	}
	if r := results["write"]; r.Code != "changed_since_review" || !strings.Contains(r.Message, "changed since review. Nothing was run.") {
		t.Errorf("the result is %+v", r)
	}
}

// TestToolsAttached: a service of another process comes in by its credentials, and its tools
// are not reviewed by being there: a read is asked for like all else. When the server has
// gone and come back, the service is there again.
func TestToolsAttached(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d, m := newOffice(t), officeMain()
	services, err := toolfile.Read(d.file, toolfile.Options{LookupEnv: m.LookupEnv, Private: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	data, at := filepath.Join(t.TempDir(), "data"), bustest.Address(t)
	files := letIn(t, data, services[0].Principal(), services[1].Principal())
	f := serveFlags{credentials: []string{files.File(services[0].Principal()), files.File(services[1].Principal())}}
	h := officeInstance(ctx, t, m, nil, instance.Options{Data: data, Listen: at})
	serving, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- m.serve(serving, services, f) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Errorf("the services: %v", err)
		}
	}()
	for _, c := range services {
		for _, one := range c.Definitions() {
			registered(ctx, t, h, one)
		}
	}
	results, asked := errand(ctx, t, h, officeCalls()[:4], "accept")
	if !slices.Equal(asked, []string{"desk.say", "desk.write", "tickets.get", "tickets.add"}) {
		t.Errorf("asked about %v; each call of a tool that nobody has reviewed is asked for", asked)
	}
	if len(d.written(t)) != 1 || len(d.keys) != 1 || results["get"].Status != utp.StatusSuccess {
		t.Errorf("written %q, keys %q, %+v", d.written(t), d.keys, results)
	}
	h.Close()
	again := officeInstance(ctx, t, m, nil, instance.Options{Data: data, Listen: at})
	if results, _ := errand(ctx, t, again, officeCalls()[:2], "accept"); results["write"].Status != utp.StatusSuccess {
		t.Errorf("after the server has come back: %+v", results)
	}
	if len(d.written(t)) != 2 {
		t.Errorf("written %q", d.written(t))
	}
}
