package kernel_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// asks reads what the events of the questions say at length, in their order.
func (w *world) asks(session string) []string {
	w.t.Helper()
	var all []string
	for _, row := range w.query(w.now.path, `SELECT body FROM events WHERE session_id = ? AND type LIKE '%awaiting.confirmation' ORDER BY seq`, session) {
		var e struct {
			Detailed string `json:"summary_detailed"`
		}
		if err := json.Unmarshal([]byte(row[0]), &e); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, e.Detailed)
	}
	return all
}

// TestSays: the agent's own words about a call reach the person, as its own, also with
// the question that takes the place of a stale one.
func TestSays(t *testing.T) {
	const words = "Burning the old letters."
	onDisk(t, nil, func(t *testing.T, w *world) {
		step := one(burn)
		step[0].Comment = words
		w.work(step)
		a := w.begin()
		q := w.accepts()
		w.pass(time.Second)
		call := w.last(a.Turn).ID
		w.tamper(`UPDATE cards SET content = replace(content, '"x"', '"y"') WHERE type = 'tool.call'`)
		w.flaws = []audit.Flaw{audit.Arguments}
		next := w.staleThenAsked(a.Turn, call, q, "arguments")
		all := w.asks(a.Session)
		if len(all) != 2 {
			t.Fatalf("%d questions were put; want two", len(all))
		}
		for i, text := range all {
			if !strings.Contains(text, "“"+words+"”") {
				t.Errorf("question %d does not quote the agent: %s", i+1, text)
			}
		}
		w.say(next, "reject")
		w.over(a.Turn)
	})
}

// TestCommentLanguage: the language of what an agent says about a call is with the question; a call whose tag names no language fails, and
// nobody is asked about it.
func TestCommentLanguage(t *testing.T) {
	t.Run("a tag", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			step := one(burn)
			step[0].Comment, step[0].Lang = "Quemo las cartas.", "es"
			w.work(step)
			a := w.begin()
			q := w.asked()
			if n := w.cell(`SELECT count(*) FROM events WHERE type LIKE '%awaiting.confirmation' AND body LIKE '%"agent_language":"es"%'`); n != "1" {
				t.Errorf("the language is in %s questions", n)
			}
			w.say(q, "reject")
			w.over(a.Turn)
		})
	})
	t.Run("a wrong tag", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			step := one(burn)
			step[0].Comment, step[0].Lang = "Quemo las cartas.", "spanish"
			w.work(step)
			a := w.begin()
			if state := w.over(a.Turn); state.Calls[0].Outcome.Code != utp.CodeBadRequest || len(w.effects.all()) != 0 {
				t.Errorf("the call is %+v", state.Calls[0])
			}
		})
	})
	t.Run("outside", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			p := w.program()
			for what, change := range map[string]func(*api.InvokeRequest){
				"a wrong tag": func(q *api.InvokeRequest) { q.Comment, q.Lang = "Quemo las cartas.", "es_ES" },
				"no words":    func(q *api.InvokeRequest) { q.Lang = "es" },
			} {
				if _, err := p.asks(burn, change); err == nil {
					t.Errorf("%s is taken", what)
				}
			}
			p.asked(burn, func(q *api.InvokeRequest) { q.Comment, q.Lang = "Quemo las cartas.", "es" })
			if n := w.cell(`SELECT count(*) FROM events WHERE type LIKE '%awaiting.confirmation' AND body LIKE '%"agent_language":"es"%'`); n != "1" {
				t.Errorf("the language is in %s questions", n)
			}
			if _, err := w.hub.Stop(w.ctx, api.ReplyRequest{Session: p.session, By: person}); err != nil {
				t.Fatal(err)
			}
			p.closes()
		})
	})
}

// TestSaysALot: what an agent says about a call is kept as far as 2 KiB, cut between
// characters.
func TestSaysALot(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		step := one(burn)
		step[0].Comment = strings.Repeat("ä€", 10<<10)
		w.work(step)
		a := w.begin()
		q := w.asked()
		kept := w.last(a.Turn).Comment
		if n := len(kept); n > 2<<10 || n < 2<<10-6 || !utf8.ValidString(kept) || !strings.HasSuffix(kept, "…") {
			t.Errorf("%d bytes are kept, ending %q", n, kept[max(0, n-10):])
		}
		if text := w.asks(a.Session)[0]; !strings.Contains(text, "ä€ä€") {
			t.Errorf("the question says nothing of it: %s", text)
		}
		w.say(q, "reject")
		if state := w.over(a.Turn); state.Calls[0].State != turn.Closed || state.Calls[0].Outcome.Code != utp.CodeConsentDeclined {
			t.Errorf("the call is %+v", state.Calls[0])
		}
	})
}
