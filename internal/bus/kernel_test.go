package bus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/bus/bustest"
)

// start gives a bus with one worker, one tool and one hub, and its kernel.
func start(t *testing.T, o bus.Options) (*bus.Server, *bus.Kernel) {
	t.Helper()
	o.Project = project
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	if o.Principals == nil {
		o.Principals = []bus.Principal{worker, files, desk}
	}
	server, err := bus.Start(t.Context(), o)
	must(t, err)
	t.Cleanup(server.Close)
	kernel, err := server.Kernel(t.Context())
	must(t, err)
	return server, kernel
}

func client(t *testing.T, s *bus.Server, p bus.Principal) *bus.Client {
	t.Helper()
	c, err := s.Connect(t.Context(), p)
	must(t, err)
	return c
}

func echo(_ context.Context, _ bus.Principal, _ string, request []byte) []byte { return request }

// wants checks the code of an error and whether it says that a retry is safe.
func wants(t *testing.T, err error, target *bus.Error, safe bool) {
	t.Helper()
	var e *bus.Error
	if !errors.As(err, &e) || !errors.Is(err, target) || e.SafeToRetry != safe {
		t.Errorf("got %v, expected code %s with safe to retry %t", err, target.Code, safe)
	}
}

// refusalIn reads an answer that the bus gave in the kernel's place.
func refusalIn(t *testing.T, answer []byte) (code string, safe bool) {
	t.Helper()
	var body struct {
		Error struct {
			Code        string `json:"code"`
			Message     string `json:"message"`
			SafeToRetry bool   `json:"safe_to_retry"`
		} `json:"error"`
	}
	must(t, json.Unmarshal(answer, &body))
	if body.Error.Message == "" {
		t.Errorf("the refusal %s does not say why", answer)
	}
	return body.Error.Code, body.Error.SafeToRetry
}

func TestRequestErrors(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{})
	c := client(t, server, worker)

	_, err := c.Request(t.Context(), "claim", nil)
	wants(t, err, bus.ErrNoResponders, true)

	hold := make(chan struct{})
	defer close(hold)
	arrived := make(chan struct{}, 1)
	must(t, kernel.Serve(t.Context(), func(_ context.Context, _ bus.Principal, _ string, request []byte) []byte {
		if string(request) == "hold" {
			arrived <- struct{}{}
			<-hold
		}
		return request
	}))
	_, err = c.Request(t.Context(), "start", nil)
	wants(t, err, bus.ErrNotAllowed, false)
	_, err = c.Request(t.Context(), "no such thing", nil)
	wants(t, err, bus.ErrNotAllowed, false)

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err = c.Request(ctx, "claim", []byte("hold"))
	wants(t, err, bus.ErrCanceled, false)
	_, err = c.Request(ctx, "claim", nil)
	wants(t, err, bus.ErrCanceled, true) // it never left

	late := &overdue{Context: t.Context(), over: make(chan struct{})}
	go func() { <-arrived; late.end() }()
	_, err = c.Request(late, "claim", []byte("hold"))
	wants(t, err, bus.ErrTimeout, false)

	c.Close()
	_, err = c.Request(t.Context(), "claim", nil)
	wants(t, err, bus.ErrClosed, false)
}

// overdue is a context whose deadline is past as soon as a test says so.
type overdue struct {
	context.Context //nolint:containedctx // It is one.

	over chan struct{}
}

func (o *overdue) end() { close(o.over) }

func (o *overdue) Done() <-chan struct{} { return o.over }

func (o *overdue) Err() error {
	select {
	case <-o.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestDefaultTimeout(t *testing.T) {
	t.Parallel()
	server, err := bus.Start(t.Context(), bus.Options{Project: project, Principals: []bus.Principal{worker}, Timeout: time.Millisecond})
	must(t, err)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience) // for all but the request
	defer cancel()
	kernel, err := server.Kernel(ctx)
	must(t, err)
	hold := make(chan struct{})
	arrived := false
	must(t, kernel.Serve(ctx, func(context.Context, bus.Principal, string, []byte) []byte { arrived = true; <-hold; return nil }))
	c, err := server.Connect(ctx, worker)
	must(t, err)
	_, err = c.Request(t.Context(), "claim", nil)
	close(hold)
	server.Close() // so that what has arrived is known
	var e *bus.Error
	if !errors.As(err, &e) || !errors.Is(err, bus.ErrTimeout) || e.SafeToRetry && arrived { // the time may be over before it leaves
		t.Errorf("%v; arrived: %t", err, arrived)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	const limit = 512 << 10
	server, kernel := start(t, bus.Options{})
	must(t, kernel.Serve(t.Context(), func(_ context.Context, _ bus.Principal, op string, request []byte) []byte {
		if op == "get" {
			return make([]byte, limit+1)
		}
		return request
	}))
	c := client(t, server, worker)
	answer, err := c.Request(t.Context(), "put", make([]byte, limit))
	if err != nil || len(answer) != limit {
		t.Errorf("a request of exactly the limit: %d bytes, %v", len(answer), err)
	}
	_, err = c.Request(t.Context(), "put", make([]byte, limit+1))
	wants(t, err, bus.ErrTooLarge, false)
	answer, err = c.Request(t.Context(), "get", nil)
	must(t, err)
	if code, safe := refusalIn(t, answer); code != "too_large" || safe {
		t.Errorf("an answer over the limit became %s", answer)
	}

	sizes := make(chan int, 8)
	_, err = client(t, server, files).Commands(t.Context(), func(_ context.Context, m bus.Message) { sizes <- len(m.Payload) })
	must(t, err)
	must(t, kernel.Publish(t.Context(), filesCommand, nil, make([]byte, limit)))
	if got := <-sizes; got != limit {
		t.Errorf("a command of the limit arrived with %d bytes", got)
	}
	wants(t, kernel.Publish(t.Context(), filesCommand, nil, make([]byte, limit+1)), bus.ErrTooLarge, false)
	wants(t, kernel.Publish(t.Context(), filesCommand, map[string][]string{"K": {"v"}}, make([]byte, limit)), bus.ErrTooLarge, false)
}

func TestSmallerLimit(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{MaxPayload: 100})
	must(t, kernel.Serve(t.Context(), echo))
	_, err := client(t, server, worker).Request(t.Context(), "put", make([]byte, 101))
	wants(t, err, bus.ErrTooLarge, false)
	wants(t, kernel.Publish(t.Context(), filesCommand, nil, make([]byte, 101)), bus.ErrTooLarge, false)
}

func TestPublishChecksSubjectAndHeader(t *testing.T) {
	t.Parallel()
	_, kernel := start(t, bus.Options{})
	for _, subject := range []string{filesCommand, workerDoorbell, broadcast, "earshot.v1.home.events.a.b", "cg.v1r4.home.public.cmd.sys.pmo.internal.x"} {
		if err := kernel.Publish(t.Context(), subject, nil, nil); err != nil {
			t.Errorf("publish %s: %v", subject, err)
		}
	}
	for _, subject := range []string{
		"cg.v1r4.other.public.cmd.tool.files.x", "cg.v1r4.home.public.evt.agent.a.task", "cg.v1r4.home.public.cmd", "earshot.v1.home.events",
		"earshot.v1.home.kernel.claim", "earshot.v1.other.events.x", "_R_.x", "x",
	} {
		wants(t, kernel.Publish(t.Context(), subject, nil, nil), bus.ErrNotAllowed, false)
	}
	for _, subject := range []string{
		"", ".", "earshot.v1.home.events.", "earshot.v1.home.events.*", "earshot.v1.home.events.>", "earshot.v1.home.events.a b",
		"earshot.v1.home.events.x 0\r\n\r\nPUB cg.x", "earshot.v1.home.events.é", "earshot.v1.home.events." + strings.Repeat("x", 129),
	} {
		wants(t, kernel.Publish(t.Context(), subject, nil, nil), bus.ErrInvalid, false)
	}
	for _, header := range []map[string][]string{
		{"": {"x"}},
		{"A B": {"x"}},
		{"A:": {"x"}},
		{"A": {"x\r\nB: y"}},
		{"A": {"x\n"}},
		{"A": {" x"}},
		{"A": {"fine", "x "}},
		{"A": {"x\x00y"}},
	} {
		wants(t, kernel.Publish(t.Context(), filesCommand, header, nil), bus.ErrInvalid, false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wants(t, kernel.Publish(ctx, filesCommand, nil, nil), bus.ErrCanceled, true)
	kernel.Close()
	wants(t, kernel.Publish(t.Context(), filesCommand, nil, nil), bus.ErrClosed, false)
	wants(t, kernel.Serve(t.Context(), echo), bus.ErrClosed, false)
}

// Header keys are part of the tool protocol with their exact case.
func TestHeadersKeepTheirCase(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{})
	got := make(chan bus.Message, 1)
	_, err := client(t, server, files).Commands(t.Context(), func(_ context.Context, m bus.Message) { got <- m })
	must(t, err)
	sent := map[string][]string{
		"CG-Turn-Id": {"turn_1"}, "cg-turn-id": {"lower"}, "traceparent": {"00-a"}, "CG-Agent-ID": {"a", "b"}, "X": {""}, "U": {"naïve: ok"},
	}
	must(t, kernel.Publish(t.Context(), filesCommand, sent, []byte("body")))
	m := <-got
	if fmt.Sprint(m.Header) != fmt.Sprint(sent) || m.Subject != filesCommand || string(m.Payload) != "body" {
		t.Errorf("got %+v, sent %v", m, sent)
	}
}

func TestPanicBecomesAnswer(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	server, kernel := start(t, bus.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, kernel.Serve(t.Context(), func(_ context.Context, _ bus.Principal, _ string, request []byte) []byte {
		if string(request) == "secret" {
			panic("boom")
		}
		return request
	}))
	c := client(t, server, worker)
	answer, err := c.Request(t.Context(), "claim", []byte("secret"))
	must(t, err)
	if code, safe := refusalIn(t, answer); code != "internal_error" || safe {
		t.Errorf("a panic became %s", answer)
	}
	if text := log.String(); !strings.Contains(text, "boom") || !strings.Contains(text, "agent/worker") || strings.Contains(text, "secret") {
		t.Errorf("the log should name the panic and the caller, not the content: %s", text)
	}
	if answer, err = c.Request(t.Context(), "claim", []byte("fine")); err != nil || string(answer) != "fine" {
		t.Errorf("after a panic: %q, %v", answer, err)
	}

	heard := make(chan string, 2)
	_, err = client(t, server, files).Commands(t.Context(), func(_ context.Context, m bus.Message) {
		heard <- string(m.Payload)
		if string(m.Payload) == "bad" {
			panic("boom too")
		}
	})
	must(t, err)
	must(t, kernel.Publish(t.Context(), filesCommand, nil, []byte("bad")))
	must(t, kernel.Publish(t.Context(), filesCommand, nil, []byte("good")))
	if a, b := <-heard, <-heard; a != "bad" || b != "good" {
		t.Errorf("heard %q and %q", a, b)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	const limit, requests = 3, 20
	server, kernel := start(t, bus.Options{Concurrency: limit})
	var now, most atomic.Int32
	full, release := make(chan struct{}, requests), make(chan struct{})
	must(t, kernel.Serve(t.Context(), func(context.Context, bus.Principal, string, []byte) []byte {
		defer now.Add(-1)
		if n := now.Add(1); n > limit {
			most.Store(n)
		}
		full <- struct{}{}
		<-release
		return []byte("done")
	}))
	c := client(t, server, worker)
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			if answer, err := c.Request(t.Context(), "claim", nil); err != nil || string(answer) != "done" {
				t.Errorf("%q, %v", answer, err)
			}
		})
	}
	for range limit { // so many run at once, or this would wait for ever
		<-full
	}
	close(release)
	all.Wait()
	if most.Load() > 0 {
		t.Errorf("%d handlers ran at once, expected at most %d", most.Load(), limit)
	}
}

// A request that arrives while the kernel stops is answered, or told that nobody serves: its caller never waits for an
// answer that nobody sends.
func TestStopAnswersWhatArrives(t *testing.T) {
	t.Parallel()
	for range 40 {
		server, kernel := start(t, bus.Options{Principals: everybody()})
		must(t, kernel.Serve(t.Context(), echo))
		begun := make(chan struct{}, 100)
		var all sync.WaitGroup
		for _, p := range []bus.Principal{worker, worker, files, files, peer, peer} {
			c := client(t, server, p)
			all.Go(func() {
				for ask(t, c) {
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
		}
		<-begun
		kernel.Close()
		all.Wait()
		server.Close()
	}
}

// ask reports whether the kernel served a request; not being told in time is an error.
func ask(t *testing.T, c *bus.Client) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var answer []byte
	var err error
	if c.Principal() == peer {
		answer, err = c.Send(ctx, bus.Message{Subject: filesCommand, Payload: []byte("x")})
	} else {
		answer, err = c.Request(ctx, bus.Ops(c.Principal().Kind)[0], []byte("x"))
	}
	if errors.Is(err, bus.ErrTimeout) {
		t.Errorf("%s waited in vain while the kernel stopped", c.Principal())
	}
	return err == nil && !bytes.Contains(answer, []byte(`"error"`))
}

// Closing the bus lets running handlers finish and delivers their answers; who was
// still waiting is told that nothing has begun; who comes later gets an error.
func TestCloseWithRequestsInFlight(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{Concurrency: 1, Backlog: 2})
	begun, release := make(chan struct{}, 8), make(chan struct{})
	must(t, kernel.Serve(t.Context(), func(_ context.Context, _ bus.Principal, _ string, request []byte) []byte {
		begun <- struct{}{}
		<-release
		return request
	}))
	c := client(t, server, worker)
	type result struct {
		answer []byte
		err    error
	}
	results := make(chan result, 16)
	ask := func(text string) {
		answer, err := c.Request(t.Context(), "claim", []byte(text))
		results <- result{answer, err}
	}
	go ask("running")
	<-begun
	// One runs, two wait, and the fourth to arrive is turned away at once, which also
	// tells that the two are waiting.
	for range 3 {
		go ask("waiting")
	}
	r := <-results
	must(t, r.err)
	if code, safe := refusalIn(t, r.answer); code != "upstream_unavailable" || !safe {
		t.Errorf("over the backlog: %s, expected upstream_unavailable and safe to retry", r.answer)
	}

	closed := make(chan struct{})
	go func() { server.Close(); close(closed) }()
	for {
		if _, err := server.Connect(t.Context(), worker); errors.Is(err, bus.ErrClosed) {
			break // Close has begun
		}
	}
	select {
	case <-closed:
		t.Fatal("Close returned while a handler was running")
	default:
	}
	close(release)
	got := map[string]int{}
	for range 3 {
		r := <-results
		must(t, r.err)
		if string(r.answer) == "running" || string(r.answer) == "waiting" {
			got[string(r.answer)]++
			continue
		}
		code, safe := refusalIn(t, r.answer)
		if !safe {
			t.Errorf("%s should be safe to retry", r.answer)
		}
		got[code]++
	}
	<-closed
	if got["running"] != 1 || got["upstream_unavailable"]+got["waiting"] != 2 {
		t.Errorf("answers were %v", got)
	}
	_, err := c.Request(t.Context(), "claim", nil)
	wants(t, err, bus.ErrClosed, false)
	_, err = server.Kernel(t.Context())
	if err == nil {
		t.Error("a kernel connected to a closed bus")
	}
	server.Close() // again does no harm
}

// Canceling the context of Serve is the way to hurry handlers that do not end.
func TestServeContextAbortsHandlers(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{})
	ctx, abort := context.WithCancel(t.Context())
	begun := make(chan struct{})
	must(t, kernel.Serve(ctx, func(ctx context.Context, _ bus.Principal, _ string, _ []byte) []byte {
		close(begun)
		<-ctx.Done()
		return []byte("gave up")
	}))
	wants(t, kernel.Serve(t.Context(), echo), bus.ErrInvalid, false)
	c := client(t, server, worker)
	answered := make(chan string)
	go func() {
		answer, err := c.Request(t.Context(), "claim", nil)
		answered <- fmt.Sprint(string(answer), err)
	}()
	<-begun
	abort()
	if got := <-answered; got != "gave up<nil>" {
		t.Errorf("the aborted handler answered %s", got)
	}
	server.Close()
}

func TestTwoKernelsShareTheWork(t *testing.T) {
	t.Parallel()
	server, kernel := start(t, bus.Options{})
	second, err := server.Kernel(t.Context())
	must(t, err)
	var handled atomic.Int32
	count := func(context.Context, bus.Principal, string, []byte) []byte { handled.Add(1); return nil }
	must(t, kernel.Serve(t.Context(), count))
	must(t, second.Serve(t.Context(), count))
	c := client(t, server, worker)
	for range 50 {
		if _, err := c.Request(t.Context(), "claim", nil); err != nil {
			t.Fatal(err)
		}
	}
	kernel.Close()
	if _, err := c.Request(t.Context(), "claim", nil); err != nil {
		t.Fatal(err)
	}
	second.Close()
	if handled.Load() != 51 {
		t.Errorf("51 requests were handled %d times", handled.Load())
	}
	_, err = c.Request(t.Context(), "claim", nil)
	wants(t, err, bus.ErrNoResponders, true)
}

// A kernel of another process answers and publishes as the one in this process does, and
// goes on when the bus has gone and come back, as does anyone who asks it.
func TestKernelFromOutside(t *testing.T) {
	t.Parallel()
	options := bus.Options{Listen: bustest.Address(t), Kernels: true, Key: bytes.Repeat([]byte{7}, 32), Principals: everybody(), Project: project}
	server, err := bus.Start(t.Context(), options)
	must(t, err)
	credentials, err := server.KernelCredentials()
	must(t, err)
	kernel, err := bus.DialKernel(t.Context(), credentials, bus.Options{})
	must(t, err)
	defer kernel.Close()
	must(t, kernel.Serve(t.Context(), echo))
	asks, hears := outsider(t, server, worker), outsider(t, server, files)
	heard := make(chan string, 64)
	_, err = hears.Commands(t.Context(), func(ctx context.Context, m bus.Message) {
		select {
		case heard <- string(m.Payload):
		case <-ctx.Done():
		}
	})
	must(t, err)

	for round := range 2 {
		eventually(t, func() error {
			_, err := asks.Request(t.Context(), "claim", []byte("x"))
			return err
		})
		want := strconv.Itoa(round)
		eventually(t, func() error { // anyone who hears may come back later than the kernel, and a bell is lost until then
			if err := kernel.Publish(t.Context(), filesCommand, nil, []byte(want)); err != nil {
				return err
			}
			select {
			case got := <-heard:
				if got == want {
					return nil
				}
			case <-time.After(20 * time.Millisecond):
			}
			return errors.New("the command was not heard")
		})
		if round == 0 { // the same key, so that the credentials of before are good
			server.Close()
			server, err = bus.Start(t.Context(), options)
			must(t, err)
		}
	}
	server.Close()
}

// outsider is a client that came over the network.
func outsider(t *testing.T, server *bus.Server, p bus.Principal) *bus.Client {
	t.Helper()
	credentials, err := server.Credentials(p)
	must(t, err)
	c, err := bus.Dial(t.Context(), credentials, bus.DialOptions{})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// eventually repeats what fails only while a connection is on its way, back or to its end.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	for began := time.Now(); ; {
		err := try()
		if err == nil {
			return
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
		<-time.After(5 * time.Millisecond) // the connection comes back in its own time
	}
}

func TestKernelCredentialsAreKept(t *testing.T) {
	t.Parallel()
	server, _ := start(t, bus.Options{Listen: "127.0.0.1:0"})
	_, err := server.KernelCredentials()
	wants(t, err, bus.ErrNotAllowed, false)
	_, err = bus.DialKernel(t.Context(), bus.KernelCredentials{}, bus.Options{})
	wants(t, err, bus.ErrInvalid, false)
	open, _ := start(t, bus.Options{Listen: "127.0.0.1:0", Kernels: true})
	c, err := open.KernelCredentials()
	must(t, err)
	text := fmt.Sprintf("%v %+v %#v", c, c, c)
	for _, spoil := range []func(*bus.KernelCredentials){
		func(c *bus.KernelCredentials) { c.Responder.Password = "wrong" },
		func(c *bus.KernelCredentials) { c.Publisher.Password = "wrong" },
	} {
		bad := c
		spoil(&bad)
		_, err := bus.DialKernel(t.Context(), bad, bus.Options{})
		wants(t, err, bus.ErrRefused, false)
	}
	for _, l := range []bus.Login{c.Responder, c.Publisher} {
		if strings.Contains(text, l.Password) {
			t.Errorf("the password of %s is printed", l.User)
		}
	}
}

// Two keys give two sets of passwords, and so do two projects.
func TestKeyMakesThePasswords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range []bus.Options{
		{Project: "one", Key: bytes.Repeat([]byte{1}, 32)}, {Project: "one", Key: bytes.Repeat([]byte{2}, 32)}, {Project: "two", Key: bytes.Repeat([]byte{1}, 32)},
	} {
		o.Principals = []bus.Principal{worker}
		var existing bus.Credentials
		for try := range 2 {
			server, err := bus.Start(t.Context(), o)
			must(t, err)
			c, err := server.Credentials(worker)
			must(t, err)
			server.Close()
			if try == 1 && !reflect.DeepEqual(c, existing) {
				t.Errorf("%s: another start gives other credentials", o.Project)
			}
			existing = c
		}
		for _, secret := range []string{existing.Request.Password, existing.Request.Inbox, existing.Subscribe.Password, existing.Subscribe.Inbox} {
			if seen[secret] {
				t.Errorf("%s: a secret is used twice", o.Project)
			}
			seen[secret] = true
		}
	}
}

func TestStartStopLeavesNothing(t *testing.T) {
	// Not parallel: it counts goroutines.
	before := goleak.IgnoreCurrent()
	for i := range 30 {
		o := bus.Options{Project: project, Principals: everybody()}
		if i%2 == 1 {
			o.Listen = "127.0.0.1:0"
		}
		server, err := bus.Start(t.Context(), o)
		must(t, err)
		kernel, err := server.Kernel(t.Context())
		must(t, err)
		if i%3 > 0 {
			must(t, kernel.Serve(t.Context(), echo))
		}
		var all sync.WaitGroup
		for _, p := range everybody() {
			all.Go(func() { useAndLose(t, server, p) })
		}
		if i%5 == 0 {
			server.Close() // under their feet
		}
		all.Wait()
		server.Close()
		eventually(t, func() error { return goleak.Find(before) }) // the library's own end a moment later
	}
}

// useAndLose does a bit of everything while the bus may close; only a crash, a race
// or a goroutine left behind is a failure.
func useAndLose(t *testing.T, server *bus.Server, p bus.Principal) {
	t.Helper()
	c, err := server.Connect(t.Context(), p)
	if err != nil {
		return
	}
	sub, err := listen(t.Context(), c, "", func(context.Context, bus.Message) {})
	for range 3 {
		_, _ = c.Request(t.Context(), first(append(bus.Ops(p.Kind), "none")[:1]), nil)
	}
	if p.Kind == bus.Tool {
		_, _ = c.Discoverable(t.Context(), func() bus.Card { return bus.Card{} })
	}
	if err == nil && p.Kind == bus.Hub {
		sub.Close()
		sub.Close()
	}
	if p.Kind != bus.Tool { // tools leave it to the bus
		c.Close()
		c.Close()
	}
}
