package kernel_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// unsendable is what a bus says of a message that can never leave.
type unsendable struct{ error }

func (unsendable) Unpublishable() bool { return true }

// postmark is what tells the messages of an outbox apart.
func postmark(header map[string][]string) string {
	return strings.Join(header["traceparent"], "") + strings.Join(header["Traceparent"], "")
}

// both is a step of two calls that are asked about.
func both() []worker.Call {
	return []worker.Call{
		{Key: "a", Tool: burn, Args: map[string]any{"name": "a"}}, {Key: "b", Tool: shred, Args: map[string]any{"name": "b"}},
	}
}

// acceptsBoth says yes to both questions.
func (w *world) acceptsBoth() {
	w.t.Helper()
	w.until("two questions are to be open", func() bool { return len(w.questions()) == 2 })
	for _, q := range w.questions() {
		w.say(q, "accept")
	}
}

// patient gives calls ten minutes to start.
func patient(w *world) {
	w.rules = []rulebook.Rule{{Tool: "*", Decide: turn.Ask, StartWithin: turn.MaxStartWithin}}
}

// TestBusOutOfReach: while the bus is out of reach, whether for minutes or for every
// other message, what is to leave waits. Nothing is put aside, nothing is lost, nothing
// overtakes.
func TestBusOutOfReach(t *testing.T) {
	tests := map[string]func(w *world, tries int) bool{
		"for minutes":             func(w *world, _ int) bool { return w.clock.now().Sub(w.clock.began) < 5*time.Minute },
		"for every other message": func(_ *world, tries int) bool { return tries%2 == 1 },
		"for most messages":       func(_ *world, tries int) bool { return tries%5 != 0 },
	}
	for name, away := range tests {
		t.Run(name, func(t *testing.T) {
			onDisk(t, patient, func(t *testing.T, w *world) {
				var mu sync.Mutex
				var left []string
				tries := 0
				w.bus.published(func(subject string, header map[string][]string) error {
					mu.Lock()
					defer mu.Unlock()
					if kind, _, _ := route(subject); kind != isCommand {
						return nil
					}
					if tries++; away(w, tries) {
						return errNobody
					}
					left = append(left, postmark(header))
					return nil
				})
				w.tamper(`CREATE TABLE were (header TEXT); CREATE TRIGGER remember AFTER INSERT ON outbox BEGIN INSERT INTO were VALUES (new.header); END;
					UPDATE meta SET value = value`)
				w.work(both())
				a := w.begin()
				w.acceptsBoth()
				w.succeeded(a.Turn)
				w.pass(time.Minute) // the last of it as well
				w.effectsAre(2)
				if n := w.cell(`SELECT count(*) FROM outbox`); n != "0" {
					t.Errorf("%s messages are still there", n)
				}
				var want []string
				for _, row := range w.query(w.now.path, `SELECT header FROM were ORDER BY rowid`) {
					var header map[string][]string
					if err := json.Unmarshal([]byte(row[0]), &header); err != nil {
						t.Fatal(err)
					}
					want = append(want, postmark(header))
				}
				mu.Lock()
				defer mu.Unlock()
				if len(want) == 0 || want[0] == "" || !slices.Equal(left, want) {
					t.Errorf("the messages left as %q; the outbox has %q", left, want)
				}
			})
		})
	}
}

// TestUnpublishable: a message that can never leave is put aside with its reason, which
// is told once, and does not keep the rest of its session back. The call is rung again.
func TestUnpublishable(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.work(both())
		a := w.begin()
		var mu sync.Mutex
		refused := ""
		w.bus.published(func(subject string, header map[string][]string) error {
			mu.Lock()
			defer mu.Unlock()
			if kind, _, _ := route(subject); kind != isCommand || refused != "" {
				return nil
			}
			refused = header[utp.HeaderToolCallID][0]
			return unsendable{errors.New("bus: it has the wrong form")}
		})
		w.acceptsBoth()
		w.until("a call is to be done", func() bool { return len(w.effects.all()) == 1 })
		mu.Lock()
		first := refused
		mu.Unlock()
		if done := w.effects.all()[0]; done == first {
			t.Error("the call whose message was put aside was done first")
		}
		w.succeeded(a.Turn)
		w.effectsAre(2)
		dead := w.query(w.now.path, `SELECT call_id, dead_reason FROM outbox WHERE dead_at IS NOT NULL`)
		if len(dead) != 1 || dead[0][0] != first || dead[0][1] != "bus: it has the wrong form" {
			t.Errorf("put aside: %v; want the one message, with its reason", dead)
		}
		if told := w.query(w.now.path, `SELECT body FROM events WHERE template = 'call.undelivered'`); len(told) != 1 {
			t.Errorf("it was told %d times; want once", len(told))
		}
	})
}

// TestOutrun: a step that has lost a race, and then has nothing to say, keeps nothing back
// that the winner says.
func TestOutrun(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		a := w.begin()
		h := w.hand()
		asks := func() {
			err := rpc.Ask(w.ctx, h.conn, api.OpCall, api.CallRequest{WorkerRequest: h.at, Step: 1, Calls: []api.ToolCall{
				{Key: "k", Tool: poller, Args: api.Body{Inline: jsontext.Value(`{"name":"x"}`)}},
			}}, nil)
			if err != nil {
				t.Error(err)
			}
		}
		w.now.mu.Lock()
		w.now.outrun = func() {
			asks() // a copy of the request is faster
			w.settle()
			if s := w.last(a.Turn).State; s != turn.Dispatched {
				t.Errorf("the call is %s; want its command behind the step that is under way", s)
			}
		}
		w.now.mu.Unlock()
		asks()
		w.settle()
		if c := w.last(a.Turn); c.Outcome == nil || c.Wakeups != 0 {
			t.Errorf("the call is %s, rung again %d times; want it done at the first ring", c.State, c.Wakeups)
		}
		h.results()
		h.deliver()
	})
}
