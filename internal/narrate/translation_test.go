package narrate_test

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/narrate"
)

// translations are all languages that the program comes with.
var translations = sync.OnceValues(func() (all []*narrate.Translation, err error) {
	for _, c := range narrate.Translations() {
		one, err := narrate.NewTranslation(c)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
})

// TestEveryScenarioInEveryLanguage: what the scenarios say is valid in each language.
func TestEveryScenarioInEveryLanguage(t *testing.T) {
	t.Parallel()
	all, err := translations()
	if err != nil {
		t.Fatal(err)
	}
	for _, play := range scenarios() {
		s := newStage(t)
		play(s)
		for _, row := range s.rows {
			s.judgeTranslations(row, all)
		}
	}
}

// judgeOneTranslation judges a row in one of the languages, each in its turn.
func (s *stage) judgeOneTranslation(row store.Event) {
	s.tb.Helper()
	all, err := translations()
	if err != nil {
		s.tb.Fatal(err)
	}
	s.judgeTranslations(row, all[len(s.rows)%len(all):][:1])
}

// judgeTranslations holds what a row says in other languages against the rules: the event is valid, and no text that it
// has in English is missing.
func (s *stage) judgeTranslations(row store.Event, in []*narrate.Translation) {
	s.tb.Helper()
	want := s.members(row)
	for _, one := range in {
		raw, err := one.Event(row.Body, row.Template, row.Params)
		if err != nil {
			s.tb.Fatalf("%s in %s: %v\n%s", row.Template, one.Tag(), err, row.Params)
		}
		for _, v := range aaep.Validate(raw, aaep.ModeProducer) {
			if v.Severity != aaep.SeverityInfo {
				s.tb.Fatalf("%s in %s: %s\n%s", row.Template, one.Tag(), v, raw)
			}
		}
		have := s.members(store.Event{Body: raw})
		for name, value := range want {
			if text := string(have[name]); strings.Contains(text, ".”.") || strings.Contains(text, ".\u2069”.") {
				s.tb.Fatalf("%s in %s: %s has two full stops: %s", row.Template, one.Tag(), name, text)
			}
			if have[name].Kind() != value.Kind() || have[name].Kind() == '"' && len(value) > 2 && len(have[name]) == 2 {
				s.tb.Fatalf("%s in %s: %s is %s, and was %s", row.Template, one.Tag(), name, have[name], value)
			}
		}
		if len(have) != len(want) || len(raw) > 250<<10 {
			s.tb.Fatalf("%s in %s has %d members and %d bytes, want %d members\n%s", row.Template, one.Tag(), len(have), len(raw), len(want), raw)
		}
	}
}

// TestCataloguesAreComplete: no key, no parameter, no case and no plural form is missing in any language.
func TestCataloguesAreComplete(t *testing.T) {
	t.Parallel()
	var tags []string
	for _, c := range narrate.Translations() {
		if err := c.Complete(); err != nil {
			t.Error(err)
		}
		tags = append(tags, c.Tag.String())
	}
	if got := strings.Join(tags, " "); got != "es fr ar yo" {
		t.Errorf("the languages are %s", got)
	}
}

// TestIncompleteCataloguesAreRefused: each kind of gap is found, and named.
func TestIncompleteCataloguesAreRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		spoil func(map[string]narrate.Message)
		says  string
	}{
		"a message":          {func(m map[string]narrate.Message) { delete(m, "call.using") }, "[call.using] are missing"},
		"an unknown message": {func(m map[string]narrate.Message) { m["call.usign"] = m["call.using"] }, "[call.usign] are no messages"},
		"a field":            {func(m map[string]narrate.Message) { m["call.using"] = narrate.Message{Normal: "Usando {tool}."} }, "call.using: its fields are others"},
		"a parameter": {
			func(m map[string]narrate.Message) { m["value.member"] = narrate.Message{Normal: "{name}."} },
			"value.member: summary_normal: its parameters are others: found [name], expected [name value]",
		},
		"a case": {
			func(m map[string]narrate.Message) {
				m["stale.age"] = narrate.Message{Normal: "{said, select, other {x}}"}
			},
			"stale.age: summary_normal: its cases are others",
		},
		"a plural form": {
			func(m map[string]narrate.Message) {
				m["value.days"] = narrate.Message{Normal: "{n, plural, one {# día} other {# días}}"}
			},
			"value.days: summary_normal: a plural form is missing: many of {n}",
		},
	} {
		c := narrate.Translations()[0]
		c.Messages = maps.Clone(c.Messages)
		row.spoil(c.Messages)
		if _, err := narrate.NewTranslation(c); !errors.Is(err, narrate.ErrIncomplete) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, want it to say %q", name, err, row.says)
		}
	}
}

// TestCatalogueFiles: what a catalogue's file cannot say is named by its line.
func TestCatalogueFiles(t *testing.T) {
	t.Parallel()
	good := "language: es\nreader: Ana Pérez\n# nothing\n[a]\nterse: uno\n  dos\nnormal: \" x \"\nchoice.ask again: tres\n"
	c, err := narrate.ParseCatalogue(good)
	if m := c.Messages["a"]; err != nil || c.Reader != "Ana Pérez" || m.Terse != "uno dos" || m.Normal != " x " || m.Fields["choice.ask again"] != "tres" || c.ByMachine() {
		t.Errorf("read %+v, %v", c, err)
	}
	for text, says := range map[string]string{
		"[a]\nterse: x":                         "does not say its language",
		"language: es\nlanguage of: x":          "\"language of\"",
		"language: e s":                         "language \"e s\"",
		"language: es\n[a]\n[a]":                "line 3: message a: it is there twice",
		"language: es\n[a]\nterse: x\nterse: y": "message a, terse: it is there twice",
		"language: es\n[a]\nterse":              "line 3: found neither",
		"language: es\n[a]\n  more":             "line 3: a line that continues nothing",
	} {
		if _, err := narrate.ParseCatalogue(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want it to say %q", text, err, says)
		}
	}
}

// TestPluralForms: a number takes the form that its language has for it.
func TestPluralForms(t *testing.T) {
	t.Parallel()
	all := map[string]*narrate.Speaker{}
	for _, c := range append(narrate.Translations(), narrate.English()) {
		s, err := narrate.NewSpeaker(c)
		if err != nil {
			t.Fatal(err)
		}
		all[c.Tag.String()] = s
	}
	for _, row := range []struct {
		tag, want string
		n         int64
	}{
		{"en", "1 day", 1},
		{"en", "0 days", 0},
		{"es", "1 día", 1},
		{"es", "2 días", 2},
		{"es", "1.000.000 de días", 1_000_000},
		{"fr", "0 jour", 0},
		{"fr", "1 jour", 1},
		{"fr", "2 jours", 2},
		{"fr", "2\u00a0000\u00a0000 de jours", 2_000_000},
		{"ar", "صفر يوم", 0},
		{"ar", "يوم واحد", 1},
		{"ar", "يومان", 2},
		{"ar", "3 أيام", 3},
		{"ar", "11 يومًا", 11},
		{"ar", "100 يوم", 100},
		{"yo", "ọjọ́ 1", 1},
		{"yo", "ọjọ́ 7", 7},
	} {
		if got := rendered(t, all[row.tag], "value.days", narrate.Params{"n": {Count: &row.n}}); got != row.want {
			t.Errorf("%d in %s is %q, want %q", row.n, row.tag, got, row.want)
		}
	}
}

// TestMachineTranslationsSaySo: while no native reader has signed a catalogue, its first event says that a machine made
// it, and a question about something irreversible or of high risk keeps the English sentence; a reader's name ends both.
func TestMachineTranslationsSaySo(t *testing.T) {
	t.Parallel()
	note := map[string]string{
		"es": "Estas frases las ha traducido una máquina.", "fr": "Ces phrases ont été traduites par une machine.",
		"ar": "هذه الجمل ترجمتها آلة.", "yo": "Ẹ̀rọ ló túmọ̀ àwọn gbólóhùn wọ̀nyí.",
	}
	s := newStage(t)
	asks(s)
	for _, c := range narrate.Translations() {
		tag := c.Tag.String()
		signed := c
		signed.Reader = "Somebody"
		for _, catalogue := range []narrate.Catalogue{c, signed} {
			one, err := narrate.NewTranslation(catalogue)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, row := range s.rows {
				raw, err := one.Event(row.Body, row.Template, row.Params)
				if err != nil {
					t.Fatal(err)
				}
				said += string(raw) + "\n"
			}
			told, english := strings.Count(said, note[tag]), strings.Count(said, "This frees 12.3 MB")
			machine := catalogue.Reader == ""
			if machine && told != 3 || !machine && told != 0 { // in each of the three summaries of one event
				t.Errorf("%s, read by %q: the note is said %d times", tag, catalogue.Reader, told)
			}
			if both := strings.Contains(said, "Say accept or reject."); both != machine || english == 0 {
				t.Errorf("%s, read by %q: the English question is there: %v", tag, catalogue.Reader, both)
			}
		}
	}
}

// TestToolsWordsStayEnglish: the sentence of a tool's author keeps its language, numbers and plural, and Earshot's own
// are around it; where these run from right to left, it is isolated.
func TestToolsWordsStayEnglish(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	asks(s)
	all, err := translations()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		row := s.rows[len(s.rows)-1]
		raw, err := one.Event(row.Body, row.Template, row.Params)
		if err != nil {
			t.Fatal(err)
		}
		e, err := aaep.DecodeEvent(raw)
		if err != nil {
			t.Fatal(err)
		}
		q, _ := e.Payload.(aaep.AwaitingConfirmation)
		own := "Delete 2 duplicate files in /home/anna."
		isolated := "\u2068" + own + "\u2069"
		if !strings.Contains(q.Action, map[bool]string{true: isolated, false: own}[one.Tag() == "ar"]) {
			t.Errorf("in %s the action is %q", one.Tag(), q.Action)
		}
		if n := strings.Count(q.Action, own); n != 1 {
			t.Errorf("in %s the action has the tool's words %d times: %q", one.Tag(), n, q.Action)
		}
		if normal := q.SummaryNormal; one.Tag() == "ar" && (strings.HasPrefix(normal, "\u2068السؤال") || !strings.HasSuffix(normal, "\u2069") || !strings.Contains(normal, "\u2068Question 1")) {
			t.Errorf("the English text alone is isolated: %q", normal)
		}
		if e.Hints.PrimaryLanguage != one.Tag() || (e.Hints.TextDirection == aaep.DirectionRTL) != (one.Tag() == "ar") {
			t.Errorf("in %s the hints are %+v", one.Tag(), e.Hints)
		}
	}
}

// TestTranslationsAreTheSameAgain: an event has the same bytes each time, also from its own row later.
func TestTranslationsAreTheSameAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	loses(s)
	all, err := translations()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		for _, row := range s.rows {
			a, err := one.Event(row.Body, row.Template, row.Params)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := one.Event(row.Body, row.Template, row.Params); err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s in %s differs: %v", row.Template, one.Tag(), err)
			}
		}
		if raw, err := one.Event([]byte(`{"x":1}`), "", nil); err != nil || string(raw) != `{"x":1}` {
			t.Errorf("an event without a template became %s, %v", raw, err)
		}
		if _, err := one.Event([]byte(`{"x":1}`), "not.there", jsontext.Value(`{}`)); err == nil {
			t.Error("an unknown message has been translated")
		}
	}
}

// TestMessagesWithHostileParameters: whatever the parameters hold, each message of each language is said within its
// limit, and nothing in a value gets out of its isolate.
func TestMessagesWithHostileParameters(t *testing.T) {
	t.Parallel()
	hostile := strings.Repeat("\u202e”{x}#\u2069\x1b[0m wórd ", 4000)
	n := int64(3)
	var params []narrate.Params
	for _, p := range []narrate.Param{
		{Text: hostile}, {Quote: hostile}, {Exact: hostile}, {Count: &n}, {Bytes: &n}, {Time: &n}, {Secret: true}, {List: []narrate.Param{{Text: hostile}, {Text: "x"}}, Left: 2},
	} {
		params = append(params, narrate.Params{"v": p})
	}
	for _, c := range append(narrate.Translations(), narrate.English()) {
		c.Messages = maps.Clone(c.Messages)
		c.Messages["hostile"] = narrate.Message{Terse: "{v}", Normal: "{v}", Detailed: "{v} {v}"}
		s, err := narrate.NewSpeaker(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range params {
			said, err := s.Render("hostile", p.JSON())
			if err != nil {
				t.Fatal(c.Tag, err)
			}
			for field, text := range said {
				if utf8.RuneCountInString(text) > 9000 || strings.ContainsAny(text, "\x1b\u202e\n") {
					t.Errorf("%s %s: %d characters, %.80q", c.Tag, field, utf8.RuneCountInString(text), text)
				}
				if opened, closed := strings.Count(text, "\u2068"), strings.Count(text, "\u2069"); opened != closed {
					t.Errorf("%s %s: %d isolates are opened and %d closed", c.Tag, field, opened, closed)
				}
			}
		}
	}
}

// TestHeaders: what is known of a language before its messages are read is what is known of it with them.
func TestHeaders(t *testing.T) {
	t.Parallel()
	whole, headers := narrate.Translations(), narrate.Headers()
	if len(headers) != len(whole) {
		t.Fatalf("%d headers of %d catalogues", len(headers), len(whole))
	}
	for i, h := range headers {
		if h.Tag != whole[i].Tag || h.Reader != whole[i].Reader || h.ByMachine() != whole[i].ByMachine() || len(h.Messages) != 0 {
			t.Errorf("the header of %s is %+v", whole[i].Tag, h)
		}
		if !reflect.DeepEqual(h.WithMessages(), whole[i]) {
			t.Errorf("%s with its messages is another catalogue", h.Tag)
		}
	}
}
