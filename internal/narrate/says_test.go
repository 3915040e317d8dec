package narrate_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// confirmations are the questions that a stage has put, in their order.
func (s *stage) confirmations() []aaep.AwaitingConfirmation {
	s.tb.Helper()
	var all []aaep.AwaitingConfirmation
	for _, row := range s.rows {
		e, err := aaep.DecodeEvent(row.Body)
		if err != nil {
			s.tb.Fatal(err)
		}
		if p, is := e.Payload.(aaep.AwaitingConfirmation); is {
			all = append(all, p)
		}
	}
	return all
}

// TestAgentsWords: what an agent says about its call is quoted at the end of the longest
// text and nowhere else. It cannot end its own quotation, and nothing in it acts.
func TestAgentsWords(t *testing.T) {
	t.Parallel()
	for _, says := range []string{
		"MARK.",
		"MARK.” It can be undone. Say accept.",
		"“MARK” „MARK‟ ‟",
		"MARK\u2069\u2069 out of the isolate \u202e\u2066",
		"\x1b]0;MARK\x07\r\n\x00\u0085\u2028\u2029",
		"MARK \u200b\u00ad\ufeff\U000e0041 " + strings.Repeat("a\u0301\u0301\u0301\u0301\u0301\u0301", 50),
		strings.Repeat("MARK ", 1000),
		strings.Repeat("MARK", 1000),
	} {
		s := newStage(t)
		s.says = says
		asks(s)
		q := s.confirmations()[0]
		for field, text := range map[string]string{"action": q.Action, "consequence": q.Consequence, "terse": q.SummaryTerse, "normal": q.SummaryNormal} {
			if strings.Contains(text, "MARK") {
				t.Errorf("%q: the agent's words are in the %s: %q", says, field, text)
			}
		}
		ours, words, found := strings.Cut(q.SummaryDetailed, " The agent says: “")
		words, end, closed := strings.Cut(words, "”")
		switch {
		case !found || !closed || strings.Contains(ours, "MARK") || !strings.Contains(words, "MARK"):
			t.Errorf("%q is not quoted: %q", says, q.SummaryDetailed)
		case strings.Contains(end, "MARK") || !strings.HasSuffix(end, "End of the agent's words."):
			t.Errorf("%q ends in %q", says, end)
		case utf8.RuneCountInString(words) > 1500:
			t.Errorf("%q has %d characters when it is said", says, utf8.RuneCountInString(words))
		case len(says) > 2000 != strings.HasSuffix(words, "…"):
			t.Errorf("%q is said as %q", says, words)
		}
		inside := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(words, "…"), "\u2068"), "\u2069")
		for _, r := range inside {
			if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp, unicode.Cf) {
				t.Errorf("%q: %U is in %q", says, r, words)
			}
		}
	}
}

// TestAskedAnew: a question that repeats an earlier one says so, and why.
func TestAskedAnew(t *testing.T) {
	t.Parallel()
	stale := func(reason string) func(*stage) {
		return func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.feed(turn.Tick{Checks: []turn.Check{{Call: id, Digest: "other", Reason: reason}}})
		}
	}
	for name, row := range map[string]struct {
		play func(*stage)
		says string
	}{
		"age": {func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.after(2 * time.Minute)
			s.start(id)
		}, "You said yes to this as question 1, but that yes no longer applies. Too much time has passed since you said it. Nothing was done."},
		"arguments":  {stale("arguments"), "no longer applies. What it would have been done to has changed. Nothing"},
		"definition": {stale("definition"), "no longer applies. The tool itself has changed. Nothing"},
		"policy":     {stale("policy"), "no longer applies. The policy has changed. Nothing"},
		"env":        {stale("env"), "no longer applies. A setting that it depends on has changed. Nothing"},
		"project":    {stale("project"), "no longer applies. It belongs to another project now. Nothing"},
		"unheard of": {stale("unheard of"), "no longer applies. Something that it was about has changed. Nothing"},
		"unknown fate": {func(s *stage) {
			loses(s)
			s.answer(2, false, true)
			s.answer(3, false, true)
		}, "An attempt at this began 2 minutes ago, and it is not known whether it was done. If it was, this does it a second time."},
	} {
		s := newStage(t)
		row.play(s)
		all := s.confirmations()
		if len(all) != 2 {
			t.Fatalf("%s: there are %d questions, want 2", name, len(all))
		}
		last := s.rows[len(s.rows)-1]
		e, err := aaep.DecodeEvent(last.Body)
		if err != nil {
			t.Fatal(err)
		}
		told, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Text("earlier")
		q := all[1]
		for field, text := range map[string]string{"normal": q.SummaryNormal, "detailed": q.SummaryDetailed, "extension": told} {
			if !strings.Contains(text, row.says) {
				t.Errorf("%s: the %s does not say %q: %q", name, field, row.says, text)
			}
		}
		if !strings.Contains(q.SummaryTerse, "asked again") || strings.Contains(all[0].SummaryNormal+all[0].SummaryTerse, "asked again") {
			t.Errorf("%s: the questions are %q and %q", name, all[0].SummaryTerse, q.SummaryTerse)
		}
	}
}

// TestUndoIsOfferedBriefly: however long a yes can be taken back, that is offered in at most ten words.
func TestUndoIsOfferedBriefly(t *testing.T) {
	t.Parallel()
	for _, wish := range []time.Duration{turn.MinUndo, 0, 20 * time.Second, 90 * time.Second, 119 * time.Second, turn.MaxUndo} {
		s := newStage(t)
		s.claim()
		c := s.call("files.delete", jsontext.Value(`{"root":"/home/anna","sets":[]}`))
		c.Limits.Undo = wish
		s.step(c)
		s.answer(1, true, false)
		offered := false
		for _, row := range s.rows {
			e, err := aaep.DecodeEvent(row.Body)
			if err != nil {
				t.Fatal(err)
			}
			p, is := e.Payload.(aaep.StateChanged)
			if !is || row.Template != "call.accepted" {
				continue
			}
			for _, text := range []string{p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed} {
				_, offer, is := strings.Cut(text, "Starts in ")
				offer, _, ends := strings.Cut("Starts in "+offer, "undo.")
				if words := len(strings.Fields(offer + "undo.")); !is || !ends || words > 10 {
					t.Errorf("%v: %q offers it in %d words", wish, text, words)
				}
				offered = true
			}
		}
		if !offered {
			t.Errorf("%v: it is not offered", wish)
		}
	}
}
