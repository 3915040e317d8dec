package bus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
)

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	tests := []struct {
		name    string
		options bus.Options
		code    bus.Code
		says    string
	}{
		{"no project", bus.Options{}, bus.CodeInvalid, "project"},
		{"project of two tokens", bus.Options{Project: "a.b"}, bus.CodeInvalid, `"a.b"`},
		{"wildcard project", bus.Options{Project: "*"}, bus.CodeInvalid, "project"},
		{"unknown kind", bus.Options{Project: "a", Principals: []bus.Principal{{Kind: "root", Name: "x"}}}, bus.CodeInvalid, "agent, tool, hub, operator or foreign"},
		{"no kind", bus.Options{Project: "a", Principals: []bus.Principal{{Name: "x"}}}, bus.CodeInvalid, "kind"},
		{"no name", bus.Options{Project: "a", Principals: []bus.Principal{{Kind: bus.Tool}}}, bus.CodeInvalid, "name"},
		{"wildcard name", bus.Options{Project: "a", Principals: []bus.Principal{{Kind: bus.Tool, Name: ">"}}}, bus.CodeInvalid, "name"},
		{"name of two tokens", bus.Options{Project: "a", Principals: []bus.Principal{{Kind: bus.Tool, Name: "a.b"}}}, bus.CodeInvalid, "name"},
		{"name with a space", bus.Options{Project: "a", Principals: []bus.Principal{{Kind: bus.Tool, Name: "a b"}}}, bus.CodeInvalid, "name"},
		{"name that is not ASCII", bus.Options{Project: "a", Principals: []bus.Principal{{Kind: bus.Tool, Name: "é"}}}, bus.CodeInvalid, "name"},
		{"long name", bus.Options{Project: "a", Principals: []bus.Principal{{Kind: bus.Tool, Name: strings.Repeat("x", 129)}}}, bus.CodeInvalid, "name"},
		{"listed twice", bus.Options{Project: "a", Principals: []bus.Principal{files, desk, files}}, bus.CodeInvalid, "tool/files"},
		{"limit too high", bus.Options{Project: "a", MaxPayload: 512<<10 + 1}, bus.CodeInvalid, "MaxPayload"},
		{"limit too low", bus.Options{Project: "a", MaxPayload: -1}, bus.CodeInvalid, "MaxPayload"},
		{"no concurrency", bus.Options{Project: "a", Concurrency: -1}, bus.CodeInvalid, "Concurrency"},
		{"listen on all", bus.Options{Project: "a", Listen: "0.0.0.0:0"}, bus.CodeInvalid, "loopback"},
		{"listen on a name", bus.Options{Project: "a", Listen: "example.org:1"}, bus.CodeInvalid, "loopback"},
		{"listen without a port", bus.Options{Project: "a", Listen: "127.0.0.1"}, bus.CodeInvalid, "host:port"},
		{"listen on no number", bus.Options{Project: "a", Listen: "127.0.0.1:http"}, bus.CodeInvalid, "port"},
		{"listen on a taken port", bus.Options{Project: "a", Listen: taken.Addr().String()}, bus.CodeFailed, "start"},
		{"store is a file", bus.Options{Project: "a", JetStreamDir: file}, bus.CodeFailed, "JetStream"},
		{"short key", bus.Options{Project: "a", Key: make([]byte, 31)}, bus.CodeInvalid, "31 bytes"},
		{"kernels without a listener", bus.Options{Project: "a", Kernels: true}, bus.CodeInvalid, "Listen"},
		{"no randomness", bus.Options{Project: "a", Rand: strings.NewReader("short")}, bus.CodeFailed, "randomness"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, err := bus.Start(t.Context(), tt.options)
			if err == nil {
				server.Close()
				t.Fatal("started")
			}
			wants(t, err, &bus.Error{Code: tt.code}, false)
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q does not name %q", err, tt.says)
			}
		})
	}
}

func TestStartWithCanceledContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := bus.Start(ctx, bus.Options{Project: project})
	wants(t, err, bus.ErrCanceled, true)
}

func TestConnectErrors(t *testing.T) {
	t.Parallel()
	server, _ := start(t, bus.Options{Principals: []bus.Principal{worker}})
	_, err := server.Connect(t.Context(), files)
	wants(t, err, bus.ErrNotAllowed, false)
	_, err = server.Credentials(files)
	wants(t, err, bus.ErrNotAllowed, false)
	c, err := server.Credentials(worker)
	must(t, err)
	if c.URL != "" || server.URL() != "" {
		t.Errorf("a bus that does not listen gives the address %q", c.URL)
	}
	_, err = bus.Dial(t.Context(), c, bus.DialOptions{})
	wants(t, err, bus.ErrInvalid, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = server.Connect(ctx, worker)
	wants(t, err, bus.ErrCanceled, true)
	ctx, cancel = context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, err = server.Connect(ctx, worker)
	wants(t, err, bus.ErrTimeout, true)
}

func TestDialErrors(t *testing.T) {
	t.Parallel()
	server, _ := start(t, bus.Options{Listen: "127.0.0.1:0"})
	c, err := server.Credentials(worker)
	must(t, err)
	for name, spoil := range map[string]func(*bus.Credentials){
		"mouth": func(c *bus.Credentials) { c.Request.Password = "wrong" },
		"ear":   func(c *bus.Credentials) { c.Subscribe.Password = "wrong" },
	} {
		bad := c
		spoil(&bad)
		if _, err := bus.Dial(t.Context(), bad, bus.DialOptions{}); err == nil {
			t.Errorf("the wrong password of the %s was taken", name)
		} else {
			wants(t, err, bus.ErrRefused, false)
		}
	}
	server.Close()
	_, err = bus.Dial(t.Context(), c, bus.DialOptions{})
	wants(t, err, bus.ErrDisconnected, true)
}

// A request that was on its way when the bus went away ends at once; nobody knows
// whether it was carried out.
func TestPendingRequestEndsWithTheBus(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Listen: "127.0.0.1:0"})
	arrived, release := make(chan struct{}), make(chan struct{})
	must(t, kernel.Serve(t.Context(), func(context.Context, bus.Principal, string, []byte) []byte {
		close(arrived)
		<-release
		return nil
	}))
	credentials, err := server.Credentials(worker)
	must(t, err)
	c, err := bus.Dial(t.Context(), credentials, bus.DialOptions{})
	must(t, err)
	defer c.Close()
	go func() {
		<-arrived
		server.CutOff()
		close(release)
	}()
	_, err = c.Request(t.Context(), "claim", nil)
	wants(t, err, bus.ErrDisconnected, false)
}

// When the bus goes away, another process's calls fail at once and say so.
func TestDialedClientLosesTheBus(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Listen: "127.0.0.1:0"})
	must(t, kernel.Serve(t.Context(), echo))
	credentials, err := server.Credentials(worker)
	must(t, err)
	c, err := bus.Dial(t.Context(), credentials, bus.DialOptions{})
	must(t, err)
	defer c.Close()
	_, err = c.Request(t.Context(), "claim", nil)
	must(t, err)
	server.Close()
	_, err = c.Request(t.Context(), "claim", nil)
	if err == nil {
		t.Fatal("a request without a bus was answered")
	}
	eventually(t, func() error { // the first calls may meet the connection as it breaks
		_, err := c.Request(t.Context(), "claim", nil)
		var e *bus.Error
		if errors.As(err, &e) && e.Code == bus.CodeDisconnected && e.SafeToRetry {
			return nil
		}
		return fmt.Errorf("got %w, expected disconnected and safe to retry", err)
	})
}

func TestOnlyTheRightKindListens(t *testing.T) {
	t.Parallel()
	server, _ := start(t, bus.Options{})
	none := func(context.Context, bus.Message) {}
	for _, p := range []bus.Principal{worker, files, desk} {
		c := client(t, server, p)
		for kind, hear := range map[bus.Kind]func(context.Context, func(context.Context, bus.Message)) (*bus.Subscription, error){
			bus.Agent: c.SubscribeWakeups, bus.Tool: c.Commands, bus.Hub: c.Broadcasts,
		} {
			sub, err := hear(t.Context(), none)
			if kind == p.Kind {
				must(t, err)
				sub.Close()
				continue
			}
			wants(t, err, bus.ErrNotAllowed, false)
		}
		c.Close()
		_, err := listen(t.Context(), c, "", none)
		wants(t, err, bus.ErrClosed, false)
	}
}

// A command with more or fewer tokens than the protocol has is nobody's.
func TestCommandsAreOneTokenDeep(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{})
	heard := make(chan string, 8)
	_, err := client(t, server, files).Commands(t.Context(), func(_ context.Context, m bus.Message) { heard <- m.Subject })
	must(t, err)
	for _, subject := range []string{
		"cg.v1r4.home.public.cmd.tool.files", "cg.v1r4.home.public.cmd.tool.files.a.b", "cg.v1r4.home.public.cmd.tool.other.a", "cg.v1r4.home.public.cmd.agent.files.wakeup",
		"cg.v1r4.home.x.cmd.tool.files.a",
	} {
		must(t, kernel.Publish(t.Context(), subject, nil, nil))
	}
	if got := <-heard; got != "cg.v1r4.home.x.cmd.tool.files.a" {
		t.Errorf("heard %s", got)
	}
}

func TestSubscriptionEnds(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{})
	c := client(t, server, desk)
	publish := func() { must(t, kernel.Publish(t.Context(), broadcast, nil, nil)) }

	entered, leave, left := make(chan struct{}), make(chan struct{}), false
	sub, err := c.Broadcasts(t.Context(), func(context.Context, bus.Message) {
		entered <- struct{}{}
		<-leave
		left = true
	})
	must(t, err)
	publish()
	<-entered
	publish() // is waiting when the subscription closes, and is never handled
	sub.AfterEnd(func() { close(leave) })
	sub.Close()
	if !left {
		t.Error("Close did not wait for the handler")
	}

	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	sub, err = c.Broadcasts(ctx, func(ctx context.Context, _ bus.Message) { cancel(); got <- ctx.Err() })
	must(t, err)
	publish()
	if err := <-got; err == nil {
		t.Error("the handler's context is not the one that was given")
	}
	sub.Close()
	_, err = c.Broadcasts(ctx, func(context.Context, bus.Message) {})
	wants(t, err, bus.ErrCanceled, true)
}

func TestCredentialsAreSecretAndUnique(t *testing.T) {
	t.Parallel()
	server, _ := start(t, bus.Options{Principals: everybody()})
	seen := map[string]bool{}
	for _, p := range everybody() {
		c, err := server.Credentials(p)
		must(t, err)
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "login", c.Request)
		text := fmt.Sprintf("%v %+v %#v %s", c, c, c, &log)
		logins := []bus.Login{c.Request, c.Subscribe}
		if p.Kind == bus.Tool {
			logins = append(logins, c.Discovery)
		}
		for _, l := range logins {
			if len(l.Password) < 43 || len(l.Inbox) < 22 {
				t.Errorf("%s: %d characters of password, %d of inbox", l.User, len(l.Password), len(l.Inbox))
			}
			if strings.Contains(text, l.Password) {
				t.Errorf("the password of %s is printed", l.User)
			}
			for _, secret := range []string{l.User, l.Password, l.Inbox} {
				if seen[secret] {
					t.Errorf("%q is used twice", secret)
				}
				seen[secret] = true
			}
		}
	}
}

func TestOpsTable(t *testing.T) {
	t.Parallel()
	for _, k := range bus.Kinds() {
		ops := bus.Ops(k)
		if k == bus.Operator {
			if ops == nil || len(ops) > 0 {
				t.Errorf("an operator asks the kernel for %v; it has the program's own commands", ops)
			}
			continue
		}
		if len(ops) == 0 {
			t.Errorf("%s may ask for nothing", k)
		}
		ops[0] = "changed"
		if bus.Ops(k)[0] == "changed" {
			t.Error("the table can be changed from outside")
		}
	}
	if bus.Ops("root") != nil {
		t.Error("an unknown kind has operations")
	}
}
