package web_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
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
		for n := range 7 {
			s.room.begin(fmt.Sprintf("sess_%d", n), "tidy Downloads")
		}
		s.login("ada")
		s.room.held = make(chan struct{})
		codes := make(chan int)
		for n := range 7 {
			target := fmt.Sprintf([]string{"/sessions/sess_%d", "/sessions/sess_%d/text"}[n%2], n)
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

// TestWhatIsSaidReadsWhatIsNew: a recap, a page that connects and a listener who joins read of a long session what has come since it was
// read last, by any of them, and say what they say where it is read whole.
func TestWhatIsSaidReadsWhatIsNew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const long = 5000
		begun := func() *scene {
			s := newScene(t)
			s.room.begin("sess_1", "tidy Downloads")
			for n := range long - 2 {
				s.room.tell("sess_1", aaep.StateChanged{FromState: aaep.StateDeciding, ToState: aaep.StateDeciding, SummaryNormal: fmt.Sprintf("Came to folder %d.", n)})
			}
			s.room.ask("sess_1", 1, tokenA)
			s.login("ada")
			return s
		}
		ways := map[string]func(s *scene) string{
			"a recap": func(s *scene) string {
				return s.do("GET", "/api/v1/sessions/sess_1/recap?n=20", "ada", "").Body.String()
			},
			"a page": func(s *scene) string {
				r := s.stream(fmt.Sprintf("/page/events?session=sess_1&from=%d&after=evt_1%d&fresh=true", long, long), "@ada")
				defer r.close()
				said := spoken(r.frames(t))
				<-time.After(2 * time.Second) // the summary of what was before
				return strings.Join(append(said, spoken(r.frames(t))...), "\n")
			},
			"a listener": func(s *scene) string {
				r := s.stream("/api/v1/announcements", "lis")
				defer r.close()
				r.frames(t)
				s.room.settle("sess_1", 1, "rejected")
				return r.text()
			},
		}
		for way, says := range ways {
			s := begun()
			before := s.room.read
			want := says(s)
			if read := s.room.read - before; want == "" || read < long {
				t.Errorf("%s, at first: %d events are read, for %q", way, read, want)
			}
			s = begun()
			for _, as := range []string{"ada", "lis"} { // who answers reads tokens, and who does not reads none
				s.do("GET", "/api/v1/sessions/sess_1/recap", as, "")
			}
			before = s.room.read
			found := says(s)
			if read := s.room.read - before; read > 2+8 { // and the last 8 for the line of the list
				t.Errorf("%s, after another: %d events are read", way, read)
			}
			if found != want {
				t.Errorf("%s says, after another:\n%s\nand at first:\n%s", way, found, want)
			}
		}
	})
}

// TestPagesReadWhatIsNew: of a long session a page reads what has come since it was read last, by any reader and in any form; the
// lists read the last events of those sessions that have changed. Who may not answer reads events of their own.
func TestPagesReadWhatIsNew(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	const long = 5000
	s.room.begin("sess_1", "tidy Downloads")
	for range long - 1 {
		s.room.tell("sess_1", aaep.StateChanged{FromState: aaep.StateDeciding, ToState: aaep.StateDeciding, SummaryNormal: "On it."})
	}
	for n := range 40 {
		s.room.begin(fmt.Sprintf("sess_%d", 100+n), "tidy <Pictures>")
	}
	reads := func(target, as string) int {
		t.Helper()
		before := s.room.read
		if w := s.do("GET", target, as, "", "Accept", "text/html"); w.Code != 200 {
			t.Fatalf("%s: %d", target, w.Code)
		}
		return s.room.read - before
	}
	home, view := "/?session=sess_1", "/sessions/sess_1"
	if n := reads(home, "@ada"); n < long || n > long+8+40 {
		t.Errorf("at first %d events are read", n)
	}
	for _, target := range []string{home, view, view + "?find=on+it", view + "?at=17", view + "/text", "/sessions"} {
		if n := reads(target, "@ada"); n > 1 { // the last one: it is still there
			t.Errorf("%s reads %d events again", target, n)
		}
	}
	s.room.tell("sess_1", aaep.StateChanged{FromState: aaep.StateDeciding, ToState: aaep.StateDeciding, SummaryNormal: "The <last> one."})
	if n := reads(home, "@ada"); n != 2+8 {
		t.Errorf("after one more event %d are read; want it and the one before, and the last 8 for the list", n)
	}
	wants(t, s.page(view, "@ada"), "The &lt;last&gt; one.")
	s.login("lis")
	if n := reads(view, "@lis"); n != long+1 {
		t.Errorf("a listener reads %d events; want those without tokens, from the first on", n)
	}
	s.room.change(func() { s.room.log = nil })
	if text := s.page(view, "@ada"); strings.Contains(text, "The &lt;last&gt; one.") {
		t.Error("what was erased is shown")
	}
	s.room.change(func() { s.room.fail = &web.Refusal{Kind: api.KindNotFound, Message: "there is no such session"} })
	if w := s.do("GET", view, "@ada", "", "Accept", "text/html"); w.Code != 404 {
		t.Errorf("a session that may not be read any more: %d", w.Code)
	}
}
