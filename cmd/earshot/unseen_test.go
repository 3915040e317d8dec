//go:build !faults

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// asks is an HTTP request to the server, with a token of an approver.
func (s *scene) asks(token, method, path, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.place().URL+path, strings.NewReader(body))
	must(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	must(s.t, err)
	defer func() { must(s.t, w.Body.Close()) }()
	raw, err := io.ReadAll(w.Body)
	must(s.t, err)
	return w.StatusCode, string(raw)
}

// listTool writes a file with one command that cannot be undone and takes a list.
func (s *scene) listTool() string {
	s.t.Helper()
	return s.toolsFile(func(string) string {
		return `command:
  target: desk
  operations:
    - tool: desk.remove
      description: Remove things for good.
      class: irreversible
      program: /bin/echo
      argv: ["--", "{list}", "{secretary}"]
      parameters: {type: object, properties: {list: {type: array, items: {type: string}}, secretary: {type: string}}, required: [list]}
`
	})
}

// TestEveryArgumentIsShown: a question about a tool of one's own names every value, also those in a list and those whose
// name looks like a secret's and is none.
func TestEveryArgumentIsShown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.up("--tools", s.listTool())
	p := start(t, options{verb: "tools", data: s.data, args: []string{"call", "desk.remove", `{"list":["safe","/etc/DANGER"],"secretary":"Miss Lemon"}`}})
	p.await("Remove things for good")
	p.await(asked)
	contains(t, squeeze(p.prompt.String()), "list 1: “safe”", "list 2: “/etc/DANGER”", "secretary: “Miss Lemon”")
	contains(t, s.does(0, "pending", "1"), "list 2", "/etc/DANGER", "Miss Lemon")
	p.say("reject")
	p.ends(3)
}

// TestOwnWords: a tool of a file asks in the words that the file gives it, says what it does, and is previewed so; a word that leads
// to nothing is refused with its line.
func TestOwnWords(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	file := s.toolsFile(func(string) string {
		return `command:
  target: desk
  operations:
    - tool: desk.remove
      description: Remove things for good.
      class: irreversible
      program: /bin/echo
      argv: ["--", "{list}"]
      parameters: {type: object, properties: {list: {type: array, items: {type: string}}}, required: [list]}
      consent:
        action: "Remove {n, plural, one {# thing} other {# things}}: {names}."
        consequence: They are not kept anywhere.
        facts: {n: {count: "/list/*"}, names: {list: "/list/*"}}
      doing: {text: "Removing {n} of them."}
      result: {success: "All of it is gone."}
`
	})
	s.up("--tools", file)
	contains(t, s.does(0, "tools", "review", "desk.remove"), "Remove 2 things: list 1, list 2.", "What happens: They are not kept anywhere.", "When it starts: Removing 2 of them.")
	contains(t, s.does(0, "tools", "show", "desk.remove", "--args", `{"list":["one"]}`), "Remove 1 thing: one.")
	contains(t, s.does(2, "tools", "show", "desk.remove", "--args", `["one"]`), "it takes a JSON object")
	p := start(t, options{verb: "tools", data: s.data, args: s.answering([]string{"call", "desk.remove", `{"list":["a","b","c"]}`})})
	p.await("Remove 3 things: a, b, c.")
	p.await(asked)
	contains(t, squeeze(p.prompt.String()), "What happens: They are not kept anywhere.")
	if n := strings.Count(squeeze(p.prompt.String()), "cannot be undone"); n != 1 {
		t.Errorf("that it cannot be undone is said %d times:\n%s", n, p.prompt)
	}
	p.say("accept")
	p.ends(0)
	contains(t, squeeze(p.prompt.String()), "Removing 3 of them.", "All of it is gone.")
	for from, want := range map[string]string{
		`count: "/list/*"`:  "line 13: command.operations[0].consent.facts.n: ",
		"action: \"Remove":  `line 11: command.operations[0].consent.acton: it is unknown; expected one of action, `,
		"They are not kept": `line 12: `,
	} {
		to := map[string]string{`count: "/list/*"`: `count: "/lists/*"`, "action: \"Remove": "acton: \"Remove", "They are not kept": "They are {kept}"}[from]
		raw, err := os.ReadFile(file)
		must(t, err)
		wrong := file + ".wrong.yaml"
		must(t, os.WriteFile(wrong, []byte(strings.Replace(string(raw), from, to, 1)), 0o600))
		contains(t, s.checked(2, wrong), want)
	}
}

// TestUnseenIsNotAccepted: what is too long for a question is accepted by nobody who has not read all of it.
func TestUnseenIsNotAccepted(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up("--tools", s.listTool())
	list := make([]string, 2000)
	for i := range list {
		list[i] = fmt.Sprintf("/srv/things/number %04d", i)
	}
	args, err := json.Marshal(map[string]any{"list": list})
	must(t, err)
	p := start(t, options{verb: "tools", data: s.data, args: []string{"call", "desk.remove", string(args)}})
	p.await(asked)
	open := s.pending()
	if len(open) != 1 {
		t.Fatalf("%d questions are open", len(open))
	}
	s.does(0, "pending", "1", "--json") // which does not say its values
	p.say("list")
	p.await("Type list for the next page") // of many
	contains(t, s.does(3, "reply", "1", "accept"), "question 1 is about more than you have been shown", "hint: `earshot pending 1` shows all of it; then `earshot reply 1 accept`")
	phone := start(t, options{verb: "token", data: s.data, args: []string{"add", "phone", "--role", "approver"}, nobody: true})
	phone.ends(0)
	token := strings.TrimSpace(phone.out.String())
	accept := fmt.Sprintf(`{"reply_token":%q,"decision":"accept"}`, open[0].Token)
	if code, said := s.asks(token, http.MethodPost, "/api/v1/questions/1/reply", accept); code != http.StatusConflict || !strings.Contains(said, "arguments_not_seen") {
		t.Fatalf("before it was read: %d %s", code, said)
	}
	for from := 0; from < len(args); from += 4096 { // what was asked without its text was shown to nobody
		if code, said := s.asks(token, http.MethodHead, fmt.Sprintf("/api/v1/questions/1/arguments?offset=%d", from), ""); code != http.StatusOK || said != "" {
			t.Fatalf("%d %s", code, said)
		}
	}
	if code, said := s.asks(token, http.MethodPost, "/api/v1/questions/1/reply", accept); code != http.StatusConflict {
		t.Fatalf("when only its heads were asked for: %d %s", code, said)
	}
	read := 0
	for read < len(args) {
		if code, said := s.asks(token, http.MethodPost, "/api/v1/questions/1/reply", accept); code != http.StatusConflict {
			t.Fatalf("after %d of %d bytes: %d %s", read, len(args), code, said)
		}
		code, page := s.asks(token, http.MethodGet, fmt.Sprintf("/api/v1/questions/1/arguments?offset=%d", read), "")
		if code != http.StatusOK || page == "" {
			t.Fatalf("%d %s", code, page)
		}
		var part struct {
			Data string `json:"data"`
			Text string `json:"text"`
		}
		must(t, json.Unmarshal([]byte(page), &part))
		if part.Text == "" {
			t.Fatalf("no text in %s", page)
		}
		read += len(part.Text)
	}
	if code, said := s.asks(token, http.MethodPost, "/api/v1/questions/1/reply", accept); code != http.StatusOK {
		t.Fatalf("after it was read: %d %s", code, said)
	}
	p.ends(0)
}

// TestTurnWithoutAFolderIsResumed: after a restart a turn that works in no folder goes on, whatever its arguments are called; its
// question can be accepted.
func TestTurnWithoutAFolderIsResumed(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	file := s.toolsFile(func(text string) string {
		return strings.Replace(strings.Replace(text, "class: read", "class: irreversible", 1), "word: {type: string}}, required: [word]", "word: {type: string}, root: {type: string}}, required: [word]", 1)
	})
	raw, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(raw), `"{word}"]`, `"{word}", "{root}"]`, 1)), 0o600))
	server := s.upApart("--tools", file)
	p := start(t, options{verb: "tools", data: s.data, args: []string{"call", "desk.say", `{"word":"hello","root":"/elsewhere"}`}})
	p.await(asked)
	server.kill()
	server.ends(-int(syscall.SIGKILL))
	again := s.up("--tools", file)
	again.await("Resumed: sess_")
	contains(t, s.does(0, "reply", "1", "accept"), "accepted")
	p.ends(0)
	contains(t, p.out.String(), "hello /elsewhere")
}
