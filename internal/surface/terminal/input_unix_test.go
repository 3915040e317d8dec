//go:build unix

package terminal_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// TestTypedAheadIsThrownAway types an accept before the question is there, in
// whole and in part, on a real pseudo-terminal.
func TestTypedAheadIsThrownAway(t *testing.T) {
	t.Parallel()

	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}

	defer closeAll(t, master, slave)

	// A flush that comes between typing and reading, as on a busy machine, is made
	// by typing inside of it: what the terminal held then is what must be gone.
	flush := func() {
		write(t, master, "accept\nacc")
		waitTyped(t, slave)

		terminal.FlushTerminal(slave)
	}

	p, out := newPort(), newScreen()
	done := running(t.Context(), terminal.Options{In: slave, Out: out, FlushInput: flush}, p)
	p.events <- question()

	out.waitFor(t, "press Enter.")
	write(t, master, "reject\n")
	out.waitFor(t, "Recorded: question 1 is rejected.")
	close(p.events)

	if err := <-done; err != nil || p.heard() != "answer 1 rpl_1 reject" {
		t.Errorf("Run: %v, heard %q\n%s", err, p.heard(), out)
	}
}

// waitTyped returns when the terminal has a line to give.
func waitTyped(t *testing.T, slave *os.File) {
	t.Helper()

	fds := []unix.PollFd{{Fd: int32(slave.Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(fds, 10_000); n != 1 || err != nil {
		t.Errorf("nothing was typed: %d, %v", n, err)
	}
}

// TestRunLeavesAnOpenFile shows that a standard input which never says anything
// holds nothing back: the goroutine that reads it is gone when Run returns, and
// what is written later is still there.
func TestRunLeavesAnOpenFile(t *testing.T) {
	t.Parallel()

	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}

	defer closeAll(t, typed, in)

	p, out := newPort(), newScreen()
	ctx, cancel := context.WithCancel(t.Context())
	done := running(ctx, terminal.Options{In: in, Out: out}, p)
	p.events <- started()

	out.waitFor(t, "Started")
	cancel()

	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}

	write(t, typed, "later\n")

	rest := make([]byte, 16)
	if n, err := in.Read(rest); err != nil || string(rest[:n]) != "later\n" {
		t.Errorf("read %q, %v", rest[:n], err)
	}
}

// TestLinesOfAFile shows what becomes of lines that are long or have no end.
func TestLinesOfAFile(t *testing.T) {
	t.Parallel()

	name := t.TempDir() + "/lines"
	text := strings.Repeat("x", 10_000) + "\nhelp\r\nreject"

	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}

	defer closeAll(t, in)

	p, out := newPort(), newScreen()
	done := running(t.Context(), terminal.Options{In: in, Out: out}, p)
	p.events <- question()

	out.waitFor(t, "Recorded: question 1 is rejected.")
	close(p.events)

	if err := <-done; err != nil || p.heard() != "answer 1 rpl_1 reject" {
		t.Errorf("Run: %v, heard %q\n%s", err, p.heard(), out)
	}

	for _, want := range []string{"Not understood: " + strings.Repeat("x", 60) + "….", "Words about a question: accept"} {
		if !strings.Contains(strings.ReplaceAll(out.String(), "\n  ", " "), want) {
			t.Errorf("the screen lacks %q:\n%s", want, out)
		}
	}
}

// TestNewsNeverLandsInALine types on a real pseudo-terminal: every key is shown once, news waits for the
// end of the line, what is urgent comes below it, and the terminal is afterwards as it was before.
func TestNewsNeverLandsInALine(t *testing.T) {
	t.Parallel()

	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}

	defer closeAll(t, master, slave)

	before := mode(t, slave)
	taken := make(chan struct{})
	p, out := newPort(), newScreen()
	done := running(t.Context(), terminal.Options{In: slave, Out: out, FlushInput: func() { terminal.FlushTerminal(slave) }, RawKeys: func() (func(), error) {
		defer close(taken)

		return terminal.RawKeys(slave)
	}}, p)

	<-taken
	write(t, master, "slX")
	out.waitFor(t, "slX")
	p.events <- started()
	p.events <- delivered("f", aaep.ToolCompleted{Tool: "t", Status: aaep.ToolError, SummaryNormal: "It broke."})
	out.waitFor(t, "It broke.\nslX")
	write(t, master, "\x7fower\n")
	out.waitFor(t, "Work begins.\n")
	close(p.events)

	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}

	const want = "slX\nResult (failed): It broke.\nslX\b \bower\n" +
		"Slower: fewer single steps; the others are summed up.\nStarted: Work begins.\n"
	if got := out.String(); got != want {
		t.Errorf("the screen has\n%q, want\n%q", got, want)
	}

	if after := mode(t, slave); !reflect.DeepEqual(after, before) {
		t.Errorf("the terminal is not as before: %+v, %+v", after, before)
	}
}

// mode is how a terminal works.
func mode(t *testing.T, terminal *os.File) *term.State {
	t.Helper()

	now, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		t.Fatal(err)
	}

	return now
}
