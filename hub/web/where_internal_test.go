package web

import "testing"

// TestWhere: the words of others stay inside their isolate, and can neither end it nor pass
// for a sentence of the page.
func TestWhere(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"Tidy the photos": "\u2068Tidy the photos\u2069",
		"photos":          "\u2068tidy: photos\u2069",
		"":                "\u2068tidy\u2069",
		"a\u2069\n\n b":   "\u2068tidy: a<U+2069> b\u2069",
		"\u202egpj.exe":   "\u2068tidy: <U+202E>gpj.exe\u2069",
	} {
		n := news{chosen: &sessionLine{Session: Session{Agent: "tidy", Request: request}, State: "running"}}
		if got := n.where(); got != "No session is running. No question is open. You are looking at "+want+", running." {
			t.Errorf("%q: %q", request, got)
		}
	}
}
