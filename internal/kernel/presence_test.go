package kernel_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/registry"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// presence hears what is on a subject that contains the part, or nothing; where it is blind, nobody
// knows.
type presence struct {
	part  string
	there atomic.Bool
	blind bool
}

func (p *presence) Listens(subject string) (listens, known bool) {
	return p.there.Load() || !strings.Contains(subject, p.part), !p.blind
}

// unheard configures a world in which nobody hears the commands of a service.
func unheard(p *presence, configure func(*world)) func(*world) {
	return func(w *world) {
		if configure != nil {
			configure(w)
		}
		w.presence = p
	}
}

const noService = "No service for " + wordCount + " is connected."

// told counts the events whose words contain a text.
func (w *world) told(text string) int {
	w.t.Helper()
	w.settle()
	return strings.Count(w.tale(), text)
}

// asksAbsent begins a turn that calls the tool of a service which has registered it, long after all who live here have
// had time to come.
func (w *world) asksAbsent(class utp.Class, options string) (*stranger, api.EnqueueAnswer) {
	w.t.Helper()
	s := w.stranger("words")
	s.serves(class, options)
	w.pass(10 * time.Second)
	w.work(one(wordCount))
	return s, w.begin()
}

// TestUnservedForeign: a call whose service is not connected is told of at once. Its command, which is its
// start, waits for somebody to hear it: no effect is put to a person that nobody can have had.
func TestUnservedForeign(t *testing.T) {
	for _, class := range []utp.Class{utp.Read, utp.Irreversible} {
		t.Run(string(class)+", which comes", func(t *testing.T) {
			p := &presence{part: ".cmd.tool.words."}
			inWorld(t, unheard(p, naming(wordCount)), func(t *testing.T, w *world) {
				s, a := w.asksAbsent(class, `{"suspend_timeout_seconds":60}`)
				if q := w.asked(); !strings.Contains(string(q.Body), "No service for it is connected at the moment.") {
					t.Errorf("the question does not say that nobody is there: %s", q.Body)
				}
				w.accepts()
				w.reaches(a.Turn, turn.Dispatched)
				if n := w.told(noService); n != 0 {
					t.Errorf("told %d times before a connection could be back", n)
				}
				w.pass(2 * time.Second)
				if n := w.told(noService + " The call starts when one connects. If none does within 5"); n != 1 {
					t.Errorf("told %d times\n%s", n, w.tale())
				}
				w.pass(20 * time.Second)
				if n := len(s.took("")); n != 0 || w.last(a.Turn).State != turn.Dispatched || w.told(noService) != 1 {
					t.Errorf("%d commands, %s, told %d times", n, w.last(a.Turn).State, w.told(noService))
				}
				p.there.Store(true)
				_, header, card := s.command()
				s.finishes(header, card)
				w.succeeded(a.Turn)
			})
		})
	}
	t.Run("never comes", func(t *testing.T) {
		p := &presence{part: ".cmd.tool.words."}
		inWorld(t, unheard(p, naming(wordCount)), func(t *testing.T, w *world) {
			s, a := w.asksAbsent(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
			q := w.accepts()
			w.pass(66 * time.Second)
			next := w.askedAfter(q) // the yes is too old, and the work is asked for again
			if next.Kind != q.Kind {
				t.Errorf("asked what became of it: %s", next.Body)
			}
			w.say(next, "reject")
			w.over(a.Turn)
			if n := len(s.took("")); n != 0 {
				t.Errorf("%d commands left", n)
			}
		})
	})
	t.Run("allowed, never comes", func(t *testing.T) {
		p := &presence{part: ".cmd.tool.words."}
		inWorld(t, unheard(p, allowing(wordCount)), func(t *testing.T, w *world) {
			_, a := w.asksAbsent(utp.Read, `{}`)
			w.pass(2 * time.Second)
			if n := w.told("it is given up."); n != 1 {
				t.Errorf("told %d times\n%s", n, w.tale())
			}
			w.pass(60 * time.Second)
			if got := w.cell(`SELECT status FROM reports`); got != "timeout" {
				t.Errorf("given up as %s", got)
			}
			w.over(a.Turn)
		})
	})
}

// TestUnservedTime: what is told is the time that is left, of the call's own where that is shorter; and a service
// that comes late has the whole of it.
func TestUnservedTime(t *testing.T) {
	t.Run("of the call", func(t *testing.T) {
		p := &presence{part: ".cmd.tool.words."}
		inWorld(t, unheard(p, naming(wordCount)), func(t *testing.T, w *world) {
			_, a := w.asksAbsent(utp.Irreversible, `{"suspend_timeout_seconds":5}`)
			w.accepts()
			w.pass(10 * time.Second)
			if n := w.told("If none does within 4 seconds, it is given up."); n != 1 {
				t.Errorf("told %d times\n%s", n, w.tale())
			}
			w.over(a.Turn)
			if got := w.cell(`SELECT status FROM reports`); got != "timeout" {
				t.Errorf("given up as %s", got)
			}
		})
	})
	t.Run("of a service that comes late", func(t *testing.T) {
		p := &presence{part: ".cmd.tool.words."}
		inWorld(t, unheard(p, naming(wordCount)), func(t *testing.T, w *world) {
			s, a := w.asksAbsent(utp.Irreversible, `{"suspend_timeout_seconds":60}`)
			w.accepts()
			w.pass(40 * time.Second)
			p.there.Store(true)
			_, header, card := s.command()
			w.pass(55 * time.Second)
			if n := len(w.questions()); n != 0 {
				t.Errorf("%d questions within the time of the call", n)
			}
			s.finishes(header, card)
			w.succeeded(a.Turn)
		})
	})
}

// TestUnservedOurs: a call of a service of ours that is not connected is told of, too; its command only
// rings, and goes on.
func TestUnservedOurs(t *testing.T) {
	p := &presence{part: ".cmd.tool." + target + "."}
	inWorld(t, unheard(p, nil), func(t *testing.T, w *world) {
		w.pass(10 * time.Second)
		w.services[0].conn.cut.Store(true)
		w.work(one(poller))
		a := w.begin()
		w.pass(3 * time.Second)
		if n := w.told("No service for " + poller + " is connected."); n != 1 {
			t.Errorf("told %d times\n%s", n, w.tale())
		}
		p.there.Store(true)
		w.services[0].conn.cut.Store(false)
		w.succeeded(a.Turn)
	})
}

// TestServedIsNotTold: who cannot see who is there says nothing, and holds nothing back; nor is anything said
// right after the kernel's own start, when everybody is still coming, or of a service that is there.
func TestServedIsNotTold(t *testing.T) {
	for name, p := range map[string]*presence{
		"it is not known":  {blind: true},
		"it is there":      {part: ".cmd.tool.other."},
		"all come at once": {part: ".cmd.tool.words."},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, unheard(p, allowing(wordCount)), func(t *testing.T, w *world) {
				s := w.stranger("words")
				s.serves(utp.Read, `{}`)
				if name != "all come at once" {
					w.pass(10 * time.Second)
				}
				w.work(one(wordCount))
				a := w.begin()
				w.pass(3 * time.Second)
				p.there.Store(true)
				_, header, card := s.command()
				s.finishes(header, card)
				w.succeeded(a.Turn)
				if n := w.told("No service"); n != 0 {
					t.Errorf("told %d times\n%s", n, w.tale())
				}
			})
		})
	}
}

// TestToolConnected: an operator sees whether a service of each tool is there, where that is known.
func TestToolConnected(t *testing.T) {
	for name, tt := range map[string]struct {
		presence registry.Presence
		want     string
	}{
		"nobody can tell": {nil, "not known"},
		"it is not known": {&presence{blind: true}, "not known"},
		"it is not there": {&presence{part: ".cmd.tool." + target + "."}, "no"},
		"it is there":     {&presence{part: ".cmd.tool.other."}, "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.presence = tt.presence }, func(t *testing.T, w *world) {
				all, err := operate[api.ToolsAnswer](w, api.OpTools, api.ToolsRequest{})
				if err != nil || len(all.Tools) == 0 {
					t.Fatal(err)
				}
				for _, d := range all.Tools {
					got := "not known"
					if d.ServiceConnected != nil {
						got = map[bool]string{true: "yes", false: "no"}[*d.ServiceConnected]
					}
					if got != tt.want {
						t.Errorf("%s: connected: %s; want %s", d.Tool, got, tt.want)
					}
				}
			})
		})
	}
}
