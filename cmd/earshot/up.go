package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// upFlags are the flags of `earshot up`.
type upFlags struct {
	roots                  []string
	tools                  []string // files of services
	sample, debug          bool
	dataFlag, http, policy string
	pageURL                string
	https, tlsCert, tlsKey string
	ledger                 string // a DSN; "" keeps it in the data directory
	takeOver               bool
	certificate            *certificate // that the two files hold; nil without --https
	origins                []string
	natsListen             string
	content, receipts      string // how long they are kept
}

const (
	defaultAddress = "127.0.0.1:7411"
	// endGrace bounds a graceful end; what has not ended by then is found out about at the next start.
	endGrace = 10 * time.Second
	// collectSeldom is GOGC of a server, unless the variable is set: most of what a call needs is
	// forgotten with it, and with the usual 100 a quarter of the processor time went into collecting it.
	collectSeldom = 400
)

func (m *Main) upCommand() *cobra.Command { return m.upCommandInto(new(upFlags)) }

// upCommandInto is the command with the place that its flags are read into.
func (m *Main) upCommandInto(f *upFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "up --root DIR [--root DIR] [--tools FILE]",
		Short: "Run everything in one process, with a page and an API to answer on",
		Long: `Run everything in one process: the ledger, the agents, their tools for the folders that
you allow, and a page and an API on this machine. Questions wait in it until their own
deadline, whoever is connected, and can be answered on the page, with ` + "`earshot reply`" + `, or
where the turn was started: the first valid answer counts, and everybody is told.

It prints the address of the page, which has a name of its own that nobody can guess, and
apart from it a code that lets one browser in, once, within 10 minutes (` + "`earshot code`" + `
prints the address again, with another code). It serves this machine only, unless --https
says where others may come, with a certificate; behind a proxy with TLS, name the address
that browsers use with --page-url.

With --tools, programs and HTTP servers become tools by a YAML file alone (docs/services.md,
` + "`earshot serve --check`" + `). The file is yours, and so are the classes that it names: the
server takes them as reviewed. Tool services in processes of their own, which are not
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
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := m.configure(c.Flags())
			if err != nil {
				return err
			}
			if from.path != "" {
				m.tellf("Configuration: %s", cause.OneLine(from.path))
			}
			return m.up(c.Context(), *f)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.roots, "root", nil, "folder that the agents may work in; may be given several times")
	flags.StringArrayVar(&f.tools, "tools", nil, "YAML file with commands or HTTP operations to serve as tools; may be given several times")
	flags.BoolVar(&f.sample, "sample", false, "make a sample folder to play with, and allow it")
	flags.StringVar(&f.dataFlag, "data", "", dataUsage)
	flags.StringVar(&f.http, "http", defaultAddress, "address to listen at, on the loopback; port 0 takes a free one")
	flags.StringVar(&f.pageURL, "page-url", "", "address of the page for browsers, such as https://earshot.example.org behind a proxy (default a name that nobody can guess)")
	flags.StringVar(&f.https, "https", "", "address at which other machines may come by HTTPS, such as 0.0.0.0:7443; needs --tls-cert, --tls-key and --page-url")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "file with the certificate for --https, and those that lead to its root, in PEM form; a renewed one is taken up by itself")
	flags.StringVar(&f.tlsKey, "tls-key", "", "file with the key of the certificate, in PEM form")
	flags.StringVar(&f.ledger, "ledger", "",
		"PostgreSQL database for the ledger, such as postgres://earshot@db.example.org/earshot (default a file in the data directory); "+
			"give a password by PGPASSWORD, a password file or the configuration file")
	flags.BoolVar(&f.takeOver, takeOverFlag, false, "take over the database of --ledger from another data directory; what was under way in it counts as unknown")
	flags.StringArrayVar(&f.origins, "allow-origin", nil, "origin, such as https://reader.example.org, whose pages may use the API with a token; may be given several times")
	flags.StringVar(&f.natsListen, "nats-listen", "",
		"address on the loopback, such as 127.0.0.1:4222, at which tool services and agents of your own come to the message bus, see earshot credential")
	flags.StringVar(&f.policy, "policy", "", "YAML file with the operator's rules")
	flags.StringVar(&f.content, "retention-content", "",
		"how long arguments, results and texts are kept after a turn has ended, such as 30d, or forever (default what was said last, else 30d)")
	flags.StringVar(&f.receipts, "retention-receipts", "", "how long receipts and digests are kept, such as 365d, or forever (default what was said last, else 365d)")
	flags.BoolVar(&f.debug, "debug", false, "log what the parts do to standard error, without any content")
	flags.String(configFlag, "", "YAML file with the same names as these flags")
	markPaths(c, []string{"root", "data"}, []string{"policy", "tools", "tls-cert", "tls-key", configFlag})
	return c
}

// markPaths says which flags name folders and which files: shells complete them so, and a
// configuration file has them relative to itself.
func markPaths(c *cobra.Command, folders, files []string) {
	for _, name := range folders {
		_ = c.MarkFlagDirname(name) // fails only where the flag is not there
	}
	for _, name := range files {
		_ = c.MarkFlagFilename(name)
	}
}

const dataUsage = "folder of the ledger (default $EARSHOT_DATA, else ~/.local/share/earshot)"

func (m *Main) up(ctx context.Context, f upFlags) error {
	path, err := m.dataPath(f.dataFlag, false)
	if err != nil {
		return err
	}
	roots, err := m.allowedFolders(f, path)
	if err != nil {
		return err
	}
	if f, err = f.checked(); err != nil {
		return err
	}
	if f.certificate, err = openCertificate(f, m.Now, m.logger(f.debug)); err != nil {
		return err
	}
	policy, err := policyfile.Open(f.policy)
	if err != nil {
		return err
	}
	services, err := m.configuredServices(f, path)
	if err != nil {
		return err
	}
	if m.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectSeldom)
	}
	signals := make(chan os.Signal, 4)
	defer signal.Stop(signals)
	heed(signals)
	o := houseOptions{
		dataPath: path, policy: policy, log: m.logger(f.debug), reached: fault.Points(m.Getenv(fault.Variable)), serves: true, database: f.ledger, takeOver: f.takeOver, natsListen: f.natsListen,
		retention: retention{Content: f.content, Receipts: f.receipts},
		services:  services,
	}
	h, err := m.openHouse(ctx, o)
	if err != nil {
		return err
	}
	s, err := m.openServer(ctx, h, o, f, roots)
	if err != nil {
		h.Close()
		return h.cause(err)
	}
	err = m.serveUntil(ctx, s, o, signals)
	if ended := m.end(s, signals); err == nil {
		err = ended
	}
	return err
}

// checked are the flags with the addresses in the form that they are used in.
func (f upFlags) checked() (upFlags, error) {
	var err error
	if f.http, err = checkAddress(f.http); err != nil {
		return f, err
	}
	if f.pageURL, err = checkPageURL(f.pageURL); err != nil {
		return f, err
	}
	if _, _, err := (retention{Content: f.content, Receipts: f.receipts}).durations(); err != nil {
		return f, err
	}
	if err := f.checkHTTPS(); err != nil {
		return f, err
	}
	if err := checkDatabase(f.ledger); err != nil {
		return f, err
	}
	if host, _, _ := net.SplitHostPort(f.http); f.pageURL == "" && twin(host) == "" {
		return f, cause.Misuse("browsers look for the page at 127.0.0.1 and [::1], and would not find it at "+f.http, "use one of those with --http, or say where browsers find it with --page-url")
	}
	return f, checkOrigins(f.origins)
}

// allowedFolders are the folders that the agents may work in. Without any, nothing
// could be done: none is not taken to mean all.
func (m *Main) allowedFolders(f upFlags, data string) ([]string, error) {
	if len(f.roots) == 0 && !f.sample {
		return nil, cause.Misuse("no folder is allowed, so the agents could do nothing", "allow one or more with --root DIR, or try --sample")
	}
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

// serveUntil serves until a signal, or until it cannot go on.
func (m *Main) serveUntil(ctx context.Context, s *server, o houseOptions, signals <-chan os.Signal) error {
	if err := m.resumeAll(ctx, s); err != nil {
		return err
	}
	if err := m.welcome(s, o); err != nil {
		return err
	}
	select {
	case err := <-s.house.broken:
		return err
	case <-signals:
		return nil
	}
}

// resumeAll goes on with every turn that an earlier process has left, but for those in
// folders that are not allowed now.
func (m *Main) resumeAll(ctx context.Context, s *server) error {
	switch {
	case s.house.takenOver:
		m.tellf("Ledger: taken over from another data directory. What was under way is not repeated; you will be asked about it.")
	case s.house.restored:
		m.tellf("%s", restoredNote)
	}
	open, err := s.house.unfinished(ctx)
	if err != nil {
		return err
	}
	for _, row := range open {
		rec, err := s.house.kernel.Turn(ctx, row.Turn)
		if rpc.Spoiled(err) {
			m.tellf("Left alone: %s cannot be read. The others go on; a backup may have it whole.", row.Session)
			continue
		}
		if err != nil {
			return cause.Fail(err, "the session "+row.Session+" cannot be read", "")
		}
		if folder := folderOf(rec); folder != "" && !within(s.roots, folder) {
			m.tellf("Parked: %s works in %s, which is not allowed now; start with --root for that folder to go on with it.", row.Session, cause.OneLine(folder))
			continue
		}
		if err := s.house.kernel.Resume(ctx, row.Turn); err != nil {
			return s.house.cause(cause.Fail(err, "the session "+row.Session+" cannot be resumed", ""))
		}
		m.tellf("Resumed: %s.", row.Session)
	}
	return nil
}

// folderOf is the folder that a turn works in; "" where it works in none. Only tidy's arguments say one: those of another
// agent are its own, whatever their names are.
func folderOf(rec kernel.Record) string {
	var args tidy.Args
	if rec.State.Agent != tidyName || json.Unmarshal(rec.Args, &args) != nil {
		return ""
	}
	return args.Root
}

// welcome says where it is, apart from that the code, and three things to try. A code lets
// whoever reads it in, so it is shown to a person at a terminal and written nowhere else. A
// journal and a file, which others may read, do not get the page's name either.
func (m *Main) welcome(s *server, o houseOptions) error {
	m.sayf("Earshot is up: process %d, data in %s.", os.Getpid(), cause.OneLine(s.house.data.Path))
	if s.house.inDatabase {
		m.sayf("Ledger: %s.", cause.OneLine(s.house.ledger))
	}
	for _, root := range s.roots {
		m.sayf("Allowed folder: %s", cause.OneLine(root))
	}
	for _, c := range o.services {
		m.sayf("%s", c.line())
	}
	m.sayChanged(s)
	out, _ := m.Stdout.(*os.File)
	seen := isTerminal(out)
	if seen || m.Getenv("JOURNAL_STREAM") == "" && !isFile(out) {
		m.sayf("Page: %s/", s.page)
	}
	if s.https != "" {
		m.sayf("HTTPS: others can come to %s.", s.https)
	}
	if at := s.house.bus.URL(); at != "" {
		m.sayf("Tool services: those with a credential can come to %s.", at)
	}
	if shared(s.page) {
		m.sayf("Note: others on this machine know this name, and browsers send the page's cookie to every port of it. Use it only where nobody else is logged in.")
	}
	m.sayf("")
	if seen {
		code, err := s.house.access.Code(s.house.owner())
		if err != nil {
			return accessFailure(err)
		}
		m.sayf("Code for the page, once, within 10 minutes: %s", code)
	} else {
		m.sayf("To log in on the page: `earshot code%s` prints its address and a code. No code is written where it would be kept.", s.dataFlag(m))
	}
	m.sayf("")
	m.sayf("Try:")
	m.sayf("  open the page and type the code")
	m.sayf("  earshot run%s tidy %s", s.dataFlag(m), quoted(s.roots[0]))
	m.sayf("  earshot pending%s", s.dataFlag(m))
	m.sayf("  earshot reply%s 1 accept", s.dataFlag(m))
	m.sayf("")
	m.sayf("Control C ends it; what has not ended then goes on at the next start.")
	return nil
}

// isFile answers whether what is written stays on a disk.
func isFile(out *os.File) bool {
	if out == nil {
		return false
	}
	info, err := out.Stat()
	return err == nil && info.Mode().IsRegular()
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(cause.OneLine(path), "'", `'\''`) + "'"
}

// end ends the server, gracefully where that does not take too long.
func (m *Main) end(s *server, signals <-chan os.Signal) error {
	m.tellf("Ending: running calls are told; what has not ended goes on at the next start.")
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.close()
		s.house.Close()
	}()
	timer := time.NewTimer(fault.Grace(endGrace))
	defer timer.Stop()
	for {
		select {
		case <-done:
			m.tellf("Ended.")
			return nil
		case again := <-signals:
			if again == syscall.SIGHUP {
				continue // a terminal that goes away says so more than once
			}
			return cause.Fail(nil, "it was told to end at once", "the next start finds out what became of what was under way")
		case <-timer.C:
			return cause.Fail(nil, "not everything ended within 10 seconds", "the next start finds out what became of it")
		}
	}
}

// place is what programs of this user need to find the server and come in.
func (s *server) place(started time.Time) client.Place {
	return client.Place{
		URL: s.url, Page: s.page + "/", PID: os.Getpid(), Person: localUser(), Token: s.house.token, Policy: s.house.policy.Path,
		Started: started.UTC().Truncate(time.Second),
	}
}
