package program_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/program"
)

func ExampleStartPiped() {
	p, err := program.StartPiped(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "read word; echo it read $word; echo and broke >&2; exit 3"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.End()
	_, _ = p.Stdin.WriteString("this\n")
	line, _ := bufio.NewReader(p.Stdout).ReadString('\n')
	how, last, _ := p.Ending(time.Minute)
	fmt.Printf("%s%s, and its last words were: %s\n", line, how, last)
	// Output:
	// it read this
	// exit status 3, and its last words were: and broke
}

// TestWithoutTerminal: whatever Earshot starts is in a session of its own, so it has no terminal to answer or to ask in.
func TestWithoutTerminal(t *testing.T) {
	t.Parallel()
	p, err := program.StartPiped(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "echo >/dev/tty && echo it has one; echo end; read word"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.End()
	if session, err := unix.Getsid(p.ID()); err != nil || session != p.ID() {
		t.Errorf("process %d is in the session %d, %v; expected one of its own", p.ID(), session, err)
	}
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || line != "end\n" {
		t.Errorf("it says %q, %v", line, err)
	}
}

// TestEnd: a program that ignores the end of its input and the first signal is ended all the same, with what it has started.
func TestEnd(t *testing.T) {
	t.Parallel()
	const stubborn = "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1000; done"
	p, err := program.StartPiped(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", stubborn}})
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(p.Stdout)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ended := p.Ending(0); ended {
		t.Error("it has ended by itself")
	}
	p.End()
	p.End()
	if how, _, ended := p.Ending(0); !ended || how != "signal: killed" {
		t.Errorf("it ended by %q, %v", how, ended)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(line) + "/fd/0"); err == nil {
		t.Errorf("its child %s is left", line)
	}
	if _, err := io.ReadAll(out); err == nil {
		t.Error("its output can still be read, expected it closed")
	}
}

// TestNotStarted: what cannot be started leaves nothing open.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	if _, err := program.StartPiped(&exec.Cmd{Path: "/nonexistent/program"}); !os.IsNotExist(err) {
		t.Errorf("found %v", err)
	}
}

// TestLastWords: the last words of a program that has ended are read to their end, also if somebody who left its group
// could still write.
func TestLastWords(t *testing.T) {
	t.Parallel()
	for range 50 {
		p, err := program.StartPiped(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "echo no key >&2; exit 3"}})
		if err != nil {
			t.Fatal(err)
		}
		if how, last, ended := p.Ending(time.Minute); how != "exit status 3" || last != "no key" || !ended {
			t.Errorf("it is %q, %q, %v", how, last, ended)
		}
		p.End()
	}
	p, err := program.StartPiped(&exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "setsid sh -c 'read wait' <&3 & echo gone >&2"}, ExtraFiles: []*os.File{held(t)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, last, ended := p.Ending(time.Minute); last != "gone" || !ended {
		t.Errorf("it is %q, %v", last, ended)
	}
	p.End()
}

// held is a pipe to read from, whose other end is closed with the test.
func held(t *testing.T) *os.File {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = read.Close(), write.Close() })
	return read
}
