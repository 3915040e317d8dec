// Command hosts measures what hosts of the Model Context Protocol cost that are connected to `earshot up` by its address and do
// nothing: each has opened a session and listed the tools.
//
//	go run ./hosts -hosts 200 -tools 50 -settle 30s
//	go run ./hosts -calls 300 -rate 10
//
// With -calls it measures instead what a call costs of a tool that nobody is asked about: of an MCP server alone, of the same through
// `earshot mcp serve`, and through /mcp, and beside them a call in this process of a tool that does nothing, all in turns in one run.
//
// It starts the built binary three times: without a host, with idle ones, and with ones that also keep the stream open on which
// they would hear of other tools. Resident memory is the kernel's figure. Goroutines are counted in the stack traces that the
// process writes when it is killed for them, so each figure is of a process of its own.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/bench"
)

const address = "127.0.0.1:17411"

type settings struct {
	hosts, tools int
	settle       time.Duration
	calls, rate  int
}

func main() {
	var s settings
	flag.IntVar(&s.hosts, "hosts", 200, "how many hosts")
	flag.IntVar(&s.tools, "tools", 50, "how many tools there are")
	flag.DurationVar(&s.settle, "settle", 30*time.Second, "how long they do nothing before it is measured")
	flag.IntVar(&s.calls, "calls", 0, "how many calls to measure, instead of idle hosts")
	flag.IntVar(&s.rate, "rate", 10, "how many calls a second there are on each way")
	flag.Parse()
	if flag.Arg(0) == upstreamArgument {
		if err := upstream(); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := measure(s); err != nil {
		log.Fatal(err)
	}
}

func measure(s settings) error {
	dir, err := os.MkdirTemp("", "earshot-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := bench.Binary(dir)
	if err != nil {
		return err
	}
	if s.calls > 0 {
		return s.measureCalls(binary, dir)
	}
	tools := filepath.Join(dir, "tools.yaml")
	if err := os.WriteFile(tools, s.file(), 0o600); err != nil {
		return err
	}
	for _, run := range []struct {
		name    string
		hosts   int
		streams bool
	}{
		{"no host", 0, false}, {"idle", s.hosts, false}, {"idle, with a stream each", s.hosts, true},
	} {
		one, err := up(binary, filepath.Join(dir, strings.ReplaceAll(run.name, " ", "-")), tools)
		if err != nil {
			return err
		}
		for range run.hosts {
			if err := one.join(run.streams); err != nil {
				return errors.Join(err, one.cmd.Process.Kill())
			}
		}
		http.DefaultClient.CloseIdleConnections()
		time.Sleep(s.settle)
		memory := one.resident()
		goroutines, err := one.goroutines()
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d hosts, resident memory %s, %d goroutines\n", run.name, run.hosts, memory, goroutines)
	}
	return nil
}

// file has so many tools.
func (s settings) file() []byte {
	var b bytes.Buffer
	b.WriteString("command:\n  target: box\n  operations:\n")
	for n := range s.tools {
		fmt.Fprintf(&b, `    - tool: box.tool%d
      description: Do the one thing that the tool of number %d does, with a text of moderate length about it.
      class: read
      program: /usr/bin/true
      argv: ["{line}", "{note}"]
      parameters: {type: object, properties: {line: {type: string, description: A line.}, note: {type: string, description: What it is about.}}, required: [line, note]}
`, n, n)
	}
	return b.Bytes()
}

// program is one running `earshot up`, with an agent's token.
type program struct {
	cmd   *exec.Cmd
	said  bytes.Buffer
	token string
}

func up(binary, data, tools string) (*program, error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	s := &program{cmd: exec.Command(binary, "up", "--data", data, "--http", address, "--tools", tools)}
	s.cmd.Stderr, s.cmd.Env = &s.said, append(os.Environ(), "GOTRACEBACK=all")
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		r, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			_ = r.Body.Close()
			break
		}
		if time.Since(began) > 10*time.Second {
			return nil, errors.Join(err, s.cmd.Process.Kill())
		}
	}
	token, err := exec.Command(binary, "token", "add", "bench", "--role", "agent", "--data", data).Output()
	s.token = strings.TrimSpace(string(token))
	return s, err
}

// join has one more host connect.
func (s *program) join(stream bool) error {
	opened, err := s.send(http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	if err != nil {
		return err
	}
	session := opened.Header.Get("Mcp-Session-Id")
	if err := done(opened); err != nil {
		return err
	}
	for _, message := range []string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`} {
		answer, err := s.send(http.MethodPost, session, message)
		if err == nil {
			err = done(answer)
		}
		if err != nil {
			return err
		}
	}
	if !stream {
		return nil
	}
	answer, err := s.send(http.MethodGet, session, "") // it stays open for as long as this process
	if err == nil {
		_, err = bufio.NewReader(answer.Body).ReadString('\n')
	}
	return err
}

func (s *program) send(method, session, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+address+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + s.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2025-06-18", "Mcp-Session-Id": session,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("%s: %s", answer.Status, text)
	}
	return answer, err
}

func done(answer *http.Response) error {
	_, err := io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

func (s *program) resident() string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(raw)) {
		if rest, is := strings.CutPrefix(line, "VmRSS:"); is {
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	return ""
}

// goroutines ends the server and counts what it was at.
func (s *program) goroutines() (int, error) {
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return 0, err
	}
	_ = s.cmd.Wait() // it ends by the signal
	n := 0
	for line := range bytes.Lines(s.said.Bytes()) {
		if bytes.HasPrefix(line, []byte("goroutine ")) {
			n++
		}
	}
	return n, nil
}
