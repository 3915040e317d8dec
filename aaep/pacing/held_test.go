package pacing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

// fataler is a test, or a property that is looked at.
type fataler interface {
	Fatalf(format string, args ...any)
}

// talk is a session, its events as they come.
type talk struct {
	session string
	n       int64
	state   string
	text    strings.Builder
	runes   int64             // of the output that goes on
	output  int               // its number
	raw     map[string]string // what was sent, by id
}

func newTalk() *talk {
	return &talk{session: "sess_1", state: aaep.StateIdle, raw: map[string]string{}}
}

func (s *talk) says(t fataler, urgency aaep.Urgency, payload aaep.Payload) pacing.Item {
	s.n++
	e := aaep.Event{
		ID: fmt.Sprintf("evt_019ca9450a007%03x8bef55fe0e125750", s.n), SessionID: s.session, Urgency: urgency, Payload: payload,
		Time: start().Add(time.Duration(s.n) * time.Millisecond), Producer: aaep.Producer{AgentID: "tidy"},
	}
	raw, err := e.Encode()
	if err != nil {
		t.Fatalf("%T: %v", payload, err)
	}
	if e, err = aaep.DecodeEvent(raw); err != nil {
		t.Fatalf("%T: %v", payload, err)
	}
	s.raw[e.ID] = string(raw)
	return pacing.Item{Session: s.session, Seq: s.n, Event: e, Raw: raw}
}

func (s *talk) moves(t fataler, to string, urgency aaep.Urgency) pacing.Item {
	from := s.state
	s.state = to
	return s.says(t, urgency, aaep.StateChanged{FromState: from, ToState: to, SummaryNormal: "It goes on."})
}

func (s *talk) writes(t fataler, text string) pacing.Item {
	s.text.WriteString(text)
	s.runes += int64(len([]rune(text)))
	return s.says(t, aaep.UrgencyBackground, aaep.OutputStreaming{Chunk: text, Position: s.runes - int64(len([]rune(text))), CoalesceHint: aaep.BoundarySentence})
}

func (s *talk) progresses(t fataler, percent float64) pacing.Item {
	return s.says(t, aaep.UrgencyBackground, aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent}, SummaryNormal: "On the way."})
}

func (s *talk) asks(t fataler) pacing.Item {
	return s.says(t, aaep.UrgencyCritical, aaep.StateChanged{FromState: s.state, ToState: s.state + "_x", SummaryNormal: "Recorded."})
}

// heard is what one delivery says.
func heard(t fataler, d pacing.Delivery) string {
	e, err := aaep.DecodeEvent(d.Raw)
	if err != nil {
		t.Fatalf("%s: %v", d.Raw, err)
	}
	if e.ID != d.EventID {
		t.Fatalf("the delivery is named %s and holds %s", d.EventID, e.ID)
	}
	span := fmt.Sprintf("%d-%d ", d.First, d.Last)
	switch p := e.Payload.(type) {
	case aaep.OutputStreaming:
		return span + fmt.Sprintf("%d:%s", p.Position, p.Chunk)
	case aaep.StateChanged:
		return span + p.FromState + ">" + p.ToState
	case aaep.ProgressUpdated:
		if p.Progress.Percent == nil {
			return span + p.SummaryNormal
		}
		return span + fmt.Sprint(*p.Progress.Percent, "%")
	default:
		return span + e.Type()
	}
}

// TestMerged (BP-03): what something critical has to wait for is as little as can be, and nothing of it is
// lost (C-72): the text is whole, each state leaves the one that was entered, a word of our own stays.
func TestMerged(t *testing.T) {
	t.Parallel()
	terms, _, rejected := pacing.Negotiate(asking(aaep.Capabilities{MaxEventsPerSecond: 1}), offer(), "sub_1")
	if rejected != nil {
		t.Fatal(rejected)
	}
	p, s := pacing.NewPacer(terms, start()), newTalk()
	var got []string
	offer := func(i pacing.Item) {
		for _, d := range p.Offer(start(), i) {
			got = append(got, heard(t, d))
		}
	}
	offer(s.moves(t, "thinking", aaep.UrgencyBackground))
	offer(s.moves(t, "deciding", aaep.UrgencyBackground))
	offer(s.moves(t, "writing_output", aaep.UrgencyBackground))
	offer(s.writes(t, "Où? "))
	offer(s.writes(t, "Là. "))
	offer(s.writes(t, "Bien."))
	offer(s.moves(t, "deciding", aaep.UrgencyNormal)) // says something
	offer(s.moves(t, "calling_tool", aaep.UrgencyBackground))
	offer(s.progresses(t, 10))
	offer(s.progresses(t, 20))
	offer(s.says(t, aaep.UrgencyBackground, aaep.ProgressUpdated{Progress: aaep.Progress{Description: "A word."}, SummaryNormal: "A word."}))
	offer(s.progresses(t, 30))
	offer(s.asks(t))
	want := []string{
		"1-1 idle>thinking", "2-3 thinking>writing_output", "4-6 0:Où? Là. Bien.", "7-7 writing_output>deciding", "8-8 deciding>calling_tool",
		"9-11 A word.", "12-12 30%", "13-13 calling_tool>calling_tool_x",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMergedKeepsTheStory: whatever is merged, the places follow on each other, the text is whole, the
// states are a chain, and no id means two things.
func TestMergedKeepsTheStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		terms, _, rejected := pacing.Negotiate(asking(aaep.Capabilities{MaxEventsPerSecond: 1}), offer(), "sub_1")
		if rejected != nil {
			t.Fatal(rejected)
		}
		p, s := pacing.NewPacer(terms, start()), newTalk()
		now, next, state, text := start(), int64(1), aaep.StateIdle, ""
		take := func(deliveries []pacing.Delivery) {
			for _, d := range deliveries {
				if d.First != next || d.Last < d.First {
					t.Fatalf("places %d to %d follow upon %d", d.First, d.Last, next-1)
				}
				next = d.Last + 1
				if before, known := s.raw[d.EventID]; known && before != string(d.Raw) {
					t.Fatalf("%s is\n%s\nand\n%s", d.EventID, before, d.Raw)
				}
				s.raw[d.EventID] = string(d.Raw)
				e, err := aaep.DecodeEvent(d.Raw)
				if err != nil {
					t.Fatal(err)
				}
				switch p := e.Payload.(type) {
				case aaep.StateChanged:
					if p.FromState != state || p.FromState == p.ToState {
						t.Fatalf("%s is left for %s in the state %s", p.FromState, p.ToState, state)
					}
					state = p.ToState
				case aaep.OutputStreaming:
					text += p.Chunk
				}
			}
		}
		urgency := rapid.SampledFrom([]aaep.Urgency{aaep.UrgencyBackground, aaep.UrgencyBackground, aaep.UrgencyNormal, aaep.UrgencyCritical})
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, 0, 300 * time.Millisecond, 2 * time.Second}).Draw(t, "pause"))
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				to := rapid.SampledFrom([]string{"thinking", "deciding", "writing_output", "calling_tool"}).Draw(t, "state")
				if to != s.state {
					take(p.Offer(now, s.moves(t, to, urgency.Draw(t, "urgency"))))
				}
			case 1:
				take(p.Offer(now, s.writes(t, rapid.StringOfN(rapid.RuneFrom([]rune("aé語 .")), 0, 9000, -1).Draw(t, "text"))))
			case 2:
				take(p.Offer(now, s.progresses(t, float64(rapid.IntRange(0, 100).Draw(t, "percent")))))
			case 3:
				take(p.Offer(now, s.says(t, aaep.UrgencyCritical, aaep.ProgressUpdated{Progress: aaep.Progress{Description: "Look."}, SummaryNormal: "Look."})))
			}
		}
		for p.Queued() > 0 {
			now = p.Wake()
			take(p.Tick(now))
		}
		if next != s.n+1 || state != s.state || text != s.text.String() {
			t.Fatalf("%d of %d events, %s instead of %s, %d bytes of text instead of %d", next-1, s.n, state, s.state, len(text), s.text.Len())
		}
	})
}
