package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// sentences are the texts of the announcements, and the last position.
func sentences(all []got) (texts []string, position string) {
	for _, f := range all {
		if f.event == "announcement" {
			texts = append(texts, f.data.Text)
		}
		if f.id != "" {
			position = f.id
		}
	}
	return texts, position
}

// TestAnnouncements: what is said reaches a listener as finished sentences, each question too, and a stream that breaks
// continues behind the last position.
func TestAnnouncements(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		r := s.stream("/api/v1/announcements", "lis")
		if texts, _ := sentences(r.frames(t)); len(texts) != 0 {
			t.Errorf("it tells what was before: %q", texts)
		}
		id := s.room.ask("sess_1", 2, "rpl_0123456789abcdef0123456789abcdef")
		texts, position := sentences(r.frames(t))
		if len(texts) != 1 || !strings.Contains(texts[0], "Question 2") || position != id {
			t.Errorf("of a question it tells %q, up to %q; its event is %q", texts, position, id)
		}
		if strings.Contains(strings.Join(texts, " "), "rpl_") {
			t.Errorf("it tells the token: %q", texts)
		}
		r.close()
		s.room.settle("sess_1", 2, "rejected")
		again := s.stream("/api/v1/announcements", "lis", "Last-Event-ID", position)
		defer again.close()
		if later, _ := sentences(again.frames(t)); len(later) != 1 || slices.Equal(later, texts) {
			t.Errorf("a stream that continues tells %q", later)
		}
	})
}

// TestAnnouncementsLast: the stream goes on for as long as its listener is there.
func TestAnnouncementsLast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.room.begin("sess_1", "tidy Downloads")
		r := s.stream("/api/v1/announcements", "lis")
		defer r.close()
		<-time.After(10 * time.Minute)
		s.room.ask("sess_1", 2, tokenA)
		if texts, _ := sentences(r.frames(t)); len(texts) != 1 || r.ended() {
			t.Errorf("after ten minutes it tells %q; it has ended: %t", texts, r.ended())
		}
	})
}

// TestAnnouncementsElsewhere: a page of another site gets them with a token that only listens, and not with one that may
// answer; a program without an origin may have either.
func TestAnnouncementsElsewhere(t *testing.T) {
	t.Parallel()
	const other = "https://reader.example.org"
	s := newScene(t, func(o *web.Options) { o.AllowedOrigins = []string{other} })
	for _, test := range []struct {
		as, origin string
		status     int
	}{
		{"lis", other, http.StatusOK},
		{"aud", other, http.StatusForbidden},
		{"anna", other, http.StatusForbidden},
		{"sly", other, http.StatusForbidden},
		{"anna", "", http.StatusOK},
		{"bot", other, http.StatusForbidden},
		{"", other, http.StatusUnauthorized},
	} {
		headers := []string{}
		if test.origin != "" {
			headers = append(headers, "Origin", test.origin)
		}
		w := s.do(http.MethodHead, "/api/v1/announcements", test.as, "", headers...)
		if w.Code != test.status {
			t.Errorf("%q from %q gets %d, want %d", test.as, test.origin, w.Code, test.status)
		}
	}
	w := s.do(http.MethodGet, "/api/v1/listener.js", "", "", "Origin", other)
	if h := w.Header(); w.Code != http.StatusOK || h.Get("Access-Control-Allow-Origin") != other || !strings.HasPrefix(h.Get("Content-Type"), "text/javascript") {
		t.Errorf("the element's script is answered with %d %v", w.Code, h)
	}
}
