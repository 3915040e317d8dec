package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

const (
	headerTime = 10 * time.Second
	// idleTime is how long a connection may wait for its next request.
	idleTime = time.Minute
	// answerGrace is how long requests under way may take once the server ends.
	answerGrace = 2 * time.Second
)

// server is a house that others come into by HTTP.
type server struct {
	house *house
	roots []string
	url   string // of the API
	page  string // of the page, for browsers
	https string // the address that others come to; "" has none

	web  *web.Server
	http *http.Server
	// serving are the goroutines that take connections.
	serving sync.WaitGroup
}

// openServer serves the house by HTTP and says where. It does not close the house.
func (m *Main) openServer(ctx context.Context, h *house, o houseOptions, f upFlags, roots []string) (*server, error) {
	listeners, err := listenHere(ctx, f.http)
	if err != nil {
		return nil, err
	}
	s := &server{house: h, roots: roots, url: "http://" + listeners[0].Addr().String()}
	if f.https != "" {
		far, err := new(net.ListenConfig).Listen(ctx, "tcp", f.https)
		if err != nil {
			closeAll(listeners)
			return nil, addressFailure("--https", f.https, err)
		}
		s.https, listeners = far.Addr().String(), append(listeners, far)
	}
	if s.page, err = f.page(h.data, listeners[0].Addr()); err == nil {
		err = s.open(ctx, o, f, listeners)
	}
	if err != nil {
		closeAll(listeners)
		return nil, err
	}
	if err := s.leaveWord(m.Now()); err != nil {
		s.close()
		return nil, cause.Fail(err, "the files that say where the server is cannot be written", "make room in "+h.data.Path)
	}
	return s, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

// leaveWord writes down where the server is and how others come in: programs of this user,
// and apart from that the user as a person.
func (s *server) leaveWord(now time.Time) error {
	if err := datadir.WriteFile(s.house.data.File(datadir.PersonFile), []byte(s.house.personToken+"\n")); err != nil {
		return err
	}
	raw, err := json.Marshal(s.place(now), jsontext.Multiline(true))
	if err != nil {
		return fmt.Errorf("writing %s: %w", datadir.ServerFile, err)
	}
	return datadir.WriteFile(s.house.data.File(datadir.ServerFile), raw)
}

func (s *server) open(ctx context.Context, o houseOptions, f upFlags, listeners []net.Listener) error {
	h := s.house
	if err := h.serveTidy(ctx, s.roots, o); err != nil {
		return err
	}
	if err := h.serveConfigured(ctx, o); err != nil {
		return err
	}
	h.openHub(s.url, o)
	var err error
	s.web, err = web.New(web.Options{
		Hub: web.Over(h.hub), Access: h.access, Agents: s.judge, Now: h.now, Logger: o.log, PageURL: s.page, AllowedOrigins: f.origins,
		User:  peerOf,
		Ready: h.hub.Ready, Counters: h.counters, Credentials: h.roster.takeUp,
		Manifest: aaep.Manifest{
			AgentID: "earshot", AgentName: "Earshot", AgentVersion: thisBuild().Version, LanguagesSupported: []string{"en"},
			ExtensionsSupported: []string{aaep.ExtensionContext}, DefaultVerbosity: aaep.VerbosityNormal,
		},
	})
	if err != nil {
		return cause.Fail(err, "the page could not be made", "")
	}
	s.http = &http.Server{
		Handler: s.web, ConnContext: withPeer, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(o.log.Handler(), slog.LevelDebug),
	}
	if f.certificate != nil {
		s.http.TLSConfig = f.certificate.settings()
	}
	for _, l := range listeners {
		s.serving.Go(func() {
			if err := s.take(l); !errors.Is(err, http.ErrServerClosed) {
				h.fail(cause.Fail(err, "the HTTP server has failed", ""))
			}
		})
	}
	return nil
}

// take takes connections until the server ends; those of other machines by TLS.
func (s *server) take(l net.Listener) error {
	if s.https != "" && l.Addr().String() == s.https {
		return s.http.ServeTLS(l, "", "") //nolint:wrapcheck // the caller says what has failed
	}
	return s.http.Serve(l) //nolint:wrapcheck // the same
}

// judge looks at a turn before it is recorded, and says what it is about where nobody else has.
func (s *server) judge(_ context.Context, t *api.TurnStart) error {
	agent, raw := t.Agent, t.Args
	invalid := func(message, hint string) error {
		return &web.Refusal{Kind: api.KindInvalid, Message: message, Hint: hint}
	}
	if agent == api.OperatorAgent {
		var args api.OperatorArgs
		if err := json.Unmarshal(raw, &args, json.RejectUnknownMembers(true)); err != nil || args.Tool == "" || args.Args.Kind() != '{' {
			return invalid("the arguments of operator cannot be read", `send {"tool":"a.tool","args":{}}`)
		}
		return nil
	}
	if agent != tidyName {
		if outside := s.house.roster.agents(); !slices.Contains(outside, agent) {
			known := append([]string{tidyName, api.OperatorAgent}, outside...)
			return invalid(fmt.Sprintf("there is no agent %.64q", agent), meantAgent(agent, known))
		}
		if raw.Kind() != '{' {
			return invalid("the arguments of an agent are one JSON object", "send {} where it takes none")
		}
		return nil
	}
	var args tidy.Args
	if err := json.Unmarshal(raw, &args, json.RejectUnknownMembers(true)); err != nil {
		return invalid("the arguments of tidy cannot be read: "+cause.Of(err), `send {"root":"/a/folder"}, and "trash":true if wanted`)
	}
	if !filepath.IsAbs(args.Root) {
		return invalid(fmt.Sprintf("the root %.256q is not named from the root of the file system", args.Root), "give its full path")
	}
	hint := "the allowed folders, and what lies in them, are: " + strings.Join(s.roots, ", ") + "; `earshot up --root DIR` allows others"
	root, err := files.Resolve(args.Root)
	if err != nil || !within(s.roots, root) {
		return invalid(fmt.Sprintf("the folder %.256q is not there, or not allowed on this server", args.Root), hint)
	}
	if root != args.Root {
		return invalid(fmt.Sprintf("the folder %.256q is another name of %q", args.Root, root), "name it by its own path")
	}
	t.Request, t.Label = cmp.Or(t.Request, args.Request()), cmp.Or(t.Label, args.Label())
	return nil
}

// within answers whether a folder lies in one of those.
func within(roots []string, folder string) bool {
	for _, root := range roots {
		if rel, err := filepath.Rel(root, folder); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// close takes no more requests and ends the streams, and waits for that. The house
// stays open.
func (s *server) close() {
	_ = os.Remove(s.house.data.File(datadir.ServerFile)) // what stays behind says a process id that does not hold the lock
	_ = os.Remove(s.house.data.File(datadir.PersonFile)) // what it holds counts no more
	s.web.Close()
	ctx, cancel := context.WithTimeout(context.Background(), answerGrace)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	s.serving.Wait()
}

// dataFlag is how the commands that are suggested name this data directory.
func (s *server) dataFlag(m *Main) string {
	if usual, err := m.dataPath("", false); err == nil && usual == s.house.data.Path {
		return ""
	}
	return " --data " + quoted(s.house.data.Path)
}

// counters are the kernel's figures of peers of another make.
func (h *house) counters() []web.Counter {
	foreign := h.kernel.Foreign()
	return []web.Counter{
		{Name: "earshot_foreign_commands_adopted_total", Help: "Commands of workers of another make that became calls.", Value: foreign.Adopted},
		{Name: "earshot_foreign_commands_refused_total", Help: "Such commands that were wrong, and were answered.", Value: foreign.Answered},
		{Name: "earshot_foreign_commands_dropped_total", Help: "Such commands that were wrong, and name no call to answer.", Value: foreign.Dropped},
	}
}
