package web_test

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// sessions are the recorded sessions that every surface is held against; beside the events of each stands
// what the bare announcer says (announcer.txt) and what a terminal prints (terminal.txt).
var sessions = filepath.Join("..", "..", "..", "aaep", "announce", "testdata", "sessions")

// TestSessionsOnThePage plays the recorded sessions to a page and compares what it says ("assertive" and
// "polite") and what it shows beside that: a "line" of what happened, "answer" text, "progress".
func TestSessionsOnThePage(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sessions, "*", "events.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			got := pageOf(t, file)
			golden := filepath.Join(filepath.Dir(file), "page.txt")
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
				t.Errorf("the page differs from %s (-update rewrites it):\n%s", golden, got)
			}
		})
	}
}

// pageOf is what a page that shows a session gets of it, live.
func pageOf(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var events []aaep.Event
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for _, line := range lines {
		e, err := aaep.DecodeEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	var out strings.Builder
	bubble(t, func(t *testing.T) {
		later := events[0].Time.Sub(noon) // the bubble's clock begins long before
		now := func() time.Time { return time.Now().Add(later) }
		s := newScene(t, func(o *web.Options) { o.Now = now })
		s.room.sessions = append(s.room.sessions, api.Session{ID: events[0].SessionID, Turn: "turn_1", Agent: "tidy", Owner: "anna", Status: "running", Created: events[0].Time})
		s.login("anna")
		r := s.stream("/page/events?session="+events[0].SessionID+"&from=0&after=evt_none", "@anna")
		defer r.close()
		r.frames(t)
		for i, e := range events {
			if wait := e.Time.Sub(now()); wait > 0 {
				<-time.After(wait)
			}
			s.room.change(func() {
				s.room.sessions[0].Last++
				s.room.log = append(s.room.log, entry{e.SessionID, s.room.sessions[0].Last, e.ID, []byte(lines[i])})
			})
			for _, f := range r.frames(t) {
				f.write(&out)
			}
		}
	})
	return out.String()
}

var markup = regexp.MustCompile("<[^>]*>")

// write writes a frame as a reader gets it.
func (f got) write(out *strings.Builder) {
	line := func(what, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(out, "%s: %s\n", what, strings.NewReplacer("\u2068", "[", "\u2069", "]", "\n", "\n  ").Replace(text))
		}
	}
	switch f.event {
	case "earshot.announce":
		line(f.data.Priority, f.data.Text)
	case "earshot.steps":
		for _, step := range strings.SplitAfter(f.data.HTML, "</li>") {
			line("line", html.UnescapeString(markup.ReplaceAllString(step, "")))
		}
		line("progress", f.data.Progress)
		for _, o := range f.data.Outputs {
			line("answer", o.Text)
		}
	}
}
