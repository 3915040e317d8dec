package pacing_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

// departure is one delivery that is not critical. Elapsed is the time that really
// passed, whatever the clock showed; forced is one that left on credit.
type departure struct {
	elapsed time.Duration
	forced  bool
}

// witness looks at a pacer from outside and knows nothing of buckets.
type witness struct {
	*rapid.T

	pacer    *pacing.Pacer
	terms    pacing.Terms
	clock    time.Time
	elapsed  time.Duration
	offered  map[string][]int64 // wanted, by session
	got      map[string][][2]int64
	written  map[string]int64 // code points of text, by session
	left     []departure
	sequence int64
}

// take notes what has left; critical is the last of it when it was offered just now.
func (w *witness) take(deliveries []pacing.Delivery, session string, critical bool) {
	for i, d := range deliveries {
		w.got[d.Session] = append(w.got[d.Session], [2]int64{d.First, d.Last})
		if d.Critical {
			if !critical || i != len(deliveries)-1 || d.Session != session || d.First != w.sequence {
				w.Fatalf("a critical event left late: %+v", d)
			}
			continue
		}
		w.left = append(w.left, departure{w.elapsed, false})
	}
	if !critical {
		return
	}
	if len(deliveries) == 0 || !deliveries[len(deliveries)-1].Critical {
		w.Fatalf("the critical event %d of %s was delayed", w.sequence, session)
	}
	for i := len(deliveries) - 2; i >= 0 && deliveries[i].Session == session; i-- {
		w.left[len(w.left)-len(deliveries)+1+i].forced = true
	}
}

func (w *witness) step(d time.Duration) {
	w.clock = w.clock.Add(d)
	w.elapsed += max(d, 0)
}

func (w *witness) offer(session string, payload aaep.Payload, urgency aaep.Urgency) {
	w.sequence++
	if text, is := payload.(aaep.OutputStreaming); is {
		text.Position = w.written[session]
		w.written[session] += int64(len(text.Chunk))
		payload = text
	}
	event := aaep.Event{ID: fmt.Sprintf("evt_%d", w.sequence), SessionID: session, Time: start(), Producer: aaep.Producer{AgentID: "tidy"}, Urgency: urgency, Payload: payload}
	languages := w.terms.Hears(session) && w.terms.Wants(event)
	if languages {
		w.offered[session] = append(w.offered[session], w.sequence)
	}
	critical := languages && (urgency == aaep.UrgencyCritical || aaep.DefaultUrgency(event.Type()) == aaep.UrgencyCritical)
	w.take(w.pacer.Offer(w.clock, pacing.Item{Session: session, Seq: w.sequence, Event: event}), session, critical)
}

// drain follows Wake until nothing is held: never in vain, and never late by a
// nanosecond.
func (w *witness) drain() {
	for w.pacer.Queued() > 0 {
		ahead := w.pacer.Wake().Sub(w.clock)
		if ahead <= 0 {
			w.Fatalf("%d are held though the budget has room", w.pacer.Queued())
		}
		w.step(ahead - 1)
		if early := w.pacer.Tick(w.clock); len(early) > 0 {
			w.Fatalf("left before Wake: %+v", early)
		}
		w.step(1)
		left := w.pacer.Tick(w.clock)
		if len(left) == 0 {
			w.Fatal("Wake woke in vain")
		}
		w.take(left, "", false)
	}
	if !w.pacer.Wake().IsZero() {
		w.Fatal("a wake for nothing")
	}
}

// budget: whatever left by itself was within the rate, counted from every earlier
// departure on, with all that left on credit in between.
func (w *witness) budget(rate int) {
	if rate == 0 {
		return
	}
	capacity := max(1, rate/5)
	for i, d := range w.left {
		if d.forced {
			continue
		}
		for j := range i + 1 {
			allowed := capacity + int((d.elapsed-w.left[j].elapsed)*time.Duration(rate)/time.Second)
			if count := i - j + 1; count > allowed {
				w.Fatalf("%d events in %v at %d a second, want at most %d", count, d.elapsed-w.left[j].elapsed, rate, allowed)
			}
		}
	}
}

// covers reports whether deliveries stand, in order, for what was offered, each for something, and none twice for the same.
func covers(got [][2]int64, offered []int64) bool {
	for _, span := range got {
		n := 0
		for n < len(offered) && offered[n] >= span[0] && offered[n] <= span[1] {
			n++
		}
		if n == 0 {
			return false
		}
		offered = offered[n:]
	}
	return len(offered) == 0
}

// TestPacerKeepsItsPromises: never over budget, never another order in a session, no
// delay of what is critical, no loss of what is not filtered.
func TestPacerKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]int{0, 1, 2, 3, 5, 7, 30, 1000, 100_000}).Draw(t, "rate")
		asked := aaep.Capabilities{
			MaxEventsPerSecond: rate, SupportsConfirmationReply: new(rapid.Bool().Draw(t, "confirms")),
			EventFilters: rapid.SampledFrom([]*aaep.EventFilters{nil, {Exclude: []string{"aaep:agent.tool.*"}}, {Include: []string{"aaep:agent.output.*"}}}).Draw(t, "filters"),
			Extensions:   earshot(rapid.SampledFrom([]string{`{}`, `{"session_ids":["sess_a","sess_b"]}`}).Draw(t, "sessions")),
		}
		terms, _, rejected := pacing.Negotiate(asking(asked), offer(), "sub_1")
		if rejected != nil {
			t.Fatal(rejected)
		}
		w := &witness{T: t, terms: terms, clock: start(), pacer: pacing.NewPacer(terms, start()), offered: map[string][]int64{}, got: map[string][][2]int64{}, written: map[string]int64{}}
		steps := rapid.SampledFrom([]time.Duration{0, 0, 0, 1, time.Millisecond, 100 * time.Millisecond, time.Second, time.Minute, -time.Second, -time.Hour})
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			w.step(steps.Draw(t, "step"))
			if rapid.Bool().Draw(t, "tick") {
				w.take(w.pacer.Tick(w.clock), "", false)
			}
			w.offer(
				rapid.SampledFrom([]string{"sess_a", "sess_b", "sess_c"}).Draw(t, "session"),
				rapid.SampledFrom([]aaep.Payload{aaep.OutputStreaming{Chunk: "a"}, aaep.OutputStreaming{Chunk: "b ", CoalesceHint: aaep.BoundaryWord}, aaep.ToolInvoked{}, aaep.AwaitingConfirmation{}, aaep.SessionErrored{}, aaep.Other{Type: "x:y"}}).Draw(t, "payload"),
				rapid.SampledFrom([]aaep.Urgency{"", "", "", aaep.UrgencyBackground, aaep.UrgencyCritical}).Draw(t, "urgency"),
			)
		}
		w.drain()
		for _, session := range []string{"sess_a", "sess_b", "sess_c"} {
			if !covers(w.got[session], w.offered[session]) {
				t.Fatalf("%s:\noffered   %v\ndelivered %v", session, w.offered[session], w.got[session])
			}
		}
		w.budget(rate)
	})
}

// TestNothingIsMorePermissive: whatever is asked and offered, the answer can be
// written and gives no more than was asked (HS-28 to HS-32); so does every
// renegotiation of it.
func TestNothingIsMorePermissive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		flag := rapid.SampledFrom([]*bool{nil, new(false), new(true)})
		subset := func(name string, words ...string) []string {
			chosen := rapid.SliceOfDistinct(rapid.SampledFrom(words), rapid.ID[string]).Draw(t, name)
			if len(chosen) == 0 {
				return nil
			}
			return chosen
		}
		draw := func() aaep.Capabilities {
			c := aaep.Capabilities{
				MaxEventsPerSecond: rapid.IntRange(0, 20).Draw(t, "rate"), Languages: subset("languages", "en", "en-GB", "de", "zh-Hant", "pt"),
				SupportsConfirmationReply: flag.Draw(t, "confirm"), SupportsClarificationReply: flag.Draw(t, "clarify"), AcceptSignedManifestsOnly: flag.Draw(t, "signed"),
				SupportedExtensions: subset("extensions", aaep.ExtensionContext, "urn:one", "urn:two", "urn:none"),
				PaceWPM:             rapid.SampledFrom([]int{0, 100}).Draw(t, "pace"),
			}
			if include := subset("include", "a", "b", "*"); include != nil {
				c.EventFilters = &aaep.EventFilters{Include: include, Exclude: subset("exclude", "c", "d")}
			}
			return c
		}
		o := offer()
		o.MaxRate = rapid.IntRange(0, 10).Draw(t, "max")
		o.SignedManifest = rapid.SampledFrom([]string{"", "a.b.c"}).Draw(t, "manifest")
		asked := draw()
		terms, accepted, rejected := pacing.Negotiate(asking(asked), o, "sub_1")
		for range 3 {
			if rejected != nil {
				if _, err := rejected.Encode(); err != nil {
					t.Fatal(err)
				}
				return
			}
			if _, err := accepted.Encode(); err != nil {
				t.Fatal(err)
			}
			noMore(t, asked, accepted.HonoredCapabilities)
			change := draw()
			asked = merged(terms.Honored, change)
			terms, accepted, rejected = terms.Renegotiate(change, o)
		}
	})
}

// noMore fails where honoured is more permissive than asked.
func noMore(t *rapid.T, asked, honored aaep.Capabilities) {
	t.Helper()
	within := func(name string, part, whole []string) {
		for _, p := range part {
			if !slices.Contains(whole, p) {
				t.Fatalf("%s: %q was not asked for", name, p)
			}
		}
	}
	if asked.MaxEventsPerSecond > 0 && (honored.MaxEventsPerSecond == 0 || honored.MaxEventsPerSecond > asked.MaxEventsPerSecond) {
		t.Fatalf("HS-28: %d of %d", honored.MaxEventsPerSecond, asked.MaxEventsPerSecond)
	}
	if honored.PaceWPM != asked.PaceWPM {
		t.Fatalf("CAP-12: %d of %d", honored.PaceWPM, asked.PaceWPM)
	}
	within("HS-29", honored.Languages, asked.Languages)
	within("HS-32", honored.SupportedExtensions, asked.SupportedExtensions)
	if asked.EventFilters != nil {
		within("HS-31", honored.EventFilters.Include, asked.EventFilters.Include)
		within("HS-31", asked.EventFilters.Exclude, honored.EventFilters.Exclude)
	}
	yes := func(b *bool) bool { return b != nil && *b }
	if yes(honored.SupportsConfirmationReply) && !yes(asked.SupportsConfirmationReply) || yes(honored.SupportsClarificationReply) && !yes(asked.SupportsClarificationReply) || yes(asked.AcceptSignedManifestsOnly) && !yes(honored.AcceptSignedManifestsOnly) {
		t.Fatalf("HS-32: %+v of %+v", honored, asked)
	}
}

// merged is what a renegotiation asks for: what it names, and else what was honoured
// (HS-62).
func merged(honored, change aaep.Capabilities) aaep.Capabilities {
	if change.MaxEventsPerSecond > 0 {
		honored.MaxEventsPerSecond = change.MaxEventsPerSecond
	}
	if change.PaceWPM > 0 {
		honored.PaceWPM = change.PaceWPM
	}
	if change.Languages != nil {
		honored.Languages = change.Languages
	}
	if change.SupportedExtensions != nil {
		honored.SupportedExtensions = change.SupportedExtensions
	}
	if change.EventFilters != nil {
		honored.EventFilters = change.EventFilters
	}
	for _, pair := range [][2]**bool{
		{&honored.SupportsConfirmationReply, &change.SupportsConfirmationReply},
		{&honored.SupportsClarificationReply, &change.SupportsClarificationReply},
		{&honored.AcceptSignedManifestsOnly, &change.AcceptSignedManifestsOnly},
	} {
		if *pair[1] != nil {
			*pair[0] = *pair[1]
		}
	}
	return honored
}
