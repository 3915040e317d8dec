// Command listeners measures what it costs to deliver events to many listeners, each on a stream of its own
// (server-sent events over the loopback), in processor time of the server and in events a second.
//
//	go run ./listeners -listeners 1000 -recent 300
//	go run ./listeners -listeners 1000 -owners 100     each event is heard by a hundredth of them
//
// The server is a process of its own: the hub and the web transport as `earshot up` has them, over a ledger in memory.
// Beside it, in the same run and in turns, stands a bare HTTP server which writes the same frames to every stream that
// is open and knows nothing of sessions, rights, terms or resumption.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// settings are the same in both processes.
type settings struct {
	serve     string
	listeners int
	owners    int
	open      int
	recent    int
	batch     int
	batches   int
	rounds    int
}

func main() {
	var s settings
	flag.StringVar(&s.serve, "serve", "", "what the inner process serves: hub or bare")
	flag.IntVar(&s.listeners, "listeners", 1000, "how many listen")
	flag.IntVar(&s.owners, "owners", 1, "how many people own sessions; each listener hears those of one")
	flag.IntVar(&s.open, "open", 10, "how many sessions are under way")
	flag.IntVar(&s.recent, "recent", 0, "how many sessions ended a moment ago")
	flag.IntVar(&s.batch, "batch", 1, "how many events come at once")
	flag.IntVar(&s.batches, "batches", 100, "how many times a round")
	flag.IntVar(&s.rounds, "rounds", 5, "rounds of each server; the median counts")
	flag.Parse()
	run := s.measure
	if s.serve != "" {
		run = s.inner
	}
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// round is what one round has cost.
type round struct {
	rate      float64       // deliveries a second
	processor time.Duration // of the server, for each delivery
	resident  int           // of the server, in MiB
}

func (s settings) measure() error {
	found := map[string][]round{}
	for range s.rounds {
		for _, what := range []string{"hub", "bare"} {
			one, err := s.round(what)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			found[what] = append(found[what], one)
		}
	}
	fmt.Printf("%d listeners, %d owners, %d sessions open and %d recent, %d events at once\n", s.listeners, s.owners, s.open, s.recent, s.batch)
	for _, what := range []string{"hub", "bare"} {
		all := found[what]
		slices.SortFunc(all, func(a, b round) int { return int(a.processor - b.processor) })
		m := all[len(all)/2]
		fmt.Printf("%-5s %8.0f events/s, %6.1f µs of processor each (%.1f to %.1f), %d MiB resident\n", what, m.rate,
			micros(m.processor), micros(all[0].processor), micros(all[len(all)-1].processor), m.resident)
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// round starts a server, has everybody listen, and counts what arrives.
func (s settings) round(what string) (round, error) {
	args := append(slices.Clone(os.Args[1:]), "-serve", what)
	c := exec.Command(os.Args[0], args...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return round{}, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return round{}, err
	}
	if err := c.Start(); err != nil {
		return round{}, err
	}
	defer func() {
		_ = in.Close()
		_ = c.Wait()
	}()
	p := parent{settings: s, in: in, out: json.NewDecoder(out)}
	var begin started
	if err := p.out.Decode(&begin); err != nil {
		return round{}, err
	}
	if err := p.listen(begin); err != nil {
		return round{}, err
	}
	defer p.leave()
	return p.play()
}

// started is what the server says when it is ready, figures what it has used since the last ones.
type started struct {
	Address string
	Tokens  []string
}

type figures struct {
	Processor time.Duration
	Resident  int
}

type parent struct {
	settings

	in      io.Writer
	out     *json.Decoder
	streams []net.Conn
	heard   atomic.Int64
	enough  atomic.Int64
	arrived chan struct{}
	reading sync.WaitGroup
}

func (p *parent) listen(at started) error {
	p.arrived = make(chan struct{}, 1)
	for n := range p.listeners {
		conn, err := net.Dial("tcp", at.Address)
		if err != nil {
			return err
		}
		p.streams = append(p.streams, conn)
		r, token := bufio.NewReaderSize(conn, 16<<10), at.Tokens[n%len(at.Tokens)]
		id, err := subscribe(conn, r, token)
		if err != nil {
			return err
		}
		fmt.Fprintf(conn, "GET /aaep/v1/events?subscription_id=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", id, token)
		answer, err := http.ReadResponse(r, nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("no stream: %v %w", answer, err)
		}
		p.reading.Go(func() { p.read(answer.Body) })
	}
	before := int64(0)
	for still := 0; still < 4; still++ { // everybody is told where each session is
		time.Sleep(500 * time.Millisecond)
		if now := p.heard.Load(); now != before {
			before, still = now, 0
		}
	}
	return nil
}

func subscribe(conn net.Conn, r *bufio.Reader, token string) (string, error) {
	const request = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"bench","capabilities":{}}`
	fmt.Fprintf(conn, "POST /aaep/v1/subscriptions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(request), request)
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(answer.Body)
	var accepted struct {
		ID string `json:"subscription_id"`
	}
	if err != nil || json.Unmarshal(raw, &accepted) != nil || accepted.ID == "" {
		return "", fmt.Errorf("no subscription: %s %s %w", answer.Status, raw, err)
	}
	return accepted.ID, nil
}

func (p *parent) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") && p.heard.Add(1) == p.enough.Load() {
			p.arrived <- struct{}{}
		}
	}
}

// play has the server tell batches of events, each as soon as everybody has heard the one before.
func (p *parent) play() (round, error) {
	each := p.listeners / p.owners * p.batch
	turn := func() error {
		p.enough.Store(p.heard.Load() + int64(each))
		if _, err := fmt.Fprintln(p.in, "tell"); err != nil {
			return err
		}
		select {
		case <-p.arrived:
			return nil
		case <-time.After(30 * time.Second):
			return fmt.Errorf("heard %d of %d", p.heard.Load()-p.enough.Load()+int64(each), each)
		}
	}
	for range 10 {
		if err := turn(); err != nil {
			return round{}, err
		}
	}
	var used figures
	ask := func() error {
		fmt.Fprintln(p.in, "figures")
		return p.out.Decode(&used)
	}
	if err := ask(); err != nil {
		return round{}, err
	}
	began, before := time.Now(), p.heard.Load()
	for range p.batches {
		if err := turn(); err != nil {
			return round{}, err
		}
	}
	took, deliveries := time.Since(began), p.heard.Load()-before
	if err := ask(); err != nil {
		return round{}, err
	}
	return round{rate: float64(deliveries) / took.Seconds(), processor: used.Processor / time.Duration(deliveries), resident: used.Resident}, nil
}

func (p *parent) leave() {
	for _, conn := range p.streams {
		_ = conn.Close()
	}
	p.reading.Wait()
}
