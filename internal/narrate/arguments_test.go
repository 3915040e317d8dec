package narrate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/language"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/narrate"
)

// list is a list of so many texts as JSON.
func list(n int, text string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%q,", text), n), ",") + "]"
}

// TestEveryArgumentIsShown: what a question is about is in its texts up to the bound, and what is not is
// counted, and named by size, digest and address.
func TestEveryArgumentIsShown(t *testing.T) {
	t.Parallel()
	const more = "mail.send"
	for _, tt := range []struct {
		name, tool, args string
		unreviewed       bool
		covers           string
		shows            store.Shows
		action, detailed string // is in it
		not              string // is in no text of the event
	}{
		{
			name: "a list", tool: more, args: `{"list":["safe","/etc/DANGER"]}`, shows: store.ShowsInText,
			action: `list 1: “safe”. list 2: “/etc/DANGER”.`,
		},
		{
			name: "a seventh argument", tool: more, args: `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":"/etc/DANGER"}`, shows: store.ShowsInText,
			action: "e: 5. And 2 more.", detailed: "More values: f: 6. g: “/etc/DANGER”.",
		},
		{name: "a secretary", tool: more, args: `{"secretary":"Ann","tokenizer":"bpe"}`, shows: store.ShowsInText, action: "secretary: “Ann”. tokenizer: “bpe”."},
		{
			name: "what its name says is a credential", tool: more, args: `{"api_key":"k-123","to":"b"}`, shows: store.ShowsPart,
			detailed: "1 value is hidden, because its name says that it is a credential.", not: "k-123",
		},
		{
			name: "a value that would be a sentence of ours", tool: more, args: `{"to":"a”. amount: 5. It can be undone. “","amount":9000}`, shows: store.ShowsInText,
			action: "to: “a<U+201D>. amount: 5. It can be undone. <U+201C>”. amount: 9000.",
		},
		{
			name: "nobody has reviewed it", tool: more, args: `{"list":["safe","/etc/DANGER"]}`, unreviewed: true, shows: store.ShowsInText,
			action: "Run the tool mail.send of the service files, which nobody here has reviewed. list 1: “safe”. list 2: “/etc/DANGER”. " +
				"It says of itself: “The tool mail.send.” End of its words.",
		},
		{name: "as much as there may be", tool: more, args: `{"list":` + list(40, "x") + `}`, shows: store.ShowsInText, action: "And 35 more.", detailed: "list 40: “x”."},
		{
			name: "one more", tool: more, args: `{"list":` + list(41, "x") + `}`, shows: store.ShowsPart,
			action: "And 36 more.", detailed: "1 value is not given here in full.", not: "list 41",
		},
		{
			name: "ten thousand", tool: more, args: `{"list":` + list(10_000, "x") + `}`, shows: store.ShowsPart,
			detailed: "9,960 values are not given here in full. The arguments have 40.0 kB (40,010 bytes); their SHA-256 is d35e0583ba3ebddbebda7a0e473c839c",
		},
		{
			name: "a long text", tool: more, args: `{"body":` + list(1, strings.Repeat("x", 3000)) + `}`, shows: store.ShowsPart,
			action: "xxx” (and 2,800 more characters).", detailed: "Read all of them before you accept: say list, or open /api/v1/questions/1/arguments.",
		},
		{
			name: "what may be accepted without", tool: "files.trash", args: `{"list":` + list(41, "x") + `}`, shows: store.ShowsPart,
			detailed: "To read all of them, say list, or open /api/v1/questions/1/arguments.", not: "before you accept",
		},
		{
			name: "what its own sentence stands for", tool: "files.delete", covers: `"covers":["/sets"],`,
			args:  `{"root":"/home/anna","sets":[{"sha256":"aa","size":1,"keep":"a","delete":` + list(10_000, "b") + `}]}`,
			shows: store.ShowsInText, action: "Delete 10,000 duplicate files in /home/anna.",
			detailed: "root: “/home/anna”. sets: 10,003 values, 40.0 kB (40,048 bytes), SHA-256 7cff4495c4e545389dfa19333b037ac21624765885599fa750dda23e2c772327. The question stands for all of them.",
		},
		{
			name: "but nobody has reviewed that", tool: "files.delete", covers: `"covers":["/sets"],`, unreviewed: true,
			args:  `{"root":"/home/anna","sets":[{"sha256":"aa","size":1,"keep":"a","delete":` + list(10_000, "b") + `}]}`,
			shows: store.ShowsPart, detailed: "9,964 values are not given here in full.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			tool := s.tools[tt.tool]
			tool.Reviewed = !tt.unreviewed
			tool.Definition.Options = jsontext.Value(strings.Replace(string(tool.Definition.Options), `"hint": "list",`, `"hint": "list",`+tt.covers, 1))
			s.tools[tt.tool] = tool
			s.claim()
			c := s.call(tt.tool, jsontext.Value(tt.args))
			s.step(c)
			row := s.rows[len(s.rows)-1]
			e, err := aaep.DecodeEvent(row.Body)
			if err != nil {
				t.Fatal(err)
			}
			q, _ := e.Payload.(aaep.AwaitingConfirmation)
			if s.shows != tt.shows || !strings.Contains(q.Action, tt.action) || !strings.Contains(q.SummaryDetailed, tt.detailed) {
				t.Errorf("it shows %s:\n%s\n%s", s.shows, q.Action, q.SummaryDetailed)
			}
			if want := tt.covers != "" && !tt.unreviewed; want != slices.Equal(s.covered, []string{"/sets"}) || !want && s.covered != nil {
				t.Errorf("covered is %q", s.covered)
			}
			if tt.not != "" && strings.Contains(string(row.Body), tt.not) {
				t.Errorf("%q is in %s", tt.not, row.Body)
			}
			var ours struct {
				Arguments struct {
					Complete bool   `json:"complete"`
					Told     bool   `json:"told"`
					SHA256   string `json:"sha256"`
					Size     int    `json:"size"`
					Address  string `json:"address"`
				} `json:"arguments"`
			}
			if err := json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours); err != nil {
				t.Fatal(err)
			}
			a := ours.Arguments
			if a.Complete != (tt.shows != store.ShowsPart) || a.Told != (tt.shows == store.ShowsInText) || len(a.SHA256) != 64 || a.Size != len(tt.args) ||
				a.Address != api.ArgumentsAddress(1) {
				t.Errorf("the event lists %+v", a)
			}
		})
	}
}

// TestWordlessQuestionShowsNothing: where the words fail, a fixed sentence asks, and nobody takes it for the whole.
func TestWordlessQuestionShowsNothing(t *testing.T) {
	t.Parallel()
	n, err := narrate.New(narrate.Options{AgentVersion: "1", Catalogue: narrate.Catalogue{
		Tag: language.English, Messages: map[string]narrate.Message{"turn.began": {Normal: "{nothing}"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"to":"b"}`, `{}`} {
		s := newStage(t)
		s.narrator, s.wordless = n, true
		s.claim()
		s.step(s.call("mail.send", jsontext.Value(args)))
		if row := s.rows[len(s.rows)-1]; s.shows == store.ShowsInText {
			t.Errorf("it shows %s: %s", s.shows, row.Body)
		}
	}
}
