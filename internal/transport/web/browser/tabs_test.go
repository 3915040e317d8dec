package browser_test

import (
	"fmt"
	"testing"
	"time"
)

// TestSevenTabs: a browser opens no more than six connections without TLS to a server, and who has seven tabs open still answers a question
// in the last one. Each tab hears the question and its answer, once and in this order, and shows its own session.
func TestSevenTabs(t *testing.T) {
	t.Parallel()
	const many = 7
	s := serve(t, many)
	tabs := []*tab{s.login()}
	for len(tabs) < many {
		b := tabs[0].beside()
		b.connected()
		tabs = append(tabs, b)
	}
	sessions := make([]string, many)
	for i, b := range tabs {
		sessions[i] = s.turn(i + 1)
		b.until(fmt.Sprintf(`document.querySelector("#question-%d")`, i+1))
		b.visit("/?session=" + sessions[i])
		b.connected()
	}
	last := tabs[many-1]
	last.toQuestion("7")
	last.acts("Reject question 7")
	s.ended(sessions[many-1])
	for i, b := range tabs {
		b.until(`document.title.startsWith("(6 questions)") && !document.querySelector("#question-7")`)
		b.hears("question 7 is rejected")
		if shown := value[string](b, "document.documentElement.dataset.session"); shown != sessions[i] {
			t.Errorf("tab %d shows the session %q, expected %q", i+1, shown, sessions[i])
		}
	}
}

// noSockets is something between the browser and the server that lets no WebSocket through.
const noSockets = `(() => {
	const Real = WebSocket;
	window.WebSocket = class extends Real {
		constructor(address) { super(address.replace("/page/socket", "/page/nothing")); }
	};
})()`

// swallowed is a WebSocket that neither comes about nor fails.
const swallowed = `window.WebSocket = class extends EventTarget {
	close() { queueMicrotask(() => this.dispatchEvent(new Event("close"))); }
}`

// byEvents is how many streams of server-sent events the page has opened.
const byEvents = `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/page/events")).length`

// TestNoSocket: where no WebSocket comes about the page hears all the same, and knows when the server was away and is there again.
func TestNoSocket(t *testing.T) {
	t.Parallel()
	s := serve(t, 2)
	b := s.open()
	b.beforeEach(noSockets)
	b.visit("/")
	b.login()
	s.turn(1)
	b.hears("Question 1")
	s.kill()
	b.until(`document.getElementById("connection").textContent.startsWith("The connection is lost")`)
	s.start()
	b.connected()
	s.turn(2)
	b.toQuestion("2")
	b.acts("Reject question 2")
	b.hears("Recorded: question 2 is rejected")
	b.until(byEvents + " > 0")
}

// TestSocketSwallowed: a WebSocket that does not come about is not waited for longer than 20 seconds.
func TestSocketSwallowed(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	b.beforeEach(swallowed)
	b.visit("/")
	b.passes(19 * time.Second)
	if n := value[int](b, byEvents); n != 0 {
		t.Errorf("%d streams of events are open; expected the WebSocket to be waited for", n)
	}
	b.passes(time.Second)
	b.connected()
	s.turn(1)
	b.until(`document.querySelector("#question-1")`)
	b.hears("Question 1")
}
