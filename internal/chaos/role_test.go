package chaos_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/clock"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
	workerbus "github.com/earshot-dev/earshot/worker/agent"
)

// What a process of the run is told by its environment.
const (
	roleVariable = "EARSHOT_CHAOS_ROLE"
	nameVariable = "EARSHOT_CHAOS_NAME"
	dirVariable  = "EARSHOT_CHAOS_DIR"
	dsnVariable  = "EARSHOT_CHAOS_LEDGER"
	atVariable   = "EARSHOT_CHAOS_AT"
)

const (
	project = "chaos"
	agent   = "chaos"
	target  = "effects"
	hubName = "people"

	lease   = 10 * time.Second
	retry   = 100 * time.Millisecond
	seats   = 80
	busFile = "bus.json"
)

// access is what the bus leaves for the others: how each comes in.
type access struct {
	Kernel bus.KernelCredentials `json:"kernel"`
	Agent  bus.Credentials       `json:"agent"`
	Tool   bus.Credentials       `json:"tool"`
	Hub    bus.Credentials       `json:"hub"`
}

func principals() []bus.Principal {
	return []bus.Principal{{Kind: bus.Agent, Name: agent}, {Kind: bus.Tool, Name: target}, {Kind: bus.Hub, Name: hubName}}
}

// play is one process, until it is killed or its standard input ends.
func play(role string) int {
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // its end is that of the run
		end()
	}()
	parts := map[string]func(context.Context, *slog.Logger) error{"bus": playBus, "kernel": playKernel, "tool": playTool, "worker": playWorker}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := parts[role](ctx, log); err != nil && ctx.Err() == nil {
		log.Error("a part has failed", "role", role, "error", err)
		return 1
	}
	return 0
}

func place(name string) string { return filepath.Join(os.Getenv(dirVariable), name) }

func playBus(ctx context.Context, log *slog.Logger) error {
	server, err := bus.Start(ctx, bus.Options{
		Project: project, Principals: principals(), Listen: os.Getenv(atVariable), Kernels: true,
		Key: []byte(strings.Repeat("k", 32)), Logger: log,
	})
	if err != nil {
		return err
	}
	defer server.Close()
	var a access
	if a.Kernel, err = server.KernelCredentials(); err != nil {
		return err
	}
	for i, into := range []*bus.Credentials{&a.Agent, &a.Tool, &a.Hub} {
		if *into, err = server.Credentials(principals()[i]); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.WriteFile(place(busFile+".new"), raw, 0o600); err != nil {
		return err
	}
	if err := os.Rename(place(busFile+".new"), place(busFile)); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// reach tries until it succeeds: what it needs may be away.
func reach[T any](ctx context.Context, try func() (T, error)) (T, error) {
	for {
		got, err := try()
		if err == nil {
			return got, nil
		}
		select {
		case <-ctx.Done():
			return got, err
		case <-time.After(retry):
		}
	}
}

// runs is reach for what runs until ctx ends: the bus may be away as it begins.
func runs(ctx context.Context, run func(context.Context) error) error {
	_, err := reach(ctx, func() (struct{}, error) { return struct{}{}, run(ctx) })
	return err
}

func entrance() (a access, err error) {
	raw, err := os.ReadFile(place(busFile))
	if err != nil {
		return a, err
	}
	err = json.Unmarshal(raw, &a)
	return a, err
}

func dialled(ctx context.Context, who func(access) bus.Credentials) (*bus.Client, error) {
	return reach(ctx, func() (*bus.Client, error) {
		a, err := entrance()
		if err != nil {
			return nil, err
		}
		return bus.Dial(ctx, who(a), bus.DialOptions{Timeout: lease})
	})
}

func playKernel(ctx context.Context, log *slog.Logger) error {
	store, err := reach(ctx, func() (*postgres.Store, error) {
		return postgres.Open(ctx, postgres.Options{DSN: os.Getenv(dsnVariable), Logger: log})
	})
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	end, err := reach(ctx, func() (*bus.Kernel, error) {
		a, err := entrance()
		if err != nil {
			return nil, err
		}
		return bus.DialKernel(ctx, a.Kernel, bus.Options{Logger: log, Timeout: lease})
	})
	if err != nil {
		return err
	}
	defer end.Close()
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		return err
	}
	rules, err := rulebook.NewRules([]rulebook.Rule{{Tool: "effects.look", Decide: turn.Allow}, {Tool: "effects.set", Decide: turn.Allow}, {Tool: "*", Decide: turn.Ask}})
	if err != nil {
		return err
	}
	k, err := kernel.New(kernel.Options{
		Store: store, Bus: end, Policy: rules, Narrator: narrator, Project: project, Clock: clock.System(time.Now), Logger: log,
		WorkerLease: lease, ToolLease: lease, Poll: time.Second,
		Generation: func() string { return "one of the kernels has always been there" },
	})
	if err != nil {
		return err
	}
	if err := reviewed(ctx, k); err != nil {
		return err
	}
	handle := func(ctx context.Context, from bus.Principal, op string, request []byte) []byte {
		return k.Handle(ctx, kernel.Caller{Kind: string(from.Kind), Name: from.Name}, op, request)
	}
	_, err = reach(ctx, func() (struct{}, error) { return struct{}{}, end.Serve(ctx, handle) })
	if err != nil {
		return err
	}
	k.Run(ctx)
	return nil
}

func reviewed(ctx context.Context, k *kernel.Kernel) error {
	for _, d := range definitions() {
		_, err := reach(ctx, func() (struct{}, error) {
			digest, err := d.Digest()
			if err != nil {
				return struct{}{}, err
			}
			return struct{}{}, errors.Join(k.Registry().Register(ctx, target, d), k.Admin().Review(ctx, d.Tool, digest, d.Class, d.Risk))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func definitions() []utp.Definition {
	var all []utp.Definition
	for _, d := range []struct {
		name  string
		class utp.Class
		risk  utp.Risk
	}{{"look", utp.Read, utp.RiskLow}, {"set", utp.Idempotent, utp.RiskLow}, {"burn", utp.Irreversible, utp.RiskHigh}} {
		all = append(all, utp.Definition{
			Tool: target + "." + d.name, Description: "Have the effect number n: " + d.name + ".",
			Target:         "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + target + "." + d.name,
			Parameters:     []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
			AfterExecution: utp.Suspend, Class: d.class, Risk: d.risk,
		})
	}
	return all
}

// playTool has effects, and notes each in a file of its own in the moment in which it is done.
func playTool(ctx context.Context, log *slog.Logger) error {
	effects, err := os.OpenFile(place("effects-"+os.Getenv(nameVariable)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = effects.Close() }()
	conn, err := dialled(ctx, func(a access) bus.Credentials { return a.Tool })
	if err != nil {
		return err
	}
	defer conn.Close()
	var tools []tool.Tool
	for _, d := range definitions() {
		tools = append(tools, tool.Tool{Definition: d, Run: func(ctx context.Context, c *tool.Call) (tool.Result, error) { return do(ctx, c, effects) }})
	}
	serving, err := tool.New(tool.Options{Conn: service.Conn{Client: conn}, Tools: tools, Parallel: seats, Logger: log})
	if err != nil {
		return err
	}
	return runs(ctx, serving.Run)
}

type effect struct {
	N int `json:"n"`
}

func do(ctx context.Context, c *tool.Call, effects io.Writer) (tool.Result, error) {
	var args effect
	if err := c.Decode(&args); err != nil {
		return tool.Result{}, err
	}
	select { // a kill may come before the effect, and behind it
	case <-time.After(time.Duration(args.N%5) * time.Millisecond):
	case <-ctx.Done():
		return tool.Result{}, &utp.ToolError{Code: utp.CodeStopped, Message: "it was told to end; nothing was done"}
	}
	if err := c.Ready(); err != nil {
		return tool.Result{}, err
	}
	if _, err := fmt.Fprintf(effects, "%s %s %d\n", c.ID, c.Tool, args.N); err != nil { // one write to the end of the file
		return tool.Result{}, err
	}
	select {
	case <-time.After(time.Duration(args.N%7) * time.Millisecond):
	case <-ctx.Done():
	}
	return tool.Result{Value: args}, nil
}

func playWorker(ctx context.Context, log *slog.Logger) error {
	conn, err := dialled(ctx, func(a access) bus.Credentials { return a.Agent })
	if err != nil {
		return err
	}
	defer conn.Close()
	w, err := worker.New(worker.Options{Conn: workerbus.Conn{Client: conn}, Agent: worker.Agent{Name: agent, Plan: planned}, Turns: seats, Logger: log})
	if err != nil {
		return err
	}
	return runs(ctx, w.Run)
}
