package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// sessions are the recorded sessions that every surface is held against; beside the events of each stands
// what the bare announcer says (announcer.txt) and what the page gets (page.txt).
var sessions = filepath.Join("..", "..", "..", "aaep", "announce", "testdata", "sessions")

// TestSessions plays the recorded sessions on a terminal and compares the screen: "|" is narration, "?" the
// prompt.
func TestSessions(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob(filepath.Join(sessions, "*", "events.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}

	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()

			got := screenOf(t, file)
			golden := filepath.Join(filepath.Dir(file), "terminal.txt")

			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}

			if got != string(want) {
				t.Errorf("the screen differs from %s (-update rewrites it):\n%s", golden, got)
			}
		})
	}
}

func screenOf(t *testing.T, file string) string {
	t.Helper()

	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	p := &player{t: t, width: 80, terminal: terminal.New(terminal.Settings{Width: 80, Zone: time.UTC, Person: "anna", Typed: true})}

	for line := range strings.Lines(string(raw)) {
		e, err := aaep.DecodeEvent([]byte(strings.TrimSpace(line)))
		if err != nil {
			t.Fatal(err)
		}

		if !p.now.IsZero() && e.Time.After(p.now) {
			p.wait(e.Time.Sub(p.now).String())
		}

		p.now = e.Time
		p.show(p.terminal.Event(p.now, e))
	}

	p.show(p.terminal.Close(p.now))

	return strings.ReplaceAll(p.out.String(), "  ! flush\n", "")
}
