package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// process is an Earshot in this process, with an agent whose one tool does nothing: what its calls take is what they take without a host,
// a gateway and another process. The agent asks for the next call when it is told to.
type process struct {
	server *server.Server
	next   chan struct{}
	came   chan error
}

func openProcess(ctx context.Context, dir string) (*process, error) {
	debug.SetGCPercent(400) // as `earshot up` does
	p := &process{next: make(chan struct{}), came: make(chan error, 1)}
	type word struct {
		Word string `json:"word"`
	}
	echo := tool.Must(tool.Func(utp.Definition{Tool: "own.echo", Description: "Say a word.", Class: utp.Read},
		func(_ context.Context, _ *tool.Call, w word) (string, error) { return w.Word, nil }))
	caller := worker.Agent{Name: "caller", Plan: func(ctx context.Context, _ jsontext.Value) (worker.Planner, error) { return &planner{p, ctx, 0}, nil }}
	var err error
	p.server, err = server.New(ctx, server.Options{
		Data: dir, HTTP: "127.0.0.1:0",
		Agents: []server.Agent{{Agent: caller}}, Services: []server.Service{{Name: "own", Tools: []tool.Tool{echo}}},
	})
	if err != nil {
		return nil, err
	}
	c, err := client.Dial(ctx, client.Options{URL: p.server.URL(), Token: p.server.Token()})
	if err == nil {
		_, err = c.Start(ctx, api.TurnStart{Agent: "caller", Args: jsontext.Value(`{}`), Request: "Say words."})
	}
	if err != nil {
		p.server.Close()
		return nil, err
	}
	return p, nil
}

// call makes one, and waits until its result is applied.
func (p *process) call(ctx context.Context) error {
	select {
	case p.next <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-p.came:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

type planner struct {
	*process

	ctx context.Context
	n   int
}

// Observe implements worker.Planner: here the result is applied.
func (p *planner) Observe(r worker.Result) error {
	var err error
	if r.Status != utp.StatusSuccess {
		err = errors.New(r.Message)
	}
	p.came <- err
	return err
}

// Next implements worker.Planner: here the worker asks.
func (p *planner) Next() (worker.Decision, error) {
	select {
	case <-p.next:
	case <-p.ctx.Done():
		return worker.Decision{}, fmt.Errorf("no more is asked for: %w", p.ctx.Err())
	}
	p.n++
	return worker.Decision{Calls: []worker.Call{{Key: "c" + strconv.Itoa(p.n), Tool: "own.echo", Args: map[string]string{"word": "word"}}}}, nil
}
