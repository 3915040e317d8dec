package hub_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// spanish is a translation of what the book's sessions say. It fails where broken is set.
type spanish struct{ broken bool }

func (spanish) Tag() string     { return "es" }
func (spanish) ByMachine() bool { return true }

func (t spanish) Event(raw []byte, _ string, _ jsontext.Value) ([]byte, error) {
	if t.broken {
		return nil, errors.New("no words")
	}
	raw = bytes.ReplaceAll(raw, []byte("It begins."), []byte("Empieza."))
	raw = bytes.ReplaceAll(raw, []byte("On it goes."), []byte("Sigue."))
	raw = bytes.ReplaceAll(raw, []byte("Delete file"), []byte("Borrar el archivo"))
	return bytes.ReplaceAll(raw, []byte(`"primary_language":"en"`), []byte(`"primary_language":"es"`)), nil
}

// subscribeIn subscribes with these languages, the best first.
func (s *stage) subscribeIn(who access.Principal, languages ...string) *hub.Subscription {
	s.t.Helper()
	synctest.Wait()
	yes := true
	sub, rejected, err := s.hub.Subscribe(s.t.Context(), who, aaep.SubscriptionRequest{
		AAEPVersion: aaep.Version, SubscriberID: "test", Capabilities: aaep.Capabilities{Languages: languages, SupportsConfirmationReply: &yes},
	})
	if rejected != nil || err != nil {
		s.t.Fatalf("not subscribed: %+v, %v", rejected, err)
	}
	return sub
}

// said lists what the deliveries say, and in which language.
func (e *ear) said(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, d := range e.all() {
		event, err := aaep.DecodeEvent(d.Raw)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		switch p := event.Payload.(type) {
		case aaep.SessionStarted:
			text = p.SummaryNormal
		case aaep.StateChanged:
			text = p.SummaryNormal
		}
		all = append(all, event.Hints.PrimaryLanguage+": "+text)
	}
	return all
}

// TestEachSubscriptionInItsLanguage: two listeners of one session hear it in two languages at the same time, by the
// matching of I18N-10, I18N-11, I18N-12, I18N-13, I18N-14 and I18N-15, and with I18N-16 and I18N-17; a resumption gives the same bytes again.
func TestEachSubscriptionInItsLanguage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, book: newBook(t), badges: &badges{looked: map[string]int{}}, translations: []hub.Translation{spanish{}}}
		s.start()
		defer s.halt()
		s.book.begin("sess_a", "ann")
		ann := person("ann", access.Approver)
		ears, subs := map[string]*ear{}, map[string]*hub.Subscription{}
		for name, languages := range map[string][]string{
			"exact": {"es"}, "without its region": {"es-MX", "en"}, "the next of the list": {"yo", "es"}, "English first": {"en-US", "es"},
			"none that is spoken": {"de"}, "nothing asked": nil,
		} {
			subs[name] = s.subscribeIn(ann, languages...)
			ears[name] = s.listen(subs[name], "")
		}
		s.book.move("sess_a", 2)
		for name, e := range ears {
			in, begins, goes := "en", "It begins.", "On it goes."
			if name == "exact" || name == "without its region" || name == "the next of the list" {
				in, begins, goes = "es", "Empieza.", "Sigue."
			}
			want := []string{in + ": " + begins, in + ": " + goes, in + ": " + goes}
			if got := e.said(t); !slices.Equal(got, want) {
				t.Errorf("%s hears %q, want %q", name, got, want)
			}
			accepted := subs[name].Accepted()
			if machine := strings.Contains(accepted.NegotiationNotes, "translated by a machine"); machine != (in == "es") {
				t.Errorf("%s: the notes are %q", name, accepted.NegotiationNotes)
			}
			e.leave()
		}
		before := ears["exact"].all()
		again := s.listen(subs["exact"], before[1].EventID)
		defer again.leave()
		if got := again.all(); len(got) != 1 || !bytes.Equal(got[0].Raw, before[2].Raw) {
			t.Errorf("resumed, it hears %d events, and not the last one again", len(got))
		}
	})
}

// TestAnUntranslatableEventIsNotLost: I18N-18: it comes in English.
func TestAnUntranslatableEventIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, book: newBook(t), badges: &badges{looked: map[string]int{}}, translations: []hub.Translation{spanish{broken: true}}}
		s.start()
		defer s.halt()
		s.book.begin("sess_a", "ann")
		e := s.listen(s.subscribeIn(person("ann", access.Approver), "es"), "")
		defer e.leave()
		if got := e.said(t); !slices.Contains(got, "en: It begins.") {
			t.Errorf("it hears %q", got)
		}
	})
}

// TestReceiptsNameTheLanguageShown: a reply tells the kernel in which language its question was delivered.
func TestReceiptsNameTheLanguageShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, book: newBook(t), badges: &badges{looked: map[string]int{}}, translations: []hub.Translation{spanish{}}}
		s.start()
		defer s.halt()
		s.book.begin("sess_a", "ann")
		q := s.book.ask("sess_a", 7)
		for language, want := range map[string]string{"es": "es", "en": "en"} {
			sub := s.subscribeIn(person("ann", access.Approver), language)
			e := s.listen(sub, "")
			if err := sub.Reply(t.Context(), confirmation(sub.ID(), q.Token, "reject", "")); err != nil {
				t.Fatal(err)
			}
			if got := s.replies(); len(got) != 1 || got[0].Language != want {
				t.Errorf("asked in %s, the kernel heard %+v", language, got)
			}
			e.leave()
		}
	})
}

// TestPreferredLanguage: a subscription that says nothing about languages has the one that its person prefers, one that does
// has its own, and only what the server offers can be preferred.
func TestPreferredLanguage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, book: newBook(t), badges: &badges{looked: map[string]int{}}, translations: []hub.Translation{spanish{}}}
		s.start()
		defer s.halt()
		s.book.begin("sess_a", "ann")
		ann := person("ann", access.Approver)
		prefer := func(tag string) error {
			_, err := s.hub.As(ann).Prefer(t.Context(), api.PreferRequest{Preferences: api.Preferences{Language: &tag}})
			return err
		}
		hears := func(want string, languages ...string) {
			t.Helper()
			sub := s.subscribeIn(ann, languages...)
			e := s.listen(sub, "")
			defer e.leave()
			if got := e.said(t); !slices.Contains(got, want) {
				t.Errorf("%q asked, it hears %q", languages, got)
			}
			if honored := sub.Accepted().HonoredCapabilities.Languages; languages == nil && honored != nil {
				t.Errorf("%q are honored, and none was asked for (HS-29)", honored)
			}
		}
		hears("en: It begins.")
		if err := prefer("es"); err != nil {
			t.Fatal(err)
		}
		hears("es: Empieza.")
		hears("en: It begins.", "en")
		hears("en: It begins.", "de")
		var refused *hub.Error
		if err := prefer("fr"); !errors.As(err, &refused) || refused.Code != hub.CodeMalformed || !strings.Contains(refused.Message, "it offers en, es") {
			t.Errorf("a language that is not offered: %v", err)
		}
		sub := s.subscribeIn(ann)
		if accepted, _, err := sub.Renegotiate(t.Context(), aaep.SubscriptionRenegotiate{SubscriptionID: sub.ID()}); err != nil || !strings.Contains(accepted.NegotiationNotes, "language es") {
			t.Errorf("renegotiated: %+v, %v", accepted, err)
		}
		if err := errors.Join(prefer("EN"), prefer("")); err != nil {
			t.Fatal(err)
		}
		hears("en: It begins.")
	})
}

// TestReadInALanguage: the list of questions and the events of a session are read in the language that is asked for, by the
// matching of the streams; in one that is not offered, or cannot be translated, they are the ledger's own bytes. A token that
// the reader may not know is masked in each.
func TestReadInALanguage(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{t: t, book: newBook(t), badges: &badges{looked: map[string]int{}}, translations: []hub.Translation{spanish{broken: broken}}}
			s.start()
			defer s.halt()
			s.book.begin("sess_a", "ann")
			q := s.book.ask("sess_a", 7)
			for language, in := range map[string]string{"": "en", "en": "en", "es": "es", "ES-mx": "es", "fr": "en", "es, en": "en", "\x00": "en"} {
				want := "Delete file 7, Delete file 7; It begins. Delete file 7"
				if in == "es" && !broken {
					want = "Borrar el archivo 7, Borrar el archivo 7; Empieza. Borrar el archivo 7"
				}
				if got := reads(s, language); got != want {
					t.Errorf("asked for %q, broken %v: %q, want %q", language, broken, got, want)
				}
			}
			for _, language := range []string{"", "es"} {
				hears := s.hub.As(person("ann", access.Listener))
				list, err := hears.Questions(t.Context(), hub.QuestionOptions{Language: language})
				page, failed := hears.Events(t.Context(), api.EventsRequest{Session: "sess_a"}, language)
				if err = errors.Join(err, failed); err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(list.Questions[0].Body, []byte(q.Token)) || bytes.Contains(page.Events[len(page.Events)-1].Body, []byte(q.Token)) {
					t.Errorf("in %q a listener is told the token", language)
				}
			}
		})
	}
}

// reads is what an approver reads: the title of the question and what its event asks, and what the session's events say.
func reads(s *stage, language string) string {
	s.t.Helper()
	ann := s.hub.As(person("ann", access.Approver))
	list, err := ann.Questions(s.t.Context(), hub.QuestionOptions{Language: language})
	if err != nil || len(list.Questions) != 1 {
		s.t.Fatalf("%+v, %v", list, err)
	}
	if q := list.Questions[0]; strings.HasPrefix(q.Title, "Borrar") && q.English != "Delete file 7" {
		s.t.Errorf("in English it asks %q", q.English)
	}
	action := func(raw []byte) string {
		e, err := aaep.DecodeEvent(raw)
		if err != nil {
			s.t.Fatal(err)
		}
		switch p := e.Payload.(type) {
		case aaep.SessionStarted:
			return p.SummaryNormal
		case aaep.AwaitingConfirmation:
			return p.Action
		}
		return ""
	}
	said := []string{list.Questions[0].Title + ", " + action(list.Questions[0].Body) + ";"}
	page, err := ann.Events(s.t.Context(), api.EventsRequest{Session: "sess_a"}, language)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range page.Events {
		if text := action(e.Body); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, " ")
}

// TestAnAnswerNamesTheLanguageShown: an answer that says in which language its question was shown is recorded with that, as the
// hub offers it; with any other it is English.
func TestAnAnswerNamesTheLanguageShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, book: newBook(t), badges: &badges{looked: map[string]int{}}, translations: []hub.Translation{spanish{}}}
		s.start()
		defer s.halt()
		s.book.begin("sess_a", "ann")
		q := s.book.ask("sess_a", 7)
		ann := s.hub.As(person("ann", access.Approver))
		for said, want := range map[string]string{"": "", "en": "", "es": "es", "ES": "es", "fr": "", "<b>": ""} {
			r := api.ReplyRequest{Question: 7, Token: q.Token, Decision: "reject", Language: said}
			for name, send := range map[string]func() error{
				"answer": func() error { _, err := ann.Answer(t.Context(), r); return err },
				"undo":   func() error { _, err := ann.Undo(t.Context(), r); return err },
			} {
				if err := send(); err != nil {
					t.Fatal(err)
				}
				if got := s.replies(); len(got) != 1 || got[0].Language != want {
					t.Errorf("%s, shown in %q: the kernel heard %+v", name, said, got)
				}
			}
		}
	})
}
