package announce_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
)

// spanish says everything between marks, but for what has a word in it.
func spanish(but string) announce.Translation {
	return announce.Translation{Language: "es", Say: func(english string) (string, bool) {
		if strings.Contains(english, but) {
			return english, false
		}
		return "<" + english + ">", true
	}}
}

// inSpanish is an event in Spanish.
func inSpanish(id int, p aaep.Payload, ours string) aaep.Event {
	e := event(id, p, ours)
	e.Hints = &aaep.LocalizationHints{PrimaryLanguage: "es"}
	return e
}

// TestTranslation: own sentences beside an event in another language are in that language where they have a translation; where they
// have none, the event speaks for itself, or the whole announcement is in English.
func TestTranslation(t *testing.T) {
	t.Parallel()
	ends := func(how string) aaep.Event {
		return inSpanish(9, aaep.StateChanged{FromState: "a", ToState: "b", SummaryNormal: "La pregunta 3 se acepta."},
			`{"question":3,"resolution":"`+how+`","by":"ada","surface":"terminal:pts/3","starts_at":"`+event(9, nil, "").Time.Add(8*time.Second).Format(time.RFC3339)+`"}`)
	}
	own := inSpanish(8, aaep.ToolInvoked{Tool: "files.scan"}, "")
	english := event(7, aaep.ToolInvoked{Tool: "files.scan", SummaryNormal: "Looking."}, "")
	for _, tt := range []struct {
		name, but string
		event     aaep.Event
		text      string
		language  string
	}{
		{"an answer given elsewhere", "none", ends("accepted"), "<You accepted question 3 in the terminal “pts/3”. Starts in 8 seconds. Undo takes it back.>", "es"},
		{"one that has no translation", "You", ends("accepted"), "La pregunta 3 se acepta.", "es"},
		{"an event that says nothing", "none", own, "<Using the tool files.scan.>", "es"},
		{"one without a translation", "tool", own, "Using the tool files.scan.", "en"},
		{"an event in English", "none", english, "Looking.", ""},
	} {
		a := announce.New(announce.Preferences{Person: "ada", Surface: announce.Surface{Name: "page", Controls: announce.ControlsButtons}, Translation: spanish(tt.but)})
		said := hear(a, tt.event, 1)
		if len(said) != 1 || said[0].Text != tt.text || said[0].Language != tt.language {
			t.Errorf("%s: %+v, expected %q in %q", tt.name, said, tt.text, tt.language)
		}
	}
}

// TestTranslationOfWhatIsHeldBack: what was too much is counted in the listener's language, and the last of it follows where it is in
// the same one.
func TestTranslationOfWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, but, want, tag string }{
		{"es", "none", "<8 steps>. <Now:> Paso 9.", "es"},
		{"en", "none", "<8 steps>.", "es"},
		{"es", "step", "8 steps.", "en"},
	} {
		a := announce.New(announce.Preferences{Pace: announce.PaceQuiet, Translation: spanish(tt.but)})
		for i := range 8 {
			e := inSpanish(i+1, aaep.ToolInvoked{Tool: "t", SummaryNormal: "Paso 9."}, "")
			e.Hints.PrimaryLanguage = tt.language
			e.Time = e.Time.Add(time.Duration(i) * 10 * time.Second)
			hear(a, e, int64(i+1))
		}
		said := a.Flush(time.Now())
		if len(said) != 1 || said[0].Text != tt.want || said[0].Language != tt.tag {
			t.Errorf("%+v, expected %q in %q", said, tt.want, tt.tag)
		}
	}
}

// TestTranslationOfWarnings: the end of the time to answer, more of it, and a question behind another one are said in the language.
func TestTranslationOfWarnings(t *testing.T) {
	t.Parallel()
	a := announce.New(announce.Preferences{Translation: spanish("none"), OneQuestion: true, Surface: announce.Surface{Controls: announce.ControlsButtons}})
	var said []announce.Announcement
	for i, number := range []int{3, 4, 3} {
		e := asked(i+1, number, 1)
		e.Hints = &aaep.LocalizationHints{PrimaryLanguage: "es"}
		p, is := e.Payload.(aaep.AwaitingConfirmation)
		if !is {
			t.Fatalf("%T", e.Payload)
		}
		p.SummaryTerse = "¿Borrar?"
		e.Payload = p
		said = append(said, hear(a, e, int64(i+1))...)
	}
	due := a.Wake()
	said = append(said, a.Tick(due.Add(time.Second))...)
	text := texts(said)
	for _, want := range []string{
		"¿Borrar?", "<Another question waits: 2 in all. It has to be answered by", "<Question 3 has more time. Answer by",
		"<29 seconds left to answer question 4. Without an answer it is not done. The link More questions leads to it.>",
		"<30 seconds left to answer question 3. Without an answer it is not done. The button More time for question 3 gets more.>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("found\n%s\nexpected %q in it", text, want)
		}
	}
	if i := slices.IndexFunc(said, func(n announce.Announcement) bool { return n.Language != "es" }); i >= 0 {
		t.Errorf("%+v is in another language", said[i])
	}
	if again := a.Recap(0); len(again) == 0 || again[0].Text != "¿Borrar?" {
		t.Errorf("%+v, expected the question itself, which was only said to have more time", again)
	}
}
