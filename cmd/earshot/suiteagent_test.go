//go:build !faults

package main_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSuiteAgent: the agent for the public suite is served on this machine, and nowhere else.
func TestSuiteAgent(t *testing.T) {
	t.Parallel()
	p := start(t, options{verb: "conform", args: []string{"agent", "--listen", "127.0.0.1:0"}})
	p.await("Ctrl-C ends it.")
	url := regexp.MustCompile(`http://127[0-9.:]*[0-9]`).FindString(p.prompt.String())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/messages", strings.NewReader(`{"kind":"user_input","text":"Hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusNoContent {
		t.Errorf("a prompt is answered with %s", answer.Status)
	}
	p.signal(os.Interrupt)
	p.ends(0)
	out := plain(t, "conform", "agent", "--listen", "0.0.0.0:0")
	out.ends(2)
	if text := out.prompt.String(); !strings.Contains(text, "expected an address of this machine") {
		t.Errorf("said %s", text)
	}
}
