package server_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/local"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
)

// desk is a server with a tool that cannot be undone, and an agent's token.
type desk struct {
	*server.Server

	t             *testing.T
	o             server.Options
	token, policy string

	mu   sync.Mutex
	sent []string
}

// asked is the rule of most tests, with the shortest times to undo a consent and for it to expire.
const asked = "decide: ask, undo: 3s, start_within: 8s"

func newDesk(ctx context.Context, t *testing.T, rule string) *desk {
	t.Helper()
	d := &desk{t: t}
	d.policy = filepath.Join(t.TempDir(), "policy.yaml")
	d.rules(rule)
	d.o = server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", Policy: d.policy, Services: []server.Service{send(&d.sent, &d.mu)}}
	d.open(ctx)
	t.Cleanup(func() { d.Close() })
	file, err := local.TokenFile(ctx, d.o.Data, "claude", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d.token = strings.TrimSpace(string(raw))
	return d
}

// rules has this rule hold for the tool from now on.
func (d *desk) rules(rule string) {
	d.t.Helper()
	fresh := d.policy + ".new"
	if err := os.WriteFile(fresh, []byte("rules: [{tool: mail.send, "+rule+"}]\n"), 0o600); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(fresh, d.policy); err != nil {
		d.t.Fatal(err)
	}
}

// open opens the server, at the address that it had before.
func (d *desk) open(ctx context.Context) {
	d.t.Helper()
	s, err := server.New(ctx, d.o)
	if err != nil {
		d.t.Fatal(err)
	}
	d.Server = s
	d.o.HTTP = strings.TrimPrefix(s.URL(), "http://")
}

func (d *desk) letters() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.sent, " ")
}

// question waits until one is open that is not among these.
func (d *desk) question(ctx context.Context, before ...int) (*client.Client, api.OpenQuestion) {
	d.t.Helper()
	person, err := client.Dial(ctx, client.Options{URL: d.URL(), Token: d.PersonToken()})
	if err != nil {
		d.t.Fatal(err)
	}
	for {
		open, err := person.Questions(ctx)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, q := range open {
			if !slices.Contains(before, q.Number) {
				return person, q
			}
		}
		select {
		case <-ctx.Done():
			d.t.Fatal("no question is open")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// join has a host connect by the address.
func (d *desk) join(ctx context.Context, version string) *sdk.ClientSession {
	d.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "a-host", Version: "1"}, nil)
	s, err := c.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: d.URL() + "/mcp", HTTPClient: &http.Client{Transport: carries{d.token}}, DisableStandaloneSSE: true,
	}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// carries sends a token with each request.
type carries struct{ token string }

func (c carries) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.token)
	return http.DefaultTransport.RoundTrip(r)
}

type answer struct {
	text  string
	code  string
	call  string
	wrong bool
	err   error
}

// asks asks for a letter to Ada, whose result comes later.
func asks(ctx context.Context, host *sdk.ClientSession) <-chan answer {
	return asksFor(ctx, host, "Ada")
}

func asksFor(ctx context.Context, host *sdk.ClientSession, to string) <-chan answer {
	came := make(chan answer, 1)
	go func() {
		r, err := host.CallTool(ctx, &sdk.CallToolParams{Name: "mail_send", Arguments: map[string]any{"to": to}})
		a := answer{err: err}
		if err == nil {
			a.wrong = r.IsError
			a.code, a.call = member(r, "code"), member(r, "call_id")
			if text, is := r.Content[0].(*sdk.TextContent); is {
				a.text = text.Text
			}
		}
		came <- a
	}()
	return came
}

func member(r *sdk.CallToolResult, name string) string {
	members, _ := r.StructuredContent.(map[string]any)
	text, _ := members[name].(string)
	return text
}

// TestHostByAddress: what a host asks for that has come by HTTP is done after a person's yes and not before, also where the server
// was started again while the question was open.
func TestHostByAddress(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, test := range []struct {
		version string
		restart bool
	}{
		{"2025-06-18", false}, {"2025-06-18", true}, {"2026-07-28", false}, {"2026-07-28", true},
	} {
		name := test.version
		if test.restart {
			name += " and another server"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			d := newDesk(ctx, t, asked)
			host := d.join(ctx, test.version)
			defer func() { _ = host.Close() }()
			came := asks(ctx, host)
			person, q := d.question(ctx)
			if q.Agent != "claude" || q.Name != "claude, a-host" {
				t.Errorf("the question is %s's, of %s", q.Agent, q.Name)
			}
			if test.restart {
				d.Close()
				if a := <-came; a.err == nil {
					t.Errorf("a server that has gone answered: %+v", a)
				}
				d.open(ctx)
				came = asks(ctx, host)
				before := q.Number
				if person, q = d.question(ctx); q.Number != before {
					t.Errorf("question %d is open, want %d", q.Number, before)
				}
			}
			if d.letters() != "" {
				t.Error("a letter was sent before the yes")
			}
			if _, err := person.Reply(ctx, q.Number, api.Reply{Token: q.Token, Decision: "accept"}); err != nil {
				t.Error(err)
			}
			if a := <-came; a.err != nil || a.wrong || !strings.Contains(a.text, "sent") {
				t.Errorf("after the yes: %+v", a)
			}
			if d.letters() != "Ada" {
				t.Errorf("sent to %q", d.letters())
			}
			open, err := person.Questions(ctx)
			if err != nil || len(open) > 0 {
				t.Errorf("there are more questions: %v %v", open, err)
			}
		})
	}
}

// TestHostHangsUp: a yes for a host whose request has gone sends nothing.
func TestHostHangsUp(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			d := newDesk(ctx, t, asked)
			host := d.join(ctx, version)
			defer func() { _ = host.Close() }()
			calling, cut := context.WithCancel(ctx)
			came := asks(calling, host)
			person, q := d.question(ctx)
			cut()
			<-came
			if _, err := person.Reply(ctx, q.Number, api.Reply{Token: q.Token, Decision: "accept"}); err != nil {
				t.Error(err)
			}
			told := false
			for event, err := range person.ForSession(q.Session).Events(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				raw, err := event.Encode()
				if err != nil {
					t.Fatal(err)
				}
				if told = strings.Contains(string(raw), "did not wait for it any more"); told {
					break
				}
			}
			if !told || d.letters() != "" {
				t.Errorf("told why: %v; sent to %q", told, d.letters())
			}
		})
	}
}
