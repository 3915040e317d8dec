package main_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

var playingAt = regexp.MustCompile(`http://(\S+)/events`)

// plays starts `earshot replay` and returns where.
func plays(t *testing.T, args ...string) (*process, string) {
	t.Helper()
	return playing(t, options{exact: append([]string{"replay"}, args...), nobody: true})
}

// playsApart is plays in a process of its own: the test kills it.
func playsApart(t *testing.T, args ...string) (*process, string) {
	t.Helper()
	return playing(t, options{exact: append([]string{"replay"}, args...), nobody: true, process: true})
}

func playing(t *testing.T, o options) (*process, string) {
	t.Helper()
	p := start(t, o)
	p.hears("Ctrl-C ends it.")
	return p, playingAt.FindStringSubmatch(p.out.String())[1]
}

func recording(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "{\"event_id\":\"evt_%d\", \"n\":%d}\n", i+1, i+1)
	}
	return all.String()
}

// TestCaptureReplay: what was played is what is recorded, byte for byte, over each
// transport.
func TestCaptureReplay(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	text := recording(20_000) // more than one that is let go early would have heard
	p, at := plays(t, "--http", "127.0.0.1:0", "--speed", "max", file(t, text))
	for _, address := range []string{"http://" + at + "/events", "ws://" + at + "/ws"} {
		c := plain(t, "capture", address)
		c.ends(0)
		if c.out.String() != text {
			t.Errorf("%s: recorded %d messages: %.200q", address, strings.Count(c.out.String(), "\n"), c.out)
		}
	}
	for _, address := range []string{"http://" + at, "ws://" + at + "/aaep/v1/ws"} {
		c := plain(t, "capture", address)
		c.ends(0)
		accepted, rest, _ := strings.Cut(c.out.String(), "\n")
		if rest != text || !strings.Contains(accepted, "subscription.accepted") || !strings.Contains(accepted, `{"observe_questions":true}`) {
			t.Errorf("%s: after a handshake: %.200q", address, c.out)
		}
	}
	few := filepath.Join(t.TempDir(), "few")
	plain(t, "capture", "http://"+at+"/events", "--events", "3", "--out", few).ends(0)
	plain(t, "capture", "http://"+at+"/events", "--events", "1", "--out", few).ends(0)
	if raw, err := os.ReadFile(few); err != nil || string(raw) != recording(3)+recording(1) {
		t.Errorf("added to a file: %q, %v", raw, err)
	}
	p.signal(syscall.SIGINT)
	p.ends(0)
}

// TestCaptureReturns: the producer is killed in the middle and started again. What is
// recorded has every message once.
func TestCaptureReturns(t *testing.T) {
	t.Parallel()
	name := file(t, strings.ReplaceAll(recording(3), "{", `{"timestamp":"2026-05-01T10:00:00Z",`)+
		strings.ReplaceAll(strings.ReplaceAll(recording(6), "{", `{"timestamp":"2026-05-01T11:00:00Z",`), "evt_", "evt_2"))
	first, at := playsApart(t, "--http", "127.0.0.1:0", name) // the second half is an hour away
	c := plain(t, "capture", "http://"+at+"/events")
	c.hears("evt_3")
	first.kill()
	first.ends(-int(syscall.SIGKILL))
	c.await("Trying again")
	plays(t, "--http", at, "--speed", "max", name)
	c.ends(0)
	want, err := os.ReadFile(name)
	must(t, err)
	if c.out.String() != string(want) {
		t.Errorf("recorded\n%s\nexpected\n%s", c.out, want)
	}
	for _, says := range []string{"There is no connection", "There is a connection.", "9 messages recorded."} {
		if !strings.Contains(c.prompt.String(), says) {
			t.Errorf("standard error lacks %q: %s", says, c.prompt)
		}
	}
}

// TestCaptureLost: a WebSocket that breaks off and goes on elsewhere has lost messages, and so has a capture
// that ends while there is no connection. What is recorded is kept, and the exit code tells.
func TestCaptureLost(t *testing.T) {
	t.Parallel()
	later := strings.ReplaceAll(recording(2), "evt_", "evt_9")
	name := file(t, strings.ReplaceAll(recording(3), "{", `{"timestamp":"2026-05-01T10:00:00Z",`)+`{"event_id":"evt_4","timestamp":"2026-05-01T11:00:00Z"}`+"\n")
	first, at := playsApart(t, "--http", "127.0.0.1:0", name) // the last one is an hour away
	c := plain(t, "capture", "ws://"+at+"/ws")
	alone := plain(t, "capture", "http://"+at+"/events", "--patience", "10m")
	c.hears("evt_3")
	alone.hears("evt_3")
	first.kill()
	first.ends(-int(syscall.SIGKILL))
	c.await("Trying again")
	alone.await("Trying again")
	alone.signal(syscall.SIGINT)
	alone.ends(1)
	oneComplaint(t, behind(alone.prompt.String(), "recorded."), "there was no connection at the end", "record again")
	plays(t, "--http", at, "--speed", "max", file(t, later))
	c.ends(1)
	if text := c.out.String(); strings.Count(text, "\n") != 5 || !strings.HasSuffix(text, later) {
		t.Errorf("recorded %q", text)
	}
	for _, says := range []string{"Messages may be missing before message 4 of this recording.", "5 messages recorded.", "error: messages may be missing: the connection to " + at + " was lost"} {
		if !strings.Contains(c.prompt.String(), says) {
			t.Errorf("standard error lacks %q: %s", says, c.prompt)
		}
	}
}

// behind is what stands behind a word.
func behind(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	return strings.TrimLeft(rest, "\n")
}

// TestReplayOnce: it ends when a listener has heard everything; standard input is played
// too, and what is broken in it is left out aloud.
func TestReplayOnce(t *testing.T) {
	t.Parallel()
	p := start(t, options{exact: []string{"replay", "--once", "--speed", "max", "--http", "127.0.0.1:0"}})
	_, err := io.WriteString(p.input, "{\"cut\": \"o\n"+recording(2))
	must(t, err)
	p.closeInput()
	p.hears("All is played: 2 messages.")
	c := plain(t, "capture", "http://"+playingAt.FindStringSubmatch(p.out.String())[1]+"/events")
	c.ends(0)
	p.ends(0)
	if c.out.String() != recording(2) || !strings.Contains(p.prompt.String(), "left out: -: line 1, byte 10") {
		t.Errorf("recorded %q; said %s", c.out, p.prompt)
	}
}

func TestCaptureBadArguments(t *testing.T) {
	t.Parallel()
	held, at := plays(t, "--http", "127.0.0.1:0", file(t, recording(1)))
	defer held.signal(syscall.SIGINT)
	for _, row := range []struct {
		args       string
		code       int
		says, hint string
	}{
		{"capture", 2, "expected one argument, the address of a stream", "--help"},
		{"capture events", 2, "is not the address of a stream", "http://"},
		{"capture ftp://localhost/x", 2, `begins with "ftp"`, "address"},
		{"capture http://" + at + "/nowhere", 1, `answers "404 Not Found"`, "address"},
		{"capture http://192.0.2.1/x --token-file /dev/null/no", 2, "token cannot be read", "file"},
		{"capture http://" + at + "/events --out /dev/null/no", 2, "cannot be written", "rights"},
		{"replay /dev/null/no", 2, "cannot be read", "rights"},
		{"replay --speed fast x", 2, `--speed is "fast"`, "max"},
		{"replay --http 0.0.0.0:0 /dev/null", 2, "which others can reach", "127.0.0.1"},
		{"replay --http here /dev/null", 2, `--http "here" is not an address with a port`, "127.0.0.1"},
		{"replay --http " + at + " /dev/null", 2, "cannot be listened at", "another port"},
	} {
		p := plain(t, strings.Fields(row.args)...)
		p.ends(row.code)
		oneComplaint(t, p.prompt.String(), row.says, row.hint)
	}
}
