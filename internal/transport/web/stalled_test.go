package web_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// wires is a listener whose connections are pipes in memory: what one end does not read, the
// other end cannot write, and their time limits are those of the bubble.
type wires struct {
	ends chan net.Conn
	gone chan struct{}
}

func (w *wires) Accept() (net.Conn, error) {
	select {
	case c := <-w.ends:
		return c, nil
	case <-w.gone:
		return nil, net.ErrClosed
	}
}

func (w *wires) Close() error   { close(w.gone); return nil }
func (w *wires) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7411} }

// dial asks for a stream and returns the connection with its reader, behind the head.
func (w *wires) dial(t *testing.T, target, as, after string) (net.Conn, *bufio.Reader) {
	t.Helper()
	mine, its := net.Pipe()
	w.ends <- its
	if _, err := fmt.Fprintf(mine, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:7411\r\nAuthorization: Bearer secret-%s\r\nLast-Event-ID: %s\r\n\r\n", target, as, after); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReaderSize(mine, 16)
	answer, err := http.ReadResponse(from, nil) //nolint:bodyclose // it ends with the connection
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", answer, err)
	}
	return mine, bufio.NewReaderSize(answer.Body, 16)
}

// TestStalledReader: a reader who is connected and takes nothing is cut off after half a
// minute, holds up nobody meanwhile, and frees its place; coming again it hears from where it
// was, each event once.
func TestStalledReader(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "")
		wires := &wires{ends: make(chan net.Conn), gone: make(chan struct{})}
		server := &http.Server{Handler: s.server, ReadHeaderTimeout: time.Second}
		done := make(chan error, 1)
		go func() { done <- server.Serve(wires) }()
		at, others := s.subscribe("ada"), s.subscribe("lis")
		stalled, from := wires.dial(t, at, "ada", "evt_11")
		other, quick := wires.dial(t, others, "lis", "evt_11")
		heard := make(chan string, 1000)
		follow := func(from *bufio.Reader, to chan string) {
			defer close(to)
			for {
				line, err := from.ReadString('\n')
				if err != nil {
					return
				}
				if id, is := strings.CutPrefix(line, "id: "); is {
					to <- strings.TrimSpace(id)
				}
			}
		}
		go follow(quick, heard)
		var isRefusal []string
		metric := func(n int) {
			for range n {
				isRefusal = append(isRefusal, s.room.tell("sess_1", aaep.StateChanged{FromState: "idle", ToState: "thinking", SummaryNormal: strings.Repeat("x", 1000)}))
			}
			synctest.Wait()
		}
		metric(400)
		if len(heard) != 400 {
			t.Errorf("the other heard %d of 400 while one stalled", len(heard))
		}
		if open := s.do("GET", "/metrics", "aud", "").Body.String(); !strings.Contains(open, "earshot_streams_open 2\n") {
			t.Errorf("before its time:\n%s", open)
		}
		<-time.After(31 * time.Second)
		synctest.Wait()
		if open := s.do("GET", "/metrics", "aud", "").Body.String(); !strings.Contains(open, "earshot_streams_open 1\n") {
			t.Errorf("after its time:\n%s", open)
		}
		before := make(chan string, 1000)
		go follow(from, before) // what had been on its way
		var mine []string
		for id := range before {
			mine = append(mine, id)
		}
		if len(mine) > 5 {
			t.Errorf("%d events were kept for a reader who took none", len(mine))
		}
		last := ""
		if len(mine) > 0 {
			last = mine[len(mine)-1]
		}
		_ = stalled.Close()
		if last == "" { // it had got none, and begins behind the one before
			last = "evt_11"
		}
		again, rest := wires.dial(t, at, "ada", last)
		after := make(chan string, 1000)
		go follow(rest, after)
		metric(3)
		for len(after) > 0 {
			mine = append(mine, <-after)
		}
		if strings.Join(mine, " ") != strings.Join(isRefusal, " ") {
			t.Errorf("together it heard %d of %d", len(mine), len(isRefusal))
		}
		_, _ = again.Close(), other.Close()
		_ = server.Close()
		s.server.Close()
		if err := <-done; err == nil {
			t.Error("it serves on")
		}
		for range after {
		}
		for range heard {
		}
	})
}
