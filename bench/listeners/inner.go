package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// started is what the server says when it is ready.
type started struct {
	Address string
	Tokens  []string
}

// inner is the server's process.
func (s settings) inner() error {
	l := &ledger{sessions: map[string]*session{}}
	handler, tokens, end, err := s.handler(l)
	if err != nil {
		return err
	}
	defer end()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	go server.Serve(listener) //nolint:errcheck // the process ends with it
	defer server.Close()
	s.begin(l)
	defer s.profiled()()
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(started{Address: listener.Addr().String(), Tokens: tokens}); err != nil {
		return err
	}
	return s.obey(l, out)
}

func (s settings) handler(l *ledger) (http.Handler, []string, func(), error) {
	if s.serve == "bare" {
		return newBare(l), []string{"none"}, func() {}, nil
	}
	return s.hub(l)
}

// begin tells the sessions that there are when the first listener comes.
func (s settings) begin(l *ledger) {
	for n := range s.recent {
		name := "sess_recent" + strconv.Itoa(n)
		for range 20 {
			l.tell(name, s.owner(n), "", step)
		}
		l.tell(name, s.owner(n), "", aaep.SessionCompleted{SummaryNormal: "Done."})
		time.Sleep(time.Millisecond) // as they would come
	}
	for n := range s.open {
		l.tell(s.name(n), s.owner(n), "", aaep.SessionStarted{SummaryNormal: padding})
	}
}

func (s settings) name(n int) string  { return "sess_open" + strconv.Itoa(n%s.open) }
func (s settings) owner(n int) string { return "person" + strconv.Itoa(n%s.owners) }

// obey does what the lines of its input say, until there are no more.
func (s settings) obey(l *ledger, out *json.Encoder) error {
	told, before := 0, used()
	tell := func() {
		l.tell(s.name(told), s.owner(told%s.open), "", step)
		told++
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var what string
		var count, rate int
		_, _ = fmt.Sscan(lines.Text(), &what, &count, &rate)
		switch what {
		case "tell":
			for range count {
				tell()
			}
		case "pace":
			pace(count, rate, func(int) { tell() })
		case "session":
			tellSession(l, s.name(0), s.owner(0), count, rate)
		case "settle":
			settle()
		}
		if what != "figures" && what != "settle" {
			continue
		}
		now := used()
		if err := out.Encode(figures{Processor: now - before, Resident: resident()}); err != nil {
			return err
		}
		before = now
	}
	return nil
}

// pace calls f so many times, at a rate a second.
func pace(count, rate int, f func(n int)) {
	for n, began := 0, time.Now(); n < count; n++ {
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		f(n)
	}
}

// profiled begins a profile of the processor, if one is wanted, and returns what ends it.
func (s settings) profiled() func() {
	if s.profile == "" {
		return func() {}
	}
	f, err := os.Create(s.profile + "." + s.serve)
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
		heap, err := os.Create(s.profile + "." + s.serve + ".heap")
		if err != nil {
			panic(err)
		}
		_ = pprof.WriteHeapProfile(heap)
		_ = heap.Close()
	}
}
