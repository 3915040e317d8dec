package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/utp"
)

// TestForgedCommandStartsNothing is an operator's mistake: somebody got hold of the one
// credential that publishes commands. On the real bus, with the real services, commands
// for a call that waits for its answer, and for one that nobody ever asked for, reach
// the service, and nothing starts.
func TestForgedCommandStartsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	if _, err := tidy.MakeSample(filepath.Join(dir, "sample")); err != nil {
		t.Fatal(err)
	}
	root, err := files.Resolve(filepath.Join(dir, "sample"))
	if err != nil {
		t.Fatal(err)
	}
	before := listed(t, root)

	policy, err := policyfile.Open("")
	if err != nil {
		t.Fatal(err)
	}
	m := Main{Program: cli.Program{Getenv: os.Getenv, LookupEnv: os.LookupEnv, Now: time.Now}}
	refused := make(chan string, 16) // ids of starts that the service was refused
	shipped, err := tidy.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	h, err := instance.Open(ctx, instance.Options{
		Data: filepath.Join(dir, "data"), Policy: policy, Agents: []string{cli.TidyName}, Reviewed: map[string][]utp.Definition{tidy.Target: shipped},
		Logger: slog.New(refusals{calls: refused}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	raw, err := json.Marshal(tidy.Args{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	a, err := h.Hub.Enqueue(ctx, api.EnqueueRequest{Agent: cli.TidyName, Args: raw})
	if err != nil {
		t.Fatal(err)
	}
	service := m.FilesService([]string{root}, filepath.Join(dir, "data"))
	if err := errors.Join(h.Serve(ctx, instance.Service{Name: service.Name, Open: service.Open}), h.Work(ctx, tidy.Agent())); err != nil {
		t.Fatal(err)
	}
	waiting := askedCall(ctx, t, h, a)

	publisher, err := h.Bus.Kernel(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer publisher.Close()
	for _, id := range []string{waiting.ID, "tc_01a1fd94e29c78e5bedda257233c20ea"} {
		header, err := utp.EncodeHeader(utp.Context{
			ProjectID: projectfile.Default, ChannelID: "public", AgentID: cli.TidyName, TurnID: a.Turn, TurnEpoch: 1, StepID: waiting.Step, ToolCallID: id,
		}, utp.Stamp{At: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := utp.EncodeCommand(utp.Command{ToolName: tidy.ToolDelete, AfterExecution: utp.Suspend, ToolCallCardID: waiting.Card})
		if err != nil {
			t.Fatal(err)
		}
		subject, err := utp.ToolCommand(projectfile.Default, "public", tidy.Target, "delete")
		if err != nil {
			t.Fatal(err)
		}
		if err := publisher.Publish(ctx, subject.String(), header, payload); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-refused:
			if got != id {
				t.Errorf("the start of %s was refused; it should be that of %s", got, id)
			}
		case <-ctx.Done():
			t.Fatalf("the forged command of %s did not reach the service, so the test proves nothing", id)
		}
	}
	rec, err := h.Kernel.Turn(ctx, a.Turn)
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := rec.State.Find(waiting.ID); c.State != turn.Asked || c.Fence != 0 {
		t.Errorf("the call is %s under fence %d; it should still be asked", c.State, c.Fence)
	}
	if after := listed(t, root); after != before {
		t.Errorf("%d files are left of %d", after, before)
	}
}

// askedCall waits for the call whose question is open.
func askedCall(ctx context.Context, t *testing.T, h *instance.Instance, a api.EnqueueAnswer) turn.Call {
	t.Helper()
	for row, err := range h.Hub.Follow(ctx, a.Session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(row.Body, &head); err != nil {
			t.Fatal(err)
		}
		if head.Type != "aaep:agent.awaiting.confirmation" {
			continue
		}
		rec, err := h.Kernel.Turn(ctx, a.Turn)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range rec.State.Calls {
			if c.State == turn.Asked {
				return c
			}
		}
	}
	t.Fatal("nothing was asked")
	return turn.Call{}
}

func listed(t *testing.T, root string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(root, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// refusals hears of the service's refused starts through its log.
type refusals struct{ calls chan<- string }

func (refusals) Enabled(context.Context, slog.Level) bool { return true }

func (r refusals) WithAttrs([]slog.Attr) slog.Handler { return r }

func (r refusals) WithGroup(string) slog.Handler { return r }

func (r refusals) Handle(_ context.Context, record slog.Record) error {
	if record.Message != "not started" {
		return nil
	}
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "call" {
			r.calls <- a.Value.String()
		}
		return true
	})
	return nil
}
