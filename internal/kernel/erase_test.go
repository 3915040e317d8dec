package kernel_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/storetest"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// tattles is a planner that says the mark wherever an agent can say anything: while it plans,
// in a question, in a call and in its result.
func tattles(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
	const mark = storetest.Marker
	if _, err := io.WriteString(worker.Output(ctx), mark+" while planning. "); err != nil {
		return worker.Decision{}, err
	}
	switch len(t.Results) {
	case 0:
		return worker.Decision{Question: &worker.Question{Key: "q", Text: "What about " + mark + "?"}}, nil
	case 1:
		return worker.Decision{Calls: []worker.Call{{Key: "k" + mark, Tool: burn, Args: map[string]any{"name": mark}, Comment: mark, To: 100}}}, nil
	default:
		return worker.Decision{Answer: &worker.Answer{Summary: mark, Output: mark, Fields: []worker.Field{{Name: "title", Value: mark}}}}, nil
	}
}

// tattled plays such a turn to its end, with an answer that has the mark in it.
func (w *world) tattled() api.EnqueueAnswer {
	w.t.Helper()
	agent := w.loop(tattles)
	a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{
		Agent: agentName, Args: jsontext.Value(`{"about":"` + storetest.Marker + `"}`), Request: storetest.Marker, ResultFields: []string{"title"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.follow(a.Session)
	q := w.asked()
	w.say(q, "It is "+storetest.Marker+".")
	w.say(w.askedAfter(q), "accept")
	w.over(a.Turn)
	agent.kill()
	return a
}

// commandsMarked has a third-party worker ask twice with the mark in the arguments: for a tool
// that does what it is told, and for one that there is not.
func (w *world) commandsMarked() string {
	w.t.Helper()
	s := w.stranger("peer")
	c := s.holds()
	for call, name := range map[string]string{"tc_theirs": poller, "tc_refused": "none." + storetest.Marker} {
		card := s.wanted(c.Turn, call, name)
		card.Arguments = jsontext.Value(`{"name":"` + storetest.Marker + `"}`)
		s.keeps(utp.NewToolCall(card))
		if _, err := s.sends(s.commanded(card, c.Epoch)); (err == nil) != (name == poller) {
			w.t.Fatalf("the command for %s: %v", name, err)
		}
	}
	w.until("both are to be answered", func() bool {
		_, _, done := s.row(c.Turn, "tc_theirs")
		_, _, refused := s.row(c.Turn, "tc_refused")
		return done && refused
	})
	s.delivers(c)
	w.over(c.Turn)
	return c.Turn
}

// TestEraseLeavesNothing: of what was said in a turn nothing is left in the files of the ledger,
// wherever it was said: in the request, while planning, in a question and its answer, in a call,
// in the deliverable, in the commands of a third-party worker and their answers.
func TestEraseLeavesNothing(t *testing.T) {
	onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
		turns := []string{w.tattled().Turn, w.commandsMarked()}
		const marked = ` LIKE '%` + storetest.Marker + `%'`
		for what, where := range map[string]string{
			"the request":           `turn_inputs WHERE request` + marked,
			"the turn's arguments":  `turn_inputs WHERE args` + marked,
			"the summary":           `turns WHERE summary` + marked,
			"the agent's own words": `calls WHERE doc` + marked,
			"the text of events":    `events WHERE type LIKE '%output.streaming' AND body` + marked,
			"the deliverable":       `cards WHERE type = 'task.deliverable' AND content` + marked,
			"the person's answer":   `cards WHERE type = 'tool.result' AND content LIKE '%It is ` + storetest.Marker + `%'`,
			"their command":         `cards WHERE card_id = 'card_of_tc_theirs' AND content` + marked,
			"their refused command": `cards WHERE card_id = 'card_of_tc_refused' AND content` + marked,
			"what was refused":      `cards WHERE card_id LIKE 'card_answer_%' AND metadata` + marked,
			"the transcript":        `results WHERE key` + marked,
		} {
			if w.cell(`SELECT count(*) > 0 FROM `+where) != "1" {
				t.Errorf("%s is not marked before: the test shows nothing of it", what)
			}
		}
		w.pass(2 * time.Minute) // the last message has left
		got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: turns})
		if err != nil || got.Erased != len(turns) {
			t.Fatalf("erased %+v, %v", got, err)
		}
		if err := (fuse{w.now}).Scrub(w.ctx); err != nil {
			t.Fatal(err)
		}
		if n := marksIn(t, w.now.path); n > 0 {
			t.Errorf("the files still say it, %d times", n)
		}
		if n := w.cell(`SELECT count(*) FROM cards`); n != "0" {
			t.Errorf("%s cards are left", n)
		}
	})
}

// TestNothingIntoErasedTurn: a third-party worker cannot bring content back into a turn
// whose content is gone.
func TestNothingIntoErasedTurn(t *testing.T) {
	inWorld(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		c := s.holds()
		s.delivers(c)
		w.over(c.Turn)
		w.pass(2 * time.Minute)
		if got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{c.Turn}}); err != nil || got.Erased != 1 {
			t.Fatalf("erased %+v, %v", got, err)
		}
		card, err := utp.NewToolCall(s.wanted(c.Turn, "tc_late", poller))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := utp.EncodeCard(card)
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, s.ask(api.OpCard, api.CardRequest{Card: raw}, nil), utp.CodeTurnEnded)
	})
}

// TestErasedIsScrubbedLater: what was erased while somebody read from the log, so that it could not
// be emptied, is gone from the files within the hour after that, and soon after a start where
// the process died before.
func TestErasedIsScrubbedLater(t *testing.T) {
	for name, dies := range map[string]bool{"by the same process": false, "by the next one": true} {
		t.Run(name, func(t *testing.T) {
			onDisk(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
				id := w.tattled().Turn
				w.pass(2 * time.Minute)
				w.now.read.Store(true)
				if _, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Turns: []string{id}}); err == nil {
					t.Error("it is told as gone from the files, and the log was never emptied")
				}
				path := w.now.path
				if n := marksIn(t, path); n == 0 {
					t.Fatal("the mark is in none of the files before: the test shows nothing")
				}
				if dies {
					w.restart()
				}
				w.now.read.Store(false)
				w.pass(time.Hour)
				if n := marksIn(t, path); n > 0 {
					t.Errorf("the files still say it, %d times", n)
				}
			})
		})
	}
}

// marksIn counts the mark in the files of a ledger.
func marksIn(t *testing.T, path string) int {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	n := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n += bytes.Count(raw, []byte(storetest.Marker))
	}
	return n
}

// TestEraseProjectWaits: a turn of the project that has just ended is waited for until its last
// message has left, as one that is named is; one whose message cannot leave yet is told of.
func TestEraseProjectWaits(t *testing.T) {
	for name, down := range map[string]bool{"it leaves": false, "the bus is out of reach": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) { w.unjudged = true }, func(t *testing.T, w *world) {
				a := w.tattled()
				w.bus.down.Store(down)
				w.leaves(a.Session)
				if !down {
					w.pass(58 * time.Second)
				}
				got, err := operate[api.EraseAnswer](w, api.OpErase, api.EraseRequest{Project: w.project})
				if err != nil || (got.Erased == 1) == down || slices.Contains(got.Open, a.Turn) != down {
					t.Errorf("erased %+v, %v", got, err)
				}
				w.bus.down.Store(false)
			})
		})
	}
}

// leaves has another kernel leave a message of a session behind.
func (w *world) leaves(session string) {
	w.t.Helper()
	b := store.Batch{Outbox: []store.Outgoing{{Session: session, Subject: "cg.a.b.c.evt.d.e.f"}}}
	if err := w.now.store.Update(w.ctx, func(tx store.Tx) error { return tx.Save(b) }); err != nil {
		w.t.Fatal(err)
	}
}
