package web_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// atTerminal is a server that runs in a terminal; the requests come from another one, if there is a header that names it.
func atTerminal(t *testing.T, shown *[]string) *scene {
	t.Helper()
	return newScene(t, func(o *web.Options) {
		o.Terminal = func(r *http.Request) (access.Terminal, error) {
			if name := r.Header.Get("Terminal"); name != "" {
				return access.Terminal{Key: name, Name: name}, nil
			}
			return access.Terminal{}, errors.New("it does not run in a terminal")
		}
		o.Below = func(r *http.Request) error {
			if r.Header.Get("Below") != "" {
				return errors.New("it was started below an agent")
			}
			return nil
		}
		o.Console = func(line string) { *shown = append(*shown, line) }
	})
}

// TestTerminalLogin: the code for a terminal is shown where the server runs and never sent; only the commands of the
// server's user log a terminal in.
func TestTerminalLogin(t *testing.T) {
	t.Parallel()
	var shown []string
	s := atTerminal(t, &shown)
	for _, tt := range []struct {
		name, target, body, who, terminal string
		status                            int
		want                              string
	}{
		{"nobody", "/terminal", `{}`, "", "pts/3", 401, ""},
		{"a listener", "/terminal", `{}`, "lis", "pts/3", 403, ""},
		{"an agent", "/terminal", `{}`, "bot", "pts/3", 403, ""},
		{"a token that answers", "/terminal", `{}`, "ada", "pts/3", 409, "needs no login"},
		{"no terminal", "/terminal", `{}`, "cmd", "", 409, "no terminal can be logged in from here: it does not run in a terminal"},
		{"not yet", "/me", ``, "cmd", "pts/3", 200, `"accepts":false`},
		{"a code", "/terminal", `{}`, "cmd", "pts/3", 200, `"shown":true`},
		{"a wrong code", "/terminal", `{"code":"1"}`, "cmd", "pts/3", 409, "that code is not valid"},
		{"the code", "/terminal", `{"code":"1234-5678"}`, "cmd", "pts/3", 200, `"accepts":true`},
		{"then", "/me", ``, "cmd", "pts/3", 200, `"surface":"terminal:pts/3","accepts":true`},
		{"elsewhere", "/me", ``, "cmd", "pts/4", 200, `"accepts":false`},
		{"again", "/terminal", `{}`, "cmd", "pts/3", 200, `"accepts":true`},
		{"out", "/terminal/end", `{}`, "cmd", "pts/3", 200, `"accepts":false`},
		{"out again", "/terminal/end", `{}`, "cmd", "pts/3", 409, "is not logged in"},
		{"after that", "/me", ``, "cmd", "pts/3", 200, `"accepts":false`},
	} {
		method := "POST"
		if tt.body == "" {
			method = "GET"
		}
		r := request(method, "/api/v1"+tt.target, tt.who, tt.body)
		if tt.terminal != "" {
			r.Header.Set("Terminal", tt.terminal)
		}
		w := record(s, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || strings.Contains(w.Body.String(), "1234") {
			t.Errorf("%s: %d, want %d and %q: %s", tt.name, w.Code, tt.status, tt.want, w.Body)
		}
	}
	if len(shown) != 2 || !strings.Contains(shown[0], "Code for the terminal pts/3, once, within 5 minutes: 1234-5678.") || !strings.Contains(shown[1], "Logged in: the terminal pts/3, as cmd.") {
		t.Errorf("shown were %q", shown)
	}
}

// TestCodeIsShown: where the server has a terminal, a command's code for the page is shown there and not sent, and what
// an agent's host has started gets none. Whoever is known to be there gets theirs.
func TestCodeIsShown(t *testing.T) {
	t.Parallel()
	var shown []string
	s := atTerminal(t, &shown)
	if w := s.do("POST", "/api/v1/codes", "cmd", `{}`); w.Code != 201 || !strings.Contains(w.Body.String(), `"code":""`) {
		t.Errorf("a command got %d: %s", w.Code, w.Body)
	}
	if !slices.ContainsFunc(shown, func(line string) bool { return strings.Contains(line, "BBBB-2222") }) {
		t.Errorf("shown were %q", shown)
	}
	s = atTerminal(t, &shown)
	r := request("POST", "/api/v1/codes", "cmd", `{}`)
	r.Header.Set("Below", "an agent")
	if w := record(s, r); w.Code != 403 || !strings.Contains(w.Body.String(), "login_required") || strings.Contains(w.Body.String(), "BBBB") {
		t.Errorf("a program of an agent got %d: %s", w.Code, w.Body)
	}
	if w := s.do("POST", "/api/v1/codes", "ada", `{}`); w.Code != 201 || !strings.Contains(w.Body.String(), "BBBB-2222") {
		t.Errorf("a person got %d: %s", w.Code, w.Body)
	}
}
