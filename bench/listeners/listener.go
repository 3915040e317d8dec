package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// readBuffer is for one stream of the client.
const readBuffer = 8 << 10

// listener is one stream.
type listener struct {
	conn net.Conn
	body io.Reader

	mu    sync.Mutex
	waits []time.Duration // how long each event that was timed has taken
}

// dial subscribes with a token and capabilities, and opens the stream.
func dial(address, token, capabilities string) (*listener, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(conn, readBuffer)
	id, err := subscribe(conn, r, token, capabilities)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(conn, "GET /aaep/v1/events?subscription_id=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", id, token)
	answer, err := http.ReadResponse(r, nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("no stream: %v %w", answer, err)
	}
	return &listener{conn: conn, body: answer.Body}, nil
}

func subscribe(conn net.Conn, r *bufio.Reader, token, capabilities string) (string, error) {
	request := fmt.Sprintf(`{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"bench","capabilities":%s}`, capabilities)
	fmt.Fprintf(conn, "POST /aaep/v1/subscriptions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		token, len(request), request)
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

// read counts the events until the stream ends, and times them as long as somebody wants to know.
func (l *listener) read(heard func(n int), timed func() bool) {
	buffer, kept := make([]byte, readBuffer), 0
	for {
		n, err := l.body.Read(buffer[kept:])
		events, want, now := 0, timed(), time.Now().UnixNano()
		rest := stamps(buffer[:kept+n], func(at int64) {
			if events++; want {
				l.time(time.Duration(now - at))
			}
		})
		kept = copy(buffer, rest)
		heard(events)
		if err != nil {
			return
		}
	}
}

func (l *listener) time(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits = append(l.waits, d)
}

func (l *listener) times() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waits
}
