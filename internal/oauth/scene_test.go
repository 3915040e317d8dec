package oauth_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/oauth"
	"github.com/earshot-dev/earshot/internal/testkit/authserver"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

const patience = time.Minute // longer than anything that works takes

// scene is a server that asks for a login, and the logins of one data directory.
type scene struct {
	t     *testing.T
	auth  *authserver.Server
	store *oauth.Store

	mu  sync.Mutex
	now time.Time
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, auth: authserver.Start(), now: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}
	t.Cleanup(s.auth.Close)
	s.store = s.otherStore()
	return s
}

// otherStore is the store of another process.
func (s *scene) otherStore() *oauth.Store {
	dir := filepath.Join(s.t.TempDir(), "logins")
	if s.store != nil {
		dir = s.store.Dir
	}
	return &oauth.Store{Dir: dir, Now: s.time, LookupEnv: environment}
}

func environment(name string) (string, bool) {
	if name == "HUB_SECRET" {
		return authserver.HandSecret, true
	}
	return "", false
}

func (s *scene) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *scene) passes(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// login logs in at the server, with a person who agrees.
func (s *scene) login(r oauth.Request) (oauth.Login, error) {
	s.t.Helper()
	p, err := oauth.Discover(s.t.Context(), s.auth.Resource(), nil)
	if err != nil {
		return oauth.Login{}, err
	}
	back, err := oauth.Listen(0)
	must(s.t, err)
	defer back.Close()
	r.Name, r.Redirect = "hub", back.Redirect()
	attempt, err := s.store.Begin(s.t.Context(), p, r)
	if err != nil {
		return oauth.Login{}, err
	}
	person := make(chan string, 1)
	go func() { person <- opens(attempt.Address) }()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	answer, err := back.Wait(ctx)
	must(s.t, err)
	if page := <-person; !strings.Contains(page, "The answer has arrived") {
		s.t.Errorf("the person is shown %q", page)
	}
	return s.store.Finish(s.t.Context(), attempt, answer)
}

// opens is a browser: it opens an address, and is sent back.
func opens(address string) string {
	answer, err := http.Get(address)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	page, _ := io.ReadAll(answer.Body)
	return string(page)
}

func (s *scene) loggedIn() oauth.Login {
	s.t.Helper()
	l, err := s.login(oauth.Request{})
	must(s.t, err)
	return l
}

// hub is the server at work as a service.
type hub struct {
	*scene

	server  *mcp.Server
	offers  chan []tool.Tool
	notices chan string
	tools   []tool.Tool
}

func (s *scene) serves() *hub {
	s.t.Helper()
	h := &hub{scene: s, offers: make(chan []tool.Tool, 100), notices: make(chan string, 100)}
	root, err := settings.Parse([]byte("mcp:\n  hub:\n    url: " + s.auth.Resource() + "\n"))
	must(s.t, err)
	in, err := root.Of("mcp")
	must(s.t, err)
	all, err := mcp.Load(in, mcp.Options{
		LookupEnv: environment, Private: s.t.TempDir(), Pause: time.Millisecond, Notice: func(line string) { h.notices <- line },
		Login: func(name, url string) mcp.Login { return s.store.Source(name, url) },
	})
	must(s.t, err)
	h.server = all[0]
	ctx, stop := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- h.server.Run(ctx, func(_ context.Context, tools []tool.Tool) error {
			h.offers <- tools
			return nil
		})
	}()
	s.t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
		h.server.Close()
	})
	return h
}

// offered waits until the server offers its tools.
func (h *hub) offered() {
	h.t.Helper()
	select {
	case h.tools = <-h.offers:
	case <-time.After(patience):
		h.t.Fatal("nothing was offered")
	}
}

// hears waits for a notice.
func (h *hub) hears(part string) {
	h.t.Helper()
	for end := time.After(patience); ; {
		select {
		case line := <-h.notices:
			h.tellsNothing(line)
			if strings.Contains(line, part) {
				return
			}
		case <-end:
			h.t.Fatalf("nothing said %q", part)
		}
	}
}

// call calls the tool of the server.
func (h *hub) call(class utp.Class) (string, *utp.ToolError) {
	result, err := h.tools[0].Run(h.t.Context(), &tool.Call{ID: "tc_" + h.t.Name(), Tool: "hub.look", Class: class, Args: []byte(`{}`)})
	text := ""
	if value, is := result.Value.(mcp.Result); is {
		text = string(value.Content)
	}
	failure, _ := err.(*utp.ToolError) //nolint:errorlint // it is one
	if failure != nil {
		h.tellsNothing(failure.Message)
	}
	h.tellsNothing(text)
	return text, failure
}

// tellsNothing demands that no token is in a text.
func (s *scene) tellsNothing(text string) {
	s.t.Helper()
	for _, token := range append(s.auth.Issued(), authserver.HandSecret) {
		if strings.Contains(text, token) {
			s.t.Errorf("a token is told: %s", text)
		}
	}
}

func (s *scene) stored() string {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.store.Dir, "hub.json"))
	must(s.t, err)
	return string(raw)
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("it says %v, want …%s…", err, part)
	}
}
