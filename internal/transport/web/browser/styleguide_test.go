package browser_test

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// guide is the style guide: the parts of the page, made by the page's own templates. It is here only; `earshot up` does not
// serve it.
type guide struct {
	Head, Brand         template.HTML
	Colours             []string
	Questions, Sessions []template.HTML
}

// styleGuide serves the guide, with the style and the images of the page.
func styleGuide(t *testing.T) http.Handler {
	t.Helper()
	assets, err := page.Load()
	must(t, err)
	render := func(name string, data any) template.HTML {
		t.Helper()
		body, err := assets.In("").Render(name, data)
		must(t, err)
		return template.HTML(body)
	}
	head := render("head", nil)
	g := guide{Head: head, Brand: render("brand", nil), Colours: colours(string(head))}
	for _, q := range guideQuestions(t) {
		g.Questions = append(g.Questions, render("question", q))
	}
	for _, l := range guideSessions() {
		g.Sessions = append(g.Sessions, render("sessionline", l))
	}
	var body bytes.Buffer
	must(t, template.Must(template.ParseFiles("testdata/styleguide.html")).Execute(&body, g))
	mux := http.NewServeMux()
	serve := func(path, kind string, body []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self' "+strings.Join(assets.StyleSources(), " ")+"; img-src 'self'")
			_, _ = w.Write(body)
		})
	}
	serve("/styleguide", "text/html; charset=utf-8", body.Bytes())
	var swatches strings.Builder
	swatches.WriteString(".swatch { display: block; width: 6rem; height: 1.5rem; border: 1px solid var(--edge); }\n")
	for _, name := range g.Colours {
		fmt.Fprintf(&swatches, ".swatch-%[1]s { background: var(--%[1]s); }\n", name)
	}
	serve("/styleguide.css", "text/css; charset=utf-8", []byte(swatches.String()))
	mark, _ := assets.File("mark.svg")
	serve("/page/mark.svg", mark.Kind, mark.Body)
	return mux
}

// colours are the tokens of colours, in the order of the style.
func colours(style string) []string {
	var names []string
	for _, found := range regexp.MustCompile(`--([a-z-]+): #`).FindAllStringSubmatch(style, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	return names
}

func guideQuestions(t *testing.T) []page.Question {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var list []page.Question
	for i, p := range []aaep.Payload{
		aaep.AwaitingConfirmation{
			Action: "Delete 15 files in Downloads.", Consequence: "They do not go to the trash.", ReplyToken: "rpl_" + strings.Repeat("1", 32), TimeoutSeconds: 300,
			DefaultDecision: aaep.DecisionReject, Irreversible: true, RiskLevel: aaep.RiskHigh, Reversibility: aaep.Irreversible, SummaryNormal: "Delete 15 files?",
		},
		aaep.AwaitingConfirmation{
			Action: "Rename 2 folders.", Consequence: "They get names of their dates.", ReplyToken: "rpl_" + strings.Repeat("2", 32), TimeoutSeconds: 300,
			DefaultDecision: aaep.DecisionReject, RiskLevel: aaep.RiskLow, Reversibility: aaep.Reversible, SummaryNormal: "Rename 2 folders?",
		},
		aaep.AwaitingClarification{Question: "Which folder?", ReplyToken: "rpl_" + strings.Repeat("3", 32), TimeoutSeconds: 300, SummaryNormal: "Which folder?"},
	} {
		e := aaep.Event{
			ID: fmt.Sprintf("evt_%d", i+1), SessionID: "sess_1", Time: now, Producer: aaep.Producer{AgentID: "tidy"}, Payload: p,
			Hints: &aaep.LocalizationHints{PrimaryLanguage: "en", TextDirection: aaep.DirectionLTR},
		}
		e, err := e.Extend(aaep.PrefixEarshot, "question", i+1)
		must(t, err)
		raw, err := e.Encode()
		must(t, err)
		kind := "confirmation"
		if i == 2 {
			kind = "clarification"
		}
		q := page.NewQuestion(api.OpenQuestion{
			Number: i + 1, Session: "sess_1", Token: "rpl_" + strings.Repeat(fmt.Sprint(i+1), 32), Call: "tc_1", Kind: kind, Name: "tidy, Downloads",
			Request: "tidy my downloads", Asked: now, Deadline: now.Add(5 * time.Minute), Event: raw,
		}, "", now, time.UTC)
		list = append(list, q)
	}
	return list
}

func guideSessions() []page.Session {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	session := func(id, name, summary, waiting string, tail page.Tail) page.Session {
		l := page.NewSession(api.Session{
			ID: id, Agent: "tidy", Name: name, Request: "Tidy my pictures.", Status: "running", Summary: summary, Created: at, Ended: tail.Outcome != "",
		}, waiting, time.UTC)
		l.At(tail)
		l.Form = "x"
		return l
	}
	return []page.Session{
		session("sess_1", "tidy, Downloads", "", "waiting for your answer", page.Tail{}),
		session("sess_2", "chat, letters", "", "", page.Tail{Step: "Comparing 2 files of equal size.", Language: "en", Direction: "ltr"}),
		session("sess_3", "tidy, Pictures", "Deleted 3 files. Freed 12 MB.", "", page.Tail{Outcome: page.Done}),
		session("sess_4", "tidy, Music", "Nothing was deleted.", "", page.Tail{Outcome: page.Failed}),
	}
}

// TestStyleGuide has axe-core look at every part of the page in every look, and demands that none is too wide for a phone.
func TestStyleGuide(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	axe := axeCore(t)
	http := httptest.NewServer(styleGuide(t))
	t.Cleanup(http.Close)
	b := (&server{t: t, page: http.URL}).open()
	b.visit("/styleguide")
	for _, look := range looks() {
		b.media(look)
		b.accessible(axe, fmt.Sprint("the style guide, with ", look))
		b.shot("styleguide-" + strings.Join(look, "-"))
	}
	b.media(nil)
	b.emulate(320, 640, 1)
	b.narrow("the style guide")
}

// TestStyleGuideIsNotServed: the real program has no such page.
func TestStyleGuideIsNotServed(t *testing.T) {
	t.Parallel()
	s := serve(t, 0)
	if code := s.api(http.MethodGet, "/styleguide", nil, nil); code != http.StatusNotFound {
		t.Errorf("the program answers with %d", code)
	}
}
