package bus_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/utp"
)

func decode(t *testing.T, text string, into any) {
	t.Helper()
	must(t, json.Unmarshal([]byte(text), into))
}

// Nobody overhears, and nobody takes away, what is meant for somebody else.
func TestNobodyOverhears(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			for _, seat := range w.seats(t) {
				nc := w.raw(t, seat.login)
				heard := make(chan *nats.Msg, 1<<12)
				for _, subject := range w.everyPattern(seat) {
					_, _ = nc.ChanSubscribe(subject, heard) // a refusal is what we hope for
					for _, queue := range []string{"kernel", "files", "q"} {
						_, _ = nc.ChanQueueSubscribe(subject, queue, heard)
					}
					must(t, nc.FlushTimeout(patience))
				}
				for who, client := range w.clients {
					if who != seat.who && who != overseer { // who asks the kernel for nothing
						answer, err := client.Request(t.Context(), bus.Ops(who.Kind)[0], []byte("legal"))
						if err != nil || string(answer) != "legal" {
							t.Errorf("while the %s listens, %s got %q, %v", seat.name, who, answer, err)
						}
					}
				}
				w.settle(t) // rings every bell, and everybody heard it
				for _, x := range w.watchers {
					for len(x.inbox) > 0 {
						<-x.inbox
					}
				}
				must(t, nc.FlushTimeout(patience))
				for len(heard) > 0 {
					m := <-heard
					if !slices.Contains(seat.hears, m.Subject) {
						t.Errorf("the %s heard %s by subscribing to %s %s", seat.name, m.Subject, m.Sub.Subject, m.Sub.Queue)
					}
				}
			}
		})
	}
}

// everyPattern is what anybody would like to hear, its own included: that it may.
func (w *world) everyPattern(s seat) []string {
	patterns := []string{
		">", "*", "*.>", "cg.>", "cg.v1r4.>", "cg.v1r4.home.>", "cg.v1r4.*.*.cmd.>", "cg.v1r4.home.*.cmd.tool.*.*", "cg.v1r4.home.*.cmd.tool.victim.*", "cg.v1r4.home.*.cmd.agent.*.wakeup",
		"cg.v1r4.*.*.cmd.tool.files.*", "cg.v1r4.home.*.cmd.tool.files.>",
		victimCommand, victimDoorbell, "cg.v1r4.home.*.cmd.agent.victim.wakeup", "cg.v1r4.home.*.cmd.tool.prey.*", preyCommand, preyDoorbell, "earshot.v1.home.kernel.foreign.>", "earshot.>", "earshot.v1.>", "earshot.v1.*.events.>",
		"earshot.v1.home.kernel.>", "earshot.v1.home.kernel.*", "earshot.v1.home.kernel.*.*.*", "_R_.>", "_INBOX.>", "*.*", "$JS.>", "$JS.API.>", "$JS.EVENT.>",
		"$SYS.>", "$SRV.>", "$KV.>", "$SRV.*", "$SRV.PING", "$SRV.PING.*", "$SRV.PING.files", "$SRV.PING.files.*", "$SRV.PING.victim",
		"cg.v1r4.home.*.evt.>", "cg.v1r4.home.*.evt.tool.*.*", "cg.v1r4.home.*.evt.tool.victim.cancel", "cg.v1r4.home.*.*.tool.files.*", filesCancel, filesProgress,
	}
	for _, x := range w.watchers {
		if x.login.User != s.login.User {
			patterns = append(patterns, x.login.Inbox+".>", x.login.Inbox+".*", x.login.Inbox+".*.*")
		}
	}
	return append(patterns, filesCommand, workerDoorbell, broadcast, peerCommand, peerDoorbell, "cg.v1r4.home.*.cmd.tool.files.*", "earshot.v1.home.events.>")
}

// The kernel's own credentials are fenced in as well.
func TestKernelCredentialsAreNarrow(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			everything := append([]string{
				filesCommand, filesCancel, filesProgress, workerDoorbell, broadcast, "$JS.ACK.other.pull.1.1.1.1.1", "$JS.API.INFO", "_INBOX.x", "$SYS.REQ.USER.INFO", opSubject("claim"),
				"cg.v1r4.other.public.cmd.tool.files.x", "cg.v1r4.home.public.evt.agent.worker.task", "earshot.v1.other.events.x",
			}, w.watchers[0].login.Inbox+".x")
			tests := []struct {
				name     string
				login    bus.Login
				mayPub   map[string]bool
				mayHear  map[string]bool
				patterns []string
			}{
				{
					name: "responder", login: w.server.ResponderLogin(), mayPub: map[string]bool{"_R_.x": true},
					mayHear: map[string]bool{"earshot.v1.home.kernel.*.*.*": true, "earshot.v1.home.kernel.foreign.*.command.*.*.*": true},
				},
				{
					name: "publisher", login: w.server.PublisherLogin(),
					mayPub: map[string]bool{filesCommand: true, filesCancel: true, filesProgress: true, workerDoorbell: true, broadcast: true},
				},
			}
			for _, tt := range tests {
				nc := w.rawKernel(t, tt.login)
				mayOnly(t, tt.name, nc, publish, append(everything, "_R_.x", servedSubject(worker, "claim")), tt.mayPub)
				mayOnly(t, tt.name, nc, subscribe, append(everything,
					">", "cg.>", "earshot.v1.home.kernel.*.*.*", "earshot.v1.home.kernel.foreign.*.command.*.*.*", "_R_.>", tt.login.Inbox+".>"), tt.mayHear)
			}
		})
	}
}

// Permissions are the second wall: what an account would not carry is refused as well.
func TestPrincipalCredentialsAreNarrow(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			for _, seat := range w.seats(t) {
				nc := w.raw(t, seat.login)
				mine := map[string]bool{}
				for _, subject := range seat.says {
					mine[subject] = true
				}
				if seat.asks {
					for _, op := range bus.Ops(seat.who.Kind) {
						mine[opSubject(op)] = true
					}
				}
				if seat.who == peer && seat.asks { // to the kernel, see senderOf
					for _, subject := range w.everySubject(t, seat) {
						mine[subject] = mine[subject] || strings.HasPrefix(subject, "cg.v1r4.home.") && strings.Contains(subject, ".cmd.tool.")
					}
				}
				mayOnly(t, seat.name, nc, publish, w.everySubject(t, seat), mine)
				mine = map[string]bool{}
				for _, subject := range seat.hears {
					mine[subject] = true
				}
				if seat.who == files && slices.Contains(seat.hears, filesCommand) { // a star of a permission covers these
					mine["cg.v1r4.home.*.cmd.tool.files.*"], mine["cg.v1r4.home.*.cmd.tool.files.>"] = true, true
				}
				if seat.who == desk && !seat.asks {
					mine["earshot.v1.home.events.>"] = true
				}
				mayOnly(t, seat.name, nc, subscribe, w.everyPattern(seat), mine)
			}
		})
	}
}

// A reply subject that crosses an import as it was written is not one to answer, and
// who names it is up to something: nothing is done for it.
func TestForeignReplySubjectIsNotServed(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	server, kernel := start(t, bus.Options{Concurrency: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	var handled []string
	must(t, kernel.Serve(t.Context(), func(_ context.Context, _ bus.Principal, _ string, request []byte) []byte {
		handled = append(handled, string(request))
		return nil
	}))
	w := &world{server: server}
	nc := w.raw(t, w.credentials(t, worker).Request)
	send(nc, opSubject("claim"), "$JS.ACK.other.pull.1.1.1.1.1", "forged")
	send(nc, opSubject("claim"), "", "no answer wanted")
	must(t, nc.FlushTimeout(patience))
	_, err := client(t, server, worker).Request(t.Context(), "claim", []byte("last"))
	must(t, err)
	if got := strings.Join(handled, ", "); got != "no answer wanted, last" {
		t.Errorf("handled: %s", got)
	}
	if !strings.Contains(log.String(), "agent.worker") {
		t.Errorf("the log does not name who tried: %s", log.String())
	}
}

// publish and subscribe are what a credential may do or not.
var (
	publish   = func(nc *nats.Conn, subject string) { send(nc, subject, "", "x") }
	subscribe = func(nc *nats.Conn, subject string) { _, _ = nc.SubscribeSync(subject) }
)

// mayOnly checks that the server refuses all of the subjects but those that are allowed.
func mayOnly(t *testing.T, who string, nc *nats.Conn, do func(*nats.Conn, string), subjects []string, allowed map[string]bool) {
	t.Helper()
	refused := refusals(t, nc, do, subjects)
	for _, subject := range subjects {
		if refused[subject] == allowed[subject] {
			t.Errorf("%s, %s: refused %t", who, subject, refused[subject])
		}
	}
}

// refusals returns those of the subjects that the server complains about.
func refusals(t *testing.T, nc *nats.Conn, do func(*nats.Conn, string), subjects []string) map[string]bool {
	t.Helper()
	refused := map[string]bool{}
	for some := range slices.Chunk(subjects, 32) { // the server cuts off who leaves too many refusals unread
		maps.Copy(refused, someRefusals(t, nc, do, some))
	}
	return refused
}

func someRefusals(t *testing.T, nc *nats.Conn, do func(*nats.Conn, string), subjects []string) map[string]bool {
	t.Helper()
	const last = "nobody.may.do.this" // complaints come in the order of what they are about
	refused, done := map[string]bool{}, make(chan struct{})
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		_, subject, _ := strings.Cut(err.Error(), `"`)
		subject, _, _ = strings.Cut(subject, `"`)
		refused[subject] = true
		if subject == last {
			close(done)
		}
	})
	for _, subject := range subjects {
		do(nc, subject)
	}
	do(nc, last)
	must(t, nc.FlushTimeout(patience))
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("what nobody may do was not refused")
	}
	return refused
}

func TestWrongCredentialsAreRefused(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			agent, tool := w.credentials(t, worker), w.credentials(t, files)
			tests := map[string][]nats.Option{
				"none":                        nil,
				"unknown user":                {nats.UserInfo("nobody", agent.Request.Password)},
				"no password":                 {nats.UserInfo(agent.Request.User, "")},
				"wrong password":              {nats.UserInfo(agent.Request.User, "wrong")},
				"another's password":          {nats.UserInfo(tool.Subscribe.User, tool.Request.Password)},
				"password and more":           {nats.UserInfo(agent.Request.User, agent.Request.Password+"x")},
				"half a password":             {nats.UserInfo(agent.Request.User, agent.Request.Password[:20])},
				"password as a token":         {nats.Token(agent.Request.Password)},
				"user of the system":          {nats.UserInfo("sys", "sys")},
				"the kernel without password": {nats.UserInfo("kernel.publisher", "")},
			}
			if s.listen && !s.kernels { // the kernel's are good for this process only
				for _, l := range []bus.Login{w.server.PublisherLogin(), w.server.ResponderLogin()} {
					tests["over the network: "+l.User] = []nats.Option{nats.UserInfo(l.User, l.Password)}
				}
			}
			for name, options := range tests {
				nc, err := w.tryRaw(options...)
				if err == nil {
					nc.Close()
					t.Errorf("%s: was let in", name)
				} else if !strings.Contains(strings.ToLower(err.Error()), "authorization") {
					t.Errorf("%s: refused with %v, expected an authorization error", name, err)
				}
			}
			for _, l := range []bus.Login{agent.Request, tool.Request, tool.Subscribe} {
				w.raw(t, l) // and the right ones are let in
			}
		})
	}
}

// A client that speaks the protocol by hand gets no further than the library does.
func TestHandmadeProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{name: "listening", listen: true})
	agent := w.credentials(t, worker).Request
	publisher := w.server.PublisherLogin()
	login := func(l bus.Login, more string) string {
		return fmt.Sprintf(`CONNECT {"verbose":false,"headers":true,"no_responders":true,"user":%q,"pass":%q%s}`, l.User, l.Password, more) + "\r\n"
	}
	forged := "PUB " + filesCommand + " 6\r\nforged\r\n"
	tests := map[string]string{
		"before connecting":               forged,
		"after a refused connection":      login(bus.Login{User: "x"}, "") + forged,
		"naming another account":          login(agent, `,"account":"KERNEL","new_account":true`) + forged,
		"connecting a second time":        login(agent, "") + login(publisher, "") + forged,
		"as a router":                     login(agent, `,"type":1`) + "RMSG KERNEL " + filesCommand + " 6\r\nforged\r\n",
		"as a leaf node":                  login(agent, `,"is_queue":true`) + "LMSG " + filesCommand + " 6\r\nforged\r\n",
		"a subject with a tab":            login(agent, "") + "PUB earshot.v1.home.kernel.claim\t" + filesCommand + " 6\r\nforged\r\n",
		"two subjects":                    login(agent, "") + "PUB earshot.v1.home.kernel.claim " + filesCommand + " x 6\r\nforged\r\n",
		"a length that hides a message":   login(agent, "") + "PUB earshot.v1.home.kernel.claim 0\r\n" + forged,
		"headers that hide a message":     login(agent, "") + "HPUB earshot.v1.home.kernel.claim " + filesCommand + " 12 18\r\nNATS/1.0\r\n\r\nforged\r\n",
		"no echo, verbose and pedantic":   login(agent, `,"pedantic":true,"echo":false`) + forged,
		"the kernel's over the network":   login(publisher, "") + forged,
		"the kernel's after being let in": login(agent, "") + "PING\r\n" + login(publisher, "") + forged,
	}
	var all sync.WaitGroup
	for name, text := range tests {
		all.Go(func() {
			if err := converse(t.Context(), w.server.URL(), text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
	if got := w.breaches(t, agent); len(got) > 0 {
		t.Errorf("%d messages arrived:\n\t%s", len(got), first(got))
	}
	for _, a := range w.takeAsked() {
		if a.from != worker {
			t.Errorf("the kernel was asked by %s", a.from)
		}
	}
	w.checkTeeth(t)
}

// converse says the text and listens until the server has answered every ping or
// hangs up.
func converse(ctx context.Context, url, text string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(url, "nats://"))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	text += "PING\r\n"
	if _, err := c.Write([]byte(text)); err != nil {
		return err
	}
	lines := bufio.NewScanner(c)
	for pongs := 0; pongs < strings.Count(text, "PING") && lines.Scan(); {
		pongs += strings.Count(lines.Text(), "PONG")
	}
	return nil
}

// What is allowed works, in every setting.
func TestEverythingAllowedWorks(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			for who, client := range w.clients {
				for _, op := range bus.Ops(who.Kind) {
					answer, err := client.Request(t.Context(), op, []byte(op+" of "+who.String()))
					if op == "report" || op == "ui_action" { // it arrives whole, not only its payload
						m, merr := utp.DecodeMessage(answer)
						must(t, merr)
						answer = m.Payload
					}
					if err != nil || string(answer) != op+" of "+who.String() {
						t.Errorf("%s asks for %s: %q, %v", who, op, answer, err)
					}
					if got := w.takeAsked(); len(got) != 1 || got[0].from != who || got[0].op != op {
						t.Errorf("%s asked for %s, the kernel saw %v", who, op, got)
					}
				}
			}
			w.settle(t) // every command, doorbell and broadcast arrives
		})
	}
}
