package terminal_test

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// TestHeldLinesAreBounded shows what is said about lines that were too many to hold.
func TestHeldLinesAreBounded(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	machine := terminal.New(terminal.Settings{})
	machine.Event(now, question().Event)

	for i := range 1005 {
		machine.Event(now, delivered("t"+strconv.Itoa(i), aaep.OutputStreaming{Chunk: "number " + strconv.Itoa(i), OutputID: strconv.Itoa(i), Complete: true}).Event)
	}

	text := printed(machine.Close(now))
	lines := strings.Split(text, "\n")

	if len(lines) != 1001 || lines[0] != "5 earlier lines left out." || lines[1] != "Output: number 5" || lines[1000] != "Output: number 1004" {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[:2], lines[len(lines)-1])
	}
}

// TestNewsStaysInOrder shows that what came while a line was typed is printed before what comes after it: where it has become too
// much to wait, and where nobody has typed on for a while.
func TestNewsStaysInOrder(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		lines int
		pause time.Duration
	}{"too much": {1003, 0}, "a pause": {3, time.Hour}} {
		now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
		machine := terminal.New(terminal.Settings{Keys: true})

		var out []terminal.Effect

		out = append(out, machine.Keys(now, []byte("st"))...)

		for i := range test.lines {
			if i == test.lines-1 {
				now = now.Add(test.pause)
			}

			e := delivered("t"+strconv.Itoa(i), aaep.OutputStreaming{Chunk: strconv.Itoa(i), OutputID: strconv.Itoa(i), Complete: true}).Event
			e.Time = now
			out = append(out, machine.Event(now, e)...)
		}

		out = append(out, machine.Close(now)...)

		var want []string
		for i := range test.lines {
			want = append(want, "Output: "+strconv.Itoa(i))
		}

		if got := printed(out); got != strings.Join(want, "\n") {
			t.Errorf("%s: the order is %.300q", name, got)
		}
	}
}

// TestRepeatsAreForgotten shows that the memory for repeats is bounded (C-43).
func TestRepeatsAreForgotten(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	machine := terminal.New(terminal.Settings{})
	first := delivered("0", aaep.HandoffRequested{SummaryNormal: "First."}).Event

	for i := range 4097 {
		again := first
		again.ID = "evt_" + strconv.Itoa(i)
		machine.Event(now, again)
	}

	now = now.Add(time.Minute) // the same words are not said twice in a moment
	first.Time = now

	if text := printed(machine.Event(now, first)); text != "Hand-off: First." {
		t.Errorf("an event of long ago: %q", text)
	}

	if text := printed(machine.Event(now, first)); text != "" {
		t.Errorf("a repeat: %q", text)
	}
}

func printed(effects []terminal.Effect) string {
	var lines []string

	for _, effect := range effects {
		if p, ok := effect.(terminal.Print); ok {
			lines = append(lines, p.Lines...)
		}
	}

	return strings.Join(lines, "\n")
}

// TestRunCarriesEveryRequest sends each request once through the shell, on a
// narrowing terminal.
func TestRunCarriesEveryRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, out := newPort(), newScreen()
		in, typed := io.Pipe()
		width := 80
		done := running(t.Context(), terminal.Options{
			In: in, Out: out, FlushInput: func() {}, Width: func() int { return width },
			Zone: time.FixedZone("east", 3600),
		}, p)
		p.events <- question()
		synctest.Wait()

		width = 30

		for _, line := range []string{"more time", "list", "accept", "undo", "stop"} {
			write(t, typed, line+"\n")
			synctest.Wait()
		}

		if want := "extend rpl_1; page 1; answer 1 rpl_1 accept; undo; stop"; p.heard() != want {
			t.Errorf("heard %q, want %q", p.heard(), want)
		}

		for _, want := range []string{"in 1 minute. Without an answer it is not done.\n", "1. a.txt, 3 bytes\n", "Recorded: question 1 has more\n  time.\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the screen lacks %q:\n%s", want, out)
			}
		}
		close(p.events)

		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}

		closeAll(t, typed, in)
	})
}

// TestRunCannotEncode shows what happens to an event without its text that cannot
// be written as JSON either.
func TestRunCannotEncode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPort()
		done := running(t.Context(), terminal.Options{Out: io.Discard, JSON: io.Discard}, p)
		p.events <- delivered("", aaep.ToolInvoked{})

		if err := <-done; err == nil || !strings.Contains(err.Error(), "writing event") {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestRunCancelledWhileWaiting ends the wait for a last result.
func TestRunCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPort()
		p.answer = func(ctx context.Context, _ terminal.Answer) error {
			<-ctx.Done()

			return ctx.Err()
		}
		done := running(ctx, terminal.Options{In: strings.NewReader("accept\n"), Out: io.Discard}, p)
		p.events <- question()
		synctest.Wait()
		close(p.events)
		synctest.Wait()
		cancel()

		if err := <-done; err == nil {
			t.Error("Run ended without its cause")
		}
	})
}
