package pacing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

func start() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

// room is a pacer and its clock. What it delivers is written as session and seq, such
// as "a1 a2 b1!", with ! behind a critical event.
type room struct {
	t     testing.TB
	pacer *pacing.Pacer
	now   time.Time
	seq   map[string]int64
}

func newRoom(t testing.TB, c aaep.Capabilities) *room {
	t.Helper()
	return &room{t: t, pacer: pacing.NewPacer(agree(t, c), start()), now: start(), seq: map[string]int64{}}
}

// offer hands in the next event of a session: text, or with ! a question, with # a tool.
func (r *room) offer(what string) string {
	session, kind := what[:1], what[1:]
	r.seq[session]++
	payload := map[string]aaep.Payload{"": aaep.OutputStreaming{}, "!": aaep.AwaitingConfirmation{}, "#": aaep.ToolInvoked{}, "x": aaep.SessionErrored{}}[kind]
	id := fmt.Sprintf("%s%d", session, r.seq[session])
	return told(r.pacer.Offer(r.now, pacing.Item{Session: "sess_" + session, Seq: r.seq[session], Event: aaep.Event{ID: id, Payload: payload}, Raw: []byte(id)}))
}

func (r *room) tick() string { return told(r.pacer.Tick(r.now)) }

func (r *room) wait(d time.Duration) *room { r.now = r.now.Add(d); return r }

func (r *room) want(want, got string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("want %q, got %q", want, got)
	}
}

func told(deliveries []pacing.Delivery) string {
	words := make([]string, 0, len(deliveries))
	for _, d := range deliveries {
		word := d.EventID
		if string(d.Raw) != d.EventID || d.First != d.Last || !strings.HasSuffix(d.EventID, fmt.Sprint(d.First)) {
			word += "?"
		}
		if d.Critical {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestBudget: one at once, then one a second, smoothly (BP-01, BP-02, BP-04, C-74).
func TestBudget(t *testing.T) {
	t.Parallel()
	r := newRoom(t, aaep.Capabilities{MaxEventsPerSecond: 1})
	if !r.pacer.Wake().IsZero() {
		t.Error("there is nothing to wake for")
	}
	r.want("a1", r.offer("a"))
	r.want("", r.offer("a"))
	r.want("", r.offer("b"))
	r.want("", r.wait(999*time.Millisecond).tick())
	if got := r.pacer.Wake(); !got.Equal(start().Add(time.Second)) || r.pacer.Queued() != 2 {
		t.Errorf("wake at %v, %d held", got, r.pacer.Queued())
	}
	r.want("a2", r.wait(time.Millisecond).tick())
	r.want("b1", r.wait(time.Second).offer("c"))
	r.want("c1", r.wait(time.Hour).tick())
	r.want("c2", r.wait(time.Hour).offer("c")) // an idle hour saves one token, no more
	r.want("", r.offer("c"))
}

// TestBurst: above 5 a second a fifth of a second's worth may leave at once.
func TestBurst(t *testing.T) {
	t.Parallel()
	for rate, burst := range map[int]int{1: 1, 5: 1, 9: 1, 10: 2, 100: 20, 100_000: 20_000} {
		r := newRoom(t, aaep.Capabilities{MaxEventsPerSecond: rate})
		left := 0
		for range burst + 5 {
			left += len(strings.Fields(r.offer("a")))
		}
		if left != burst {
			t.Errorf("at %d a second %d leave at once, want %d", rate, left, burst)
		}
	}
	r := newRoom(t, aaep.Capabilities{})
	for range 1000 {
		if r.offer("a") == "" {
			t.Fatal("held without a limit")
		}
	}
}

// TestCritical: a critical event waits for nothing, takes what its session held with
// it, leaves other sessions alone, and the credit is paid back (BP-05, BP-06, C-72).
func TestCritical(t *testing.T) {
	t.Parallel()
	r := newRoom(t, aaep.Capabilities{MaxEventsPerSecond: 1, SupportsConfirmationReply: new(true), EventFilters: &aaep.EventFilters{Exclude: []string{"aaep:agent.session.errored", "aaep:agent.tool.*"}}})
	r.want("a1", r.offer("a"))
	r.want("", r.offer("a"))
	r.want("", r.offer("b"))
	r.want("", r.offer("a"))
	r.want("a2 a3 a4!", r.offer("a!"))
	r.want("a5!", r.offer("ax")) // not filtered
	r.want("", r.offer("a#"))    // filtered (BP-11)
	r.want("c1!", r.offer("c!")) // costs nothing
	r.want("", r.wait(2999*time.Millisecond).tick())
	r.want("b1", r.wait(time.Millisecond).tick()) // a1, a2 and a3 are paid
	if r.pacer.Queued() != 0 {
		t.Errorf("%d held", r.pacer.Queued())
	}
}

// TestClock: a clock that is set back neither gives tokens nor stops the stream; one
// that is set forward gives no more than the bucket holds.
func TestClock(t *testing.T) {
	t.Parallel()
	r := newRoom(t, aaep.Capabilities{MaxEventsPerSecond: 2})
	r.want("a1", r.offer("a"))
	r.want("", r.wait(400*time.Millisecond).offer("a"))
	r.want("", r.wait(-24*time.Hour).tick())
	if left := r.pacer.Wake().Sub(r.now); left != 100*time.Millisecond {
		t.Errorf("%v are left, want 100ms", left)
	}
	r.want("a2", r.wait(100*time.Millisecond).tick())
	r.want("a3", r.wait(48*time.Hour).offer("a"))
	r.want("", r.offer("a"))
}

// TestSetTerms: new terms hold for everything from now on, held events too (HS-63).
func TestSetTerms(t *testing.T) {
	t.Parallel()
	r := newRoom(t, aaep.Capabilities{MaxEventsPerSecond: 1})
	set := func(c aaep.Capabilities) string { return told(r.pacer.SetTerms(r.now, agree(t, c))) }
	r.want("a1", r.offer("a"))
	r.want("", r.offer("a"))
	r.want("", r.offer("a#"))
	r.want("", r.offer("b"))
	r.want("", set(aaep.Capabilities{MaxEventsPerSecond: 1, EventFilters: &aaep.EventFilters{Exclude: []string{"aaep:agent.tool.*"}}}))
	r.want("", set(aaep.Capabilities{MaxEventsPerSecond: 1, Extensions: earshot(`{"session_ids":["sess_a"]}`)}))
	r.want("a2", set(aaep.Capabilities{})) // a3 and b1 were filtered
	r.want("a4", r.offer("a"))
	r.want("a5", r.offer("a"))
	r.want("", set(aaep.Capabilities{MaxEventsPerSecond: 4}))
	r.want("a6", r.offer("a")) // without a limit nothing was spent
	r.want("", r.offer("a"))
	r.want("", set(aaep.Capabilities{MaxEventsPerSecond: 2}))
	r.want("", r.wait(499*time.Millisecond).tick()) // one token was spent: half a second
	r.want("a7", r.wait(time.Millisecond).tick())
	r.want("", set(aaep.Capabilities{MaxEventsPerSecond: 100}))
	r.want("a8", r.offer("a")) // a bigger bucket holds more than the one token that was spent
}

// TestDebtSurvivesTerms: asking for another rate does not cancel what is owed.
func TestDebtSurvivesTerms(t *testing.T) {
	t.Parallel()
	r := newRoom(t, aaep.Capabilities{MaxEventsPerSecond: 1})
	r.want("a1", r.offer("a"))
	r.want("", r.offer("a"))
	r.want("", r.offer("a"))
	r.want("a2 a3 a4!", r.offer("ax"))
	r.want("", told(r.pacer.SetTerms(r.now, agree(t, aaep.Capabilities{MaxEventsPerSecond: 2}))))
	r.want("", r.offer("b"))
	r.want("", r.wait(1499*time.Millisecond).tick())
	r.want("b1", r.wait(time.Millisecond).tick())
}

// TestBurstThenSlower: a burst that was within the old budget is not a debt in the new
// one, which begins empty.
func TestBurstThenSlower(t *testing.T) {
	t.Parallel()
	r := newRoom(t, aaep.Capabilities{MaxEventsPerSecond: 100})
	for range 20 {
		if r.offer("a") == "" {
			t.Fatal("held within the burst")
		}
	}
	r.want("", told(r.pacer.SetTerms(r.now, agree(t, aaep.Capabilities{MaxEventsPerSecond: 1}))))
	r.want("", r.offer("b"))
	r.want("", r.wait(999*time.Millisecond).tick())
	r.want("b1", r.wait(time.Millisecond).tick())
}
