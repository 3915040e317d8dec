package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// soakSessions is how many sessions there are, each heard by its share of the subscribers.
const soakSessions = 20

// soak has subscribers hear one session each, at five events a second of each session. Every second a tenth of them drop their
// connection and resume, and every minute the hub is begun again over the same ledger. In the end everybody must have each event.
func (s settings) soak() error {
	s.open, s.owners = soakSessions, 1
	l := &ledger{sessions: map[string]*session{}}
	k := &soaking{settings: s, ledger: l}
	if err := k.begin(); err != nil {
		return err
	}
	s.begin(l)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	k.address = listener.Addr().String()
	server := &http.Server{Handler: k}
	go server.Serve(listener) //nolint:errcheck // the process ends with it
	ctx, cancel := context.WithCancel(context.Background())
	var people sync.WaitGroup
	all := make([]*soaker, s.listeners)
	for n := range all {
		all[n] = &soaker{soaking: k, number: n}
		people.Go(func() { all[n].listen(ctx) })
	}
	k.play(all)
	if !k.wait(all) {
		fmt.Println("not everybody has heard everything within two minutes")
	}
	k.report("the end")
	cancel()
	for _, one := range all {
		one.drop()
	}
	people.Wait()
	_ = server.Close()
	k.current.Load().end()
	settle()
	k.report("everybody has gone")
	return k.verdict(all)
}

// soaking is a hub that is begun again and again.
type soaking struct {
	settings

	ledger  *ledger
	address string
	current atomic.Pointer[incarnation]
	repeats atomic.Int64
	resumed atomic.Int64
}

type incarnation struct {
	handler http.Handler
	tokens  []string
	end     func()
}

func (k *soaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.current.Load().handler.ServeHTTP(w, r)
}

func (k *soaking) begin() error {
	handler, tokens, end, err := k.hub(k.ledger)
	if err == nil {
		k.current.Store(&incarnation{handler: handler, tokens: tokens, end: end})
	}
	return err
}

// play tells the events, drops connections and begins the hub again.
func (k *soaking) play(all []*soaker) {
	told := 0
	for tick, began := 0, time.Now(); time.Since(began) < k.lasts; tick++ { // five a second
		time.Sleep(time.Until(began.Add(time.Duration(tick) * time.Second / 5)))
		for n := range soakSessions {
			k.ledger.tell(k.name(n), k.owner(0), "", step)
		}
		told += soakSessions
		if tick%5 == 4 {
			for n := tick / 5 % 10; n < len(all); n += 10 {
				all[n].drop()
			}
		}
		if tick%300 == 299 {
			k.report(fmt.Sprintf("after %d events", told))
			k.current.Load().end()
			if err := k.begin(); err != nil {
				panic(err)
			}
		}
	}
}

// wait returns false if somebody still misses something after two minutes.
func (k *soaking) wait(all []*soaker) bool {
	for late := time.Now().Add(2 * time.Minute); time.Now().Before(late); time.Sleep(time.Second) {
		missing := 0
		for _, one := range all {
			missing += one.missing()
		}
		if missing == 0 {
			return true
		}
	}
	return false
}

func (k *soaking) report(when string) {
	files, _ := os.ReadDir("/proc/self/fd")
	fmt.Printf("%-22s %d goroutines, %d MiB resident, %d files, %d resumptions, %d repeats\n", when, runtime.NumGoroutine(), resident()>>10, len(files), k.resumed.Load(), k.repeats.Load())
}

func (k *soaking) verdict(all []*soaker) error {
	lost := 0
	for _, one := range all {
		lost += one.missing()
	}
	if lost > 0 {
		return fmt.Errorf("%d deliveries were lost", lost)
	}
	fmt.Println("nothing was lost")
	return nil
}

// soaker is one subscriber, in the same process.
type soaker struct {
	*soaking

	number int
	mu     sync.Mutex
	conn   net.Conn
	got    []uint64 // a bit for each number of the session's events that it has heard: a map would be most of the process
	heard  int
	from   int64
	sub    string
	hub    *incarnation
	after  string
}

func (p *soaker) session() string { return p.name(p.number % soakSessions) }

// missing counts what it has not heard of its session since it came.
func (p *soaker) missing() int {
	newest := p.ledger.newestOf(p.session())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.from == 0 {
		return 1
	}
	return int(newest-p.from+1) - p.heard
}

func (p *soaker) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close()
	}
}

// listen subscribes, hears and comes back.
func (p *soaker) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := p.hear(); err != nil && !errors.Is(err, net.ErrClosed) {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (p *soaker) hear() error {
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it was read to its end
	p.mu.Lock()
	p.conn = conn
	p.mu.Unlock()
	r := bufio.NewReaderSize(conn, readBuffer)
	now := p.current.Load()
	token := now.tokens[p.number]
	if p.hub != now {
		id, err := subscribe(conn, r, token, fmt.Sprintf(`{"max_events_per_second":5000,"earshot":{"session_ids":[%q]}}`, p.session()))
		if err != nil {
			return err
		}
		p.sub, p.hub = id, now
	}
	resume := ""
	if p.after != "" {
		resume = "Last-Event-ID: " + p.after + "\r\n"
		p.resumed.Add(1)
	}
	fmt.Fprintf(conn, "GET /aaep/v1/events?subscription_id=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", p.sub, token, resume)
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		p.hub = nil // it is another one, or has forgotten
		return errors.New(answer.Status)
	}
	return p.read(answer)
}

func (p *soaker) read(answer *http.Response) error {
	lines, id, event := bufio.NewScanner(answer.Body), "", ""
	lines.Buffer(make([]byte, 4096), 1<<20)
	for lines.Scan() {
		line := lines.Bytes()
		if value, is := bytes.CutPrefix(line, []byte("id: ")); is {
			id = string(value)
		}
		if data, is := bytes.CutPrefix(line, []byte("data: ")); is {
			event, _ = aaep.Read(data).Text("event_id")
		}
		if len(line) > 0 { // what has no end yet may never have one
			continue
		}
		if of, seq := p.ledger.find(event); of == p.session() {
			p.note(seq)
		}
		if id != "" {
			p.after = id
		}
		id, event = "", ""
	}
	return lines.Err()
}

func (p *soaker) note(seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for int64(len(p.got)) <= seq/64 {
		p.got = append(p.got, 0)
	}
	if bit := uint64(1) << (seq % 64); p.got[seq/64]&bit != 0 {
		p.repeats.Add(1)
	} else {
		p.got[seq/64] |= bit
		p.heard++
	}
	if p.from == 0 || seq < p.from {
		p.from = seq
	}
}

// find returns where the ledger has an event.
func (l *ledger) find(id string) (session string, seq int64) {
	n := counted(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 1 || n > len(l.places) {
		return "", 0
	}
	return l.places[n-1].session, l.places[n-1].seq
}

func (l *ledger) newestOf(session string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.sessions[session].rows))
}
