package pacing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

// naive is pacing once more, as simple as it can be said and as slow as that is: it keeps every event as it came, and
// works out from the beginning, at each step, what they are merged to. Tokens are counted, and a voice has so much left to say.
type naive struct {
	terms    pacing.Terms
	reach    int // the weakest boundary at which a text leaves by itself, from 0, none, to 4, completion
	tokens   time.Duration
	speaking time.Duration
	now      time.Time
	pending  []pacing.Item
}

// unit is what leaves as one.
type unit struct {
	at          int // where it stands among all that waits
	members     []int
	first, last int64
	end         aaep.Event // the last event of it
	from        string
	text        string
	position    int64
}

func (n *naive) interval() time.Duration {
	if n.terms.Honored.MaxEventsPerSecond == 0 {
		return 0
	}
	rate := time.Duration(n.terms.Honored.MaxEventsPerSecond)
	return (time.Second + rate - 1) / rate
}

func (n *naive) most() time.Duration {
	return n.interval() * time.Duration(max(1, n.terms.Honored.MaxEventsPerSecond/5))
}

func (n *naive) pass(now time.Time) {
	gone := now.Sub(n.now)
	n.now = now
	n.tokens = min(n.tokens+gone, n.most())
	n.speaking = max(n.speaking-gone, 0)
}

func (n *naive) offer(now time.Time, i pacing.Item) []string {
	out := n.tick(now)
	if !n.terms.Wants(i.Event) {
		return out
	}
	n.pending = append(n.pending, i)
	if i.Event.Urgency != aaep.UrgencyCritical {
		return append(out, n.release()...)
	}
	n.pending = n.pending[:len(n.pending)-1]
	for _, u := range n.units(i.Session) {
		out = append(out, n.leave(u))
	}
	n.pending = slices.DeleteFunc(n.pending, func(p pacing.Item) bool { return p.Session == i.Session })
	return append(out, (&unit{first: i.Seq, last: i.Seq, end: i.Event, from: fromOf(i.Event)}).String())
}

func (n *naive) tick(now time.Time) []string {
	n.pass(now)
	return n.release()
}

func (n *naive) release() (out []string) {
	var sessions []string
	for _, p := range n.pending {
		if !slices.Contains(sessions, p.Session) {
			sessions = append(sessions, p.Session)
		}
	}
	type waiting struct {
		*unit

		followed bool
	}
	var all []waiting
	for _, session := range sessions {
		units := n.units(session)
		for i, u := range units {
			all = append(all, waiting{u, i < len(units)-1})
		}
	}
	slices.SortFunc(all, func(a, b waiting) int { return a.at - b.at })
	var gone []int
	for _, u := range all {
		if (u.followed || n.ripe(u.unit)) && n.tokens >= n.interval() {
			out = append(out, n.leave(u.unit))
			gone = append(gone, u.members...)
		}
	}
	var left []pacing.Item
	for i, p := range n.pending {
		if !slices.Contains(gone, i) {
			left = append(left, p)
		}
	}
	n.pending = left
	return out
}

func (n *naive) ripe(u *unit) bool {
	switch p := u.end.Payload.(type) {
	case aaep.OutputStreaming:
		hints := []aaep.CoalesceHint{"", aaep.BoundaryWord, aaep.BoundarySentence, aaep.BoundaryParagraph, aaep.BoundaryCompletion}
		return p.Complete || slices.Index(hints, p.CoalesceHint) >= n.reach && n.speaking == 0
	case aaep.StateChanged:
		return n.terms.Honored.CognitiveLoad != aaep.LoadLow || u.end.Urgency != aaep.UrgencyBackground
	}
	return true
}

func (n *naive) leave(u *unit) string {
	n.tokens -= n.interval()
	if pace := n.terms.Honored.PaceWPM; pace > 0 {
		n.speaking += time.Duration(utf8.RuneCountInString(u.text)) * time.Minute / time.Duration(6*pace)
		n.speaking = min(n.speaking, 10*time.Second)
	}
	return u.String()
}

func (u *unit) String() string {
	what := fmt.Sprintf("%d-%d ", u.first, u.last)
	switch p := u.end.Payload.(type) {
	case aaep.OutputStreaming:
		return what + fmt.Sprintf("%d:%s", u.position, u.text)
	case aaep.StateChanged:
		return what + u.from + ">" + p.ToState
	case aaep.ProgressUpdated:
		if p.Progress.Percent == nil {
			return what + p.SummaryNormal
		}
		return what + fmt.Sprint(*p.Progress.Percent, "%")
	}
	return what + u.end.Type()
}

func fromOf(e aaep.Event) string {
	p, _ := e.Payload.(aaep.StateChanged)
	return p.FromState
}

func isCount(e aaep.Event) bool {
	p, is := e.Payload.(aaep.ProgressUpdated)
	return is && p.Progress.Percent != nil
}

// units are what the events of a session that wait have become.
func (n *naive) units(session string) []*unit {
	var list []*unit
	for i, p := range n.pending {
		if p.Session != session {
			continue
		}
		u := &unit{at: i, members: []int{i}, first: p.Seq, last: p.Seq, end: p.Event, from: fromOf(p.Event)}
		if text, is := p.Event.Payload.(aaep.OutputStreaming); is {
			u.text, u.position = text.Chunk, text.Position
		}
		list = add(overtake(list, u), u)
	}
	return list
}

// overtake drops the number before a text once a later one is there.
func overtake(list []*unit, u *unit) []*unit {
	z := len(list)
	if z < 2 || !isCount(u.end) || !isCount(list[z-2].end) || list[z-2].end.Urgency != u.end.Urgency {
		return list
	}
	text := list[z-1]
	if _, is := text.end.Payload.(aaep.OutputStreaming); !is {
		return list
	}
	text.first = list[z-2].first
	text.members = append(text.members, list[z-2].members...)
	return add(list[:z-2], text)
}

func add(list []*unit, u *unit) []*unit {
	z := len(list)
	if z > 0 && merges(list[z-1], u) {
		a := list[z-1]
		a.members, a.last, a.end, a.text = append(a.members, u.members...), u.last, u.end, a.text+u.text
		return list
	}
	if z > 1 && isMove(list[z-2]) && isMove(list[z-1]) && isMove(u) && u.end.Payload.(aaep.StateChanged).ToState != list[z-2].from {
		a := list[z-2]
		a.members, a.last, a.end = slices.Concat(a.members, list[z-1].members, u.members), u.last, u.end
		return list[:z-1]
	}
	return append(list, u)
}

func isMove(u *unit) bool {
	_, is := u.end.Payload.(aaep.StateChanged)
	return is && u.end.Urgency == aaep.UrgencyBackground
}

func merges(a, b *unit) bool {
	if a.end.Urgency != b.end.Urgency {
		return false
	}
	switch later := b.end.Payload.(type) {
	case aaep.OutputStreaming:
		before, is := a.end.Payload.(aaep.OutputStreaming)
		return is && !before.Complete && before.OutputID == later.OutputID && utf8.RuneCountInString(a.text+b.text) <= 16_384
	case aaep.StateChanged:
		return isMove(a) && a.from != later.ToState
	case aaep.ProgressUpdated:
		return isCount(a.end)
	}
	return false
}

// next draws the next event of a session.
func (s *talk) next(t *rapid.T, kinds []string) pacing.Item {
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "text":
		text := rapid.SampledFrom([]string{"a", "Où? ", "語", "One sentence, said in full. ", strings.Repeat("long ", 1700)}).Draw(t, "text")
		hint := rapid.SampledFrom([]aaep.CoalesceHint{"", aaep.BoundaryWord, aaep.BoundarySentence, aaep.BoundaryParagraph}).Draw(t, "hint")
		done := rapid.IntRange(0, 9).Draw(t, "done") == 9
		at := s.runes
		s.text.WriteString(text)
		s.runes += int64(utf8.RuneCountInString(text))
		output := s.output
		if done {
			s.runes, hint = 0, aaep.BoundaryCompletion
			s.output++
		}
		return s.says(t, aaep.UrgencyBackground, aaep.OutputStreaming{Chunk: text, Position: at, OutputID: fmt.Sprint("out_", output), CoalesceHint: hint, Complete: done})
	case "number":
		return s.progresses(t, float64(rapid.IntRange(0, 100).Draw(t, "percent")))
	case "words":
		return s.says(t, aaep.UrgencyBackground, aaep.ProgressUpdated{Progress: aaep.Progress{Description: "A word."}, SummaryNormal: "A word."})
	case "state":
		to := rapid.SampledFrom([]string{"thinking", "deciding", "writing_output", "calling_tool"}).Filter(func(to string) bool { return to != s.state }).Draw(t, "state")
		return s.moves(t, to, rapid.SampledFrom([]aaep.Urgency{aaep.UrgencyBackground, aaep.UrgencyBackground, aaep.UrgencyNormal}).Draw(t, "urgency"))
	case "tool":
		return s.says(t, aaep.UrgencyNormal, aaep.ToolInvoked{Tool: "tidy", SummaryNormal: "It tidies."})
	default:
		return s.says(t, aaep.UrgencyCritical, aaep.ProgressUpdated{Progress: aaep.Progress{Description: "Look."}, SummaryNormal: "Look."})
	}
}

// schedule is what is fuzzed: terms, and events in virtual time.
type schedule struct {
	*rapid.T

	pacer  *pacing.Pacer
	naive  *naive
	talks  []*talk
	now    time.Time
	asked  map[string]time.Time // when the text at a place of a session was offered
	texts  map[string]string    // what has arrived
	places map[string]int64
}

func newSchedule(t *rapid.T) *schedule {
	limits := rapid.SampledFrom([]struct {
		boundaries []aaep.CoalesceHint
		load       aaep.CognitiveLoad
		reach      int
	}{
		{reach: 0},
		{boundaries: []aaep.CoalesceHint{aaep.BoundaryWord}, reach: 1},
		{boundaries: []aaep.CoalesceHint{aaep.BoundaryCompletion, aaep.BoundarySentence}, reach: 2},
		{load: aaep.LoadLow, reach: 3},
		{load: aaep.LoadLow, boundaries: []aaep.CoalesceHint{aaep.BoundaryCompletion}, reach: 4},
	}).Draw(t, "limits")
	terms, _, rejected := pacing.Negotiate(asking(aaep.Capabilities{
		MaxEventsPerSecond: rapid.SampledFrom([]int{0, 1, 2, 3, 5, 7, 30}).Draw(t, "rate"),
		CoalesceBoundaries: limits.boundaries, CognitiveLoad: limits.load, PaceWPM: rapid.SampledFrom([]int{0, 50, 300, 1000}).Draw(t, "pace"),
	}), offer(), "sub_1")
	if rejected != nil {
		t.Fatal(rejected)
	}
	n := &naive{terms: terms, reach: limits.reach, now: start()}
	n.tokens = n.most()
	s := &schedule{
		T: t, pacer: pacing.NewPacer(terms, start()), naive: n, now: start(), asked: map[string]time.Time{}, texts: map[string]string{}, places: map[string]int64{},
	}
	for _, id := range []string{"sess_1", "sess_2"} {
		one := newTalk()
		one.session = id
		s.talks = append(s.talks, one)
	}
	return s
}

// same compares what the two let leave, and looks at it: nothing goes back, and the text is whole.
func (s *schedule) same(deliveries []pacing.Delivery, want []string) {
	var got []string
	for _, d := range deliveries {
		got = append(got, heard(s, d))
		if d.First <= s.places[d.Session] || d.Last < d.First {
			s.Fatalf("%s: the places %d to %d come after %d", d.Session, d.First, d.Last, s.places[d.Session])
		}
		s.places[d.Session] = d.Last
		e, err := aaep.DecodeEvent(d.Raw)
		if err != nil {
			s.Fatal(err)
		}
		if p, is := e.Payload.(aaep.OutputStreaming); is {
			s.texts[d.Session] += p.Chunk
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.Fatalf("after %v:\ngot\n%.600s\nwant\n%.600s", s.now.Sub(start()), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (s *schedule) tick(at time.Time) int {
	s.now = at
	deliveries := s.pacer.Tick(at)
	s.same(deliveries, s.naive.tick(at))
	return len(deliveries)
}

// drain ends both, and whatever waits for more.
func (s *schedule) drain() {
	for _, one := range s.talks {
		i := one.says(s, aaep.UrgencyNormal, aaep.SessionCompleted{SummaryNormal: "Done."})
		s.same(s.pacer.Offer(s.now, i), s.naive.offer(s.now, i))
	}
	for s.pacer.Queued() > 0 {
		wake := s.pacer.Wake()
		if s.tick(wake.Add(-1)) > 0 || s.tick(wake) == 0 {
			s.Fatalf("a wake at %v, at which nothing leaves", wake)
		}
	}
	if len(s.naive.pending) > 0 {
		s.Fatalf("%d events are held once more", len(s.naive.pending))
	}
	for _, one := range s.talks {
		if s.places[one.session] != one.n || s.texts[one.session] != one.text.String() {
			s.Fatalf("%s: %d of %d places, %d of %d bytes of text", one.session, s.places[one.session], one.n, len(s.texts[one.session]), one.text.Len())
		}
	}
}

// TestNaive (BP-01 to BP-06, BP-15, CAP-06, CAP-12, C-70 to C-77): whatever is agreed, and whatever happens when, a pacer lets the same leave at
// the same nanosecond as the naive one.
func TestNaive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSchedule(t)
		pauses := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Millisecond, 150 * time.Millisecond, 700 * time.Millisecond, 4 * time.Second, time.Minute})
		for range rapid.IntRange(1, 50).Draw(t, "events") {
			s.now = s.now.Add(pauses.Draw(t, "pause"))
			if rapid.Bool().Draw(t, "tick") {
				s.tick(s.now)
			}
			i := rapid.SampledFrom(s.talks).Draw(t, "session").next(t, []string{"text", "text", "number", "words", "state", "state", "tool", "critical"})
			s.same(s.pacer.Offer(s.now, i), s.naive.offer(s.now, i))
		}
		s.drain()
	})
}

// TestBehindAtMost: a stream that can be merged, of text and of numbers, is at most three tokens behind, at whatever rate, and ten seconds
// more where a voice reads it out.
func TestBehindAtMost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms, _, rejected := pacing.Negotiate(asking(aaep.Capabilities{
			MaxEventsPerSecond: rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "rate"), PaceWPM: rapid.SampledFrom([]int{0, 50, 400}).Draw(t, "pace"),
		}), offer(), "sub_1")
		if rejected != nil {
			t.Fatal(rejected)
		}
		most := 3 * time.Second / time.Duration(terms.Honored.MaxEventsPerSecond)
		if terms.Honored.PaceWPM > 0 {
			most += 10 * time.Second
		}
		p, one, now, came := pacing.NewPacer(terms, start()), newTalk(), start(), []time.Time{{}}
		take := func(deliveries []pacing.Delivery) {
			for _, d := range deliveries {
				if late := now.Sub(came[d.First]); late > most {
					t.Fatalf("%d to %d left %v after it came, at most %v is promised", d.First, d.Last, late, most)
				}
			}
		}
		for range rapid.IntRange(1, 300).Draw(t, "events") {
			pause := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond}).Draw(t, "pause")
			for next := now.Add(pause); now.Before(next); {
				wake := p.Wake()
				if wake.IsZero() || wake.After(next) {
					now = next
					break
				}
				now = wake
				take(p.Tick(now))
			}
			came = append(came, now)
			if rapid.IntRange(0, 3).Draw(t, "number") == 0 {
				take(p.Offer(now, one.progresses(t, float64(one.n%100))))
			} else {
				take(p.Offer(now, one.writes(t, "More. ")))
			}
		}
		for p.Queued() > 0 {
			now = p.Wake()
			take(p.Tick(now))
		}
	})
}
