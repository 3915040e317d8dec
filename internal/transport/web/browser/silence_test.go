package browser_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

const noNews = "No news for 30 seconds. Earshot may have stopped."

// signal sends a signal to the program.
func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(sig))
}

// times is how often a sentence was said.
func (b *tab) times(line string) int {
	b.t.Helper()
	n := 0
	for _, said := range b.said() {
		if said == line {
			n++
		}
	}
	return n
}

// TestSilence: a server that stands still is noticed after 30 seconds, and said once; so is that
// it is back, and which questions are open. What comes in between is news.
func TestSilence(t *testing.T) {
	t.Parallel()
	axe := axeCore(t)
	s := serve(t, 2)
	b := s.login()
	s.turn(1)
	b.hears("Question 1")
	b.passes(29 * time.Second)
	s.turn(2)
	b.hears("Question 2")
	b.passes(29 * time.Second)
	if n := b.times("assertive: " + noNews); n != 0 {
		t.Fatalf("there was news, and the page said that there is none: %q", b.said())
	}
	s.signal(syscall.SIGSTOP)
	b.passes(30 * time.Second)
	b.until(`document.getElementById("connection").textContent === "` + noNews + `"`)
	b.passes(30 * time.Second)
	b.passes(30 * time.Second)
	if n := b.times("assertive: " + noNews); n != 1 {
		t.Errorf("the silence was said %d times: %q", n, b.said())
	}
	b.accessible(axe, "without news")
	before := len(b.said())
	s.signal(syscall.SIGCONT)
	b.connected()
	within(t, "the open questions are told again", func() (bool, error) { return len(b.said()) >= before+3, nil })
	back := b.said()[before:]
	if len(back) != 3 || back[0] != "polite: Connected again." || !strings.HasPrefix(back[1], "polite: Question 1, tidy, photos/1: ") || !strings.HasPrefix(back[2], "polite: Question 2, tidy, photos/2: ") {
		t.Errorf("when it was back it said %q", back)
	}
	b.toQuestion("1")
	b.acts("Reject question 1")
	b.hears("Recorded: question 1 is rejected")
}

// TestSilenceAtAPress: a press that a server which stands still does not answer is told, beside
// its button too, and can be made again.
func TestSilenceAtAPress(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	s.turn(1)
	b.toQuestion("1")
	s.signal(syscall.SIGSTOP)
	b.acts("Reject question 1")
	const reason = "The server did not answer, so it is not known whether this arrived. Try again when the connection is back."
	b.passes(30 * time.Second)
	b.hears("assertive: " + reason)
	b.besideFocus("button Reject question 1", reason)
	s.signal(syscall.SIGCONT)
	b.connected()
	if len(s.questions()) > 0 { // it had not arrived
		b.press(kb.Enter)
	}
	b.hears("Recorded: question 1 is rejected")
}

// TestHeardIsNoted: when the page last heard from the server is written down for the page that stands in for it, at most once a second by
// the page's clock, however much comes.
func TestHeardIsNoted(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	value[bool](b, `(() => {
		const [write, began] = [Storage.prototype.setItem, performance.now()];
		window.noted = { times: 0, most: () => 1 + (performance.now() - began) / 1000 };
		Storage.prototype.setItem = function (key, value) {
			if (key === "earshot.heard") noted.times++;
			return write.call(this, key, value);
		};
		return true;
	})()`)
	session := s.turn(1)
	b.hears("Question 1")
	b.toQuestion("1")
	b.acts("Reject question 1")
	s.ended(session)
	b.until(`noted.times > 0`)
	if got := value[string](b, "noted.times + \" of \" + noted.most()"); !value[bool](b, `noted.times <= noted.most()`) {
		t.Errorf("it was noted more often than once a second: %s", got)
	}
}
