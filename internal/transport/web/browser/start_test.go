package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/earshot-dev/earshot/worker"
)

// TestStart: a person starts an agent from the page, by keyboard; what is wrong is said beside its field and nothing that was
// typed is lost; and the page then shows the new session.
func TestStart(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 1)
	b := s.login()
	b.accessKey("n")
	b.focusIs("#start-heading")
	b.accessible(axe, "the start box")
	b.tabTo("#start-request")
	b.types("Find what I have twice.")
	b.tabTo("#start-folder")
	b.press("a", chromedp.ModifierCtrl)
	b.types("/etc")
	b.acts("Start")
	b.hears("assertive: Not started: ")
	b.focusIs("button Start")
	if typed := value[string](b, `document.getElementById("start-request").value`); typed != "Find what I have twice." {
		t.Errorf("the request is now %q", typed)
	}
	if reason := value[string](b, fieldReason("start-folder")); !strings.Contains(reason, "is not there, or not allowed") || !strings.Contains(reason, "Allowed: ") {
		t.Errorf("the folder is described by %q", reason)
	}
	b.accessible(axe, "the start box, refused")
	b.tabTo("#start-folder")
	b.press("a", chromedp.ModifierCtrl)
	b.types(filepath.Join(s.folder, "1"))
	b.press(kb.Enter)
	b.until(`location.hash === "#session-heading" && document.querySelector("#question-1")`)
	b.connected()
	b.focusIs("#session-heading")
	if text := plain(value[string](b, `document.getElementById("session").innerText`)); !strings.Contains(text, "Find what I have twice.") {
		t.Errorf("the session is\n%s", text)
	}
}

// fieldReason is the text that describes a field which is not taken.
func fieldReason(id string) string {
	return `(() => {
		const field = document.getElementById("` + id + `");
		if (field.getAttribute("aria-invalid") !== "true") return "";
		return field.getAttribute("aria-describedby").split(" ").map((id) => document.getElementById(id).textContent).join(" ");
	})()`
}

// defineAsker has an operator define the arguments that the agent takes.
func (s *server) defineAsker() {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "agents.yaml")
	must(s.t, os.WriteFile(file, []byte(`
agents:
  - name: asker
    display_name: The asker
    parameters:
      type: object
      required: [to, copies]
      properties:
        to: {type: string, title: Recipient, pattern: "^[A-Z]"}
        copies: {type: integer, minimum: 1}
        tone: {enum: [warm, cool]}
        urgent: {type: boolean}
        on: {type: string, format: date}
        tags: {type: array, items: {type: string}}
`), 0o600))
	shown, _ := s.terminal("agents", "add", file)
	digest := regexp.MustCompile(`--digest (\S+)`).FindStringSubmatch(shown)
	if digest == nil {
		s.t.Fatal(shown)
	}
	if said, code := s.terminal("agents", "add", file, "--digest", digest[1]); code != 0 {
		s.t.Fatal(said)
	}
}

// TestStartWithArguments: an agent whose definition says which arguments it takes is started by keyboard with them; what is not taken is
// said beside its field, and what was typed stays. That goes for what only the schema can say, too.
func TestStartWithArguments(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serveAgent(t, asks(worker.Question{Text: "Go on?"}))
	s.defineAsker()
	b := s.login()
	b.accessKey("n")
	b.accessible(axe, "the start box with an agent that takes arguments")
	b.tabTo("#start a[href='/start/asker']")
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && document.querySelector("h1").textContent === "Start The asker"`)
	b.accessible(axe, "the form of an agent")
	b.tabTo("#request")
	b.types("Write to Ada.")
	b.press(kb.Tab)
	b.press(kb.Tab)
	b.types("three")
	b.acts("Start")
	b.until(`document.readyState === "complete" && location.hash === "#wrong" && document.querySelector("#wrong")`)
	b.accessible(axe, "the form of an agent, refused")
	if got := value[[]string](b, `[...document.querySelectorAll("#wrong a")].map((e) => e.textContent)`); !slices.Equal(got, []string{"Recipient: It is empty. It is needed.", "copies: It is not a whole number from 1."}) {
		t.Errorf("wrong is %q", got)
	}
	if reason := value[string](b, fieldReason("arg-dG8")); !strings.HasPrefix(reason, "It is empty.") {
		t.Errorf("the recipient is described by %q", reason)
	}
	b.tabTo("#wrong a")
	b.follows()
	b.until(`document.activeElement.id === "arg-dG8"`)
	b.types("ada")
	b.press(kb.Tab)
	b.press("a", chromedp.ModifierCtrl)
	b.types("3")
	b.press(kb.Tab)
	b.types("c")
	b.press(kb.Tab)
	b.types("Y")
	b.press(kb.Tab)
	b.press(kb.Tab)
	b.types(`["a"]`)
	b.acts("Start")
	b.until(`document.readyState === "complete" && document.querySelector("#wrong a")?.textContent.startsWith("Recipient: Expected")`) // the page from before has another
	if got := value[[]string](b, `[...document.querySelectorAll("#wrong a")].map((e) => e.textContent)`); !slices.Equal(got, []string{"Recipient: Expected text that matches the pattern ^[A-Z]."}) {
		t.Errorf("wrong is %q", got)
	}
	if copies := value[string](b, `document.getElementById("arg-Y29waWVz").value`); copies != "3" {
		t.Errorf("of what was typed, copies are %q", copies)
	}
	b.tabTo("#arg-dG8")
	b.press("a", chromedp.ModifierCtrl)
	b.types("Ada")
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && location.hash === "#session-heading" && document.querySelector("#question-1")`)
	id := value[string](b, `new URL(location).searchParams.get("session")`)
	var one struct {
		Agent, Request string
		Args           map[string]any
	}
	if code := s.api("GET", "/api/v1/sessions/"+id, nil, &one); code != 200 || one.Request != "Write to Ada." ||
		fmt.Sprint(one.Args) != "map[copies:3 tags:[a] to:Ada tone:cool urgent:true]" {
		t.Errorf("%d: started is %+v", code, one)
	}
}

// TestStartWithoutScripts: the start box is a form; what is wrong is said on the page, and nothing that was typed is lost.
func TestStartWithoutScripts(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.plainTab()
	b.tabTo("#start-request")
	b.types("Find what I have twice.")
	b.tabTo("#start-folder")
	b.press("a", chromedp.ModifierCtrl)
	b.types("/etc")
	b.acts("Start")
	b.until(`document.readyState === "complete" && location.hash === "#start-wrong" && document.querySelector("#start-wrong a")`)
	if got := value[[]string](b, `["start-request", "start-folder"].map((id) => document.getElementById(id).value)`); !slices.Equal(got, []string{"Find what I have twice.", "/etc"}) {
		t.Errorf("what was typed is now %q", got)
	}
	b.tabTo("#start-folder")
	b.press("a", chromedp.ModifierCtrl)
	b.types(s.folder)
	b.acts("Start")
	b.until(`document.readyState === "complete" && location.hash === "#session-heading" && document.body.innerText.includes("Find what I have twice.")`)
	within(t, "a question is open", func() (bool, error) { return len(s.questions()) == 1, nil })
}

// TestStartChat: where a language model is configured, chat is offered first, and takes a request.
func TestStartChat(t *testing.T) {
	t.Parallel()
	s := prepare(t, 1)
	s.args = []string{"--model", "test", "--endpoint", "http://127.0.0.1:9/v1"} // nobody answers there
	s.start()
	b := s.login()
	if agents := value[[]string](b, `[...document.querySelectorAll("#start-agent option")].map((e) => e.value)`); !slices.Equal(agents, []string{"chat", "tidy"}) {
		t.Errorf("the agents are %q", agents)
	}
	b.acts("Start")
	b.hears("assertive: Not started: chat needs a request.")
	b.tabTo("#start-agent")
	b.press(kb.Tab, chromedp.ModifierShift)
	b.types("Which files are twice here?")
	b.acts("Start")
	b.until(`location.hash === "#session-heading" && document.getElementById("session").innerText.includes("Which files are twice here?")`)
}

// TestStartAgain: what was asked before fills the start box in, by keyboard, with its agent and its folder; nothing starts by itself.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 1)
	folder := filepath.Join(s.folder, "1")
	b := s.login()
	b.accessKey("n")
	b.tabTo("#start-request")
	b.types("Find what I have twice.")
	b.tabTo("#start-folder")
	b.press("a", chromedp.ModifierCtrl)
	b.types(folder)
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && location.hash === "#session-heading" && document.querySelector("#question-1")`)
	b.reload()
	b.connected()
	b.accessKey("n")
	b.tabTo("#start a[href^='/?again=']")
	b.press(kb.Enter)
	b.until(`document.readyState === "complete" && document.getElementById("start-again")`)
	b.connected()
	b.accessible(axe, "the start box, filled in")
	if got := value[[]string](b, `["start-request", "start-agent", "start-folder"].map((id) => document.getElementById(id).value)`); !slices.Equal(got, []string{"Find what I have twice.", "tidy", folder}) {
		t.Errorf("filled in is %q", got)
	}
	if open := s.questions(); len(open) != 1 {
		t.Errorf("%d questions are open", len(open))
	}
}
