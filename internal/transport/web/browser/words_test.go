package browser_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/worker"
)

// TestLatest: what has put a question leaves the latest sentences when the question is answered;
// to hear the last one again is then to hear what became of it.
func TestLatest(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.hears("Question 1")
	if heading := value[string](b, `document.getElementById("announcements-heading").textContent`); heading != "Latest" {
		t.Errorf("the heading is %q", heading)
	}
	stands := `[...document.querySelectorAll("#announcements p:not([hidden])")].map((p) => p.textContent).join("\n")`
	b.toQuestion("1")
	if now := value[string](b, stands); !strings.Contains(now, "Question 1, tidy, photos/1: Delete") {
		t.Errorf("while the question is open it is not among the latest: %q", now)
	}
	b.acts("Reject question 1")
	b.hears("Recorded: question 1 is rejected")
	s.ended(session)
	b.hears("Finished.")
	if now := value[string](b, stands); strings.Contains(now, "Question 1, tidy, photos/1: Delete") || !strings.Contains(now, "Recorded: question 1 is rejected") {
		t.Errorf("when it is answered the latest are %q", now)
	}
	b.accessKey("r")
	within(t, "it is said again", func() (bool, error) {
		said := b.said()
		return strings.Contains(said[len(said)-1], "Finished."), nil
	})
}

// TestReasonIsSpoken: of a failure the reason is said, and stands among what happened.
func TestReasonIsSpoken(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, func(context.Context, worker.Transcript) (worker.Decision, error) {
		return worker.Decision{}, errors.New("the printer is out of paper")
	})
	b := s.login()
	session := s.begin(asker, "print", nil)
	s.ended(session)
	b.hears("the printer is out of paper")
	b.until(`document.getElementById("steps").textContent.includes("the printer is out of paper")`)
	said := b.said()
	if last := said[len(said)-1]; !strings.HasPrefix(last, "assertive: Failed: ") || !strings.Contains(last, "the printer is out of paper") {
		t.Errorf("the failure was said as %q", last)
	}
}

// TestReadersZone: times are told in the zone of anyone who reads, on the page that comes first, in
// what is spoken, and in what comes later; without scripts the page names the zone.
func TestReadersZone(t *testing.T) {
	t.Parallel()
	s := serve(t, 1) // whose own zone is UTC
	b := s.openIn("Asia/Tokyo").login()
	tokyo := time.FixedZone("", 9*60*60)
	session := s.turn(1)
	b.hears("Question 1")
	var one struct {
		Created time.Time `json:"created"`
	}
	s.api(http.MethodGet, "/api/v1/sessions/"+session, nil, &one)
	began := one.Created.In(tokyo).Format("2 January 2006, 15:04")
	b.until(`document.querySelector("#question-1 time")`)
	deadline, err := time.Parse(time.RFC3339, value[string](b, `document.querySelector("#question-1 time").getAttribute("datetime")`))
	must(t, err)
	end := deadline.In(tokyo).Format("15:04")
	until := func(when string) {
		t.Helper()
		for where, want := range map[string]string{
			`document.querySelector("#question-1 time")`: end, `document.querySelector("#sessions-lists li")`: began, `document.getElementById("session-when")`: began,
		} {
			if got := value[string](b, where+".textContent"); !strings.Contains(got, want) {
				t.Errorf("%s the page says %q; want %q", when, got, want)
			}
		}
	}
	b.until(`document.getElementById("session-when")`)
	until("as it came")
	b.hears("Answer by " + end)
	b.reload()
	b.connected()
	until("loaded again")
	b.goes("about:blank")
	plain := s.plainTab()
	if text := value[string](plain, "document.body.innerText"); !strings.Contains(text, "Times are in UTC.") || !strings.Contains(text, deadline.UTC().Format("15:04")) {
		t.Errorf("without scripts the page says\n%s", text)
	}
}

// TestWordsOfTheAgent: what the agent has written says in which language it is, or that this is not known, and goes in
// its own direction; our own words do not.
func TestWordsOfTheAgent(t *testing.T) {
	t.Parallel()
	const hebrew = "לאן?"
	plan := asks(worker.Question{Text: hebrew, Choices: []worker.Choice{{Value: "a", Label: "צפון"}, {Value: "b", Label: "South"}}})
	s := serveAgent(t, func(ctx context.Context, transcript worker.Transcript) (worker.Decision, error) {
		if _, err := worker.Output(ctx).Write([]byte("שלום, אני שואל. ")); err != nil {
			return worker.Decision{}, err
		}
		if _, err := worker.OutputIn(ctx, "es").Write([]byte("«مرحبا» es hola. ")); err != nil {
			return worker.Decision{}, err
		}
		if _, err := worker.OutputIn(ctx, "ar").Write([]byte("Earshot هنا.")); err != nil {
			return worker.Decision{}, err
		}
		return plan(ctx, transcript)
	})
	b := s.login()
	s.begin(asker, "היי", nil)
	b.toQuestion("1")
	b.until(`document.querySelector("#output .output")`)
	how := func(selector, text string) string {
		t.Helper()
		return value[string](b, `(() => {
			const found = [...document.querySelectorAll("`+selector+`")].find((e) => e.textContent.includes("`+text+`"));
			return found ? found.localName + " lang=" + JSON.stringify(found.closest("[lang]").lang) + " " + getComputedStyle(found).direction : "none";
		})()`)
	}
	for what, tt := range map[string][3]string{
		"its text":           {"#output .output p", "שלום", `p lang="" rtl`},
		"its Spanish":        {"#output .output div", "es hola", `div lang="es" ltr`},
		"its Arabic":         {"#output .output div", "Earshot", `div lang="ar" rtl`},
		"its question":       {"#question-1 h3 bdi", hebrew, `bdi lang="" rtl`},
		"a choice":           {"#question-1 label bdi", "צפון", `bdi lang="" rtl`},
		"another choice":     {"#question-1 label bdi", "South", `bdi lang="" ltr`},
		"a line of it":       {"#steps li bdi", hebrew, `bdi lang="" rtl`},
		"the request":        {"#session-heading bdi", "היי", `bdi lang="" ltr`}, // the agent's name comes first
		"our words about it": {"#question-1 h3 span", "The agent asks:", `span lang="en" ltr`},
	} {
		if got := how(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%s: %s; want %s", what, got, tt[2])
		}
	}
	if out, code := s.terminal("reply", "1", "a"); code != 0 {
		t.Fatal(out)
	}
}
