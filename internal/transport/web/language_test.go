package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// inOthers are the languages of these tests, with what the fake hub says in them. The real sentences are in the tests of the server.
var inOthers = map[string]*strings.Replacer{
	"es": strings.NewReplacer(
		`"primary_language":"en"`, `"primary_language":"es"`, "Delete 5 files in Downloads.", "Borra 5 archivos en Downloads.",
		"They do not go to the trash.", "No van a la papelera.", "Tidy has started.", "Ha empezado.", "Question 2.", "Pregunta 2.", "Nearly.", "Casi.",
		"Found 2 files.", "Hay 2 archivos.",
	),
	"ar": strings.NewReplacer(
		`"primary_language":"en","text_direction":"ltr"`, `"primary_language":"ar","text_direction":"rtl"`, "Delete 5 files in Downloads.", "احذف 5 ملفات.",
		"They do not go to the trash.", "لا تذهب إلى السلة.", "Tidy has started.", "بدأ.", "Question 2.", "السؤال 2.", "Found 2 files.", "يوجد ملفان.",
	),
}

// translated is a session with a call and a question, on a server that offers Spanish and Arabic. Only ada prefers a language.
func translated(t *testing.T, prefers string) *scene {
	t.Helper()
	s := newScene(t, func(o *web.Options) { o.Manifest.LanguagesSupported = []string{"en", "es", "ar"} })
	s.room.languages = inOthers
	s.room.wish, s.room.wisher = api.Preferences{Language: &prefers}, "ada"
	for _, name := range []string{"ada", "anna"} {
		s.room.begin("sess_"+name, "tidy Documents")
		s.login(name)
	}
	s.room.tell("sess_ada", aaep.ToolInvoked{Tool: "files.scan", ToolCallID: "call_1", SummaryNormal: "Looking."})
	s.room.tell("sess_ada", aaep.ToolCompleted{Tool: "files.scan", ToolCallID: "call_1", Status: aaep.ToolSuccess, SummaryNormal: "Found 2 files."})
	s.room.askAbout("sess_ada", 2, tokenA, map[string]any{"hint": "Look twice.", "tool_call_id": "call_2", "tool": "files.delete"})
	s.room.arguments[2] = `{"name":"x"}`
	return s
}

// TestPageInItsPersonsLanguage: all that the pages of somebody show of events is in the language that they have chosen, and is marked
// as such, while somebody else reads the same in English, one after the other.
func TestPageInItsPersonsLanguage(t *testing.T) {
	t.Parallel()
	const asks = "/questions/2/arguments"
	for language, row := range map[string]struct{ words, title, gone, began, call, find, result, found string }{
		"es": {`lang="es" dir="ltr">`, "Borra 5 archivos en Downloads.", "No van a la papelera.", "Ha empezado.", "Hay 2 archivos.", "PAPELERA", "Resultado:", "1 línea contiene"},
		"ar": {`lang="ar" dir="rtl">`, "احذف 5 ملفات.", "لا تذهب إلى السلة.", "بدأ.", "يوجد ملفان.", "السلة", "النتيجة:", "1 "},
	} {
		find := url.QueryEscape(row.find)
		s := translated(t, language)
		for range 2 { // what one of them was shown is not what the other one is shown
			for target, parts := range map[string][]string{
				"/?session=sess_ada":                  {"<span " + row.words + row.title + "</span></h3>", "<p " + row.words + row.gone, `<li data-seq="1" ` + row.words + row.began},
				"/questions":                          {"<span " + row.words + row.title + "</span></h3>", "<p " + row.words + row.gone, `<p ` + row.words + `<bdi lang="">Look twice.</bdi>`},
				"/questions/together":                 {"<span " + row.words + row.title + "</span></h3>", "<p " + row.words + row.gone},
				asks:                                  {"<span " + row.words + row.title + "</span>"},
				"/sessions":                           {"<p " + row.words + row.began},
				"/sessions/sess_ada":                  {"<span " + row.words + row.began, "<p>" + row.result + " <span " + row.words + row.call},
				"/sessions/sess_ada?find=" + find:     {row.found, row.title + " " + row.gone},
				"/sessions/sess_ada/text":             {row.began, row.call, row.title + " " + row.gone},
				api.Root + "/sessions/sess_ada/recap": {row.began, `"language":"` + language + `"`},
			} {
				own := s.page(target, "@ada")
				wants(t, own, parts...)
				lacks(t, strings.ReplaceAll(own, " (<bdi lang=\"en\">Delete 5 files</bdi>)</button>", ""), "Delete 5 files", "They do not go", "Tidy has started")
				if target == "/questions/together" {
					continue // its form is for approvers, as ada is
				}
				others := s.page(strings.Replace(target, find, "trash", 1), "@anna")
				lacks(t, others, row.title, row.gone, row.began, row.call, `lang="`+language+`"`)
				if strings.Contains(strings.Join(parts, ""), row.title) {
					wants(t, others, "Delete 5 files in Downloads.")
				}
			}
		}
	}
}

// TestPageInALanguageThatIsNotOffered: it is in English, as it is where nothing is preferred, and for a token.
func TestPageInALanguageThatIsNotOffered(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"fr", "", "en"} {
		s := translated(t, language)
		wants(t, s.page("/?session=sess_ada", "@ada"), `lang="en" dir="ltr">Delete 5 files in Downloads.`, `lang="en" dir="ltr">Tidy has started.`, "Delete 5 files</span>")
	}
	s := translated(t, "es")
	wants(t, s.page("/?session=sess_ada", "ada"), `lang="en" dir="ltr">Delete 5 files in Downloads.`)
	es := s.page("/?session=sess_ada", "@ada")
	wants(t, es, `danger">Aceptar<span class="unseen"> la pregunta 2</span> (<bdi lang="en">Delete 5 files</bdi>)</button>`)
	lacks(t, es, "danger\"><span")
}

// TestRecordInALanguage: the API's questions and events are in a language that is asked for, and the events otherwise those of the
// record, byte for byte, also for a person who prefers another language.
func TestRecordInALanguage(t *testing.T) {
	t.Parallel()
	s := translated(t, "es")
	record := ""
	for _, e := range s.room.log {
		if e.session == "sess_ada" {
			record += string(e.raw) + "\n"
		}
	}
	for _, as := range []string{"@ada", "ada"} {
		for query, same := range map[string]bool{"": true, "?lang=es": false, "?lang=fr": true, "?lang=en": true} {
			if got := s.do("GET", api.Root+"/sessions/sess_ada/events"+query, as, "").Body.String(); (got == record) != same || strings.Contains(got, "Ha empezado.") == same {
				t.Errorf("%s%s:\n%s", as, query, got)
			}
			if got := s.do("GET", api.Root+"/questions"+query, as, "").Body.String(); strings.Contains(got, "No van a la papelera.") == same {
				t.Errorf("%s%s:\n%s", as, query, got)
			}
		}
	}
}

// TestAnswersSayWhatWasShown: the forms of a question say in which language it was shown, and so does an answer over the API.
func TestAnswersSayWhatWasShown(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"es": "es", "ar": "ar", "en": "", "fr": ""} {
		s := translated(t, language)
		s.login("ada")
		if said := strings.Contains(s.page("/", "@ada"), `<input type="hidden" name="lang" value="`+language+`">`); said != (want != "") {
			t.Errorf("%s: the form says its language: %v", language, said)
		}
		field, ticked := "", ""
		if want != "" {
			field, ticked = "&lang="+want, "&lang-2="+want
		}
		if got := strings.Contains(s.page("/questions/together", "@ada"), `name="lang-2" value="`+language+`">`); got != (want != "") {
			t.Errorf("%s: the form of several says its language: %v", language, got)
		}
		for _, send := range []func() int{
			func() int {
				return s.submit("/questions/2/reject", "@ada", "form="+s.form+"&token="+tokenA+field).Code
			},
			func() int {
				return s.submit("/questions/together", "@ada", "form="+s.form+"&decision=reject&question=2&token-2="+tokenA+ticked).Code
			},
		} {
			if code := send(); code != http.StatusSeeOther {
				t.Fatalf("%s: %d", language, code)
			}
		}
		if w := s.do("POST", api.Root+"/questions/2/reply", "ada", `{"decision":"reject","reply_token":"`+tokenA+`","lang":"`+want+`"}`); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, reply := range s.room.words {
			if reply.Language != want {
				t.Errorf("%s: the hub got %+v", language, reply)
			}
		}
		if len(s.room.words) != 3 {
			t.Errorf("%s: the hub got %+v", language, s.room.words)
		}
	}
}

// TestPageStreamInALanguage: a page's stream goes on in its person's language, or in the one that it asks for: lists, steps and open
// questions alike. What it inserts is marked, whatever the page's own language.
func TestPageStreamInALanguage(t *testing.T) {
	for query, row := range map[string]struct{ words, title, step, announces, ready string }{
		"":         {`lang=\"es\" dir=\"ltr\">`, "Borra 5 archivos en Downloads.", "Hay 2 archivos.", "es", "La respuesta está lista: 3 líneas."},
		"&lang=ar": {`lang=\"ar\" dir=\"rtl\">`, "احذف 5 ملفات.", "يوجد ملفان.", "ar", "الإجابة جاهزة: 3 أسطر."},
		"&lang=fr": {`lang=\"en\" dir=\"ltr\">`, "Delete 5 files in Downloads.", "Found 2 files.", "en", "The answer is ready: 3 lines."},
		"&lang=!":  {`lang=\"es\" dir=\"ltr\">`, "Borra 5 archivos en Downloads.", "Hay 2 archivos.", "es", "La respuesta está lista: 3 líneas."},
	} {
		t.Run(query, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := translated(t, "es")
				r := s.stream("/page/events?session=sess_ada&from=1"+query, "@ada")
				defer r.leave()
				text := strings.ReplaceAll(strings.ReplaceAll(r.text(), `\u003c`, "<"), `\u003e`, ">")
				wants(t, text, "<span "+row.words+row.title, row.words+row.step)
				s.room.tell("sess_ada", aaep.ToolCompleted{Tool: "files.scan", ToolCallID: "call_1", Status: aaep.ToolError, SummaryNormal: "Found 2 files."})
				said := r.frames(t)
				if !slices.ContainsFunc(said, func(f got) bool { return f.event == "earshot.steps" && strings.Contains(f.data.HTML, row.step) }) {
					t.Errorf("%q: no step in %s", query, row.announces)
				}
				s.room.tell("sess_ada", aaep.OutputStreaming{OutputID: "out_1", Chunk: "a\nb\nc", ContentType: "text/plain", Complete: true})
				own := func(f got) bool {
					return f.event == "earshot.announce" && f.data.Text == row.ready && f.data.Language == row.announces
				}
				if said := r.frames(t); !slices.ContainsFunc(said, own) {
					t.Errorf("%q: %+v, expected %q in %s", query, said, row.ready, row.announces)
				}
			})
		})
	}
}
