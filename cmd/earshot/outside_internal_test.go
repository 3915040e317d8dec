package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/cli/operators"
	"github.com/earshot-dev/earshot/internal/credentialfile"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// patience bounds what the tests in this package wait for, and nothing that works.
const patience = 5 * time.Minute

// counter is an agent that has the words of a text counted, once.
type counter struct{ said *worker.Result }

func (c *counter) Observe(r worker.Result) error {
	c.said = &r
	return nil
}

func (c *counter) Next() (worker.Decision, error) {
	if c.said == nil {
		return worker.Decision{Calls: []worker.Call{{Key: "count", Tool: "words.count", Args: map[string]string{"text": "one two three"}}}}, nil
	}
	return worker.Decision{Answer: &worker.Answer{Summary: fmt.Sprintf("%s%s: %s", c.said.Status, c.said.Code, c.said.Value)}}, nil
}

// TestToolFromOutside: a service in another place, over the network and with the real
// kernel. Its tool arrives unreviewed, so that even a tool that says that it only reads is
// asked for; once an operator has reviewed it, it runs at once; what was left out has its
// default, filled in before anybody was asked; progress reaches the operator.
func TestToolFromOutside(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	policy, err := policyfile.Open("")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	words, me := bus.Principal{Kind: bus.Tool, Name: "words"}, bus.Principal{Kind: bus.Operator, Name: "me"}
	files := letIn(t, data, words, me)
	h, err := instance.Open(ctx, instance.Options{Data: data, Policy: policy, Agents: []string{cli.TidyName}, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	type args struct {
		Text string `json:"text"`
		More int    `json:"more" default:"40"`
	}
	progress, told := watch(ctx, t, files.File(me)), make(chan utp.ToolProgress, 1)
	made := tool.Must(tool.Func(utp.Definition{Tool: "words.count", Description: "Count.", Class: utp.Read},
		func(ctx context.Context, c *tool.Call, a args) (int, error) {
			c.Progress(0.5)
			select {
			case p := <-progress:
				told <- p
			case <-ctx.Done():
			}
			return len(strings.Fields(a.Text)) + a.More, nil
		}))
	serving, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- service.Run(serving, service.Options{Credentials: files.File(words)}, made) }()
	defer func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	agent := worker.Agent{Name: cli.TidyName, Plan: func(context.Context, jsontext.Value) (worker.Planner, error) { return &counter{}, nil }}
	if err := h.Work(ctx, agent); err != nil {
		t.Fatal(err)
	}
	registered(ctx, t, h, made.Definition)

	a, err := h.Hub.Enqueue(ctx, api.EnqueueRequest{Agent: cli.TidyName, Args: jsontext.Value(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	if c := askedCall(ctx, t, h, a); c.Class != utp.Irreversible || c.Tool != "words.count" {
		t.Errorf("an unreviewed tool is asked for as %+v", c)
	}
	if _, err := h.Hub.Stop(ctx, api.ReplyRequest{Session: a.Session, By: instance.LocalUser(), Surface: "terminal"}); err != nil {
		t.Fatal(err)
	}
	digest, err := made.Definition.Digest()
	if err == nil {
		err = h.Kernel.Admin().Review(ctx, "words.count", digest, utp.Read, utp.RiskLow)
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, err = h.Hub.Enqueue(ctx, api.EnqueueRequest{Agent: cli.TidyName, Args: jsontext.Value(`{}`)}); err != nil {
		t.Fatal(err)
	}
	events := ""
	for row, err := range h.Hub.Follow(ctx, a.Session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		events += string(row.Body) + "\n"
	}
	if !strings.Contains(events, "success: 43") || strings.Contains(events, "awaiting.confirmation") {
		t.Errorf("the session:\n%s", events)
	}
	select {
	case p := <-told:
		if p.Tool != "words.count" || p.Fraction != 0.5 || p.Turn != a.Turn {
			t.Errorf("progress: %+v", p)
		}
	case <-ctx.Done():
		t.Error("no progress")
	}
}

// letIn makes credentials in a data directory.
func letIn(t *testing.T, data string, all ...bus.Principal) credentialfile.Dir {
	t.Helper()
	files, err := operators.CredentialsIn(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range all {
		one, err := bus.NewCredentials(rand.Reader, projectfile.Default, who)
		if err == nil {
			err = os.MkdirAll(data, 0o700)
		}
		if err == nil {
			err = files.Write(one)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// watch hears the progress of calls as an operator.
func watch(ctx context.Context, t *testing.T, file string) <-chan utp.ToolProgress {
	t.Helper()
	c, err := bus.ReadCredentials(file)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := bus.Dial(ctx, c, bus.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(operator.Close)
	progress := make(chan utp.ToolProgress, 16)
	_, err = operator.Progress(ctx, func(_ context.Context, m bus.Message) {
		var p utp.ToolProgress
		if err := json.Unmarshal(m.Payload, &p); err != nil {
			t.Error(err)
		}
		progress <- p
	})
	if err != nil {
		t.Fatal(err)
	}
	return progress
}

// registered waits until the kernel knows the definition: until then it cannot be reviewed.
func registered(ctx context.Context, t *testing.T, h *instance.Instance, d utp.Definition) {
	t.Helper()
	for ctx.Err() == nil {
		err := h.Kernel.Admin().Review(ctx, d.Tool, "another digest", utp.Read, utp.RiskLow)
		if fault, is := errors.AsType[*api.Fault](err); is && fault.Code == utp.CodeConflict {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatal("the tool was not registered")
}
