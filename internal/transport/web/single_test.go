package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestOneQuestionAtATime: who wants one question at a time is shown and told one, on the page and in a listener, learns
// that another waits, and gets it in full when the first has ended; also when the page, or the listener, comes again.
func TestOneQuestionAtATime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		one := "one"
		s := newScene(t, func(o *web.Options) { o.Now = time.Now })
		s.room.wish, s.room.wisher = api.Preferences{Questions: &one}, "ada"
		s.login("ada")
		s.room.begin("sess_1", "tidy Downloads")
		page, program, other := s.stream("/page/events?fresh=true", "@ada"), s.stream("/api/v1/announcements", "ada"), s.stream("/api/v1/announcements", "lis")
		defer page.close()
		defer program.close()
		defer other.close()
		readers := []*reader{page, program, other}
		for _, r := range readers {
			r.frames(t)
		}
		const first = "Question 2: Delete 5 files in Downloads, cannot be undone. Answer by 00:05."
		s.room.ask("sess_1", 2, tokenA)
		for _, r := range readers {
			r.frames(t)
		}
		<-time.After(time.Minute)
		s.room.ask("sess_1", 3, tokenB)
		shown := page.frames(t)
		s.hears("the page", unprioritised(spoken(shown)), []string{"Another question waits: 2 in all. It has to be answered by 00:06."})
		if list := find(shown, "questions").data; !strings.Contains(list.HTML, `data-item="2"`) || strings.Contains(list.HTML, `data-item="3"`) || list.Open != 2 {
			t.Errorf("of %d questions, the page shows\n%s", list.Open, list.HTML)
		}
		texts, _ := sentences(program.frames(t))
		s.hears("a program", texts, []string{"Another question waits: 2 in all. It has to be answered by 00:06."})
		texts, _ = sentences(other.frames(t))
		s.hears("somebody else", texts, []string{"Question 3: Delete 5 files in Downloads, cannot be undone. Answer by 00:06."})

		again := s.stream("/page/events?after=evt_13", "@ada")
		defer again.close()
		var open []string
		for _, q := range find(again.frames(t), "open").data.Questions {
			open = append(open, q.Text)
		}
		s.hears("a page that comes again", open, []string{first, "Another question waits: 2 in all. It has to be answered by 00:06."})
		late := s.stream("/api/v1/announcements", "ada")
		defer late.close()
		late.frames(t)

		<-time.After(time.Minute)
		s.room.settle("sess_1", 2, "accepted")
		next := []string{"Recorded: question 2 is accepted.", "Question 3: Delete 5 files in Downloads, cannot be undone. Answer by 00:06."}
		for where, r := range map[string]*reader{"the page": page, "the page that came again": again} {
			all := r.frames(t)
			s.hears(where, unprioritised(spoken(all)), next)
			if list := find(all, "questions").data; !strings.Contains(list.HTML, `data-item="3"`) || list.Open != 1 {
				t.Errorf("%s shows\n%s", where, list.HTML)
			}
		}
		for where, r := range map[string]*reader{"a program": program, "a program that came late": late} {
			texts, _ := sentences(r.frames(t))
			s.hears(where, texts, next)
		}
	})
}
