package main_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/authserver"
)

// hub is a scene with an MCP server that asks for a login.
type hub struct {
	*scene

	auth *authserver.Server
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{newScene(t), authserver.Start()}
	t.Cleanup(h.auth.Close)
	return h
}

// address is the line of an output that a person copies.
func (h *hub) address(text string) string {
	h.t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, h.auth.URL+"/authorize?") {
			return strings.TrimSpace(line)
		}
	}
	h.t.Fatalf("there is no address on a line of its own:\n%s", text)
	return ""
}

// login runs `mcp login`, and follows the address that it prints.
func (h *hub) login(code int, args ...string) string {
	h.t.Helper()
	p := start(h.t, options{verb: "mcp", data: h.data, args: append([]string{"login", "hub"}, args...), nobody: true})
	p.hears("Waiting for the browser")
	answer, err := http.Get(h.address(p.out.String()))
	must(h.t, err)
	page, err := io.ReadAll(answer.Body)
	must(h.t, err)
	must(h.t, answer.Body.Close())
	contains(h.t, string(page), "The answer has arrived")
	p.ends(code)
	return p.out.String() + p.prompt.String()
}

// tellsNothing demands that no token stands in a text.
func (h *hub) tellsNothing(text string) {
	h.t.Helper()
	for _, token := range h.auth.Issued() {
		if strings.Contains(text, token) {
			h.t.Errorf("a token is told:\n%s", text)
		}
	}
}

// keepsTokens demands that tokens are in the file of the login alone.
func (h *hub) keepsTokens() {
	h.t.Helper()
	login := filepath.Join(h.data, "mcp-logins", "hub.json")
	must(h.t, filepath.WalkDir(h.data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == login {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, token := range h.auth.Issued() {
			if strings.Contains(string(raw), token) {
				h.t.Errorf("a token is in %s", path)
			}
		}
		return err
	}))
	info, err := os.Stat(login)
	must(h.t, err)
	if info.Mode().Perm() != 0o600 {
		h.t.Errorf("%s has the mode %v", login, info.Mode())
	}
}

// awaitsList waits until the list of tools says something.
func (h *hub) awaitsList(part string) {
	h.t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(h.does(0, "tools", "list"), part); {
		if time.Now().After(end) {
			h.t.Fatalf("the list does not say %q", part)
		}
	}
}

// TestMCPLogin: a server that asks for a login is added, says what to run next, and works after the login, in a server that runs
// already; its tokens are renewed and revoked, and are nowhere but in their file.
func TestMCPLogin(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	t.Attr("counts", "effects")
	h := newHub(t)
	said := h.does(0, "mcp", "add", "hub", h.auth.Resource())
	contains(t, said, "which asks for a login before it lists its tools", "Log in next: `earshot mcp login --data "+h.data+" hub`")
	contains(t, h.does(0, "mcp", "list"), "needs a login: `earshot mcp login")
	contains(t, h.does(1, "doctor"), "hub needs a login")
	server := h.up()
	server.await("asks for a login. Log in: `earshot mcp login hub`")

	said = h.login(0)
	contains(t, said, "hub asks for a login at "+h.auth.URL, "these rights: read, write", "Logged in: hub, at "+h.auth.URL+", until ", "renewed by itself",
		"It offers 1 tools:", "hub.look: the server says that it only reads", "takes the login up by itself")
	h.tellsNothing(said)
	h.awaitsList("hub.look: irreversible")
	contains(t, h.does(0, "mcp", "list"), "logged in since")
	contains(t, h.does(0, "doctor"), "hub has been logged in since")

	contains(t, h.does(0, "tools", lastCommand(h.does(0, "tools", "review", "hub.*"))...), "hub.look: read")
	contains(t, h.does(0, "tools", "call", "hub.look", `{}`), "seen with Bearer [secret of the login]")
	h.auth.EndAccess()
	contains(t, h.does(0, "tools", "call", "hub.look", `{}`), "seen with Bearer [secret of the login]")
	if got := h.auth.Counts(); got.Refreshes != 1 {
		t.Errorf("it was renewed %d times", got.Refreshes)
	}
	h.auth.EndAll()
	contains(t, h.does(1, "tools", "call", "hub.look", `{}`), "does not renew any more. Log in: `earshot mcp login hub`. Nothing was done")
	server.await("does not renew any more")
	contains(t, h.does(0, "mcp", "list"), "needs a login")
	h.login(0)
	contains(t, h.does(0, "tools", "call", "hub.look", `{}`), "seen with Bearer [secret of the login]")
	h.keepsTokens()

	contains(t, h.does(0, "mcp", "logout", "hub"), "Logged out: hub. Its tokens are removed from this machine, and revoked.")
	if got := h.auth.Counts(); got.Revoked != 1 {
		t.Errorf("it was revoked %d times", got.Revoked)
	}
	contains(t, h.does(1, "mcp", "logout", "hub"), "there is no login at hub")
	contains(t, h.does(1, "tools", "call", "hub.look", `{}`), "earshot mcp login hub")
	server.signal(os.Interrupt)
	server.ends(0)
	h.tellsNothing(server.out.String() + server.prompt.String())
	contains(t, h.does(0, "mcp", "rm", "hub"), "is not in")
}

// TestMCPLoginRefused: a login that comes to nothing says why, and what to do.
func TestMCPLoginRefused(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	h := newHub(t)
	contains(t, h.does(1, "mcp", "login", "hub"), "there is no MCP server of the name hub")
	h.does(0, "mcp", "add", "hub", h.auth.Resource())
	contains(t, h.does(1, "mcp", "login", "hup"), "did you mean hub?")
	for _, verb := range []string{"login", "logout"} {
		p := start(t, options{verb: "__complete", args: []string{"mcp", verb, ""}, nobody: true, env: []string{"EARSHOT_DATA=" + h.data}})
		p.ends(0)
		contains(t, p.out.String(), "hub")
	}
	contains(t, h.does(1, "mcp", "login", "hub", "--wait", "10ms"), "nobody has logged in within 0.01 seconds", "begin again: `earshot mcp login hub`")
	h.auth.Behave(func(b *authserver.Behavior) { b.Deny = true })
	contains(t, h.login(3), "the login was declined in the browser; nothing was stored")
	h.auth.Behave(func(b *authserver.Behavior) { *b = authserver.Behavior{State: "other"} })
	contains(t, h.login(1), "its state is another one")
	h.auth.Behave(func(b *authserver.Behavior) { *b = authserver.Behavior{} })
	p := start(t, options{verb: "mcp", data: h.data, args: []string{"login", "hub"}, nobody: true})
	p.hears("Waiting for the browser")
	p.signal(os.Interrupt)
	p.ends(130)
	contains(t, p.prompt.String(), "Broken off")
	contains(t, h.does(0, "mcp", "list"), "needs a login")
}

// TestMCPLoginElsewhere: a person whose browser is on another machine pastes the address that it was sent back to, in one command or
// in two; a client that was registered by hand has its secret by a name.
func TestMCPLoginElsewhere(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	h := newHub(t)
	h.does(0, "mcp", "add", "hub", h.auth.Resource())
	p := start(t, options{verb: "mcp", data: h.data, args: []string{"login", "hub", "--code"}})
	p.await("then press Enter")
	p.hears("/authorize?")
	p.say(h.pasted(p.out.String()))
	p.ends(0)
	contains(t, p.out.String(), "Logged in: hub")

	h.auth.Behave(func(b *authserver.Behavior) { b.Hand = true })
	contains(t, h.does(1, "mcp", "login", "hub"), "lets no program register itself", "--client-id ID")
	contains(t, h.does(2, "mcp", "login", "hub", "--client-id", "x", "--secret", authserver.HandSecret), "does not say where the secret of a client lies")
	env := []string{"HUB_SECRET=" + authserver.HandSecret}
	p = start(t, options{verb: "mcp", data: h.data, args: []string{"login", "hub", "--no-wait", "--client-id", authserver.HandID, "--secret", "env:HUB_SECRET", "--json"}, nobody: true, env: env})
	p.ends(0)
	var begun struct {
		Open string `json:"open"`
	}
	must(t, json.Unmarshal([]byte(p.out.String()), &begun))
	p = start(t, options{verb: "mcp", data: h.data, args: []string{"login", "hub", "--code"}, env: env})
	p.await("then press Enter")
	p.say(h.pasted(begun.Open))
	p.ends(0)
	contains(t, p.out.String(), "Logged in: hub")
	h.keepsTokens()
	if strings.Contains(p.out.String()+p.prompt.String(), authserver.HandSecret) {
		t.Error("the secret of the client is told")
	}
}

// pasted opens the address in an output in a browser on another machine, which shows where it was sent back to.
func (h *hub) pasted(text string) string {
	h.t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.Get(h.address(text))
	must(h.t, err)
	must(h.t, answer.Body.Close())
	return answer.Header.Get("Location")
}

// TestMCPLoginKilled: a server that is killed between a renewal and its storing has a login that only a person can mend; it says so, and
// the file of the login is whole.
func TestMCPLoginKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	h := newHub(t)
	h.does(0, "mcp", "add", "hub", h.auth.Resource())
	h.login(0)
	server := h.upWith(options{fault: "mcp.refreshed"})
	h.awaitsList("hub.look")
	h.does(0, "tools", lastCommand(h.does(0, "tools", "review", "hub.*"))...)
	h.auth.EndAccess()
	start(t, options{verb: "tools", data: h.data, args: []string{"call", "hub.look", `{}`}, nobody: true})
	server.ends(killed)
	contains(t, h.does(0, "mcp", "list"), "logged in since")
	server = h.up()
	server.await("does not renew any more. Log in: `earshot mcp login hub`")
	contains(t, h.does(0, "mcp", "list"), "needs a login")
	h.login(0)
	h.awaitsList("hub.look")
	contains(t, h.does(0, "mcp", "list"), "logged in since")
	server.signal(os.Interrupt)
	server.ends(0)
	h.keepsTokens()
	h.tellsNothing(server.out.String() + server.prompt.String())
}
