// Command up measures `earshot up` from outside: how soon it answers its first request,
// what it costs while nothing happens, and how long a person waits for it. It uses the
// built binary, a fresh ledger, and the same HTTP that a page and a program use.
//
//	go run ./up -starts 15 -idle 40s -turns 100
//
// With -page (the default) it opens the page in Chromium as well, and measures when each
// announcement stands in a live region there.
//
// Latencies are read on one machine's clock: an event's own timestamp, which the kernel sets
// before it commits (to the millisecond), against its arrival on a subscriber's stream.
package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/bench"
)

// settling is how long a server needs until it looks for work as rarely as it ever does.
const settling = 20 * time.Second

const address = "127.0.0.1:17411"

type settings struct {
	starts, turns int
	idle          time.Duration
	page          bool
}

func main() {
	var s settings
	flag.IntVar(&s.starts, "starts", 15, "how many starts; the median counts")
	flag.DurationVar(&s.idle, "idle", 40*time.Second, "how long to watch it do nothing")
	flag.IntVar(&s.turns, "turns", 100, "how many turns to ask and answer in")
	flag.BoolVar(&s.page, "page", true, "measure the page too, in Chromium")
	flag.Parse()
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
	var starts []time.Duration
	for n := range s.starts {
		took, err := start(binary, filepath.Join(dir, "start"+strconv.Itoa(n)))
		if err != nil {
			return err
		}
		starts = append(starts, took)
	}
	report("start to first answered request", starts)
	if err := steady(s, binary, dir); err != nil || !s.page {
		return err
	}
	return onPage(s, binary, filepath.Join(dir, "page"))
}

// server is one running `earshot up`.
type server struct {
	cmd   *exec.Cmd
	root  string
	token string
}

func up(binary, dir string) (*server, error) {
	s := &server{root: filepath.Join(dir, "files")}
	data := filepath.Join(dir, "data")
	if err := errors.Join(os.MkdirAll(s.root, 0o755), os.MkdirAll(data, 0o700)); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(binary, "up", "--root", s.root, "--data", data, "--http", address)
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		r, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			_ = r.Body.Close()
			break
		}
		if time.Since(began) > 10*time.Second {
			return nil, errors.Join(err, s.cmd.Process.Kill())
		}
	}
	raw, err := exec.Command(binary, "token", "add", "bench-"+rand.Text(), "--role", "approver,operator", "--data", data).Output()
	s.token = strings.TrimSpace(string(raw))
	return s, err
}

func (s *server) end() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = s.cmd.Wait() // it ends by the signal
	return nil
}

func start(binary, dir string) (time.Duration, error) {
	began := time.Now()
	s, err := up(binary, dir)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	return took, s.end()
}

// steady measures one server: idle, then at work.
func steady(o settings, binary, dir string) error {
	s, err := up(binary, filepath.Join(dir, "steady"))
	if err != nil {
		return err
	}
	defer s.end() //nolint:errcheck // The measurement is over.
	time.Sleep(settling)
	before := s.switches()
	time.Sleep(o.idle)
	fmt.Printf("idle: resident memory %s, %.1f wake-ups a second\n", s.resident(), float64(s.switches()-before)/o.idle.Seconds())
	if err := s.work(o.turns); err != nil {
		return err
	}
	fmt.Printf("after %d turns: resident memory %s\n", o.turns, s.resident())
	return nil
}

func (s *server) resident() string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	return field(raw, "VmRSS:")
}

// switches counts how often any thread of it has given the processor up by itself: each is
// a wake-up later.
func (s *server) switches() (n int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", s.cmd.Process.Pid))
	for _, task := range tasks {
		raw, _ := os.ReadFile(task)
		count, _ := strconv.Atoi(field(raw, "voluntary_ctxt_switches:"))
		n += count
	}
	return n
}

func field(status []byte, name string) string {
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, name); is {
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	return ""
}

// heard is an event and when it arrived.
type heard struct {
	Type       string    `json:"type"`
	Session    string    `json:"session_id"`
	Timestamp  time.Time `json:"timestamp"`
	Token      string    `json:"reply_token"`
	ToState    string    `json:"to_state"`
	Tool       string    `json:"tool"`
	Extensions struct {
		Earshot struct {
			Question   int    `json:"question"`
			Resolution string `json:"resolution"`
		} `json:"earshot"`
	} `json:"extensions"`
	at time.Time
}

// work asks and answers: each turn finds two equal files and asks to move one to the trash,
// which has no undo time, so that the way from the answer to the start is all there is.
func (s *server) work(turns int) error {
	events, err := s.subscribe()
	if err != nil {
		return err
	}
	var all times
	for range turns {
		one, err := s.turn(events)
		if err != nil {
			return err
		}
		all.delivery, all.recorded, all.started = append(all.delivery, one.delivery...), append(all.recorded, one.recorded...), append(all.started, one.started...)
	}
	report("event committed to heard on a stream", all.delivery)
	report("answer sent to recorded", all.recorded)
	report("answer sent to the tool told as invoked", all.started)
	return nil
}

// times are how long parts of a turn took.
type times struct{ delivery, recorded, started []time.Duration }

// turn plays one turn to its end.
func (s *server) turn(events <-chan heard) (took times, err error) {
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(s.root, name), []byte("the same"), 0o600); err != nil {
			return took, err
		}
	}
	if err := s.post("/api/v1/turns", map[string]any{"agent": "tidy", "args": map[string]any{"root": s.root, "trash": true}}, nil); err != nil {
		return took, err
	}
	var answered time.Time
	for {
		e, open := <-events
		if !open {
			return took, errors.New("the stream ended")
		}
		took.delivery = append(took.delivery, max(0, e.at.Sub(e.Timestamp)))
		switch {
		case e.Type == "aaep:agent.awaiting.confirmation":
			answered = time.Now()
			err := s.post("/api/v1/questions/"+strconv.Itoa(e.Extensions.Earshot.Question)+"/reply", map[string]any{"decision": "accept"}, nil)
			if err != nil {
				return took, err
			}
			took.recorded = append(took.recorded, time.Since(answered))
		case e.Type == "aaep:agent.tool.invoked" && !answered.IsZero():
			took.started = append(took.started, e.at.Sub(answered))
		case strings.HasPrefix(e.Type, "aaep:agent.session.") && e.Type != "aaep:agent.session.started":
			return took, nil
		}
	}
}

func (s *server) subscribe() (<-chan heard, error) {
	var accepted struct {
		ID string `json:"subscription_id"`
	}
	request := map[string]any{
		"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "bench",
		"capabilities": map[string]any{"supports_confirmation_reply": true, "supports_clarification_reply": true},
	}
	if err := s.post("/aaep/v1/subscriptions", request, &accepted); err != nil {
		return nil, err
	}
	r, err := s.do(http.MethodGet, "/aaep/v1/events?subscription_id="+accepted.ID, nil)
	if err != nil {
		return nil, err
	}
	events := make(chan heard, 1024)
	go func() {
		defer close(events)
		lines := bufio.NewScanner(r.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			data, is := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
			e := heard{at: time.Now()}
			if is && json.Unmarshal(data, &e) == nil && e.Type != "" {
				events <- e
			}
		}
	}()
	return events, nil
}

func (s *server) post(path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := s.do(http.MethodPost, path, raw)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	answer, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode >= http.StatusBadRequest {
		return errors.Join(err, fmt.Errorf("%s: %s: %s", path, r.Status, answer))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

func (s *server) do(method, path string, body []byte) (*http.Response, error) {
	q, err := http.NewRequest(method, "http://"+address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Authorization", "Bearer "+s.token)
	q.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(q)
}

func report(what string, took []time.Duration) {
	slices.Sort(took)
	at := func(part float64) time.Duration {
		return took[min(len(took)-1, int(part*float64(len(took))))].Round(10 * time.Microsecond)
	}
	fmt.Printf("%s: p50 %s, p99 %s (%d)\n", what, at(0.5), at(0.99), len(took))
}
