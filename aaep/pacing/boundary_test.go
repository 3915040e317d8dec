package pacing_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

// ends says a piece of text that ends at a boundary.
func (s *talk) ends(t fataler, text string, boundary aaep.CoalesceHint, complete bool) pacing.Item {
	at := s.runes
	s.runes += int64(len([]rune(text)))
	return s.says(t, aaep.UrgencyNormal, aaep.OutputStreaming{Chunk: text, Position: at, CoalesceHint: boundary, Complete: complete})
}

func pacer(t fataler, asked aaep.Capabilities) *pacing.Pacer {
	terms, _, rejected := pacing.Negotiate(asking(asked), offer(), "sub_1")
	if rejected != nil {
		t.Fatalf("%+v", rejected)
	}
	return pacing.NewPacer(terms, start())
}

// hint is the boundary that a delivery of text names.
func hint(t fataler, d pacing.Delivery) string {
	e, err := aaep.DecodeEvent(d.Raw)
	if err != nil {
		t.Fatalf("%s: %v", d.Raw, err)
	}
	if p, is := e.Payload.(aaep.OutputStreaming); is {
		return " (" + string(p.CoalesceHint) + ")"
	}
	return ""
}

// TestBoundaries (BP-03, BP-14, CAP-06, C-70, C-76): text waits until it ends at a boundary that was agreed, or at a stronger one,
// which it then calls by the agreed name; it never waits where something else of its session follows, nor at its end.
func TestBoundaries(t *testing.T) {
	t.Parallel()
	none, word, sentence, paragraph, completion := aaep.BoundaryNone, aaep.BoundaryWord, aaep.BoundarySentence, aaep.BoundaryParagraph, aaep.BoundaryCompletion
	story := func(t fataler) []pacing.Item {
		s := newTalk()
		return []pacing.Item{
			s.ends(t, "Pi is 3", "", false), s.ends(t, ".14 ", word, false), s.ends(t, "or so. ", sentence, false), s.ends(t, "Well.\n\n", paragraph, false),
			s.ends(t, "Now ", word, false), s.moves(t, "thinking", aaep.UrgencyBackground), s.ends(t, "end", none, true),
		}
	}
	for name, tt := range map[string]struct {
		asked aaep.Capabilities
		want  []string
	}{
		"nothing agreed": {aaep.Capabilities{}, []string{
			"1-1 0:Pi is 3 ()", "2-2 7:.14  (word)", "3-3 11:or so.  (sentence)", "4-4 18:Well.\n\n (paragraph)", "5-5 25:Now  (word)", "6-6 idle>thinking", "7-7 29:end (none)",
		}},
		"none": {aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{none, completion}}, []string{
			"1-1 0:Pi is 3 ()", "2-2 7:.14  (none)", "3-3 11:or so.  (none)", "4-4 18:Well.\n\n (none)", "5-5 25:Now  (none)", "6-6 idle>thinking", "7-7 29:end (none)",
		}},
		"words": {aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{word}}, []string{
			"1-2 0:Pi is 3.14  (word)", "3-3 11:or so.  (word)", "4-4 18:Well.\n\n (word)", "5-5 25:Now  (word)", "6-6 idle>thinking", "7-7 29:end (completion)",
		}},
		"sentences": {aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{completion, sentence}}, []string{
			"1-3 0:Pi is 3.14 or so.  (sentence)", "4-4 18:Well.\n\n (sentence)", "5-5 25:Now  (word)", "6-6 idle>thinking", "7-7 29:end (completion)",
		}},
		"paragraphs": {aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{paragraph}}, []string{
			"1-4 0:Pi is 3.14 or so. Well.\n\n (paragraph)", "5-5 25:Now  (word)", "6-6 idle>thinking", "7-7 29:end (completion)",
		}},
		"the whole": {aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{completion}}, []string{
			"1-5 0:Pi is 3.14 or so. Well.\n\nNow  (word)", "6-6 idle>thinking", "7-7 29:end (completion)",
		}},
		"a low load": {aaep.Capabilities{CognitiveLoad: aaep.LoadLow}, []string{
			"1-4 0:Pi is 3.14 or so. Well.\n\n (paragraph)", "5-5 25:Now  (word)", "6-6 idle>thinking", "7-7 29:end (none)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pacer(t, tt.asked)
			var got []string
			for _, i := range story(t) {
				for _, d := range p.Offer(start(), i) {
					got = append(got, heard(t, d)+hint(t, d))
				}
			}
			if !slices.Equal(got, tt.want) || p.Queued() > 0 {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestLowLoad (BP-19, C-77): who can take in little hears no progress, and of the states between two things that happen only
// where they lead; every call, every word of the agent and everything critical stays.
func TestLowLoad(t *testing.T) {
	t.Parallel()
	p, s := pacer(t, aaep.Capabilities{CognitiveLoad: aaep.LoadLow}), newTalk()
	var got []string
	for _, i := range []pacing.Item{
		s.moves(t, "thinking", aaep.UrgencyBackground), s.moves(t, "deciding", aaep.UrgencyBackground), s.moves(t, "calling_tool", aaep.UrgencyBackground),
		s.says(t, aaep.UrgencyBackground, aaep.ToolInvoked{Tool: "files.scan", ToolCallID: "call_1", SummaryNormal: "Looking.", RiskLevel: aaep.RiskLow, ArgsSummary: "root"}),
		s.progresses(t, 10), s.progresses(t, 90), s.moves(t, "thinking", aaep.UrgencyBackground), s.asks(t),
	} {
		for _, d := range p.Offer(start(), i) {
			got = append(got, heard(t, d))
		}
	}
	want := []string{"1-3 idle>calling_tool", "4-4 aaep:agent.tool.invoked", "7-7 calling_tool>thinking", "8-8 thinking>thinking_x"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNeverFarBehind: a braille line that takes one event a second is never more than three seconds behind with text and
// progress, however fast they come, and hears all of the text; something critical leaves at once with all before it.
func TestNeverFarBehind(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, s := pacer(t, aaep.Capabilities{MaxEventsPerSecond: 1}), newTalk()
		now, came, text := start(), []time.Time{{}}, ""
		take := func(deliveries []pacing.Delivery) {
			for _, d := range deliveries {
				if late := now.Sub(came[d.Last]); late > 3*time.Second {
					t.Fatalf("%d to %d leave %v late", d.First, d.Last, late)
				}
				if e, err := aaep.DecodeEvent(d.Raw); err != nil {
					t.Fatal(err)
				} else if chunk, is := e.Payload.(aaep.OutputStreaming); is {
					text += chunk.Chunk
				}
				if original := pacing.Original(d.EventID); !strings.Contains(s.raw[original], original) {
					t.Fatalf("a stream cannot resume behind %s", d.EventID)
				}
			}
		}
		for n := range rapid.IntRange(50, 400).Draw(t, "events") {
			step := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 10 * time.Millisecond, 400 * time.Millisecond}).Draw(t, "pause")
			for wake := p.Wake(); !wake.IsZero() && !wake.After(now.Add(step)); wake = p.Wake() {
				now, step = wake, now.Add(step).Sub(wake)
				take(p.Tick(now))
			}
			now = now.Add(step)
			came = append(came, now)
			switch rapid.IntRange(0, 20).Draw(t, "event") {
			case 0:
				take(p.Offer(now, s.says(t, aaep.UrgencyCritical, aaep.ProgressUpdated{Progress: aaep.Progress{Description: "Look."}, SummaryNormal: "Look."})))
				if p.Queued() > 0 {
					t.Fatalf("%d are held behind a critical event", p.Queued())
				}
				now = now.Add(10 * time.Second) // the credit is paid back
			case 1, 2, 3, 4:
				take(p.Offer(now, s.progresses(t, float64(n%100))))
			default:
				take(p.Offer(now, s.writes(t, strconv.Itoa(n)+" ")))
			}
		}
		for p.Queued() > 0 {
			now = p.Wake()
			take(p.Tick(now))
		}
		if text != s.text.String() {
			t.Fatalf("heard\n%s\nwritten\n%s", text, s.text.String())
		}
	})
}
