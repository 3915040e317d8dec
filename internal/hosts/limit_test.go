package hosts_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

const completed = "Long running operation completed"

// TestLimit: a host that is told to wait for three seconds gives a call up after three seconds, progress or not, and
// tells its model so. With EARSHOT_SOAK=1 also how long hosts wait by themselves, which takes six minutes.
func TestLimit(t *testing.T) {
	testkit.Slow(t)
	programs := agenthost.Need(t)
	type limit struct {
		host      agenthost.Host
		told      time.Duration // zero: nothing
		operation time.Duration
		limit     time.Duration // zero: the host waits longer than the operation takes
	}
	var limits []limit
	for _, host := range headless {
		limits = append(limits, limit{host, 3 * time.Second, time.Minute, 3 * time.Second})
	}
	if os.Getenv("EARSHOT_SOAK") != "" {
		const operation = 6 * time.Minute
		limits = append(limits, limit{agenthost.Claude, 0, operation, 0}, limit{agenthost.Codex, 0, operation, 5 * time.Minute}, limit{agenthost.Gemini, 0, operation, 0})
	}
	for _, tt := range sampled(t, limits, func(l limit) string { return l.host.String() }) {
		t.Run(fmt.Sprintf("%s, told %v", tt.host, tt.told), func(t *testing.T) {
			if tt.told == 0 {
				t.Parallel()
			}
			said, took := longOperation(t, programs, tt.host, tt.operation, tt.told)
			if tt.limit == 0 && !strings.Contains(said, completed) {
				t.Errorf("found %q after %.1f s, expected the result", said, took.Seconds())
			}
			if tt.limit > 0 && (strings.Contains(said, completed) || took < tt.limit || took >= tt.operation) {
				t.Errorf("found %q after %.1f s, expected that the host gives up after %.0f s", said, took.Seconds(), tt.limit.Seconds())
			}
		})
	}
}

// longOperation has a host call a tool that takes long and reports progress every second. It returns what the host tells
// its model, and after how long.
func longOperation(t *testing.T, programs agenthost.Programs, host agenthost.Host, operation, limit time.Duration) (said string, took time.Duration) {
	t.Helper()
	seconds := int(operation.Seconds())
	model := fakemodel.Start(t, fakemodel.Script{
		{Call: []fakemodel.Call{{Tool: "everything/trigger-long-running-operation", Args: map[string]any{"duration": seconds, "steps": seconds}}}},
		{Say: "I see."},
	})
	process := agenthost.Start(t, agenthost.Prepare(t, programs, host, agenthost.Setup{
		Model: model.URL, Prompt: "Take your time.", Limit: limit,
		MCP: []agenthost.MCPServer{{Name: "everything", Command: programs.EverythingServer()}},
	}))
	ctx := process.Context(t.Context())
	if _, err := model.Request(ctx, 1); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := model.Request(ctx, 2); err != nil {
		t.Fatal(err)
	}
	took = time.Since(began)
	if out := process.Wait(t.Context()); out.Code != 0 || out.Text() != "I see." {
		t.Error(out)
	}
	results := model.Requests()[1].Results()
	if len(results) != 1 {
		t.Fatalf("found %d results, expected 1", len(results))
	}
	t.Logf("after %.1f s: %s", took.Seconds(), results[0].Text)
	return results[0].Text, took
}
