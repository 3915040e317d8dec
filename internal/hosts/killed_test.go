package hosts_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// claude is the host that starts a gateway again, and that speaks the protocol's version without ids of sessions.
const claude = "claude"

// gatewayProcess is the number of the `earshot mcp serve` that a host has started on the data directory.
func (g *gate) gatewayProcess() int {
	g.t.Helper()
	found := 0
	g.until("a gateway", func(context.Context) error {
		files, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			return err
		}
		for _, file := range files {
			raw, _ := os.ReadFile(file) // it may have ended
			words := strings.Split(string(bytes.TrimRight(raw, "\x00")), "\x00")
			if len(words) > 4 && words[0] == program && strings.Join(words[1:3], " ") == "mcp serve" && words[4] == g.data {
				found, err = strconv.Atoi(filepath.Base(filepath.Dir(file)))
				return err
			}
		}
		return errors.New("there is none")
	})
	return found
}

// openIs checks that exactly this question is open.
func (g *gate) openIs(number int) {
	g.t.Helper()
	open, err := g.people.Questions(g.t.Context())
	if err != nil || len(open) != 1 || open[0].Number != number {
		g.t.Errorf("found the open questions %+v (%v), expected question %d alone", open, err, number)
	}
}

// TestGateServerKilled: the server is killed while a question of a real host is open, and started again. The question is the same one,
// the host waits on, and the yes has one effect.
func TestGateServerKilled(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		model := fakemodel.Start(t, fakemodel.Script{{Call: adds("one")}, {Say: "Done."}})
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Add a line.", MCP: g.gateway()}))
		g.asks(1)
		g.restarts()
		g.asks(1)
		g.openIs(1)
		g.linesAre("")
		g.does("reply", "1", "accept", "--data", g.data)
		ended(t, process.Wait(t.Context()), "Done.")
		g.linesAre("one\n")
		g.does("audit", "verify", "--data", g.data)
	})
}

// TestGateGatewayKilled: the gateway of a real host is killed while a question is open. The question stays. A host that starts the
// gateway again joins it with the same call, and the yes has one effect; a yes for one that does not starts nothing.
func TestGateGatewayKilled(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		model := fakemodel.Start(t, fakemodel.Script{{Call: adds("one")}, {Call: adds("one")}, {Say: "I see."}})
		process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Add a line.", MCP: g.gateway()}))
		g.asks(1)
		if err := syscall.Kill(g.gatewayProcess(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := model.Request(process.Context(t.Context()), 2); err != nil {
			t.Fatal(err)
		}
		g.openIs(1)
		g.linesAre("")
		if host.String() == claude { // it starts the gateway again
			g.does("reply", "1", "accept", "--data", g.data)
			ended(t, process.Wait(t.Context()), "I see.")
			g.linesAre("one\n")
			return
		}
		ended(t, process.Wait(t.Context()), "I see.")
		g.acceptsInVain(1)
		g.linesAre("")
	})
}

// TestGateHostStartedAgain: a host is killed while its question is open, and started again. By standard input and output that is another
// session: its call has a question of its own, a yes to the first starts nothing, and a yes to its own has one effect.
func TestGateHostStartedAgain(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		start := func(script ...fakemodel.Turn) *agenthost.Process {
			model := fakemodel.Start(t, script)
			return agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Add a line.", MCP: g.gateway(), Relaunch: true}))
		}
		first := start(fakemodel.Turn{Call: adds("one")})
		g.asks(1)
		first.Kill()
		second := start(fakemodel.Turn{Call: adds("one")}, fakemodel.Turn{Say: "Done."})
		g.asks(2)
		g.acceptsInVain(1)
		g.linesAre("")
		g.does("reply", "2", "accept", "--data", g.data)
		ended(t, second.Wait(t.Context()), "Done.")
		g.linesAre("one\n")
	})
}

// TestGateHostJoinsByAddress: a host that is killed and started again joins its open question by the same call where all its requests
// are one session (version 2026-07-28, which Claude Code speaks), and has one of its own where it gets a new id.
func TestGateHostJoinsByAddress(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		g := newGate(t)
		place := g.byAddress(host)
		place[0].URL = g.people.Server() + "/mcp"
		start := func(script ...fakemodel.Turn) (*agenthost.Process, *fakemodel.Server) {
			model := fakemodel.Start(t, script)
			return agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{Model: model.URL, Prompt: "Add a line.", MCP: place, Relaunch: true})), model
		}
		first, _ := start(fakemodel.Turn{Call: adds("one")})
		g.asks(1)
		first.Kill()
		second, model := start(fakemodel.Turn{Call: adds("one")}, fakemodel.Turn{Say: "Done."})
		if _, err := model.Request(second.Context(t.Context()), 1); err != nil { // its call follows at once
			t.Fatal(err)
		}
		own := "1"
		if host.String() == claude {
			g.openIs(1)
		} else {
			own = "2"
			g.asks(2)
			g.acceptsInVain(1)
		}
		g.linesAre("")
		g.does("reply", own, "accept", "--data", g.data)
		ended(t, second.Wait(t.Context()), "Done.")
		g.linesAre("one\n")
	})
}

// acceptsInVain accepts a question for whose call nobody waits any more, and waits until the person has heard that their yes was not used.
func (g *gate) acceptsInVain(number int) {
	g.t.Helper()
	open, err := g.people.Questions(g.t.Context())
	i := slices.IndexFunc(open, func(q api.OpenQuestion) bool { return q.Number == number })
	if err != nil || i < 0 {
		g.t.Fatalf("question %d is not among %+v, %v", number, open, err)
	}
	g.does("reply", strconv.Itoa(number), "accept", "--data", g.data)
	g.until("the reason", func(context.Context) error {
		if told := g.does("recap", "20", "--session", open[i].Session, "--data", g.data); !strings.Contains(told, "did not wait for it any more") {
			return errors.New(told)
		}
		return nil
	})
}
