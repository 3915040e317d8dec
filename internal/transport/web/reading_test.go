package web_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/aaep"
)

// TestAnswerIsReadOnce: an answer that comes bit by bit is laid out from what the stream has of it. One that had begun
// before the stream is read from the record, once.
func TestAnswerIsReadOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		s.login("ada")
		last := 1
		piece := func(r *reader, output, text string, position int, complete bool) (laid string, read int) {
			before := s.room.read
			s.room.tell("sess_1", aaep.OutputStreaming{Chunk: text, OutputID: output, Position: int64(position), Complete: complete})
			last++
			for _, o := range find(r.frames(t), "steps").data.Outputs {
				laid = o.HTML
			}
			return laid, s.room.read - before
		}
		stream := func() *reader {
			r := s.stream(fmt.Sprintf("/page/events?session=sess_1&from=%d&after=evt_1%d", last, last), "@ada")
			r.frames(t)
			return r
		}
		r := stream()
		piece(r, "out_1", "one ", 0, false)
		for n := range 20 {
			if _, read := piece(r, "out_1", "two ", 4+4*n, false); read != 1 {
				t.Errorf("piece %d: %d events were read", n, read)
			}
		}
		laid, read := piece(r, "out_1", "end", 84, true)
		if !strings.Contains(laid, "one two two") || read != 1 {
			t.Errorf("%q, and %d events were read", laid, read)
		}
		piece(r, "out_2", "three ", 0, false)
		r.close()
		r = stream()
		defer r.close()
		piece(r, "out_2", "and ", 6, false) // the announcer of this stream learns of the session
		laid, read = piece(r, "out_2", "four", 10, true)
		if !strings.Contains(laid, "three and four") || read != 1+last {
			t.Errorf("in another stream: %q, and %d of %d events were read", laid, read, last)
		}
	})
}

// TestSessionsAreReadInTurn: no more than four sessions are read through at once, and who comes later waits.
func TestSessionsAreReadInTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		s.login("ada")
		s.room.held = make(chan struct{})
		codes := make(chan int)
		for n := range 7 {
			target := []string{"/sessions/sess_1", "/sessions/sess_1/text", "/"}[n%3]
			go func() { codes <- s.do("GET", target, "@ada", "").Code }()
		}
		synctest.Wait()
		if s.room.readers != 4 {
			t.Errorf("%d read at once", s.room.readers)
		}
		close(s.room.held)
		for range 7 {
			if code := <-codes; code != 200 {
				t.Errorf("found %d", code)
			}
		}
	})
}
