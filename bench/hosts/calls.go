package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// upstreamArgument makes this program the MCP server whose one tool is called.
const upstreamArgument = "upstream"

func upstream() error {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{
		Name: "echo", Description: "Say a word.", InputSchema: map[string]any{"type": "object", "properties": map[string]any{"word": map[string]any{"type": "string"}}},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "word"}}}, nil
	})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// way is one way to the tool, and how long each call took on it.
type way struct {
	name string
	call func(ctx context.Context) error
	took []time.Duration
}

// measureCalls measures a call of a tool that was reviewed as a read, on four ways in turns: the server alone, a call in this process of a
// tool that does nothing, through `earshot mcp serve`, and through /mcp.
func (s settings) measureCalls(binary, dir string) error {
	ctx := context.Background()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "calls")
	if out, err := exec.Command(binary, "mcp", "add", "bench", "--data", data, "--", self, upstreamArgument).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	empty := filepath.Join(dir, "none.yaml")
	if err := os.WriteFile(empty, settings{tools: 1}.file(), 0o600); err != nil {
		return err
	}
	one, err := up(binary, data, empty)
	if err != nil {
		return err
	}
	defer func() {
		_ = one.cmd.Process.Kill()
		_ = one.cmd.Wait() // it ends by the signal
	}()
	if err := review(binary, data); err != nil {
		return err
	}
	own, err := openProcess(ctx, filepath.Join(dir, "own"))
	if err != nil {
		return err
	}
	defer own.server.Close()
	ways := []*way{{name: "the server alone"}, {name: "a call in process", call: own.call}, {name: "earshot mcp serve"}, {name: "/mcp"}}
	for _, at := range []struct {
		way       *way
		tool      string
		transport mcp.Transport
	}{
		{ways[0], "echo", &mcp.CommandTransport{Command: exec.Command(self, upstreamArgument)}},
		{ways[2], "bench_echo", &mcp.CommandTransport{Command: exec.Command(binary, "mcp", "serve", "--data", data)}},
		{ways[3], "bench_echo", &mcp.StreamableClientTransport{Endpoint: "http://" + address + "/mcp", HTTPClient: &http.Client{Transport: bearer(one.token)}}},
	} {
		host, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, at.transport, nil)
		if err != nil {
			return err
		}
		defer func() { _ = host.Close() }() // what it has done is measured
		at.way.call = func(ctx context.Context) error { return callOf(ctx, host, at.tool) }
	}
	if err := s.inTurns(ctx, ways); err != nil {
		return err
	}
	for _, w := range ways {
		slices.Sort(w.took)
		fmt.Printf("%s: %d calls at %d a second, median %.2f ms, p99 %.2f ms\n", w.name, len(w.took), s.rate, at(w.took, 50), at(w.took, 99))
	}
	return nil
}

// inTurns makes the calls of all ways, one after the other at each tick.
func (s settings) inTurns(ctx context.Context, ways []*way) error {
	tick := time.NewTicker(time.Second / time.Duration(s.rate))
	defer tick.Stop()
	const warm = 10
	for n := range s.calls + warm {
		<-tick.C
		for i := range ways {
			w := ways[(n+i)%len(ways)] // none of them always comes first
			began := time.Now()
			if err := w.call(ctx); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if n >= warm {
				w.took = append(w.took, time.Since(began))
			}
		}
	}
	return nil
}

// callOf has a host call a tool.
func callOf(ctx context.Context, host *mcp.ClientSession, tool string) error {
	r, err := host.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"word": "word"}})
	if err == nil && r.IsError {
		err = errors.New("the call has failed")
	}
	return err
}

// at is a percentile, in milliseconds.
func at(took []time.Duration, percent int) float64 {
	return float64(took[min(len(took)-1, len(took)*percent/100)]) / float64(time.Millisecond)
}

// review accepts what is proposed for the server's tool.
func review(binary, data string) error {
	command := regexp.MustCompile(`earshot (tools review 'bench\.\*' --digest .*)`)
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		shown, err := exec.Command(binary, "tools", "review", "bench.*", "--data", data).CombinedOutput()
		if found := command.FindSubmatch(shown); found != nil {
			args := strings.Fields(strings.ReplaceAll(string(found[1]), "'", ""))
			if shown, err = exec.Command(binary, append(args, "--data", data)...).CombinedOutput(); err == nil {
				return nil
			}
		}
		if time.Since(began) > 10*time.Second {
			return fmt.Errorf("the tool is not reviewed: %w: %s", err, shown)
		}
	}
}

// bearer sends a token along.
type bearer string

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
