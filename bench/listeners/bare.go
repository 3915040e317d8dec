package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/earshot-dev/earshot/api"
)

// bare writes what it is told to every stream that is open. A frame is made once for all of them, and what is due for a
// stream is one write and one flush.
type bare struct {
	mu      sync.Mutex
	streams map[*bareStream]struct{}
	buffers sync.Pool
}

type bareStream struct {
	bell chan struct{}

	mu      sync.Mutex
	pending [][]byte
}

// mostPending is after how many frames a reader that takes none is cut off.
const mostPending = 4096

func newBare(l *ledger) http.Handler {
	b := &bare{streams: map[*bareStream]struct{}{}, buffers: sync.Pool{New: func() any { return new([]byte) }}}
	_, _ = l.Broadcasts(context.Background(), "", b.broadcast)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /aaep/v1/subscriptions", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"subscription_id":"sub_none"}`)
	})
	mux.HandleFunc("GET /aaep/v1/events", b.serve)
	return mux
}

func (b *bare) broadcast(payload []byte) {
	var row api.EventRow
	if json.Unmarshal(payload, &row) != nil {
		return
	}
	frame := fmt.Appendf(nil, "event: aaep.event\ndata: %s\n\n", row.Body)
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		s.put(frame)
	}
}

func (s *bareStream) put(frame []byte) {
	s.mu.Lock()
	s.pending = append(s.pending, frame)
	s.mu.Unlock()
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

func (s *bareStream) take() (all [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, s.pending = s.pending, nil
	return all
}

func (b *bare) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	_ = c.Flush()
	s := &bareStream{bell: make(chan struct{}, 1)}
	b.mu.Lock()
	b.streams[s] = struct{}{}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.streams, s)
		b.mu.Unlock()
	}()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-s.bell:
		}
		due := s.take()
		if len(due) > mostPending || !b.write(w, due) || c.Flush() != nil {
			return
		}
	}
}

// write sends what is due in one write.
func (b *bare) write(w http.ResponseWriter, due [][]byte) bool {
	buffer, _ := b.buffers.Get().(*[]byte)
	defer b.buffers.Put(buffer)
	*buffer = (*buffer)[:0]
	for _, frame := range due {
		*buffer = append(*buffer, frame...)
	}
	_, err := w.Write(*buffer)
	return err == nil
}
