package announce_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

var update = flag.Bool("update", false, "write the announcements in testdata again")

// heard is one event of a captured stream and its number in its session.
type heard struct {
	event aaep.Event
	seq   int64
}

// capture reads a session as the program sent it.
func capture(tb testing.TB, name string) []heard {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "sessions", name, "events.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	var out []heard
	for line := range strings.Lines(string(raw)) {
		e, err := aaep.DecodeEvent([]byte(strings.TrimSpace(line)))
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		out = append(out, heard{e, int64(len(out) + 1)})
	}
	return out
}

// merged is several sessions that ran at the same time.
func merged(tb testing.TB, names ...string) []heard {
	tb.Helper()
	var out []heard
	for _, name := range names {
		out = append(out, capture(tb, name)...)
	}
	slices.SortStableFunc(out, func(x, y heard) int {
		if by := x.event.Time.Compare(y.event.Time); by != 0 {
			return by
		}
		return strings.Compare(x.event.SessionID, y.event.SessionID)
	})
	return out
}

// play lets time pass as the events do, so that warnings come when they are due.
func play(a *announce.Announcer, events []heard) []announce.Announcement {
	var out []announce.Announcement
	for _, h := range events {
		for due := a.Wake(); !due.IsZero() && due.Before(h.event.Time); due = a.Wake() {
			out = append(out, a.Tick(due)...)
		}
		out = append(out, hear(a, h.event, h.seq)...)
	}
	return out
}

func script(list []announce.Announcement) string {
	var out strings.Builder
	for _, n := range list {
		about := string(n.Kind)
		if n.Question > 0 {
			about = fmt.Sprintf("%s %d", about, n.Question)
		}
		text := strings.NewReplacer("\u2068", "[", "\u2069", "]").Replace(n.Text)
		fmt.Fprintf(&out, "%s #%d %s (%s, %s): %s\n", n.At.UTC().Format(time.TimeOnly), n.Seq, n.Priority, about, n.Language, text)
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("what is said differs from %s; look at it, then run with -update\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// TestSessions plays whole sessions and compares every announcement, in order. The same
// sessions are played to the terminal and to the page by the tests of those packages, which
// keep what they print and send beside it: terminal.txt and page.txt. Read the three together. The
// names that begin with run_ were recorded from `earshot run tidy --sample --json`, the
// others from the narrator's own scenarios.
func TestSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/sessions/*/events.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no captured sessions", err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := capture(t, name)
			all := play(announce.New(announce.Preferences{}), events)
			golden(t, "sessions/"+name+"/announcer.txt", script(all))
			judge(t, all)
			for _, h := range events {
				if critical(h.event) && !interrupted(all, all, h.event) {
					t.Errorf("nothing assertive came of %s %s", h.event.Type(), h.event.ID)
				}
			}
		})
	}
}

// TestListeners plays the same sessions to listeners who want something else, who come
// late, or who hear several at once.
func TestListeners(t *testing.T) {
	t.Parallel()
	at := func(h []heard, i int) time.Time { return h[i].event.Time.Add(-time.Nanosecond) }
	tests := map[string]func(*testing.T) []announce.Announcement{
		"terse": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{Verbosity: aaep.VerbosityTerse}), capture(t, "run_accept"))
		},
		"detailed": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{Verbosity: aaep.VerbosityDetailed}), capture(t, "run_accept"))
		},
		"own answers": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{Person: "anna"}), capture(t, "run_undo"))
		},
		"own answers shown only": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{Person: "anna", Echo: announce.EchoNone}), capture(t, "run_reject"))
		},
		"in another zone": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{Zone: time.FixedZone("", 12*3600)}), capture(t, "run_reject"))
		},
		"joined while a question is open": func(t *testing.T) []announce.Announcement {
			events := capture(t, "run_accept")
			return play(announce.New(announce.Preferences{Since: at(events, 12)}), events)
		},
		"joined while the tool runs": func(t *testing.T) []announce.Announcement {
			events := capture(t, "unknown_then_leave")
			return play(announce.New(announce.Preferences{Since: at(events, 7)}), events)
		},
		"joined after the end": func(t *testing.T) []announce.Announcement {
			events := capture(t, "run_reject")
			a := announce.New(announce.Preferences{Since: events[len(events)-1].event.Time.Add(time.Minute)})
			return append(play(a, events), a.Tick(a.Wake())...)
		},
		"joined after an unknown fate": func(t *testing.T) []announce.Announcement {
			events := capture(t, "unknown_then_leave")
			return play(announce.New(announce.Preferences{Since: at(events, 10)}), events)
		},
		"resumed": func(t *testing.T) []announce.Announcement {
			events := capture(t, "run_undo")
			a := announce.New(announce.Preferences{})
			out := play(a, events[:8])
			a.Resume(at(events, 16))
			return append(out, play(a, events[5:])...) // some come twice
		},
		"resumed with a question open": func(t *testing.T) []announce.Announcement {
			events := capture(t, "two_questions_at_once")[:9]
			a := announce.New(announce.Preferences{})
			out := play(a, events[:5])
			a.Resume(events[8].event.Time.Add(time.Second))
			out = append(out, play(a, events)...)
			return append(out, a.Tick(a.Wake())...) // question 1 was put before, and is not again
		},
		"two sessions at once": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{}), merged(t, "pair_first", "pair_second"))
		},
		"two sessions joined late": func(t *testing.T) []announce.Announcement {
			events := merged(t, "pair_first", "pair_second")
			return play(announce.New(announce.Preferences{Since: events[0].event.Time.Add(4 * time.Second)}), events)
		},
		"two sessions joined at the end": func(t *testing.T) []announce.Announcement {
			events := merged(t, "pair_first", "pair_second")
			a := announce.New(announce.Preferences{Since: events[len(events)-1].event.Time.Add(time.Minute)})
			return append(play(a, events), a.Tick(a.Wake())...)
		},
		"one question at a time": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{OneQuestion: true}), capture(t, "two_questions_at_once"))
		},
		"two sessions one question": func(t *testing.T) []announce.Announcement {
			return play(announce.New(announce.Preferences{OneQuestion: true}), merged(t, "pair_first", "pair_second"))
		},
		"warned": func(t *testing.T) []announce.Announcement {
			a := announce.New(announce.Preferences{Verbosity: aaep.VerbosityTerse})
			out := play(a, capture(t, "two_questions_at_once")[:5])
			for due := a.Wake(); !due.IsZero(); due = a.Wake() {
				out = append(out, a.Tick(due)...)
			}
			return out
		},
	}
	for name, hear := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, "listener_"+strings.ReplaceAll(name, " ", "_")+".golden", script(hear(t)))
		})
	}
}
