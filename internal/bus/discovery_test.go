package bus_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/earshot-dev/earshot/internal/bus"
)

// asksAll asks as `nats micro` does: one question, and every answer that comes to an inbox
// of its own. It waits for so many, and then until the bus has nothing more.
func asksAll(t *testing.T, nc *nats.Conn, l bus.Login, subject string, want int) (answers []string) {
	t.Helper()
	inbox := make(chan *nats.Msg, 64)
	sub, err := nc.ChanSubscribe(l.Inbox+".asked", inbox)
	must(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	must(t, nc.PublishRequest(subject, l.Inbox+".asked", nil))
	for range want {
		select {
		case m := <-inbox:
			if m.Header.Get("Status") != "" {
				t.Fatalf("%s: the server answered %s", subject, m.Header.Get("Status"))
			}
			answers = append(answers, string(m.Data))
		case <-time.After(patience):
			t.Fatalf("%s: %d answers; want %d", subject, len(answers), want)
		}
	}
	must(t, nc.FlushTimeout(patience))
	if len(inbox) > 0 {
		t.Errorf("%s: more than %d answers", subject, want)
	}
	return answers
}

// TestDiscovery: an operator sees every service that is there, each of its replicas, what
// it offers and how it does; nobody else may ask.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			card := bus.Card{Version: "1.2.3", Description: "Works with files.", Metadata: map[string]string{"a": "b"}, Endpoints: []bus.Endpoint{
				{Name: "files_delete", Metadata: map[string]string{"class": "irreversible"}, Requests: 4, Errors: 1, LastError: "stopped", Busy: 2 * time.Second},
			}}
			replica := w.connect(t, files)
			stop, err := w.clients[files].Discoverable(t.Context(), func() bus.Card { return card })
			must(t, err)
			_, err = replica.Discoverable(t.Context(), func() bus.Card { return card })
			must(t, err)
			login := w.credentials(t, overseer).Request
			nc := w.raw(t, login)
			pings := asksAll(t, nc, login, "$SRV.PING", 2) // the victim's service is not there
			var ids []string
			for _, raw := range pings {
				var p micro.Ping
				must(t, json.Unmarshal([]byte(raw), &p))
				if p.Name != "files" || p.Version != "1.2.3" || p.Type != micro.PingResponseType || p.Metadata["a"] != "b" {
					t.Errorf("ping: %s", raw)
				}
				ids = append(ids, p.ID)
			}
			if ids[0] == ids[1] || slices.Contains(ids, "") {
				t.Errorf("the replicas are %v", ids)
			}
			var info micro.Info
			must(t, json.Unmarshal([]byte(asksAll(t, nc, login, "$SRV.INFO.files", 2)[0]), &info))
			if info.Description != "Works with files." || len(info.Endpoints) != 1 || info.Endpoints[0].Name != "files_delete" || info.Endpoints[0].Metadata["class"] != "irreversible" ||
				info.Endpoints[0].Subject != "cg.v1r4.home.*.cmd.tool.files.*" {
				t.Errorf("info: %+v", info)
			}
			var stats micro.Stats
			must(t, json.Unmarshal([]byte(asksAll(t, nc, login, "$SRV.STATS.files."+ids[0], 1)[0]), &stats))
			if e := stats.Endpoints[0]; stats.ID != ids[0] || e.NumRequests != 4 || e.NumErrors != 1 || e.LastError != "stopped" || e.AverageProcessingTime != time.Second/2 {
				t.Errorf("stats: %+v", stats)
			}
			stop()
			stop()
			asksAll(t, nc, login, "$SRV.PING", 1)
			for _, other := range []bus.Principal{worker, victimTool, desk} {
				l := w.credentials(t, other).Request
				raw := w.raw(t, l)
				ask := func(nc *nats.Conn, subject string) { send(nc, subject, l.Inbox+".x", "") }
				mayOnly(t, other.String(), raw, ask, []string{"$SRV.PING"}, nil)
			}
			if _, err := w.connect(t, desk).Discoverable(t.Context(), nil); !errors.Is(err, bus.ErrNotAllowed) {
				t.Errorf("a hub is discoverable: %v", err)
			}
			if got := w.breaches(t, login); len(got) > 0 {
				t.Errorf("%d messages arrived:\n\t%s", len(got), first(got))
			}
		})
	}
}

// TestVersions: whatever a program calls its version, what is told is one that the schemas of
// `nats micro ls` take: it gives up the list of all services for one that is none.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, settings()[0])
	var version atomic.Pointer[string]
	_, err := w.clients[files].Discoverable(t.Context(), func() bus.Card { return bus.Card{Version: *version.Load()} })
	must(t, err)
	login := w.credentials(t, overseer).Request
	nc := w.raw(t, login)
	for _, tt := range []struct{ version, want string }{
		{"", "0.0.0"},
		{"(devel)", "0.0.0"},
		{"1.2", "0.0.0"},
		{"01.2.3", "0.0.0"},
		{"1.2.3 beta", "0.0.0"},
		{"1.2.3-", "0.0.0"},
		{"1.2.3", "1.2.3"},
		{"v1.2.3", "1.2.3"},
		{"v0.0.0-20260820222146-c27c302e5fc3+dirty", "0.0.0-20260820222146-c27c302e5fc3+dirty"},
	} {
		version.Store(&tt.version)
		var info micro.Info
		must(t, json.Unmarshal([]byte(asksAll(t, nc, login, "$SRV.INFO.files", 1)[0]), &info))
		if info.Version != tt.want {
			t.Errorf("%q is told as %q; want %q", tt.version, info.Version, tt.want)
		}
	}
}

// TestCommandsAndCancel: a tool hears its commands and the word to end one, in their order;
// an operator hears how far calls are.
func TestCommandsAndCancel(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Principals: everybody()})
	heard := make(chan string, 16)
	_, err := client(t, server, files).Commands(t.Context(), func(_ context.Context, m bus.Message) { heard <- m.Subject })
	must(t, err)
	_, err = client(t, server, overseer).Progress(t.Context(), func(_ context.Context, m bus.Message) { heard <- m.Subject })
	must(t, err)
	for _, subject := range []string{filesCommand, filesCancel, filesProgress} {
		must(t, kernel.Publish(t.Context(), subject, nil, []byte("{}")))
		if got := <-heard; got != subject {
			t.Errorf("heard %s; want %s", got, subject)
		}
	}
	if err := kernel.Publish(t.Context(), "cg.v1r4.home.public.evt.tool.files.other", nil, nil); !errors.Is(err, bus.ErrNotAllowed) {
		t.Errorf("the kernel may publish any event of a tool: %v", err)
	}
}

// TestKnownCredentials: a principal whose process outlives the bus comes back with the same
// file; one that was tampered with, or read by others, is refused.
func TestKnownCredentials(t *testing.T) {
	t.Parallel()
	c, err := bus.NewCredentials(rand.Reader, project, files)
	must(t, err)
	for range 2 {
		server, err := bus.Start(t.Context(), bus.Options{Project: project, Known: []bus.Credentials{c}, Principals: []bus.Principal{worker, overseer}, Listen: "127.0.0.1:0"})
		must(t, err)
		c.URL = server.URL()
		path := filepath.Join(t.TempDir(), "files.json")
		raw, err := json.Marshal(c)
		must(t, err)
		must(t, os.WriteFile(path, raw, 0o600))
		read, err := bus.ReadCredentials(path)
		must(t, err)
		there, err := bus.Dial(t.Context(), read, bus.DialOptions{})
		must(t, err)
		there.Close()
		server.Close()
	}
	damaged := map[string]func(*bus.Credentials){
		"another's login":     func(c *bus.Credentials) { c.Request.User = "kernel.publisher" },
		"an open inbox":       func(c *bus.Credentials) { c.Request.Inbox = ">" },
		"an inbox of others":  func(c *bus.Credentials) { c.Request.Inbox = "_INBOX_*" },
		"a hash as password":  func(c *bus.Credentials) { c.Subscribe.Password = "$2a$10$" + strings.Repeat("x", 53) },
		"a short password":    func(c *bus.Credentials) { c.Discovery.Password = "x" },
		"another project":     func(c *bus.Credentials) { c.Project = "other" },
		"an unknown kind":     func(c *bus.Credentials) { c.Principal.Kind = "root" },
		"a name with a dot":   func(c *bus.Credentials) { c.Principal.Name = "a.b" },
		"a name with a space": func(c *bus.Credentials) { c.Principal.Name = "a b" },
	}
	for name, damage := range damaged {
		bad := c
		damage(&bad)
		if _, err := bus.Start(t.Context(), bus.Options{Project: project, Known: []bus.Credentials{bad}}); !errors.Is(err, bus.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := bus.Start(t.Context(), bus.Options{Project: project, Known: []bus.Credentials{c}, Principals: []bus.Principal{files}}); !errors.Is(err, bus.ErrInvalid) {
		t.Errorf("one principal twice: %v", err)
	}
	path := filepath.Join(t.TempDir(), "open.json")
	raw, err := json.Marshal(c)
	must(t, err)
	must(t, os.WriteFile(path, raw, 0o644))
	for _, wrong := range []string{path, filepath.Join(t.TempDir(), "none.json"), t.TempDir()} {
		if _, err := bus.ReadCredentials(wrong); !errors.Is(err, bus.ErrInvalid) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
