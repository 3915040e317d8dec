package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/serve"
	"github.com/earshot-dev/earshot/aaep/serve/grpc"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

// cutter is a listener whose connections can be cut.
type cutter struct {
	net.Listener

	mu    sync.Mutex
	conns []net.Conn
}

func (c *cutter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.conns = nil
}

// pipes counts the named pipes, for names of their own.
var pipes atomic.Int64

// schemes are the transports of this system; "pipe" is a named pipe.
func schemes() []string {
	all := []string{"http", "ws", "grpc", "unix"}
	if runtime.GOOS == "windows" {
		all = append(all, "pipe")
	}
	return all
}

// on serves a producer on a transport of this scheme, and returns its address.
func on(t *testing.T, p *serve.Producer, scheme string) (*cutter, string) {
	t.Helper()
	var l net.Listener
	var err error
	address := "127.0.0.1:0"
	switch scheme {
	case "unix":
		address = filepath.Join(t.TempDir(), "s")
		l, err = new(net.ListenConfig).Listen(t.Context(), "unix", address)
		address = "unix:" + address
	case "pipe":
		address = pipe.NamedPath(fmt.Sprintf("test-%d-%d", os.Getpid(), pipes.Add(1)))
		l, err = pipe.ListenNamed(address)
	default:
		l, err = new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l}
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	if scheme == "unix" || scheme == "pipe" {
		served.Go(func() {
			if err := p.ServeListener(ctx, c); err != nil {
				t.Error(err)
			}
		})
	} else {
		server := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
		grpc.Configure(server)
		served.Go(func() { _ = server.Serve(c) })
		context.AfterFunc(ctx, func() { _ = server.Close() })
		address = scheme + "://" + l.Addr().String()
	}
	t.Cleanup(func() {
		p.Close()
		cancel()
		c.cut()
		served.Wait()
	})
	return c, address
}

// listener hears a producer in a goroutine of its own.
type listener struct {
	*subscribe.Subscription

	heard chan string // what each event says
	lost  chan error
}

func listen(t *testing.T, o subscribe.Options) *listener {
	t.Helper()
	if o.Token == "" {
		o.Token = "a secret"
	}
	s, err := subscribe.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{Subscription: s, heard: make(chan string, 64), lost: make(chan error, 4)}
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() {
		for event, err := range s.Events(ctx) {
			if err != nil {
				l.lost <- err
				continue
			}
			l.heard <- said(event.Event)
		}
	})
	t.Cleanup(func() {
		cancel()
		run.Wait()
	})
	return l
}

// said is what an event says, and its reply token if it asks.
func said(e aaep.Event) string {
	switch p := e.Payload.(type) {
	case aaep.SessionStarted:
		return p.SummaryNormal
	case aaep.StateChanged:
		return p.SummaryNormal
	case aaep.AwaitingConfirmation:
		return "asked " + p.ReplyToken
	case aaep.SessionCompleted:
		return p.SummaryNormal
	}
	return e.Type()
}

func (l *listener) hears(t *testing.T, want ...string) {
	t.Helper()
	for _, text := range want {
		select {
		case got := <-l.heard:
			if got != text {
				t.Fatalf("heard %q, want %q", got, text)
			}
		case err := <-l.lost:
			t.Fatalf("heard the error %v, want %q", err, text)
		case <-time.After(time.Minute):
			t.Fatalf("did not hear %q", text)
		}
	}
}

func begin(t *testing.T, p *serve.Producer) *serve.Session {
	t.Helper()
	s, err := p.Begin(aaep.SessionStarted{SummaryNormal: "Tidying up."})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func state(t *testing.T, s *serve.Session, to, text string) {
	t.Helper()
	if err := s.State(to, aaep.StateChanged{SummaryNormal: text}); err != nil {
		t.Fatal(err)
	}
}

var yes = aaep.Capabilities{SupportsConfirmationReply: new(true), SupportsClarificationReply: new(true)}

// TestResumes: on each transport, a listener whose connection is cut hears what was said meanwhile, once and in order; one that comes late
// hears how far a session is.
func TestResumes(t *testing.T) {
	t.Parallel()
	for _, scheme := range schemes() {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := tidy(t, serve.Options{Allow: serve.Token("a secret"), Transports: []serve.Transport{grpc.Transport{}}})
			conns, address := on(t, p, scheme)
			s := begin(t, p)
			state(t, s, aaep.StateThinking, "Looking.")
			l := listen(t, subscribe.Options{URL: address})
			l.hears(t, "Tidying up.", "Looking.")
			state(t, s, aaep.StateDeciding, "Choosing.")
			l.hears(t, "Choosing.")
			conns.cut()
			state(t, s, aaep.StateThinking, "Looking again.")
			other := begin(t, p)
			state(t, other, aaep.StateThinking, "The other one.")
			l.hears(t, "Looking again.", "Tidying up.", "The other one.")
			if err := s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}); err != nil {
				t.Fatal(err)
			}
			l.hears(t, "Done.")
			if len(l.lost) > 0 {
				t.Error(<-l.lost)
			}
		})
	}
}

// TestAnswers: the first valid reply counts, on each transport; one without a right, to another question, or with a decision that is not
// offered does not.
func TestAnswers(t *testing.T) {
	t.Parallel()
	rights := func(token string) serve.Rights { return serve.Rights{Hears: true, Answers: token == "a secret"} }
	for _, scheme := range schemes() {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := tidy(t, serve.Options{Allow: rights, Transports: []serve.Transport{grpc.Transport{}}})
			_, address := on(t, p, scheme)
			person := listen(t, subscribe.Options{URL: address, Request: aaep.SubscriptionRequest{Capabilities: yes}})
			stranger := listen(t, subscribe.Options{URL: address, Token: "another", Request: aaep.SubscriptionRequest{Capabilities: yes}})
			s := begin(t, p)
			person.hears(t, "Tidying up.")
			stranger.hears(t, "Tidying up.")
			answers := make(chan serve.Answer, 1)
			go func() {
				answer, err := s.Confirm(t.Context(), "files.delete", aaep.AwaitingConfirmation{
					Action: "Delete 3 files.", Consequence: "They are gone.", SummaryNormal: "Delete 3 files?", RiskLevel: aaep.RiskHigh, Irreversible: true,
					ReplyToken: token,
				})
				if err != nil {
					t.Error(err)
				}
				answers <- answer
			}()
			person.hears(t, "Waiting for you.", "asked "+token)
			stranger.hears(t, "Waiting for you.") // and no question, which it may not answer (CONF-83)
			accept := aaep.ConfirmationReply{ReplyToken: token, Decision: aaep.DecisionAccept}
			if err := stranger.Confirm(t.Context(), accept); err == nil && scheme == "http" {
				t.Error("a stranger's reply is taken")
			}
			for _, wrong := range []aaep.ConfirmationReply{
				{ReplyToken: strings.Repeat("x", len(token)), Decision: aaep.DecisionAccept},
				{ReplyToken: token, Decision: "maybe"},
				{ReplyToken: token, Decision: aaep.DecisionAccept, Timestamp: time.Now().Add(25 * time.Hour)}, // given when the time to answer is over (CONF-53)
			} {
				if err := person.Confirm(t.Context(), wrong); err != nil {
					t.Log(err) // it may be refused here already; it must not count
				}
			}
			select {
			case a := <-answers:
				t.Fatalf("it ended as %s", a.Resolution)
			default:
			}
			if err := person.Confirm(t.Context(), accept); err != nil {
				t.Fatal(err)
			}
			if a := <-answers; !a.Accepted() {
				t.Errorf("it ended as %s", a.Resolution)
			}
			if err := person.Confirm(t.Context(), aaep.ConfirmationReply{ReplyToken: token, Decision: aaep.DecisionReject}); err != nil {
				t.Error(err) // too late, and nobody learns that (CONF-56)
			}
		})
	}
}

const token = "rpl_0123456789abcdef0123456789abcdef"

// TestSilence: without an answer in time, after the end of the context, and after the end of the producer, nothing counts as a yes, and
// the call cannot be made.
func TestSilence(t *testing.T) {
	t.Parallel()
	question := aaep.AwaitingConfirmation{
		Action: "Delete 3 files.", Consequence: "They are gone.", SummaryNormal: "Delete 3 files?", RiskLevel: aaep.RiskHigh, Irreversible: true, TimeoutSeconds: 300,
	}
	for name, row := range map[string]struct {
		end  func(p *serve.Producer, cancel func())
		want aaep.Resolution
		err  error
	}{
		"time":     {func(*serve.Producer, func()) {}, aaep.ResolutionExpired, nil},
		"context":  {func(_ *serve.Producer, cancel func()) { cancel() }, aaep.ResolutionWithdrawn, context.Canceled},
		"producer": {func(p *serve.Producer, _ func()) { p.Close() }, aaep.ResolutionWithdrawn, serve.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := tidy(t, serve.Options{})
				s := begin(t, p)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				go func() {
					synctest.Wait()
					row.end(p, cancel)
				}()
				answer, err := s.Confirm(ctx, "files.delete", question)
				if answer.Resolution != row.want || !errors.Is(err, row.err) || answer.Accepted() {
					t.Errorf("it ended as %q, %v", answer.Resolution, err)
				}
				if row.want == aaep.ResolutionExpired && time.Since(began) != 300*time.Second {
					t.Errorf("it waited %v", time.Since(began))
				}
				if _, err := answer.Tool(aaep.ToolInvoked{SummaryNormal: "Deleting."}); err == nil {
					t.Error("the call is made")
				}
			})
		})
	}
}

// TestRefuses: a producer refuses those who may not hear, what is not a message, pages of another origin, and names that lead to this
// machine only by a trick.
func TestRefuses(t *testing.T) {
	t.Parallel()
	open := tidy(t, serve.Options{})
	closed := tidy(t, serve.Options{Allow: serve.Token("a secret"), Subscriptions: 1})
	const request = `{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"reader-1","capabilities":{}}`
	for _, row := range []struct {
		p                          *serve.Producer
		method, path, body, header string
		want                       int
	}{
		{open, "POST", "/aaep/v1/subscriptions", request, "", http.StatusCreated},
		{open, "POST", "/aaep/v1/subscriptions", request, "Host: evil.example", http.StatusForbidden},
		{open, "POST", "/aaep/v1/subscriptions", request, "Origin: https://evil.example", http.StatusForbidden},
		{open, "POST", "/aaep/v1/subscriptions", `{`, "", http.StatusBadRequest},
		{open, "POST", "/aaep/v1/subscriptions", strings.Repeat(" ", 65<<10), "", http.StatusRequestEntityTooLarge},
		{open, "POST", "/aaep/v1/subscriptions", strings.Replace(request, "1.0.0", "2.0.0", 1), "", http.StatusConflict},
		{open, "POST", "/aaep/v1/replies", `{"type":"confirmation.reply"}`, "", http.StatusForbidden},
		{open, "POST", "/aaep/v1/replies", `{"type":"other"}`, "", http.StatusBadRequest},
		{open, "GET", "/aaep/v1/events?subscription_id=sub_1", "", "", http.StatusNotFound},
		{open, "GET", "/.well-known/aaep-manifest.json", "", "", http.StatusOK},
		{open, "GET", "/other", "", "", http.StatusNotFound},
		{closed, "POST", "/aaep/v1/subscriptions", request, "", http.StatusUnauthorized},
		{closed, "POST", "/aaep/v1/subscriptions", request, "Authorization: Bearer wrong", http.StatusForbidden},
		{closed, "POST", "/aaep/v1/subscriptions", `{`, "", http.StatusUnauthorized},
		{closed, "GET", "/aaep/v1/ws", "", "", http.StatusUnauthorized},
		{closed, "POST", "/aaep/v1/subscriptions", request, "Authorization: Bearer a secret", http.StatusCreated},
		{closed, "POST", "/aaep/v1/subscriptions", request, "Authorization: Bearer a secret", http.StatusTooManyRequests},
	} {
		r := httptest.NewRequestWithContext(t.Context(), row.method, "http://localhost"+row.path, strings.NewReader(row.body))
		if name, value, is := strings.Cut(row.header, ": "); is {
			r.Header.Set(name, value)
			if name == "Host" {
				r.Host = value
			}
		}
		w := httptest.NewRecorder()
		if row.p.ServeHTTP(w, r); w.Code != row.want {
			t.Errorf("%s %s %.40s %s: got %d %s, want %d", row.method, row.path, row.body, row.header, w.Code, w.Body, row.want)
		}
	}
	if _, err := serve.New(serve.Options{}); err == nil {
		t.Error("a producer without a name is made")
	}
}

// TestRevoked: a stream ends with the right to hear it, before the next event.
func TestRevoked(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	may := true
	p := tidy(t, serve.Options{Allow: func(string) serve.Rights {
		mu.Lock()
		defer mu.Unlock()
		return serve.Rights{Hears: may}
	}})
	_, address := on(t, p, "ws")
	s := begin(t, p)
	l := listen(t, subscribe.Options{URL: address, MayRetry: func(error) bool { return false }})
	l.hears(t, "Tidying up.")
	mu.Lock()
	may = false
	mu.Unlock()
	state(t, s, aaep.StateThinking, "Looking.")
	if err := <-l.lost; !errors.Is(err, &subscribe.Error{Code: subscribe.CodeUnauthenticated}) || len(l.heard) > 0 {
		t.Errorf("it ends with %v", err)
	}
}

// TestSlow: a listener that hears one event a second is asked at once, and hears the text before the question (BP-05, C-72).
func TestSlow(t *testing.T) {
	t.Parallel()
	p := tidy(t, serve.Options{Allow: serve.Token("a secret")})
	_, address := on(t, p, "ws")
	s := begin(t, p)
	terms := yes
	terms.MaxEventsPerSecond = 1
	l := listen(t, subscribe.Options{URL: address, Request: aaep.SubscriptionRequest{Capabilities: terms}})
	l.hears(t, "Tidying up.")
	for i := range 20 {
		state(t, s, aaep.StateThinking, fmt.Sprintf("Looking at %d.", i))
		state(t, s, aaep.StateDeciding, fmt.Sprintf("Choosing %d.", i))
	}
	go func() {
		_, _ = s.Confirm(t.Context(), "files.delete", aaep.AwaitingConfirmation{Action: "Delete.", Consequence: "Gone.", SummaryNormal: "Delete?", ReplyToken: token})
	}()
	for last := ""; ; {
		select {
		case got := <-l.heard:
			if strings.HasPrefix(got, "asked") {
				if last != "Waiting for you." && !strings.HasPrefix(last, "Choosing") {
					t.Errorf("before the question it heard %q", last)
				}
				return
			}
			last = got
		case <-time.After(time.Minute):
			t.Fatal("it was not asked")
		}
	}
}

// TestLate: who comes late is told how far a session is and what is open, also after an answer is agreed on later, and can resume
// after that.
func TestLate(t *testing.T) {
	t.Parallel()
	p := tidy(t, serve.Options{Allow: serve.Token("a secret")})
	conns, address := on(t, p, "ws")
	s := begin(t, p)
	state(t, s, aaep.StateThinking, "Looking.")
	go func() {
		_, _ = s.Confirm(t.Context(), "files.delete", aaep.AwaitingConfirmation{Action: "Delete.", Consequence: "Gone.", SummaryNormal: "Delete?", ReplyToken: token})
	}()
	first := listen(t, subscribe.Options{URL: address, Request: aaep.SubscriptionRequest{Capabilities: yes}})
	first.hears(t, "Tidying up.")
	for got := ""; got != "asked "+token; got = <-first.heard { // the question may come before the subscription, or after it
		continue
	}
	late := listen(t, subscribe.Options{URL: address})
	late.hears(t, "Tidying up.", "Waiting for you.")
	if err := late.Renegotiate(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	late.hears(t, "asked "+token)
	conns.cut()
	state(t, begin(t, p), aaep.StateThinking, "Another.")
	late.hears(t, "Tidying up.", "Another.")
}

// TestNumbers: who asks for numbers has them from 0 on, without a gap or a repeat, on each transport and over a cut connection; late, from what is
// told again.
func TestNumbers(t *testing.T) {
	t.Parallel()
	numbered := aaep.SubscriptionRequest{Capabilities: aaep.Capabilities{Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"numbers":true}`)}}}
	for _, scheme := range schemes() {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			p := tidy(t, serve.Options{Allow: serve.Token("a secret"), Transports: []serve.Transport{grpc.Transport{}}})
			conns, address := on(t, p, scheme)
			s := begin(t, p)
			state(t, s, aaep.StateThinking, "Looking.")
			l, err := subscribe.New(subscribe.Options{URL: address, Token: "a secret", Request: numbered})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var got []int64
			for event, err := range l.Events(ctx) {
				if err != nil {
					continue // the cut is told
				}
				if event.Sequence == nil {
					t.Fatalf("no number: %s", event.Type())
				}
				switch got = append(got, *event.Sequence); len(got) {
				case 2:
					state(t, s, aaep.StateDeciding, "Choosing.")
				case 3:
					conns.cut()
					state(t, s, aaep.StateThinking, "Looking again.")
				case 4:
					if err := s.Complete(aaep.SessionCompleted{SummaryNormal: "Done."}); err != nil {
						t.Fatal(err)
					}
				case 5:
					cancel()
				}
			}
			if want := []int64{0, 1, 2, 3, 4}; !slices.Equal(got, want) {
				t.Errorf("heard the numbers %v, expected %v", got, want)
			}
		})
	}
}

// TestFurtherSession: who agrees on further sessions later hears at once what they have said, or how far they are if that is no longer kept.
func TestFurtherSession(t *testing.T) {
	t.Parallel()
	for _, history := range []int{0, 2} {
		p := tidy(t, serve.Options{Allow: serve.Token("a secret"), History: history})
		_, address := on(t, p, "http") // there the terms hold once Renegotiate returns
		one, other := begin(t, p), begin(t, p)
		state(t, other, aaep.StateThinking, "Looking.")
		state(t, other, aaep.StateDeciding, "Choosing.")
		only := func(sessions ...*serve.Session) aaep.Capabilities {
			ids := make([]string, len(sessions))
			for i, s := range sessions {
				ids[i] = strconv.Quote(s.ID())
			}
			object := `{"session_ids":[` + strings.Join(ids, ",") + `]}`
			return aaep.Capabilities{Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(object)}}
		}
		l := listen(t, subscribe.Options{URL: address, Request: aaep.SubscriptionRequest{Capabilities: only(one)}})
		l.hears(t, "Tidying up.")
		if err := l.Renegotiate(t.Context(), only(one, other)); err != nil {
			t.Fatal(err)
		}
		if history == 0 {
			l.hears(t, "Tidying up.", "Looking.", "Choosing.")
		} else {
			l.hears(t, "Tidying up.", "Choosing.")
		}
		state(t, other, aaep.StateThinking, "Looking again.")
		l.hears(t, "Looking again.")
		if err := l.Renegotiate(t.Context(), only(one)); err != nil {
			t.Fatal(err)
		}
		state(t, one, aaep.StateThinking, "Alone.")
		l.hears(t, "Alone.")
		for range 3 {
			state(t, other, aaep.StateDeciding, "Choosing again.")
			state(t, other, aaep.StateThinking, "And again.")
		}
		if err := l.Renegotiate(t.Context(), only(one, other)); err != nil {
			t.Fatal(err)
		}
		if history == 0 {
			l.hears(t, "Choosing again.", "And again.", "Choosing again.", "And again.", "Choosing again.", "And again.")
		} else {
			l.hears(t, "And again.") // its beginning is known
		}
		if len(l.lost) > 0 {
			t.Error(<-l.lost)
		}
	}
}

// TestPipe: a program that has started the producer hears it by JSON-RPC.
func TestPipe(t *testing.T) {
	t.Parallel()
	p := tidy(t, serve.Options{})
	begin(t, p)
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { p.ServePipe(ctx, there) })
	defer served.Wait()
	defer cancel()
	lines := bufio.NewScanner(here)
	if _, err := fmt.Fprintln(here, `{"jsonrpc":"2.0","id":1,"method":"aaep.subscribe","params":{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"r","capabilities":{}}}`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"subscription.accepted"`, `"aaep:agent.session.started"`} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("got %s, want %s", lines.Text(), want)
		}
	}
	_ = here.Close()
}
