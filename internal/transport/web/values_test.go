package web_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/outline"
	"github.com/earshot-dev/earshot/api"
)

// outlined are the members of a question about some values.
func outlined(o outline.Outline) map[string]any {
	return map[string]any{"arguments": o, "by_class": true}
}

// TestValues: a question shows every value that its event lists, under its name and as it is, and what it
// says in a value's place is not taken for one.
func TestValues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	s.room.begin("sess_2", "tidy Downloads")
	s.room.askAbout("sess_2", 2, tokenA, outlined(outline.Outline{Size: 9, SHA256: "aa", Values: []outline.Value{
		{Path: "/list/0", Kind: outline.Text, Value: "safe"},
		{Path: "/list/1", Kind: outline.Text, Value: "/etc/\u202eDANGER\n<b>"},
		{Path: "/secretary", Kind: outline.Text, Value: "Miss Lemon"},
		{Path: "/n", Kind: outline.Literal, Value: "1e3"},
		{Path: "/none", Kind: outline.Text},
		{Path: "/empty", Kind: outline.Empty, Value: "[]"},
		{Path: "/key", Kind: outline.Secret},
		{Path: "/sets", Kind: outline.Covered, Count: 45, Size: 1704},
	}}))
	page := s.page("/", "@ada")
	for _, want := range []string{
		"Question 2, <bdi lang=\"\">tidy, Downloads</bdi>", `Request: <span lang="" dir="auto">tidy my downloads</span>`,
		"<dt><bdi lang=\"\">list 1</bdi></dt><dd lang=\"\" dir=\"auto\">safe</dd>", `<dd lang="" dir="auto">/etc/&lt;U&#43;202E&gt;DANGER`, "&lt;b&gt;</dd>",
		"<dt><bdi lang=\"\">secretary</bdi></dt><dd lang=\"\" dir=\"auto\">Miss Lemon</dd>", `<dd lang="" dir="auto">1e3</dd>`,
		"<dt><bdi lang=\"\">none</bdi></dt><dd>an empty text</dd>", "<dd>an empty list</dd>", "<dt><bdi lang=\"\">key</bdi></dt><dd>a secret, which is not shown</dd>",
		"<dd>45 values, not listed here; the question stands for all of them</dd>", `action="/questions/2/accept"`, "All arguments of question 2</a>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
	if strings.Contains(page, `<p lang="en" dir="ltr">They do not go to the trash`) {
		t.Error("what follows from the class alone is said beside the effect")
	}
}

// TestAgentLanguage: what the agent asks, says about a call and reports is in the language that it has said, on the page too.
func TestAgentLanguage(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	s.room.begin("sess_2", "tidy Downloads")
	s.room.extended("sess_2", aaep.StateChanged{FromState: "idle", ToState: "thinking", SummaryNormal: "tidy: “Leyendo.”"}, map[string]any{"doing": true, "agent_language": "es"})
	s.room.askAbout("sess_2", 2, tokenA, map[string]any{"detail": "The agent says: “Están dos veces.” End of the agent's words.", "agent_language": "es"})
	s.room.extended("sess_2", aaep.AwaitingClarification{
		Question: "The agent asks: “¿Cuál?”", Context: "The agent adds: “Hay dos.”", ReplyToken: tokenB, TimeoutSeconds: 60, SummaryNormal: "For “tidy”: “¿Cuál?”",
		AcceptedResponseKinds: []aaep.ResponseKind{aaep.ResponseMultipleChoice}, Choices: []aaep.Choice{{Value: "a", Label: "La <vieja>"}, {Value: "b", Label: "b"}},
	}, map[string]any{"question": 3, "agent_language": "es"})
	s.room.change(func() {
		s.room.questions = append(s.room.questions, api.OpenQuestion{
			Number: 3, Session: "sess_2", Token: tokenB, Kind: "clarification", Deadline: noon.Add(time.Minute), Event: s.room.log[len(s.room.log)-1].raw,
		})
	})
	page := s.page("/", "@ada")
	wants(t, page, `“<bdi lang="es">Están dos veces.</bdi>” End`, `The agent asks: “<bdi lang="es">¿Cuál?</bdi>”`, `“<bdi lang="es">Hay dos.</bdi>”`,
		`<bdi lang="es">La &lt;vieja&gt;</bdi>`, `value="a"`)
	record := s.page("/sessions/sess_2", "@ada")
	wants(t, record, `“<bdi lang="es">Leyendo.</bdi>”`, `Question 3: The agent asks: “<bdi lang="es">¿Cuál?</bdi>”`)
}

// TestUnreadValues: a question that does not show everything is accepted where everything was shown: at the
// end of its arguments.
func TestUnreadValues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	s.room.begin("sess_2", "tidy Downloads")
	const accept, reject = `action="/questions/2/accept"`, `action="/questions/2/reject"`
	for _, row := range []struct {
		outline outline.Outline
		says    string
	}{
		{outline.Outline{Left: 9000, Hidden: 1}, "9,001 values are not shown here in full."},
		{outline.Outline{Hidden: 1, Values: []outline.Value{{Path: "/token", Kind: outline.Masked}}}, "1 value is not shown here in full."},
	} {
		s.room.change(func() { s.room.questions = nil })
		s.room.askAbout("sess_2", 2, tokenA, outlined(row.outline))
		s.room.arguments[2] = `{"text":"` + strings.Repeat("a", 20000) + `"}`
		page := s.page("/", "@ada")
		if strings.Contains(page, accept) || !strings.Contains(page, reject) || !strings.Contains(page, row.says+" Read all of them before you accept.") ||
			!strings.Contains(page, "Read all arguments of question 2, then accept</a>") {
			t.Errorf("%+v: the page has\n%s", row.outline, page)
		}
		if strings.Contains(page, ">token<") {
			t.Error("the name of a credential is shown")
		}
		if first := s.page("/questions/2/arguments?session=sess_2", "@ada"); strings.Contains(first, accept) {
			t.Error("the first part of the arguments offers to accept")
		}
		last := s.page("/questions/2/arguments?session=sess_2&offset=16384", "@ada")
		if !strings.Contains(last, accept) || !strings.Contains(last, reject) || !strings.Contains(last, "Delete 5 files in Downloads.") {
			t.Errorf("the last part of the arguments has\n%s", last)
		}
	}
}

// TestLooking: a request that gets no text of the arguments, or says that it only looks, reads nothing.
func TestLooking(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.login("ada")
	s.room.begin("sess_2", "tidy Downloads")
	s.room.ask("sess_2", 2, tokenA)
	s.room.arguments[2] = `{"text":"a"}`
	for _, row := range []struct {
		method, target string
		looks          bool
	}{
		{"GET", "/api/v1/questions/2/arguments", false},
		{"GET", "/api/v1/questions/2/arguments?look=false", false},
		{"GET", "/api/v1/questions/2/arguments?look=true", true},
		{"HEAD", "/api/v1/questions/2/arguments", true},
		{"GET", "/api/v1/questions", false},
		{"GET", "/api/v1/questions?look=true", true},
		{"HEAD", "/api/v1/questions", true},
	} {
		s.room.looked = nil
		if w := s.do(row.method, row.target, "ada", ""); w.Code != 200 || !slices.Equal(s.room.looked, []bool{row.looks}) {
			t.Errorf("%s %s: %d, looks %v; want %t", row.method, row.target, w.Code, s.room.looked, row.looks)
		}
	}
	for _, row := range []struct {
		method, target string
		looks          bool
	}{
		{"GET", "/", false},
		{"HEAD", "/", true},
		{"GET", "/sessions", true}, // on whom each waits, and no question
		{"GET", "/questions/2/arguments", false},
		{"HEAD", "/questions/2/arguments", true},
	} {
		s.room.looked = nil
		w := s.do(row.method, row.target, "@ada", "", "Accept", "text/html")
		if w.Code != 200 || len(s.room.looked) == 0 || slices.Contains(s.room.looked, !row.looks) {
			t.Errorf("%s %s: %d, looks %v; want %t", row.method, row.target, w.Code, s.room.looked, row.looks)
		}
	}
}
