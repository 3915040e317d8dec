// Command page measures what a person waits for on the page: its home with many sessions, and a session of many events. The
// server is the built binary on a fresh ledger; the browser is Chromium, once as it is and once as a phone on a slow network.
//
//	go run ./page -sessions 200 -events 5000
//
// A phone is 360 by 640 pixels, a processor that is 4 times slower, 150 ms to the server and 1.6 Mbit/s. The question is painted
// when it is in the document and two frames have begun since. The browser only tells of tasks over 50 ms.
//
// With several programs, as in -program BEFORE,NOW, the home page is loaded from each in turns, so that other work on the machine meets them
// alike; -trace tells what the longest tasks of each load were made of, and for how long they had the processor.
//
// With -lighthouse (the default) the home page is rated for its performance as well, if `scripts/need lighthouse` has been run.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/bench"
	"github.com/earshot-dev/earshot/client"
)

type settings struct {
	sessions, events, loads, replay int
	lighthouse, trace               bool
	program                         string
}

func main() {
	var s settings
	flag.IntVar(&s.sessions, "sessions", 200, "how many sessions there are, half of the newest 200 of them under way")
	flag.IntVar(&s.events, "events", 5000, "how many events one of them has")
	flag.IntVar(&s.loads, "loads", 5, "how often each page is loaded; the median counts")
	flag.IntVar(&s.replay, "replay", 0, "how many events an open page hears then, whose memory is measured meanwhile; 18000 are 5 a second for an hour")
	flag.StringVar(&s.program, "program", "", "a built binary to measure instead of this tree's; of several, separated by commas, the home page is loaded in turns")
	flag.BoolVar(&s.trace, "trace", false, "with several programs: tell what the longest tasks of each load were made of")
	flag.BoolVar(&s.lighthouse, "lighthouse", true, "have Lighthouse rate the home page")
	flag.Parse()
	if err := measure(context.Background(), s); err != nil {
		log.Fatal(err)
	}
}

func measure(ctx context.Context, o settings) error {
	dir, err := os.MkdirTemp("", "earshot-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if strings.Contains(o.program, ",") {
		return turns(ctx, o, dir)
	}
	s, err := up(dir, o.program)
	if err != nil {
		return err
	}
	defer s.end()
	b, err := s.browse(ctx, dir) // first, because what an agent's program has started gets no code
	if err != nil {
		return err
	}
	defer b.end()
	began := time.Now()
	long, err := s.fill(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("%d sessions, one of %d events, made in %s\n", o.sessions, o.events, time.Since(began).Round(time.Second))
	last, err := s.oldest(ctx, b.cookies)
	if err != nil {
		return err
	}
	paths := []string{"/", "/?session=" + long.ID, "/sessions/" + long.ID, "/sessions", last, "/sessions?open=true"}
	for _, path := range append(paths, "/sessions/"+long.ID+"?find=folder+1", "/sessions/"+long.ID+"?at=100") {
		if err := s.fetched(ctx, b.cookies, path, o.loads); err != nil {
			return err
		}
	}
	for _, path := range paths {
		for _, phone := range []bool{false, true} {
			if err := b.load(ctx, path, phone, o.loads); err != nil {
				return err
			}
		}
	}
	if err := b.live(ctx, long, o.loads); err != nil {
		return err
	}
	if o.replay > 0 {
		if err := b.replay(ctx, long, o.replay); err != nil {
			return err
		}
	}
	if o.lighthouse {
		return b.rate(ctx, "/")
	}
	return nil
}

// server is one running `earshot up`, and an agent of it.
type server struct {
	cmd    *exec.Cmd
	binary string
	data   string
	info   client.ServerInfo
	agent  *client.Agent
}

func up(dir, binary string) (*server, error) {
	var err error
	if binary == "" {
		if binary, err = bench.Binary(dir); err != nil {
			return nil, err
		}
	}
	s := &server{binary: binary, data: filepath.Join(dir, "data")}
	root := filepath.Join(dir, "files")
	if err := errors.Join(os.Mkdir(root, 0o700), os.Mkdir(s.data, 0o700)); err != nil {
		return nil, err
	}
	s.cmd = exec.Command(binary, "up", "--root", root, "--data", s.data, "--http", "127.0.0.1:0")
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	file := filepath.Join(s.data, "server.json")
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if s.info, err = client.ReadServerFile(file); err == nil {
			break
		}
		if time.Since(began) > 10*time.Second {
			return nil, errors.Join(err, s.cmd.Process.Kill())
		}
	}
	token, err := s.command("token", "add", "bench", "--role", "agent")
	s.agent = client.NewAgent(client.Options{URL: s.info.URL, Token: strings.TrimSpace(token)})
	return s, err
}

func (s *server) command(args ...string) (string, error) {
	out, err := exec.Command(s.binary, append(args, "--data", s.data)...).Output()
	return string(out), err
}

func (s *server) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = s.cmd.Wait()                          // it ends by the signal
}

// newest is among how many of the sessions half are under way; one owner may have as many.
const newest = 200

// fill opens the sessions. The newest one is long, and asks a question at its end.
func (s *server) fill(ctx context.Context, o settings) (*client.AgentSession, error) {
	for n := range o.sessions - 1 {
		one, err := s.agent.Open(ctx, api.AgentOpen{Label: fmt.Sprintf("folder %d", n), Request: fmt.Sprintf("Find what is twice in folder %d.", n), Idle: 86400})
		if err == nil {
			err = one.Report(ctx, api.AgentReport{Observed: fmt.Sprintf("Looked through folder %d.", n)})
		}
		if err == nil && (n%2 == 0 || n < o.sessions-newest) {
			err = one.End(ctx, api.AgentEnd{Summary: "Nothing is twice."})
		}
		if err != nil {
			return nil, err
		}
	}
	long, err := s.agent.Open(ctx, api.AgentOpen{Label: "everything", Request: "Find what is twice anywhere.", Idle: 86400})
	if err != nil {
		return nil, err
	}
	for n := range o.events {
		if err := long.Report(ctx, api.AgentReport{Observed: fmt.Sprintf("Looked through folder %d of this machine.", n)}); err != nil {
			return nil, err
		}
	}
	_, err = long.Question(ctx, api.AgentQuestion{Question: api.Question{Text: "Shall I look through the other machine, too?", Kinds: []string{"yes_no"}, Seconds: 86400}}, 0)
	return long, err
}

// oldest turns the pages of all sessions to the last one, and returns its path.
func (s *server) oldest(ctx context.Context, cookies string) (string, error) {
	next := regexp.MustCompile(`<a href="(/sessions\?[^"]*)" rel="next">`)
	began := time.Now()
	path, pages := "/sessions", 1
	for ; ; pages++ {
		body, _, _, err := s.get(ctx, cookies, path)
		if err != nil {
			return "", err
		}
		found := next.FindSubmatch(body)
		if found == nil {
			break
		}
		path = html.UnescapeString(string(found[1]))
	}
	fmt.Printf("all sessions: %d pages, turned in %s\n", pages, time.Since(began).Round(time.Millisecond))
	return path, nil
}

// get reads a path with plain HTTP, and tells how soon its first byte was there and how many bytes were sent.
func (s *server) get(ctx context.Context, cookies, path string) (body []byte, sent int, took time.Duration, err error) {
	loopback, err := url.Parse(s.info.URL)
	if err != nil {
		return nil, 0, 0, err
	}
	c := http.Client{Transport: &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) { // the page's name is one of the browser
			return new(net.Dialer).DialContext(ctx, network, loopback.Host)
		},
	}}
	defer c.CloseIdleConnections()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.info.Page, "/")+path, http.NoBody)
	if err != nil {
		return nil, 0, 0, err
	}
	q.Header.Set("Cookie", cookies)
	q.Header.Set("Accept-Encoding", "gzip")
	began := time.Now()
	r, err := c.Do(q)
	if err != nil {
		return nil, 0, 0, err
	}
	took = time.Since(began) // the header has come
	body, err = io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, 0, 0, err
	}
	if r.StatusCode != http.StatusOK {
		return nil, 0, 0, fmt.Errorf("%s: %s", path, r.Status)
	}
	sent = len(body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, 0, 0, err
		}
		body, err = io.ReadAll(unpacked)
		return body, sent, took, err
	}
	return body, sent, took, nil
}

// fetched gets a path some times, and tells how soon its first byte was there and how large it is.
func (s *server) fetched(ctx context.Context, cookies, path string, times int) error {
	var all []time.Duration
	var sent, size int
	for range times {
		body, bytes, took, err := s.get(ctx, cookies, path)
		if err != nil {
			return err
		}
		all, sent, size = append(all, took), bytes, len(body)
	}
	fmt.Printf("%s: first byte %s, %d bytes, sent as %d\n", shape(path), median(all), size, sent)
	return nil
}

var ids = regexp.MustCompile(`sess_\w+`)

// shape is a path without the ids in it.
func shape(path string) string { return ids.ReplaceAllString(path, "ID") }

func median(took []time.Duration) time.Duration {
	took = slices.Sorted(slices.Values(took))
	return took[len(took)/2].Round(100 * time.Microsecond)
}
