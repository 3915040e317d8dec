package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/internal/memory"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool/settings"
)

// upFlags are the flags of `earshot up`.
type upFlags struct {
	roots                  []string
	tools                  []string // files of services
	sample, debug          bool
	dataFlag, http, policy string
	pageURL                string
	https, tlsCert, tlsKey string
	tlsClientCA            string
	oidc                   server.OIDC
	manifestKey, contact   string
	languages              []string
	ledger                 string // a DSN; "" stores it in the data directory
	takeover               bool
	origins                []string
	natsListen, socket     string
	publishEvents          bool
	requirePresence        string // high, irreversible or all; "" asks for no passkey
	content, receipts      string // how long they are kept
	dispatchTimeout        time.Duration
	maxCards               int
	maxActive, mayStart    []string // NAME=VALUE
	subscriptions          int      // listeners at once
	subscriptionsEach      int      // of one principal
	chat                   bool     // serves the agent chat
	model                  cli.ModelFlags
}

// endGrace limits a graceful shutdown; unfinished work is recovered at the next start.
const endGrace = 10 * time.Second

func (m *Main) upCommand() *cobra.Command { return m.upCommandInto(new(upFlags)) }

// upCommandInto returns the command, with its flags stored in f.
func (m *Main) upCommandInto(f *upFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "up [--root DIR] [--tools FILE]",
		Short: "Run everything in one process, with a page and an API to answer on",
		Long: `Run everything in one process: the ledger, the agents, their tools for the folders that
you allow, and a page and an API on this machine. Questions wait in it until their own
deadline, no matter who is connected, and can be answered on the page, with ` + "`earshot reply`" + `, or
where the turn was started: the first valid answer counts, and everybody is told.

It prints the address of the page, which has a name of its own that nobody can guess, and
apart from it a code that lets one browser in, once, within 10 minutes (` + "`earshot code`" + `
prints the address again, with another code). It serves this machine only, unless --https
says where others may come, with a certificate; behind a proxy with TLS, name the address
that browsers use with --page-url.

With --tools, programs and HTTP servers become tools by a YAML file alone (` + "`earshot tools example`" + `,
` + "`earshot serve --check`" + `). The file is yours, and so are the classes that it names: the
server takes them as reviewed. MCP servers, of such a file or of ` + "`earshot mcp add`" + `, name their tools
themselves: each is unreviewed until you look (` + "`earshot tools review`" + `). Tool services in processes of their own, which are not
reviewed by that, come to --nats-listen (` + "`earshot credential`, `earshot serve`" + `).

Control C or SIGTERM end it within 10 seconds: running calls are told to stop and say
what they have done, and turns that have not ended go on at the next start. A second
signal ends it at once, which is as safe: the ledger knows what was under way.

Each flag can also be set by its variable (EARSHOT_ROOT, EARSHOT_HTTP), or by the file that
--config or EARSHOT_CONFIG names: a flag counts before a variable, and that before the file.

Exit codes: 0 ended when it was told to; 1 it could not start, or something failed;
2 usage.`,
		Example: `  earshot up --sample
  earshot up --root ~/Pictures --root ~/Downloads`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := config.Fill(c.Flags(), m.Getenv)
			if err != nil {
				return err
			}
			if from.Path != "" {
				m.Notef("Configuration: %s", cause.OneLine(from.Path))
			}
			return m.up(c.Context(), *f)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.roots, "root", nil, "folder that the agents may work in; may be given several times")
	flags.StringArrayVar(&f.tools, "tools", nil, "YAML file with commands, HTTP operations or MCP servers to serve as tools; may be given several times")
	flags.BoolVar(&f.sample, "sample", false, "make a sample folder to play with, and allow it")
	flags.StringVar(&f.dataFlag, "data", "", cli.DataUsage)
	flags.StringVar(&f.http, "http", address.Default, "address to listen at, on the loopback; port 0 takes a free one")
	f.pageFlags(c)
	f.oidcFlags(c)
	flags.StringVar(&f.ledger, "ledger", "",
		"PostgreSQL database for the ledger, such as postgres://earshot@db.example.org/earshot (default a file in the data directory); "+
			"give a password by PGPASSWORD, a password file or the configuration file")
	flags.BoolVar(&f.takeover, "take-over", false, "take over the database of --ledger from another data directory; what was under way in it counts as unknown")
	flags.StringArrayVar(&f.origins, "allow-origin", nil, "origin, such as https://reader.example.org, whose pages may use the API with a token; may be given several times")
	f.localFlags(c)
	flags.StringVar(&f.policy, "policy", "", "YAML file with the operator's rules")
	flags.StringVar(&f.requirePresence, "require-presence", "",
		"which accepts take a passkey, on the page: of high risk (high), of what cannot be undone (irreversible), or each one (all); see earshot passkeys")
	f.retentionFlags(c)
	f.queueFlags(c)
	f.subscriptionFlags(c)
	f.manifestFlags(c)
	flags.BoolVar(&f.debug, "debug", false, "log what the parts do to standard error, without any content")
	flags.String(config.Flag, "", "YAML file with the same names as these flags")
	_ = flags.SetAnnotation("take-over", config.Once, nil) // fails only if the flag does not exist
	f.chatFlags(c)
	cli.MarkPaths(c, []string{"root", "data"}, []string{"policy", "tools", "tls-cert", "tls-key", "tls-client-ca", "manifest-key", "socket", config.Flag})
	_ = flags.SetAnnotation("socket", config.NoPath, []string{server.NoSocket}) // fails only if the flag does not exist
	return c
}

// localFlags adds the flags of where programs of this machine come, besides by HTTP.
func (f *upFlags) localFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.socket, "socket", "",
		"path of the Unix socket at which programs of this machine listen without a port, or none (default aaep.sock in the data directory)")
	flags.StringVar(&f.natsListen, "nats-listen", "",
		"address on the loopback, such as 127.0.0.1:4222, at which tool services and agents of your own come to the message bus, see earshot credential")
	flags.BoolVar(&f.publishEvents, "publish-events", false,
		"publish on the message bus what agents do and what they write, of everybody's turns, for who has a credential of an operator")
}

// retentionFlags adds the flags of how long what has ended is kept.
func (f *upFlags) retentionFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.content, "retention-content", "",
		"how long arguments, results and texts are kept after a turn has ended, such as 30d, or forever (default what was said last, else 30d)")
	flags.StringVar(&f.receipts, "retention-receipts", "",
		"how long receipts and digests are kept, such as 365d, or forever (default what was said last, else 365d)")
}

// pageFlags adds the flags of where browsers and other machines come.
func (f *upFlags) pageFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.pageURL, "page-url", "", "address of the page for browsers, such as https://earshot.example.org behind a proxy (default a name that nobody can guess)")
	flags.StringVar(&f.https, "https", "", "address at which other machines may come by HTTPS, such as 0.0.0.0:7443; needs --tls-cert, --tls-key and --page-url")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "file with the certificate for --https, and those that lead to its root, in PEM form; a renewed one is taken up by itself")
	flags.StringVar(&f.tlsKey, "tls-key", "", "file with the key of the certificate, in PEM form")
	flags.StringVar(&f.tlsClientCA, "tls-client-ca", "",
		"file with certificates of authorities, in PEM form: who comes by HTTPS has to show a certificate of one of them, besides a token or a login")
}

// oidcFlags adds the flags of an identity provider.
func (f *upFlags) oidcFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.oidc.Issuer, "oidc-issuer", "",
		"address of an OpenID Connect provider, such as https://id.example.org, at which people log in (--oidc-client-id) or whose tokens count (--oidc-audience); needs --oidc-role")
	flags.StringVar(&f.oidc.ClientID, "oidc-client-id", "",
		"id of this server at the provider: people log in on the page there, and it leads back to the page's address with /login/provider/back")
	flags.StringVar(&f.oidc.ClientSecretFile, "oidc-client-secret-file", "", "file with the secret of that id, open to nobody else; default: it has none")
	flags.StringArrayVar(&f.oidc.Scopes, "oidc-scope", nil, "scope to ask for at a login besides openid, for the provider to put the claim into its ID token; may be given several times")
	flags.StringVar(&f.oidc.Audience, "oidc-audience", "",
		"what a token of the provider has to name as its audience (aud) to count besides those of earshot token (default: none counts)")
	flags.StringVar(&f.oidc.RolesClaim, "oidc-roles-claim", "", "claim of the token that roles are mapped from (default groups)")
	flags.StringArrayVar(&f.oidc.Roles, "oidc-role", nil,
		"role for a value of that claim, as VALUE=ROLE: listener, approver, auditor or operator; a token with no such value is refused; may be given several times")
	flags.StringArrayVar(&f.oidc.Owners, "oidc-owner", nil, "whose sessions a value of that claim is for besides its own, as VALUE=PERSON; * is everybody; may be given several times")
	flags.BoolVar(&f.oidc.Accept, "oidc-accept", false,
		"let an accept count with a token of the provider, or after a login of which it does not say that the person was asked: only where no agent can get either")
}

// subscriptionFlags adds the flags of the limits of listeners.
func (f *upFlags) subscriptionFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.IntVar(&f.subscriptions, "subscriptions", server.DefaultSubscriptions, "how many listeners may have a stream at once; each page that is open is one")
	flags.IntVar(&f.subscriptionsEach, "subscriptions-each", 0, "how many of these one token, or one login of the page, may have (default a quarter)")
}

// manifestFlags adds the flags of what the server says of itself.
func (f *upFlags) manifestFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.manifestKey, "manifest-key", "", "file with the key that signs the manifest, see earshot manifest keygen")
	c.Flags().StringArrayVar(&f.languages, "languages", nil,
		"language that listeners may ask for although a machine has translated it: es, fr, ar or yo; may be given several times")
	c.Flags().StringVar(&f.contact, "contact", "", "whom to ask about this server, such as help@example.org; the manifest says it")
}

// chatFlags adds the flags of the agent chat.
func (f *upFlags) chatFlags(c *cobra.Command) {
	c.Flags().BoolVar(&f.chat, "chat", false, "serve the agent chat, for which a language model decides; --model and --endpoint imply it")
	f.model.Add(c)
}

func (f *upFlags) servesChat() bool { return f.chat || f.model.Named() }

func (m *Main) up(ctx context.Context, f upFlags) error {
	path, err := m.DataPath(f.dataFlag, false)
	if err != nil {
		return err
	}
	o, roots, services, err := m.parts(f, path, path)
	if err != nil {
		return err
	}
	o.OpenProject = m.projectOptions
	if m.OwnsProcess {
		defer memory.Tune(m.Getenv)()
	}
	signals := m.NewSignals()
	defer signals.Stop()
	signals.Heed()
	s, err := server.New(ctx, o)
	if err != nil {
		return err
	}
	err = m.welcome(s, path, roots, services, f)
	if err == nil {
		err = serveUntil(ctx, s, signals.C)
	}
	if ended := m.end(s, signals.C); err == nil {
		err = ended
	}
	return err
}

// parts returns the options of a server with its agents and services, the folders that they may work in, and the services of the files. No
// folder may be in the private one, and no file tool reaches into it.
func (m *Main) parts(f upFlags, data, private string) (o server.Options, roots []string, services []toolfile.Service, err error) {
	if roots, err = m.allowedFolders(f, private); err != nil {
		return o, nil, nil, err
	}
	o = m.serverOptions(f)
	if o.MaxActive, err = f.limits(); err != nil {
		return o, nil, nil, err
	}
	if o.MayStart, err = f.starters(); err != nil {
		return o, nil, nil, err
	}
	if err := o.Check(); err != nil {
		return o, nil, nil, err
	}
	if services, err = m.readToolFiles(f.tools, data); err != nil {
		return o, nil, nil, err
	}
	o.Data = data
	o.Agents = []server.Agent{cli.TidyAgent(roots)}
	if f.servesChat() {
		agent, err := m.ChatAgent(f.model, roots)
		if err != nil {
			return o, nil, nil, err
		}
		o.Agents = slices.Insert(o.Agents, 0, agent) // the page offers it first
	}
	if len(roots) > 0 {
		o.Services = []server.Service{m.FilesService(roots, data, private)}
	}
	o.Services = append(o.Services, served(services)...)
	o.Reread = func() ([]server.Service, error) { return m.rereadServers(f.tools, data) }
	return o, roots, services, nil
}

// serverOptions converts the flags to server options, without services and agents.
func (m *Main) serverOptions(f upFlags) server.Options {
	var console func(string)
	if out, is := m.Stdout.(*os.File); is && cli.IsTerminal(out) {
		console = func(line string) { m.Printf("%s", line) }
	}
	if f.dispatchTimeout <= 0 {
		f.dispatchTimeout = -1 // for the server, zero is the default
	}
	return server.Options{
		OIDC:            f.oidc,
		PublishEvents:   f.publishEvents,
		DispatchTimeout: f.dispatchTimeout, MaxCards: f.maxCards,
		HTTP: f.http, PageURL: f.pageURL, HTTPS: f.https, TLSCert: f.tlsCert, TLSKey: f.tlsKey, TLSClientCA: f.tlsClientCA,
		AllowOrigins: f.origins, NATSListen: f.natsListen, Socket: f.socket,
		Ledger: f.ledger, Takeover: f.takeover, Policy: f.policy, Subscriptions: f.subscriptions, SubscriptionsEach: f.subscriptionsEach,
		RequirePresence: f.requirePresence, RetentionContent: f.content, RetentionReceipts: f.receipts,
		ManifestKey: f.manifestKey, Contact: f.contact, Languages: f.languages, Notice: m.Note, Console: console,
		Version: build.This().Version, LookupEnv: m.LookupEnv, Now: m.Now, Logger: m.Logger(f.debug),
	}
}

// readToolFiles reads the services of all files, and of the data directory's own file, which `earshot mcp add` writes.
func (m *Main) readToolFiles(paths []string, data string) (all []toolfile.Service, err error) {
	if own := filepath.Join(data, datadir.ToolsFile); datadir.Exists(own) {
		paths = append(slices.Clone(paths), own)
	}
	for _, path := range paths {
		if all, err = toolfile.Add(all, path, m.ServedTools(data, data)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// rereadServers reads the MCP servers again: those of the given files, and of the data directory's own. Everything else in
// these files counts as it was at the start.
func (m *Main) rereadServers(paths []string, data string) ([]server.Service, error) {
	all, err := m.readToolFiles(paths, data)
	return served(all), err
}

// served returns services of files as those of a server.
func served(all []toolfile.Service) []server.Service {
	out := make([]server.Service, 0, len(all))
	for _, s := range all {
		out = append(out, server.Service{Name: s.Name, Tools: s.Tools, Source: s.Source, Entry: s.Entry, Ready: s.Ready, Close: s.Close})
	}
	return out
}

// allowedFolders returns the folders that tidy may work in: an empty list does not mean all.
func (m *Main) allowedFolders(f upFlags, data string) ([]string, error) {
	roots := make([]string, 0, len(f.roots)+1)
	for _, folder := range f.roots {
		root, err := resolve(folder)
		if err != nil {
			return nil, err
		}
		if err := apart(root, data); err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	if f.sample {
		root, err := m.makeSample()
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	return roots, nil
}

// serveUntil serves until a signal, or until an unrecoverable error.
func serveUntil(ctx context.Context, s *server.Server, signals <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(ctx)
	broken := make(chan error, 1)
	go func() { broken <- s.Run(ctx) }()
	select {
	case err := <-broken:
		cancel()
		return err
	case <-signals:
		cancel()
		return <-broken
	}
}

// welcomeProvider says who comes by an identity provider, and how.
func (m *Main) welcomeProvider(p server.OIDC) {
	if p.Audience != "" {
		m.Printf("Identity provider: tokens of %s for %s count.", cause.OneLine(p.Issuer), cause.OneLine(p.Audience))
	}
	if p.ClientID != "" {
		m.Printf("Identity provider: people log in on the page at %s. It has to know the page's address with /login/provider/back.", cause.OneLine(p.Issuer))
	}
}

// welcome prints the address, the login code on its own, and three things to try. Anyone who reads the code can log in,
// so it is only printed to a terminal. A journal and a file, which others may read, do not get the page's name either.
func (m *Main) welcome(s *server.Server, data string, roots []string, services []toolfile.Service, f upFlags) error {
	flag := m.DataFlag(data)
	m.Printf("Earshot is up: process %d, data in %s.", os.Getpid(), cause.OneLine(data))
	if place := s.Database(); place != "" {
		m.Printf("Ledger: %s.", cause.OneLine(place))
	}
	for _, root := range roots {
		m.Printf("Allowed folder: %s", cause.OneLine(root))
	}
	if len(roots) == 0 {
		m.Printf("No folder is allowed, so tidy can do nothing here; --root DIR allows one.")
	}
	if f.servesChat() {
		m.Printf("Chat: %s", cause.OneLine(m.DescribeModel(f.model)))
	}
	for _, one := range services {
		m.Printf("%s", one)
	}
	for _, d := range s.ChangedTools() {
		m.Printf("Changed since review: %s, the program of %s. Each call is asked for, as irreversible, until you review it: `earshot tools review%s %s`.",
			cause.OneLine(settings.ProgramOf(d).Path), d.Tool, flag, d.Tool)
	}
	out, _ := m.Stdout.(*os.File)
	seen := cli.IsTerminal(out)
	if seen || m.Getenv("JOURNAL_STREAM") == "" && !isFile(out) {
		m.Printf("Page: %s", s.Page())
	}
	m.welcomeProvider(f.oidc)
	if s.HTTPS() != "" {
		m.Printf("HTTPS: others can come to %s.", s.HTTPS())
	}
	for _, one := range s.Projects() {
		m.Printf("Project %s: %s", one.Name, one.URL)
	}
	if at := s.BusURL(); at != "" {
		m.Printf("Tool services: those with a credential can come to %s.", at)
	}
	if address.Shared(s.Page()) {
		m.Printf("Note: others on this machine know this name, and browsers send the page's cookie to every port of it. Use it only where nobody else is logged in.")
	}
	m.Printf("")
	if seen {
		code, err := s.Code()
		if err != nil {
			return err
		}
		m.Printf("Code for the page, once, within 10 minutes: %s", code)
	} else {
		m.Printf("To log in on the page: `earshot code%s` prints its address and a code. The login code is not printed to logs.", flag)
	}
	if f.requirePresence != "" {
		if err := m.firstPasskey(s, flag, seen); err != nil {
			return err
		}
	}
	m.Printf("")
	m.Printf("Try:")
	m.Printf("  open the page and type the code")
	if len(roots) > 0 {
		m.Printf("  earshot run%s tidy %s", flag, cause.Quoted(roots[0]))
	}
	m.Printf("  earshot pending%s", flag)
	m.Printf("  earshot login%s", flag)
	if f.requirePresence != "" { // from a terminal an accept is refused
		m.Printf("  on the page, accept question 1 with your passkey")
		m.Printf("  earshot reply%s 1 reject", flag)
	} else {
		m.Printf("  earshot reply%s 1 accept", flag)
	}
	m.Printf("")
	m.Printf("Control C ends it; what has not ended then goes on at the next start.")
	return nil
}

// firstPasskey says how to add the first passkey, while there is none.
func (m *Main) firstPasskey(s *server.Server, flag string, seen bool) error {
	all, err := s.Passkeys(context.Background())
	if err != nil || len(all) > 0 {
		return err
	}
	m.Printf("")
	m.Printf("No passkey was added yet, and accepting takes one. Log in on the page, follow Passkeys, and add one.")
	if !seen {
		m.Printf("That takes a second code: `earshot code%s` once more.", flag)
		return nil
	}
	code, err := s.Code()
	if err != nil {
		return err
	}
	m.Printf("Code for the first passkey, once, within 10 minutes: %s", code)
	return nil
}

// isFile reports whether the output is stored on a disk.
func isFile(out *os.File) bool {
	if out == nil {
		return false
	}
	info, err := out.Stat()
	return err == nil && info.Mode().IsRegular()
}

// end shuts the server down, gracefully unless that takes too long.
func (m *Main) end(s *server.Server, signals <-chan os.Signal) error {
	m.Notef("Ending: running tools are asked to stop. Unfinished turns continue at the next start.")
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Close()
	}()
	timer := time.NewTimer(cmp.Or(m.EndGrace, fault.Grace(endGrace)))
	defer timer.Stop()
	for {
		select {
		case <-done:
			m.Notef("Ended.")
			return nil
		case again := <-signals:
			if again == syscall.SIGHUP {
				continue // a lost terminal may send more than one
			}
			return cause.Fail(nil, "it was told to end at once", "the next start checks what became of unfinished work")
		case <-timer.C:
			return cause.Fail(nil, "not everything ended within 10 seconds", "the next start finds out what became of it")
		}
	}
}
