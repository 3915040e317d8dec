package browser_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestStart: a person starts an agent from the page, by keyboard; what is wrong is said beside the button and nothing that was
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
	b.accessible(axe, "the start box, refused")
	b.tabTo("#start-folder")
	b.press("a", chromedp.ModifierCtrl)
	b.types(filepath.Join(s.folder, "1"))
	b.press(kb.Enter)
	b.until(`location.hash === "#session" && document.querySelector("#question-1")`)
	b.connected()
	if text := plain(value[string](b, `document.getElementById("session").innerText`)); !strings.Contains(text, "Find what I have twice.") {
		t.Errorf("the session is\n%s", text)
	}
}

// TestStartWithoutScripts: the start box is a form.
func TestStartWithoutScripts(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.plainTab()
	b.tabTo("#start-request")
	b.types("Find what I have twice.")
	b.acts("Start")
	b.until(`document.readyState === "complete" && location.hash === "#session" && document.body.innerText.includes("Find what I have twice.")`)
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
	b.until(`location.hash === "#session" && document.getElementById("session").innerText.includes("Which files are twice here?")`)
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
	b.until(`document.readyState === "complete" && location.hash === "#session" && document.querySelector("#question-1")`)
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
