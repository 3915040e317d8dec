package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/program"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Options of servers.
type Options struct {
	// LookupEnv returns inherited variables and secrets; required.
	LookupEnv func(string) (string, bool)
	// Private is the folder for private copies of programs, see package tool/command. Default: the system's folder for
	// temporary files.
	Private string
	// Version is this program's version, which is sent to the server.
	Version string
	// Notice receives lines of text for the operator: the server ended, or some of its tools were left out. Default:
	// they are dropped.
	Notice func(line string)
	// Login returns the login of the server of that name at that address. Default: there are none.
	Login func(name, url string) Login
	// Pause is the time before a server that has ended is restarted. It doubles each time, up to a minute. Default: 1
	// s.
	Pause time.Duration
	// Logger receives log records, which hold no content. Default: none.
	Logger *slog.Logger
}

// Server is one server of a section, and its tools as those of a service. It is safe for concurrent use.
type Server struct {
	name    string
	c       config
	bound   *program.Program // nil for an address
	copies  *program.Copies
	o       Options
	noticed []string      // what was left out of the last offer; used by Run only
	login   Login         // nil if it has none
	relogin chan struct{} // of one place: the login has changed

	mu      sync.Mutex
	conn    *connection   // nil while disconnected
	changed chan struct{} // closed when one of these two becomes another
	trouble error         // why it is disconnected
	needed  string        // what was said of a login that is needed; "" while none is
}

// Load reads the section `mcp` of a file: servers by name. The error is a [*settings.Error]. It starts nothing.
func Load(in settings.Section, o Options) ([]*Server, error) {
	if o.Private == "" {
		o.Private = os.TempDir()
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Pause <= 0 {
		o.Pause = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var all []*Server
	for _, name := range in.Names() {
		if want := settings.CheckTarget(name); want != "" {
			return nil, in.Fault([]any{name}, fmt.Sprintf("its name is %q", name), want, "")
		}
		section, err := in.Of(name)
		if err != nil {
			return nil, err
		}
		s := &Server{name: name, o: o, copies: program.NewCopies(o.Private), changed: make(chan struct{}), relogin: make(chan struct{}, 1), trouble: errStarting}
		if err := s.load(section); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, in.Fault(nil, "there is no server", "a name, and command or url below it", "")
	}
	return all, nil
}

// Target is the name of the service, which is the prefix of its tools' names.
func (s *Server) Target() string { return s.name }

// Address returns the server's command or its address, for people.
func (s *Server) Address() string {
	if s.c.URL != "" {
		return s.c.URL
	}
	return cause.OneLine(commandLine(s.c.Command))
}

// Program returns the program that runs, bound by its content; the zero value for a remote server.
func (s *Server) Program() settings.Program {
	if s.bound == nil {
		return settings.Program{}
	}
	return settings.Program{Path: s.c.Command[0], SHA256: s.bound.SHA256()}
}

// Entry is the server's entry as it is configured, to tell whether it has become another one. Secrets are in it as
// references only.
func (s *Server) Entry() string {
	entry := s.configured()
	entry["limits"] = s.c.Limits
	return fmt.Sprintf("%#v", entry) // maps are printed in the order of their keys
}

// Close removes the private copy of the program, once [Server.Run] has returned.
func (s *Server) Close() { s.copies.Close() }

// Offered is what a server offers.
type Offered struct {
	Server      string // the name that the server reports
	Definitions []utp.Definition
	// LeftOut names the tools that cannot be offered, with the reasons.
	LeftOut []error
}

// Inspect starts the server, or connects to it, lists its tools, and ends it. It calls no tool.
func (s *Server) Inspect(ctx context.Context) (Offered, error) {
	ctx, cancel := context.WithTimeout(ctx, s.c.Limits.Start)
	defer cancel()
	conn, err := s.connect(ctx)
	if err != nil {
		return Offered{}, err
	}
	defer conn.close()
	tools, leftOut, err := s.list(ctx, conn)
	if err != nil {
		return Offered{}, err
	}
	out := Offered{Server: conn.calls, LeftOut: leftOut}
	for _, t := range tools {
		out.Definitions = append(out.Definitions, t.Definition)
	}
	return out, nil
}

const (
	maxPause = time.Minute
	// quietTime is how long to wait after a change of the list before it is read.
	quietTime = 50 * time.Millisecond
	// stableTime is how long a server has to run before its next end counts as the first.
	stableTime = time.Minute
)

// Run keeps the server running until ctx ends; it is a [tool.Source].
func (s *Server) Run(ctx context.Context, offer tool.Offer) error {
	defer s.watchLogin(ctx)()
	pause, reported := backoff{first: s.o.Pause}, ""
	for ctx.Err() == nil {
		began := time.Now()
		err := s.runOnce(ctx, offer)
		if ctx.Err() != nil {
			break
		}
		if errors.Is(err, errRelogin) {
			pause.reset()
			reported = ""
			continue
		}
		if _, is := errors.AsType[*LoginError](err); is { // it was said
			wait(ctx, maxPause, s.relogin)
			continue
		}
		why := cause.OneLine(cause.Of(err))
		ran := time.Since(began)
		if ran > stableTime {
			reported = ""
		}
		next := pause.after(ran)
		if why != reported {
			reported = why
			s.noticef("%s. It is started again, first in %s", why, next)
		}
		wait(ctx, next, s.relogin)
	}
	return nil
}

// backoff is how long to wait before a server is started again: each time twice as long, up to [maxPause], until one has run for
// [stableTime].
type backoff struct{ first, next time.Duration }

// after returns the pause after a server that ran for so long.
func (b *backoff) after(ran time.Duration) time.Duration {
	if b.next == 0 || ran > stableTime {
		b.next = b.first
	}
	pause := b.next
	b.next = min(2*pause, maxPause)
	return pause
}

func (b *backoff) reset() { b.next = 0 }

// wait waits, unless it is woken.
func wait(ctx context.Context, pause time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

func (s *Server) noticef(format string, args ...any) {
	s.o.Notice("MCP server " + s.name + ": " + fmt.Sprintf(format, args...) + ".")
}

// Why there is no connection while a server starts.
var (
	errStarting = errors.New("it has not started yet")
	errListing  = errors.New("it has not listed its tools yet")
)

// runOnce starts the server once, and follows its tools until it ends.
func (s *Server) runOnce(ctx context.Context, offer tool.Offer) error {
	starting, started := context.WithTimeout(ctx, s.c.Limits.Start)
	defer started()
	conn, err := s.connect(starting)
	if err != nil {
		s.lost(err)
		return err
	}
	defer conn.close()
	s.lost(errListing) // whatever was wrong is over, and a call can wait
	if err := s.offerTools(ctx, conn, offer); err != nil {
		s.lost(err)
		return err
	}
	s.set(conn)
	s.loggedIn()
	for {
		select {
		case <-ctx.Done():
			s.lost(tool.ErrEnding)
			return nil
		case <-conn.ended:
			err := conn.ending()
			s.lost(err)
			return err
		case <-s.relogin:
			s.lost(errRelogin)
			return errRelogin
		case <-conn.changed:
			wait(ctx, quietTime, nil) // changes come in bursts
			if err := s.offerTools(ctx, conn, offer); err != nil {
				s.lost(err)
				return err
			}
		}
	}
}

// offerTools lists the tools, and offers them.
func (s *Server) offerTools(ctx context.Context, conn *connection, offer tool.Offer) error {
	listing, cancel := context.WithTimeout(ctx, s.c.Limits.Start)
	defer cancel()
	tools, leftOut, err := s.list(listing, conn)
	if err != nil {
		return err
	}
	served := make([]tool.Tool, 0, len(tools))
	for _, t := range tools {
		served = append(served, t.Tool)
	}
	conn.know(tools) // from here on, a changed tool is no longer called under its old definition
	if err := offer(ctx, served); err != nil && ctx.Err() == nil {
		leftOut = append(leftOut, err)
	}
	s.reportLeftOut(leftOut)
	return nil
}

// reportLeftOut reports the tools that were left out of an offer, unless they were already reported for the last one.
func (s *Server) reportLeftOut(leftOut []error) {
	now := make([]string, 0, len(leftOut))
	for _, err := range leftOut {
		text := cause.OneLine(err.Error())
		if now = append(now, text); !slices.Contains(s.noticed, text) {
			s.noticef("%s", text)
		}
	}
	s.noticed = now
}

func (s *Server) set(conn *connection) { s.become(conn, nil) }

func (s *Server) lost(why error) { s.become(nil, why) }

// become wakes the calls that wait for a connection.
func (s *Server) become(conn *connection, trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.conn, s.trouble, s.changed = conn, trouble, make(chan struct{})
}

// Ready waits until the server has started and its tools are offered. If the start fails, it returns the reason at once,
// and [Server.Run] tries again; if ctx ends first, it returns how far the start has come.
func (s *Server) Ready(ctx context.Context) error {
	for {
		s.mu.Lock()
		conn, changed, trouble := s.conn, s.changed, s.trouble
		s.mu.Unlock()
		switch {
		case conn != nil:
			return nil
		case !errors.Is(trouble, errStarting) && !errors.Is(trouble, errListing):
			return trouble
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return trouble
		}
	}
}

// connectTimeout is how long a call waits for a server that is starting.
const connectTimeout = 20 * time.Second

// current returns the connection; it waits until there is one.
func (s *Server) current(ctx context.Context) (*connection, error) {
	timer := time.NewTimer(min(connectTimeout, s.c.Limits.Start))
	defer timer.Stop()
	for {
		s.mu.Lock()
		conn, changed, trouble := s.conn, s.changed, s.trouble
		s.mu.Unlock()
		if conn != nil {
			return conn, nil
		}
		if _, is := errors.AsType[*LoginError](trouble); is { // only a person can help
			return nil, trouble
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			return nil, trouble
		}
	}
}
