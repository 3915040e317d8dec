package main_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// chased is a turn at a server that is killed and started again, with a run attached to it, while
// somebody answers from another terminal.
type chased struct {
	*ordeal
	server *process
	run    *process
	deaths int
}

// answers answers whatever is open, as long as the server lives.
func (b *chased) answers() {
	b.t.Helper()
	for _, q := range b.waiting() {
		word := "accept"
		if q.Kind == "clarification" {
			word = b.answer
		}
		start(b.t, options{verb: "reply", data: b.data, args: []string{"--token-file", b.approver(), strconv.Itoa(q.Number), word}, nobody: true}).wait()
	}
}

// waiting lists the open questions; none where the server has just died.
func (b *chased) waiting() []api.OpenQuestion {
	b.t.Helper()
	p := start(b.t, options{verb: "pending", data: b.data, args: []string{"--json"}, nobody: true})
	if p.wait() != 0 {
		return nil
	}
	var open []api.OpenQuestion
	must(b.t, json.Unmarshal([]byte(p.out.String()), &open))
	return open
}

// endure brings the turn to its end through the death of its server.
func (b *chased) endure() int {
	b.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for shown := 0; ; {
		text, news := b.run.prompt.now()
		if n := strings.Count(squeeze(text), asked); n > shown {
			shown = n
			b.answers()
			continue
		}
		select {
		case <-b.run.ended:
			return b.run.wait()
		case <-news:
		case <-b.server.ended:
			if code := b.server.wait(); code != killed {
				b.t.Fatalf("the server ended with %d:\n%s", code, b.server.prompt)
			}
			if b.deaths++; b.deaths > len(b.faults) {
				b.t.Fatal("the server dies without a fault")
			}
			b.untouchedWithoutAYes()
			b.server = b.up()
			b.answers()
		case <-timer.C:
			b.t.Fatalf("the turn does not end; the run said:\n%s\nthe server said:\n%s", text, b.server.prompt)
		}
	}
}

func (b *chased) untouchedWithoutAYes() {
	b.t.Helper()
	if readLedger(b.t, b.data).one(`SELECT count(*) FROM consents`) == "0" {
		b.untouched("killed before any yes, ")
	}
}

// TestServerKilledAtEveryPoint kills `up` where it saves and acts, and starts it again on the same
// data, while the question is answered from another terminal. Every row of the crash table holds
// as it does for a run by itself, and the attached run hears the whole session once.
func TestServerKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, point := range testkit.Sample(t, points(), 1) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b := &chased{ordeal: &ordeal{scene: newScene(t), faults: []string{point}, answer: "leave"}}
			b.does(0, "set", "undo-time", "3s")
			b.server = b.upWith(options{fault: point})
			b.run = b.scene.run("--json")
			code := b.endure()
			if b.deaths != 1 {
				t.Errorf("the server was killed %d times: it does not come to %s", b.deaths, point)
			}
			b.server.signal(os.Interrupt)
			b.server.ends(0)
			l := readLedger(t, b.data)
			l.ended()
			l.consented(1 + b.startsTwice())
			b.told(l, b.run)
			b.exit(l, code)
			b.tidied()
		})
	}
}
