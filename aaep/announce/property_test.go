package announce_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// anyText is text of all kinds: empty, plain, hostile, long.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Just(""), rapid.StringN(0, 40, -1),
		rapid.SampledFrom([]string{"Done.", "Delete 3 files.", "\u2068", "\u2069x\u202e", "<U+0041>", "\xff", "e\u0301\u0301\u0301", strings.Repeat("long ", 400), "\x1b[2J\n\nA"}),
	)
}

func anyPayload(t *rapid.T) aaep.Payload {
	text := func(name string) string { return anyText().Draw(t, name) }
	number := func(name string) *int64 {
		v := rapid.SampledFrom([]int64{0, 1, 7, -1, math.MaxInt64, math.MinInt64}).Draw(t, name)
		return &v
	}
	switch rapid.IntRange(0, 13).Draw(t, "payload") {
	case 0:
		return aaep.SessionStarted{SummaryNormal: text("normal"), RequestText: text("request")}
	case 1, 2:
		return aaep.StateChanged{FromState: "x", ToState: rapid.SampledFrom([]string{aaep.StateThinking, aaep.StateDeciding, "odd", ""}).Draw(t, "to"), SummaryNormal: text("normal")}
	case 3:
		percent := rapid.Float64().Draw(t, "percent")
		return aaep.ProgressUpdated{Progress: aaep.Progress{Percent: &percent, Description: text("about")}}
	case 4:
		return aaep.ProgressUpdated{Progress: aaep.Progress{Step: number("step"), TotalSteps: number("total")}, SummaryTerse: text("terse")}
	case 5:
		return aaep.ToolInvoked{Tool: text("tool"), SummaryNormal: text("normal")}
	case 6:
		return aaep.ToolCompleted{Tool: text("tool"), Status: rapid.SampledFrom([]aaep.ToolStatus{aaep.ToolSuccess, aaep.ToolError, "?"}).Draw(t, "status"), SummaryNormal: text("normal")}
	case 7:
		return aaep.OutputStreaming{Chunk: text("chunk"), Position: *number("position"), Complete: rapid.Bool().Draw(t, "complete"), OutputID: rapid.StringN(0, 2, -1).Draw(t, "output")}
	case 8:
		return aaep.AwaitingConfirmation{Action: text("action"), Consequence: text("then"), ReplyToken: secret, TimeoutSeconds: *number("timeout"), Irreversible: rapid.Bool().Draw(t, "final")}
	case 9:
		return aaep.AwaitingClarification{Question: text("question"), ReplyToken: secret, TimeoutSeconds: *number("timeout"), DefaultResponse: text("default")}
	case 10:
		return aaep.HandoffRequested{Reason: text("reason")}
	case 11:
		return rapid.SampledFrom([]aaep.Payload{aaep.SessionCompleted{SummaryNormal: "Finished."}, aaep.SessionErrored{SummaryNormal: text("normal")}, aaep.SessionCancelled{}}).Draw(t, "end")
	case 12:
		return aaep.Other{Type: text("type"), Members: map[string]jsontext.Value{"summary_normal": jsontext.Value(text("raw"))}}
	default:
		return nil
	}
}

const secret = "rpl_0123456789abcdef0123456789abcdef"

func anyEvent(t *rapid.T, at time.Time) aaep.Event {
	e := aaep.Event{
		ID:        rapid.SampledFrom([]string{"", "evt_a", "evt_b", "evt_c", "evt_d", "evt_e", "evt_f", "evt_g", "evt_h"}).Draw(t, "id"),
		SessionID: rapid.SampledFrom([]string{"sess_1", "sess_2", ""}).Draw(t, "session"), Time: at,
		Producer: aaep.Producer{AgentName: anyText().Draw(t, "agent")}, Payload: anyPayload(t),
		Urgency: rapid.SampledFrom([]aaep.Urgency{"", aaep.UrgencyBackground, aaep.UrgencyNormal, aaep.UrgencyCritical}).Draw(t, "urgency"),
	}
	if e.ID != "" {
		e.ID += fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "nth"))
	}
	if rapid.Bool().Draw(t, "ours") {
		e.Extensions = map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(rapid.SampledFrom([]string{
			`{"question":1}`, `{"question":1,"resolution":"accepted","by":"ada","starts_at":"2026-03-01T12:00:09Z","reply_token":"` + secret + `"}`,
			`{"question":2,"resolution":"withdrawn"}`, `{"question":1,"resolution":"extended"}`, `{"question":-1,"resolution":"","bytes":-5}`,
			`{"question":1e99,"deadline":"never"}`, `[]`, `{`, `{"by":"ada"}`, `{"question":2,"resolution":"answered","by":"\u2069\u2069","surface":"\u202e"}`,
		}).Draw(t, "extension"))}
	}
	if rapid.Bool().Draw(t, "hints") {
		e.Hints = &aaep.LocalizationHints{PrimaryLanguage: rapid.SampledFrom([]string{"en", "fr", "ar", "?"}).Draw(t, "language")}
	}
	return e
}

func critical(e aaep.Event) bool {
	return e.Urgency == aaep.UrgencyCritical || e.Urgency == "" && aaep.DefaultUrgency(e.Type()) == aaep.UrgencyCritical
}

// TestAnyStream feeds streams that no producer would send. Nothing panics, two
// listeners of the same stream hear the same, ids are unique, nothing is said twice in
// a moment but recaps and how a question ended, which may be asked and answered again,
// every text is one safe line, and what is critical interrupts.
func TestAnyStream(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		wish := announce.Preferences{
			Verbosity: rapid.SampledFrom([]aaep.Verbosity{"", aaep.VerbosityTerse, aaep.VerbosityDetailed, "?"}).Draw(t, "verbosity"),
			Language:  rapid.SampledFrom([]string{"", "en", "fr-CA", "-"}).Draw(t, "wanted"),
			Person:    rapid.SampledFrom([]string{"", "ada"}).Draw(t, "person"),
			// Equal questions that wait come one after the other.
			OneQuestion: rapid.Bool().Draw(t, "one"),
		}
		if rapid.Bool().Draw(t, "late") {
			wish.Since = noon.Add(5 * time.Second)
		}
		a, twin := announce.New(wish), announce.New(wish)
		seen := map[string]bool{} // events
		var heard []announce.Announcement
		at := noon
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "pause")) * time.Second)
			if rapid.IntRange(0, 9).Draw(t, "tick") == 0 {
				ticked := a.Tick(at)
				same(t, ticked, twin.Tick(at))
				heard = append(heard, ticked...)
			}
			e := anyEvent(t, at)
			said := hear(a, e, int64(i))
			same(t, said, hear(twin, e, int64(i)))
			key := e.SessionID + " " + e.ID
			if e.ID != "" && seen[key] && len(said) > 0 && !slices.ContainsFunc(said, func(n announce.Announcement) bool { return n.Event != e.ID }) {
				t.Fatalf("an event that came again was said again: %+v", said)
			}
			fresh := e.ID == "" || !seen[key]
			seen[key] = true
			heard = append(heard, said...)
			if fresh && critical(e) && !at.Before(wish.Since) && !interrupted(heard, said, e) {
				t.Fatalf("critical and not interrupting: %+v\nsaid %+v", e, said)
			}
		}
		if wish.OneQuestion {
			heard = slices.DeleteFunc(heard, func(n announce.Announcement) bool { return n.Kind == announce.KindQuestion })
		}
		judge(t, heard)
	})
}

func same(t *rapid.T, x, y []announce.Announcement) {
	if !slices.Equal(x, y) {
		t.Fatalf("not deterministic:\n%+v\n%+v", x, y)
	}
}

// interrupted reports whether an event led to something assertive, or said only what its
// session had just said assertively.
func interrupted(heard, said []announce.Announcement, e aaep.Event) bool {
	loud := func(n announce.Announcement) bool {
		return n.Priority == announce.Assertive && n.Session == e.SessionID
	}
	if slices.ContainsFunc(said, func(n announce.Announcement) bool { return loud(n) && n.Event == e.ID }) {
		return true
	}
	return slices.ContainsFunc(heard, func(n announce.Announcement) bool { return loud(n) && e.Time.Sub(n.At).Abs() < 5*time.Second })
}

// fataler is a test, a property's too.
type fataler interface {
	Fatalf(format string, args ...any)
}

// judge holds everything that was said against what holds for every stream.
func judge(t fataler, heard []announce.Announcement) {
	ids := map[string]bool{}
	for i, n := range heard {
		if ids[n.ID] || n.ID == "" {
			t.Fatalf("the id %q is given twice: %+v", n.ID, heard)
		}
		ids[n.ID] = true
		if n.Text == "" || n.Priority == "" || n.Kind == "" {
			t.Fatalf("incomplete: %+v", n)
		}
		if strings.ContainsAny(n.Text, "\n\r\t\x1b\u202e\u200b") || strings.Contains(n.Text, "rpl_") || strings.Contains(n.Text, "  ") {
			t.Fatalf("not fit to be said: %q", n.Text)
		}
		if strings.Count(n.Text, "\u2068") != strings.Count(n.Text, "\u2069") {
			t.Fatalf("an isolate is left open: %q", n.Text)
		}
		for _, old := range heard[:i] {
			again := old.Session == n.Session && old.Text == n.Text && old.At.Sub(n.At).Abs() < 5*time.Second && old.Kind == n.Kind
			if again && old.Priority == n.Priority && n.Kind != announce.KindRecap && n.Kind != announce.KindResolution {
				t.Fatalf("said twice: %+v\n%+v", old, n)
			}
		}
	}
}
