package browser_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTogether: calls that cannot be undone and wait together are answered in one act, each shown in full; each has an answer,
// and an undo, of its own.
func TestTogether(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serveMail(t)
	must(t, s.command("set", "undo-time", "60s").Run())
	b := s.login()
	sessions := map[string]string{}
	long := strings.Repeat("All of this was written to be read before it is sent. ", 60)
	for to, text := range map[string]string{"ann@example.org": "It is booked.", "bob@example.org": long, "eve@example.org": "It is booked."} {
		sessions[to] = s.mail(to, "hall", text)
	}
	b.until(`document.querySelectorAll("[data-question]").length === 3`)
	b.accessible(axe, "three questions")
	b.tabTo("#together a")
	b.press("\r")
	b.until(`document.readyState === "complete" && document.title.startsWith("Answer questions together")`)
	b.accessible(axe, "together")
	text := value[string](b, `document.querySelector("main").innerText`)
	for to := range sessions {
		if !strings.Contains(text, to) {
			t.Errorf("%s is not shown", to)
		}
	}
	if !strings.Contains(text, strings.TrimSpace(long)) {
		t.Error("the long mail is not shown in full")
	}
	out := numberOf(s, sessions["eve@example.org"])
	b.tabTo("[name=question][value='" + out + "']")
	b.press(" ")
	b.acts("Accept the ticked questions")
	b.until(`document.readyState === "complete" && location.hash === "#notice" && document.getElementById("notice-text").textContent === "All 2 questions are answered as asked."`)
	b.connected()
	b.accessible(axe, "answered together")
	if n := value[int](b, `document.querySelectorAll("#notice-rows form").length`); n != 2 {
		t.Errorf("%d can be taken back; want 2", n)
	}
	if open := s.questions(); len(open) != 1 || open[0].Session != sessions["eve@example.org"] {
		t.Errorf("open are %+v; only the one that was not ticked is to be", open)
	}
	b.tabTo("#notice-rows button")
	b.press("\r")
	b.until(`document.getElementById("notice-text").textContent.endsWith("is taken back. Nothing was done.") && document.querySelectorAll("#notice-rows form").length === 1`)
	for _, to := range []string{"ann@example.org", "bob@example.org"} {
		if !strings.Contains(strings.Join(s.events(sessions[to]), "\n"), `"resolution":"accepted"`) {
			t.Errorf("%s: no event says that it was accepted", to)
		}
	}
}

// numberOf is the number of the question of a session.
func numberOf(s *server, session string) string {
	s.t.Helper()
	for _, q := range s.questions() {
		if q.Session == session {
			return fmt.Sprint(q.Number)
		}
	}
	s.t.Fatalf("the session %s asks nothing", session)
	return ""
}
