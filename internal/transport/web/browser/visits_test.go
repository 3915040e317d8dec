package browser_test

import "testing"

// streams counts, over all pages of the tab, how many streams are open. It is the test's, not the page's.
const streams = `(() => {
	const count = (by) => sessionStorage.setItem("streams", Number(sessionStorage.getItem("streams") ?? "0") + by);
	for (const name of ["EventSource", "WebSocket"]) {
		const Real = window[name];
		window[name] = class extends Real {
			constructor(...args) { super(...args); count(1); }
			close() { if (this.readyState <= Real.OPEN) count(-1); super.close(); }
		};
	}
})()`

// TestLeftPages: a page that was left has no stream any more, for a browser opens only six connections to a server, and can keep those of
// pages that were left. Who comes back to a page that the browser has kept hears what is new.
func TestLeftPages(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.open()
	b.beforeEach(streams)
	b.visit("/")
	b.login()
	for range 4 {
		b.visit("/settings")
		b.visit("/")
		b.connected()
	}
	if n := value[string](b, `sessionStorage.getItem("streams")`); n != "1" {
		t.Errorf("%s streams are open after five visits; want 1", n)
	}
	// What a browser tells a page that it keeps, and then shows again.
	value[bool](b, `dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`)
	if n := value[string](b, `sessionStorage.getItem("streams")`); n != "0" {
		t.Errorf("%s streams are open while the page is kept; want none", n)
	}
	s.turn(1)
	value[bool](b, `dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`)
	b.until(`document.querySelector("[data-question]")`)
	if n := value[string](b, `sessionStorage.getItem("streams")`); n != "1" {
		t.Errorf("%s streams are open after coming back; want 1", n)
	}
}
