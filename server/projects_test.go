package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
)

// house is a server with projects, each with an agent and a tool of the same names.
type house struct {
	*server.Server

	t *testing.T
	o server.Options

	ledgers map[string]string // the databases of projects; "" is a file

	mu   sync.Mutex
	sent map[string]*[]string // by project
	said []string
}

const own = projectfile.Default

var everywhere = []string{own, "billing", "sales"}

func newHouse(ctx context.Context, t *testing.T, ledgers map[string]string, names ...string) *house {
	t.Helper()
	h := &house{t: t, ledgers: ledgers, sent: map[string]*[]string{}}
	parts := h.parts(own)
	h.o = server.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", NATSListen: "127.0.0.1:0", Ledger: parts.Ledger, Agents: parts.Agents, Services: parts.Services,
		Notice: func(line string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.said = append(h.said, line)
		},
		OpenProject: func(name, _, config string) (server.Options, error) {
			if strings.HasPrefix(config, "https://") { // the address of its page
				o := h.parts(name)
				o.PageURL = config
				return o, nil
			}
			if config != "" {
				return server.Options{}, &server.Error{Kind: server.Usage, Message: "the configuration is odd", Hint: "correct it"}
			}
			return h.parts(name), nil
		},
	}
	for _, name := range names {
		h.add(name, "")
	}
	h.open(ctx)
	t.Cleanup(func() { h.Close() })
	return h
}

// parts are an agent and a service of a project, for which it is noted what was sent.
func (h *house) parts(name string) server.Options {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sent[name] == nil {
		h.sent[name] = new([]string)
	}
	return server.Options{Ledger: h.ledgers[name], Agents: []server.Agent{{Agent: clerk()}}, Services: []server.Service{send(h.sent[name], &h.mu)}}
}

func (h *house) add(name, config string) {
	h.t.Helper()
	if _, _, err := projectfile.Add(h.o.Data, projectfile.Project{Name: name, Config: config, By: "anna"}); err != nil {
		h.t.Fatal(err)
	}
}

// open opens the server, at the addresses that it had before.
func (h *house) open(ctx context.Context) {
	h.t.Helper()
	s, err := server.New(ctx, h.o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Server = s
	h.o.HTTP, h.o.NATSListen = strings.TrimPrefix(s.URL(), "http://"), strings.TrimPrefix(s.BusURL(), "nats://")
}

// at returns the server of a project.
func (h *house) at(name string) *server.Server {
	h.t.Helper()
	s := h.Server
	if name != own {
		s = h.Project(name)
	}
	if s == nil {
		h.t.Fatalf("%s is not served; it is said: %q", name, h.said)
	}
	return s
}

// program connects as a program of a project.
func (h *house) program(ctx context.Context, name string) *client.Client {
	h.t.Helper()
	return h.dial(ctx, name, h.at(name).Token())
}

// operator connects as the person who runs the server.
func (h *house) operator(ctx context.Context, name string) *client.Client {
	h.t.Helper()
	return h.dial(ctx, name, h.at(name).PersonToken())
}

func (h *house) dial(ctx context.Context, name, token string) *client.Client {
	h.t.Helper()
	c, err := client.Dial(ctx, client.Options{URL: h.at(name).URL(), Token: token})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// asked starts the same turn in a project and waits for its question.
func (h *house) asked(ctx context.Context, name string) api.OpenQuestion {
	h.t.Helper()
	c := h.program(ctx, name)
	turn, err := c.Start(ctx, api.TurnStart{Agent: "clerk", Args: jsontext.Value(`{"to":"Ada of ` + name + `"}`), Correlation: "letter-1"})
	if err != nil {
		h.t.Fatal(err)
	}
	for event, err := range c.ForSession(turn.Session).Events(ctx) {
		if err != nil {
			h.t.Fatal(err)
		}
		if _, is := event.Payload.(aaep.AwaitingConfirmation); is {
			break
		}
	}
	return h.onlyQuestion(ctx, name)
}

// onlyQuestion returns the question of a project, and no other is there.
func (h *house) onlyQuestion(ctx context.Context, name string) api.OpenQuestion {
	h.t.Helper()
	all, err := h.program(ctx, name).PeekQuestions(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(all) != 1 {
		h.t.Fatalf("%s has the questions %v", name, all)
	}
	return all[0]
}

// TestProjectsApart: in three projects of one server the same agent asks for the same tool under the same correlation id. Each has its own
// question; the answer in one starts the call there and nowhere else; a token counts in its own project only; the stream of one says nothing
// of another. After a restart all are back.
func TestProjectsApart(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		projectsApart(t, nil)
	})
	t.Run("database", func(t *testing.T) {
		t.Parallel()
		database, err := cluster.Start(t.Context())
		if errors.Is(err, cluster.ErrMissing) && os.Getenv("CI") != "true" {
			t.Skip("left out: " + err.Error() + "; scripts/need postgres installs it")
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := database.Stop(); err != nil {
				t.Error(err)
			}
		})
		ledgers := map[string]string{}
		for _, name := range everywhere {
			if ledgers[name], err = database.Ledger(t.Context()); err != nil { // each a schema of one database
				t.Fatal(err)
			}
		}
		projectsApart(t, ledgers)
	})
}

func projectsApart(t *testing.T, ledgers map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := newHouse(ctx, t, ledgers, everywhere[1:]...)
	sessions, heard := map[string]string{}, map[string]func() []string{}
	for _, name := range everywhere {
		heard[name] = h.listen(ctx, name)
	}
	for _, name := range everywhere {
		sessions[name] = h.asked(ctx, name).Session
	}
	for _, name := range everywhere {
		h.strangers(ctx, name, sessions)
		if got := heard[name](); !slices.Equal(got, []string{sessions[name]}) {
			t.Errorf("%s heard of the sessions %v, its own is %s", name, got, sessions[name])
		}
	}
	h.Close()
	h.open(ctx)
	for _, name := range everywhere {
		if got := h.onlyQuestion(ctx, name); got.Session != sessions[name] {
			t.Errorf("after the restart %s asks in %s, before in %s", name, got.Session, sessions[name])
		}
	}
	h.accept(ctx, "billing")
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range everywhere {
		if want := map[string][]string{"billing": {"Ada of billing"}}[name]; !slices.Equal(*h.sent[name], want) {
			t.Errorf("%s has sent to %q, expected %q", name, *h.sent[name], want)
		}
	}
}

// listen listens to all that a project says; the function returned ends it once a question has come, and returns the sessions that it was about.
func (h *house) listen(ctx context.Context, name string) func() []string {
	h.t.Helper()
	c := h.program(ctx, name)
	var (
		sessions []string
		asked    = make(chan struct{})
		ended    = make(chan struct{})
	)
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(ended)
		for event, err := range c.Events(ctx) {
			if err != nil {
				return
			}
			if !slices.Contains(sessions, event.SessionID) {
				sessions = append(sessions, event.SessionID)
			}
			if _, is := event.Payload.(aaep.AwaitingConfirmation); is {
				close(asked)
			}
		}
	}()
	return func() []string {
		select {
		case <-asked:
		case <-ended:
		}
		stop()
		<-ended
		return sessions
	}
}

// strangers has the tokens of a project refused by the others, and what it says looked through for their sessions.
func (h *house) strangers(ctx context.Context, name string, sessions map[string]string) {
	h.t.Helper()
	for other, session := range sessions {
		if other == name {
			continue
		}
		_, err := client.Dial(ctx, client.Options{URL: h.at(other).URL(), Token: h.at(name).Token()})
		if e, is := errors.AsType[*client.Error](err); !is || e.Code != client.CodeUnauthenticated {
			h.t.Errorf("a token of %s at %s: %v", name, other, err)
		}
		if _, err := h.program(ctx, name).Session(ctx, session); err == nil {
			h.t.Errorf("%s knows the session of %s", name, other)
		}
	}
	all, err := h.program(ctx, name).Sessions(ctx, false)
	if err != nil || len(all) != 1 || all[0].ID != sessions[name] {
		h.t.Errorf("the sessions of %s: %v, %v", name, all, err)
	}
}

// accept answers the only question of a project with yes, as its person, and waits for the end.
func (h *house) accept(ctx context.Context, name string) {
	h.t.Helper()
	person := h.operator(ctx, name)
	all, err := person.Questions(ctx)
	if err != nil || len(all) != 1 {
		h.t.Fatal(all, err)
	}
	if _, err := person.Reply(ctx, all[0].Number, api.Reply{Token: all[0].Token, Decision: "accept"}); err != nil {
		h.t.Fatal(err)
	}
	for event, err := range person.ForSession(all[0].Session).Events(ctx) {
		if err != nil {
			h.t.Fatal(err)
		}
		if _, is := event.Payload.(aaep.SessionCompleted); is {
			return
		}
	}
}

// get asks the server for a path under a name of a host, as anybody of this machine can.
func (h *house) get(host, path, token string) (status int, body string) {
	h.t.Helper()
	_, port, _ := strings.Cut(h.URL(), "127.0.0.1:")
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.URL()+path, http.NoBody)
	if err != nil {
		h.t.Fatal(err)
	}
	r.Host = host + ":" + port
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

// TestProjectHosts: a request reaches a project under its own names only. A name that is nobody's is refused, and nothing says which names
// there are; a project that cannot be served says only that, and hinders no other.
func TestProjectHosts(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := newHouse(ctx, t, nil, "billing")
	h.add("odd", "odd.yaml")
	if got, err := h.operator(ctx, own).RereadProjects(ctx); err != nil || len(got.Projects) != 2 || got.Projects[1].Trouble != "the configuration is odd" || got.Projects[1].Hint == "" {
		t.Errorf("read again: %+v, %v", got, err)
	}
	h.add("sales1", "https://sales.example.org")
	h.add("sales2", "https://Sales.example.org/") // which is the same
	if got, err := h.operator(ctx, own).RereadProjects(ctx); err != nil || got.Projects[2].URL == "" || !strings.Contains(got.Projects[3].Trouble, "is the page of another project") {
		t.Errorf("with two of one page: %+v, %v", got, err)
	}
	page, err := url.Parse(h.at("billing").Page())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		host, by string
		status   int
	}{
		{"127.0.0.1", own, 200},
		{"localhost", own, 200},
		{"127.0.0.1", "billing", 401},
		{"billing.localhost", "billing", 200},
		{"BILLING.localhost", "billing", 200},
		{page.Hostname(), "billing", 200},
		{"billing.localhost", own, 401},
		{page.Hostname(), own, 401},
		{"odd.localhost", own, 503},
		{"sales.localhost", own, 421},
		{"default.localhost", own, 421},
		{"billing.localhost.example.org", "billing", 421},
		{"a.billing.localhost", "billing", 421},
	} {
		status, body := h.get(row.host, "/api/v1/me", h.at(row.by).Token())
		if status != row.status {
			t.Errorf("%s with a token of %s: %d, expected %d; %s", row.host, row.by, status, row.status, body)
		}
		if status != 200 && (strings.Contains(body, "billing") || strings.Contains(body, page.Hostname()) || strings.Contains(body, "is odd")) {
			t.Errorf("%s says: %s", row.host, body)
		}
	}
	if status, body := h.get("billing.localhost", "/", ""); status == 200 && strings.Contains(body, page.Hostname()) {
		t.Errorf("the name of the page is told under the guessable one: %s", body)
	}
	_, err = h.operator(ctx, "billing").RereadProjects(ctx)
	if e, is := errors.AsType[*client.Error](err); !is || e.Code != client.CodeNotFound {
		t.Errorf("a project reads the list of projects: %v", err)
	}
}

// TestProjectsChange: a project is served from the moment that it is added, ends with its streams when it is removed, and is back with what it
// had; the server's own goes on throughout.
func TestProjectsChange(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := newHouse(ctx, t, nil)
	reread := func() {
		t.Helper()
		if _, err := h.operator(ctx, own).RereadProjects(ctx); err != nil {
			t.Fatal(err)
		}
	}
	mine := h.asked(ctx, own)
	h.add("billing", "")
	reread()
	theirs := h.asked(ctx, "billing")
	reread() // changes nothing
	token, url := h.at("billing").Token(), h.at("billing").URL()
	removed, err := projectfile.Remove(h.o.Data, "billing")
	if err != nil {
		t.Fatal(err)
	}
	reread()
	if h.Project("billing") != nil || len(h.Projects()) != 0 {
		t.Error("it is served after it was removed")
	}
	if _, err := client.Dial(ctx, client.Options{URL: url, Token: token}); err == nil {
		t.Error("its token counts after it was removed")
	}
	if _, err := os.Stat(filepath.Join(removed.Path, "server.json")); err == nil {
		t.Error("it still says where it is")
	}
	h.add("billing", "")
	reread()
	if got := h.onlyQuestion(ctx, "billing"); got.Session != theirs.Session {
		t.Errorf("it asks in %s, before in %s", got.Session, theirs.Session)
	}
	if got := h.onlyQuestion(ctx, own); got.Session != mine.Session {
		t.Errorf("the server's own asks in %s, before in %s", got.Session, mine.Session)
	}
}
