package server_test

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
)

// TestPageInAChosenLanguage: with the sentences that the program comes with, a person who has chosen a language reads their questions
// and sessions in it, with the English text behind what cannot be undone. A reader who has not reads the same in English meanwhile. The
// receipt of each answer names the language that was shown.
func TestPageInAChosenLanguage(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var sent []string
	s, err := server.New(ctx, server.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", Agents: []server.Agent{{Agent: clerk()}},
		Services: []server.Service{send(&sent, new(sync.Mutex))}, Languages: []string{"es", "ar"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	person, err := client.Dial(ctx, client.Options{URL: s.URL(), Token: s.PersonToken()})
	if err != nil {
		t.Fatal(err)
	}
	session, question := asksToSend(ctx, t, person)
	do := browse(t, s)
	read := func(path string) string { return do(http.MethodGet, path, nil) }
	const english = "Run the tool mail.send: Send a letter. to: “"
	for _, row := range []struct{ language, title, behind, details, began, asked, find string }{
		{"es", `<span lang="es" dir="ltr">Ejecutar la herramienta mail.send: `, "En inglés: " + english, "Después de aceptar", "ha empezado con esta petición: ", `<span lang="es" dir="ltr">Pregunta 1, `, "PETICIÓN"},
		{"ar", `<span lang="ar" dir="rtl">تشغيل الأداة `, `بالإنجليزية: <bdi lang="">` + english, "بعد القبول", "بدأ", `<span lang="ar" dir="rtl">السؤال 1`, "الأداة"},
		{"en", `<span lang="en" dir="ltr">` + english, "", "After you accept", " has started on this request: ", `<span lang="en" dir="ltr">Question 1: Run the tool`, "REQUEST"},
	} {
		if _, err := person.SetPreferences(ctx, api.Preferences{Language: &row.language}); err != nil {
			t.Fatal(err)
		}
		for path, parts := range map[string][]string{
			"/?session=" + session: {row.title, row.behind, row.details, row.began},
			"/questions":           {row.title, row.behind, row.details},
			"/questions/together":  {row.title, row.behind, row.details},
			"/questions/" + strconv.Itoa(question) + "/arguments":          {row.title, row.behind},
			"/sessions/" + session:                                         {row.began, row.asked},
			"/sessions/" + session + "?find=" + url.QueryEscape(row.find):  {`<li id="step-`},
			"/sessions/" + session + "/text":                               {row.began},
			"/api/v1/sessions/" + session + "/events?lang=" + row.language: {`"primary_language":"` + row.language + `"`},
			"/api/v1/sessions/" + session + "/events":                      {`"primary_language":"en"`},
		} {
			text := read(path)
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("in %s, %s lacks %q:\n%s", row.language, path, part, text)
				}
			}
		}
		open, err := person.PeekQuestions(ctx)
		if err != nil || len(open) != 1 || !strings.HasPrefix(open[0].Title, english) {
			t.Errorf("a reader in English gets %+v, %v", open, err)
		}
	}
	answered := map[int]string{}
	for _, language := range []string{"es", "en"} {
		if _, err := person.SetPreferences(ctx, api.Preferences{Language: &language}); err != nil {
			t.Fatal(err)
		}
		_, question := asksToSend(ctx, t, person)
		form := formOf(read("/questions?after="+strconv.Itoa(question-1)), "/questions/"+strconv.Itoa(question)+"/reject")
		do(http.MethodPost, "/questions/"+strconv.Itoa(question)+"/reject", form)
		answered[question] = language
	}
	if got := receipts(ctx, t, person); !maps.Equal(got, answered) {
		t.Errorf("the receipts name %v, want %v", got, answered)
	}
}

// asksToSend has the clerk ask to send a letter.
func asksToSend(ctx context.Context, t *testing.T, person *client.Client) (session string, question int) {
	t.Helper()
	turn, err := person.Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada"}`), Request: "Write to Ada."})
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range person.ForSession(turn.Session).Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, asks := event.Payload.(aaep.AwaitingConfirmation); asks {
			number, _ := aaep.Read(event.Extensions[aaep.PrefixEarshot]).Whole("question")
			return turn.Session, int(number)
		}
	}
	t.Fatal("nothing was asked")
	return "", 0
}

// formOf reads the hidden fields of a form in a page.
func formOf(page, action string) url.Values {
	_, form, _ := strings.Cut(page, `action="`+action+`">`)
	form, _, _ = strings.Cut(form, "</form>")
	fields := url.Values{}
	for part := range strings.SplitSeq(form, "<input ") {
		if _, field, is := strings.Cut(part, `type="hidden" name="`); is {
			name, value, _ := strings.Cut(field, `" value="`)
			value, _, _ = strings.Cut(value, `"`)
			fields.Set(name, value)
		}
	}
	return fields
}

// receipts are the languages that the ledger's receipts name, by their questions.
func receipts(ctx context.Context, t *testing.T, person *client.Client) map[int]string {
	t.Helper()
	var a api.AuditAnswer
	if err := person.Operate(ctx, api.OpAudit, api.AuditRequest{}, &a); err != nil {
		t.Fatal(err)
	}
	all := map[int]string{}
	for _, e := range a.Entries {
		if e.Receipt != nil {
			all[e.Receipt.Question] = e.Receipt.Language
		}
	}
	return all
}
