package web_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// in is a played scene whose person has chosen a language.
func in(t *testing.T, tag string) *scene {
	t.Helper()
	s := played(t, func(o *web.Options) { o.Manifest.LanguagesSupported = []string{"en", "es", "fr", "ar", "yo"} })
	s.room.arguments[2] = `{"root":"/home/ada"}`
	s.room.wish = api.Preferences{Language: &tag}
	s.login("ada")
	return s
}

// TestPageLanguages: a person who has chosen a language gets the page in it, and what stays English is marked as English.
func TestPageLanguages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tag, begins, heading string }{
		{"es", `<html lang="es" dir="ltr"`, "Preguntas: "},
		{"fr", `<html lang="fr" dir="ltr"`, "Questions\u00a0: "},
		{"ar", `<html lang="ar" dir="rtl"`, ""},
		{"yo", `<html lang="yo" dir="ltr"`, ""},
	} {
		t.Run(tt.tag, func(t *testing.T) {
			t.Parallel()
			s := in(t, tt.tag)
			for _, address := range []string{
				"/", "/?session=sess_1", "/sessions", "/sessions/sess_1", "/sessions/sess_2", "/questions", "/questions/together", "/questions/2/arguments",
				"/settings", "/alerts", "/agents", "/tools", "/audit", "/dead", "/page/offline", "/login",
			} {
				body := s.do("GET", address, "@ada", "", "Accept", "text/html", "Accept-Language", tt.tag).Body.String()
				wants(t, body, tt.begins)
				if left := leftInEnglish(body); len(left) > 0 {
					t.Errorf("%s has in English: %q", address, left)
				}
			}
			wants(t, s.page("/", "@ada"), tt.heading)
		})
	}
	s := in(t, "es")
	golden(t, "home-es.html", s.page("/", "@ada"))
	wants(t, s.page("/page/phrases.es.js", ""), `export default {`, `"Connected.":"`)
	for _, none := range []string{"/page/phrases.en.js", "/page/phrases.xx.js", "/page/phrases..js"} {
		if w := s.do("GET", none, "", ""); w.Code != 404 {
			t.Errorf("%s: %d", none, w.Code)
		}
	}
	wants(t, s.do("GET", "/nothing", "@ada", "", "Accept", "text/html").Body.String(), `<html lang="en"`)
}

// TestNoticeLanguage: what became of an act is said in the language of its page.
func TestNoticeLanguage(t *testing.T) {
	t.Parallel()
	s := in(t, "es")
	w := s.submit("/questions/together", "@ada", "form="+s.form+"&decision=reject", "Accept", "application/json")
	wants(t, w.Body.String(), "No se ha enviado nada")
}

// ofOthers are texts of the events, which the hub translates, and of the operators' lists, which are English and marked.
var ofOthers = []string{
	"Ask again", "Delete 5 files", "Delete 5 files in Downloads", "Leave it", "Question 2: Delete 5 files in Downloads. They do not go to the trash",
	"Question 3: What now?", "They do not go to the trash", "What now?", "Done", "Tidy has started", "Working out what to do next",
	"Without an answer it is: leave",
}

// marked is what a page marks as English, and tags all tags.
var marked, tags = regexp.MustCompile(`(?s)<span lang="en" dir="ltr">(.*?)</span>`), regexp.MustCompile(`(?s)<(?:script|style|svg|code).*?</(?:script|style|svg|code)>|<[^>]*>`)

// leftInEnglish are the texts of a page that nobody has translated: those that it marks, and those of a few common words.
func leftInEnglish(body string) []string {
	var left []string
	for _, found := range marked.FindAllStringSubmatch(body, -1) {
		left = append(left, found[1])
	}
	common := regexp.MustCompile(`(?i)\b(?:the|answer|nothing|there|with|your|is|was|of|when)\b`)
	for text := range strings.SplitSeq(tags.ReplaceAllString(body, "\n"), "\n") {
		if common.MatchString(text) {
			left = append(left, strings.TrimSpace(text))
		}
	}
	slices.Sort(left)
	return slices.DeleteFunc(slices.Compact(left), func(text string) bool { return slices.Contains(ofOthers, strings.TrimSuffix(text, ".")) })
}
