package gateways

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/oauth"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
)

// mcpLoginFlags are the flags of `mcp login`.
type mcpLoginFlags struct {
	mcpFlags

	clientID, secret      string
	scopes, networks      []string
	port                  int
	browser, noWait, code bool
	wait                  time.Duration
}

// loginWait is how long the person has to log in.
const loginWait = 5 * time.Minute

func (m *commands) mcpLoginCommand() *cobra.Command {
	var f mcpLoginFlags
	c := &cobra.Command{
		Use:   "login NAME",
		Short: "Log in at an MCP server that asks for it",
		Long: `Log in at an MCP server of a file of tools, reached by an address, that asks for a login (OAuth 2.1). The address to
open is printed on a line of its own. Open it in a browser of this machine, log in there and agree; the browser is then
sent back to this command, which waits for 5 minutes.

The tokens are stored in the data directory, in a file that only you can read, and are sent to that server alone. Earshot
renews them by itself. A server that runs takes the login up at once.

On a machine without a browser, use --code: open the address anywhere, log in, and paste the address that the browser is
sent back to, which it cannot show. To do that in two commands, print the address with --no-wait, and come back with --code.`,
		Example: `  earshot mcp login hub
  earshot mcp login hub --code
  earshot mcp login hub --client-id Iv1.8a61f9b3 --secret env:HUB_CLIENT_SECRET --port 7412`,
		Args: usage.One("the name of an MCP server, as `earshot mcp list` tells it"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.code { // a signal ends it while it reads
				return m.logInAt(c.Context(), f, args[0])
			}
			return m.UnlessInterrupted(c.Context(), func(ctx context.Context) error { return m.logInAt(ctx, f, args[0]) })
		},
		ValidArgsFunction: m.completeServers(&f.mcpFlags, hasAddress),
	}
	f.add(c)
	flags := c.Flags()
	flags.StringArrayVar(&f.scopes, "scope", nil, "right to ask for, instead of those that the server names; may be given several times")
	flags.StringVar(&f.clientID, "client-id", "", "id of a client that was registered by hand (default: Earshot registers itself)")
	flags.StringVar(&f.secret, "secret", "", "where the secret of that client lies, env:VARIABLE or file:/path")
	flags.StringArrayVar(&f.networks, "network", nil, "network of the login that is not public, such as 10.1.0.0/16; may be given several times")
	flags.IntVar(&f.port, "port", 0, "port of this machine that the browser is sent back to (default any)")
	flags.BoolVar(&f.browser, "browser", false, "open the address in the browser of this machine, too")
	flags.BoolVar(&f.noWait, "no-wait", false, "print the address and end; --code goes on")
	flags.BoolVar(&f.code, "code", false, "read the address that the browser was sent back to from standard input")
	flags.DurationVar(&f.wait, "wait", loginWait, "how long to wait for the browser")
	c.MarkFlagsMutuallyExclusive("no-wait", "code")
	return c
}

// loggedIn is the result of `mcp login --json`.
type loggedIn struct {
	Name    string    `json:"name"`
	Open    string    `json:"open,omitzero"` // with --no-wait
	Issuer  string    `json:"issuer"`
	Scopes  []string  `json:"scopes"`
	Since   time.Time `json:"since,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
}

// logInAt logs in at a server.
func (m *commands) logInAt(ctx context.Context, f mcpLoginFlags, name string) error {
	file, data, err := m.toolsFileOf(f.mcpFlags, true)
	if err != nil {
		return err
	}
	server, err := loginServer(file, name)
	if err != nil {
		return err
	}
	store := m.Logins(data)
	attempt, answer, err := m.answered(ctx, store, f, name, server)
	if err != nil || answer == nil {
		return err
	}
	login, err := store.Finish(ctx, attempt, answer)
	if err != nil {
		return err
	}
	if f.asJSON {
		return m.WriteJSON(loggedIn{Name: name, Issuer: login.Issuer, Scopes: slices.Clone(login.Scopes), Since: login.Since, Expires: login.Expires})
	}
	m.Printf("Logged in: %s, at %s%s.", name, cause.OneLine(login.Issuer), m.lasts(login))
	m.printOffered(ctx, file, data, name)
	if f.file == "" && cli.ServerAt(data) {
		m.Printf("The server that runs takes the login up by itself.")
	}
	m.Printf("Review its tools, one by one or all: `earshot tools review%s '%s.*'`. `earshot mcp logout%s %s` ends the login.", m.DataFlag(data), name, m.DataFlag(data), name)
	return m.OutputError()
}

// loginServer returns the address of a server that one can log in at.
func loginServer(file, name string) (string, error) {
	all, err := toolfile.Servers(file)
	if err != nil {
		return "", err
	}
	entry, there := all[name]
	switch {
	case !there:
		return "", noServer(name, file, all)
	case entry.URL == "":
		return "", cause.Misuse(name+" is a program of this machine, which logs in by itself", "see what it says of that; a secret is given with `earshot mcp add --secret`")
	case slices.ContainsFunc(slices.Collect(maps.Keys(entry.Headers)), func(h string) bool { return strings.EqualFold(h, "authorization") }):
		return "", cause.Misuse(name+" is sent the header Authorization of its entry, so no login is used", "take the header out of "+cause.OneLine(file)+" to log in instead")
	}
	return entry.URL, nil
}

// answered begins a login and returns the browser's answer, or goes on with one that was begun; without an answer there is
// nothing left to do.
func (m *commands) answered(ctx context.Context, store *oauth.Store, f mcpLoginFlags, name, server string) (*oauth.Attempt, url.Values, error) {
	if f.code {
		if kept, err := store.Attempt(name, server); err == nil {
			answer, err := m.pastedAnswer()
			return kept, answer, err
		}
	}
	var back *oauth.Callback
	var redirect string
	if f.code || f.noWait {
		port, err := portOf(f.port)
		if err != nil {
			return nil, nil, err
		}
		redirect = oauth.RedirectTo(port)
	} else {
		var err error
		if back, err = oauth.Listen(f.port); err != nil {
			return nil, nil, err
		}
		defer back.Close()
		redirect = back.Redirect()
	}
	attempt, err := m.beginLogin(ctx, store, f, oauth.Request{Name: name, Redirect: redirect}, server)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case f.noWait:
		return attempt, nil, m.keepAttempt(ctx, store, f, attempt)
	case f.code:
		m.printAddress(f, attempt)
		answer, err := m.pastedAnswer()
		return attempt, answer, err
	}
	m.printAddress(f, attempt)
	m.instructf(f, "Waiting for the browser, for %s at most. Control C ends it. Is the browser on another machine? Then end it, and use --code.", spoken(f.wait))
	if f.browser {
		m.openBrowser(attempt.Address)
	}
	waiting, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	answer, err := back.Wait(waiting)
	if err != nil {
		return nil, nil, cause.Fail(nil, "nobody has logged in within "+spoken(f.wait)+"; nothing was stored",
			"begin again: `earshot mcp login "+name+"`; where the browser is on another machine, with --code")
	}
	return attempt, answer, nil
}

func portOf(port int) (int, error) {
	if port != 0 {
		return port, nil
	}
	return oauth.FreePort()
}

// beginLogin finds where the login is, and begins it.
func (m *commands) beginLogin(ctx context.Context, store *oauth.Store, f mcpLoginFlags, r oauth.Request, server string) (*oauth.Attempt, error) {
	r.ClientID = f.clientID
	if f.secret != "" {
		refs, err := secretsIn([]string{"client=" + f.secret})
		if err != nil || f.clientID == "" {
			return nil, cause.Misuse("--secret does not say where the secret of a client lies, or --client-id does not name the client",
				"for example --client-id ID --secret env:HUB_CLIENT_SECRET, or file:/srv/keys/client")
		}
		r.Secret = settings.Secret(refs["client"])
	}
	for _, scope := range f.scopes {
		if !mcp.IsScope(scope) {
			return nil, cause.Misuse("--scope is "+cause.Quoted(scope)+", which is not the name of one right", "give --scope several times for several")
		}
	}
	p, err := oauth.Discover(ctx, server, f.networks)
	if err != nil {
		return nil, err
	}
	if len(f.scopes) > 0 {
		p.Scopes = f.scopes
	}
	return store.Begin(ctx, p, r)
}

// keepAttempt stores an attempt for `mcp login --code`.
func (m *commands) keepAttempt(ctx context.Context, store *oauth.Store, f mcpLoginFlags, a *oauth.Attempt) error {
	if err := store.SaveAttempt(ctx, a); err != nil {
		return err
	}
	if f.asJSON {
		return m.WriteJSON(loggedIn{Name: a.Name, Open: a.Address, Issuer: a.Login.Issuer, Scopes: slices.Clone(a.Login.Scopes)})
	}
	m.printAddress(f, a)
	m.Printf("Then run `earshot mcp login %s --code`, within an hour, and paste the address that the browser was sent back to.", a.Name)
	return m.OutputError()
}

// instructf writes what the person has to know before there is a result.
func (m *commands) instructf(f mcpLoginFlags, format string, args ...any) {
	if f.asJSON {
		m.Notef(format, args...)
		return
	}
	m.Printf(format, args...)
}

// printAddress writes who asks for what, and the address on a line of its own.
func (m *commands) printAddress(f mcpLoginFlags, a *oauth.Attempt) {
	l := a.Login
	m.instructf(f, "%s asks for a login at %s.", a.Name, cause.OneLine(l.Issuer))
	if len(l.Scopes) > 0 {
		m.instructf(f, "Earshot asks there for these rights: %s.", cause.OneLine(strings.Join(l.Scopes, ", ")))
	} else {
		m.instructf(f, "It names no rights to ask for; what the login allows is said there.")
	}
	m.instructf(f, "Open this address in a browser, log in, and agree:")
	m.instructf(f, "")
	m.instructf(f, "%s", a.Address)
	m.instructf(f, "")
}

// spoken is a time in words, as in "within 5 minutes".
func spoken(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%g seconds", d.Seconds())
}

// maxPasted bounds the line that is pasted.
const maxPasted = 64 << 10

func (m *commands) pastedAnswer() (url.Values, error) {
	m.Notef("Paste the address that the browser was sent back to, which begins with http://127.0.0.1, then press Enter.")
	line, err := bufio.NewReader(io.LimitReader(m.Stdin, maxPasted)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) || strings.TrimSpace(line) == "" {
		return nil, &cause.Error{Kind: cause.Declined, Message: "no address was pasted; nothing was stored", Hint: "run it again with --code"}
	}
	return oauth.Answer(line)
}

// openBrowser opens an address in the browser of this machine, as far as there is one.
func (m *commands) openBrowser(address string) {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	opening := exec.Command(program, address) //nolint:noctx,gosec // the browser outlives this command; the address was made by us
	err := opening.Start()
	if err == nil {
		err = opening.Process.Release()
	}
	if err != nil {
		m.Notef("No browser was opened: %s. Open the address yourself.", cause.Of(err))
	}
}

// printOffered lists the tools of a server that one has just logged in at.
func (m *commands) printOffered(ctx context.Context, file, data, name string) {
	services, err := toolfile.Read(file, m.ServedTools("", data))
	if err != nil {
		m.Notef("Its tools are not listed: %s.", cause.Of(err))
		return
	}
	for _, s := range services {
		if s.Source != nil && s.Name == name {
			m.printTools(ctx, s)
		}
		s.Close()
	}
}

func (m *commands) printTools(ctx context.Context, s toolfile.Service) {
	offered, err := s.Inspect(ctx)
	if err != nil {
		m.Notef("Its tools cannot be listed now: %s.", cause.OneLine(cause.Of(err)))
		return
	}
	m.Printf("It offers %d tools:", len(offered.Definitions))
	for _, d := range offered.Definitions {
		claims, _ := mcp.ClaimsOf(d)
		m.Printf("  %s: %s. %s", d.Tool, mcp.Propose(claims).Why, cause.OneLine(settings.Clip(cause.OneLine(d.Description), 200)))
	}
}

// hasAddress reports whether a server is one that somebody can log in at.
func hasAddress(s toolfile.MCPServer) bool { return s.URL != "" }

// completeServers completes the name of a server among those that are offered.
func (m *commands) completeServers(f *mcpFlags, offered func(toolfile.MCPServer) bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		file, _, err := m.toolsFileOf(*f, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, _ := toolfile.Servers(file) // none if it cannot be read
		names := make([]string, 0, len(all))
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if offered(all[name]) {
				names = append(names, name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
