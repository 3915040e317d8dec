package main_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestPublishEvents: with --publish-events an operator's credential hears what an agent does, with no argument and no
// folder of the person's in it. Without it, it hears nothing of agents.
func TestPublishEvents(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	watcher := bus.Principal{Kind: bus.Operator, Name: "watcher"}
	s.does(0, "credential", "add", "watcher", "--role", "operator")
	for n, flags := range [][]string{{"--publish-events"}, nil} {
		server := s.up(append([]string{"--nats-listen", "127.0.0.1:0"}, flags...)...)
		remote, err := s.comes(watcher)
		must(t, err)
		var mu sync.Mutex
		var all strings.Builder
		ended := make(chan struct{}, 8)
		_, err = remote.AgentEvents(t.Context(), func(_ context.Context, m bus.Message) {
			mu.Lock()
			defer mu.Unlock()
			all.WriteString(m.Subject + " " + string(m.Payload) + "\n")
			if strings.HasSuffix(m.Subject, ".evt.agent.tidy.task") {
				ended <- struct{}{}
			}
		})
		if err != nil && flags != nil {
			t.Fatal(err)
		}
		run := s.run("--json")
		s.awaitQuestion(n + 1)
		run.say("reject")
		run.ends(3)
		if flags == nil {
			mu.Lock()
			if all.Len() > 0 {
				t.Errorf("heard\n%s", all.String())
			}
			mu.Unlock()
			return
		}
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatal("the end of the turn is not heard")
		}
		mu.Lock()
		contains(t, all.String(), ".evt.agent.tidy.state ", `"status":"suspended"`, ".evt.agent.tidy.step ", `"phase":"executing"`)
		for line := range strings.Lines(all.String()) {
			if strings.Contains(line, ".evt.agent.") && strings.Contains(line, s.folder) {
				t.Errorf("an event tells an argument: %s", line)
			}
		}
		mu.Unlock()
		server.signal(os.Interrupt)
		server.ends(0)
	}
}
