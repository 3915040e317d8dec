package agent_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
	"github.com/earshot-dev/earshot/worker/agent"
)

const (
	person   = "ada"
	patience = 5 * time.Minute // how long a test waits for what has to come
	lease    = time.Hour       // of a turn: longer than any test, so that no turn continues because its lease has expired
)

// house is a kernel on a ledger in a file and a bus, with a tool service and a hub: everything but the agent.
type house struct {
	t     *testing.T
	hub   *hub.Hub
	file  string // the agent's credentials
	judge *session.Checker
}

// end is a hub's end of the bus.
type end struct{ *bus.Client }

func (c end) Broadcasts(ctx context.Context, of string, hear func([]byte)) (func(), error) {
	s, err := c.Client.Broadcasts(ctx, func(_ context.Context, m bus.Message) {
		if of == "" || strings.HasSuffix(m.Subject, "."+of) {
			hear(m.Payload)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

func open(t *testing.T) *house {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var owned sync.WaitGroup
	t.Cleanup(owned.Wait)
	t.Cleanup(stop)
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	counter, text, home := bus.Principal{Kind: bus.Agent, Name: "counter"}, bus.Principal{Kind: bus.Tool, Name: "words"}, bus.Principal{Kind: bus.Hub, Name: person}
	server, err := bus.Start(ctx, bus.Options{Project: "home", Listen: "127.0.0.1:0", Principals: []bus.Principal{counter, text, home}})
	must(err)
	t.Cleanup(server.Close)
	narrator, err := narrate.New(narrate.Options{})
	must(err)
	rules, err := rulebook.NewRules([]rulebook.Rule{{Tool: "words.count", Decide: turn.Allow}})
	must(err)
	mouth, err := server.Kernel(ctx)
	must(err)
	k, err := kernel.New(kernel.Options{Store: ledgertest.Open(t), Bus: mouth, Policy: rules, Narrator: narrator, Project: "home", WorkerLease: lease})
	must(err)
	must(mouth.Serve(ctx, func(ctx context.Context, from bus.Principal, op string, request []byte) []byte {
		return k.Handle(ctx, kernel.Caller{Kind: string(from.Kind), Name: from.Name}, op, request)
	}))
	owned.Go(func() { k.Run(ctx) })

	counts, err := tool.Func(utp.Definition{Tool: "words.count", Description: "Count the words of a text.", Class: utp.Read}, count)
	must(err)
	conn, err := server.Connect(ctx, text)
	must(err)
	tools, err := tool.New(tool.Options{Conn: service.Conn{Client: conn}, Tools: []tool.Tool{counts}})
	must(err)
	for _, d := range tools.Definitions() {
		must(k.Registry().Register(ctx, "words", d))
		digest, err := d.Digest()
		must(err)
		must(k.Admin().Review(ctx, d.Tool, digest, utp.Read, utp.RiskLow))
	}
	owned.Go(func() { _ = tools.Run(ctx) })

	credentials, err := server.Credentials(counter)
	must(err)
	raw, err := json.Marshal(credentials)
	must(err)
	file := filepath.Join(t.TempDir(), "counter.json")
	must(os.WriteFile(file, raw, 0o600))
	listens, err := server.Connect(ctx, home)
	must(err)
	return &house{t: t, hub: hub.New(end{listens}, 0), file: file, judge: session.NewChecker()}
}

type text struct {
	Text string `json:"text"`
}

func count(_ context.Context, _ *tool.Call, args text) (map[string]int, error) {
	return map[string]int{"words": len(strings.Fields(args.Text))}, nil
}

// hears starts a turn, follows it to its end, and checks each event. It calls asked with each question.
func (h *house) hears(q api.EnqueueRequest, asked func(token string)) []aaep.Event {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	a, err := h.hub.Enqueue(ctx, q)
	if err != nil {
		h.t.Fatal(err)
	}
	var heard []aaep.Event
	for row, err := range h.hub.Follow(ctx, a.Session, 0) {
		if err != nil {
			h.t.Fatal(err)
		}
		for _, v := range append(aaep.Validate(row.Body, aaep.ModeProducer), h.judge.Check(row.Body)...) {
			if v.Severity != aaep.SeverityInfo {
				h.t.Errorf("%s\n%s", v, row.Body)
			}
		}
		e, err := aaep.DecodeEvent(row.Body)
		if err != nil {
			h.t.Fatal(err)
		}
		heard = append(heard, e)
		if p, is := e.Payload.(aaep.AwaitingClarification); is && asked != nil {
			asked(p.ReplyToken)
		}
	}
	for _, v := range h.judge.Close() {
		h.t.Error(v)
	}
	return heard
}

// runs starts the agent as its process would.
func (h *house) runs(plan func(context.Context, worker.Transcript) (worker.Decision, error)) (stop func()) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- agent.Run(ctx, agent.Options{Credentials: h.file, Logger: slog.New(slog.NewTextHandler(h.t.Output(), nil))},
			worker.Agent{Name: "counter", Plan: worker.PlanFunc(plan)})
	}()
	return func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Error(err)
		}
	}
}

func said(heard []aaep.Event) string {
	var out strings.Builder
	for _, e := range heard {
		if p, is := e.Payload.(aaep.OutputStreaming); is {
			out.WriteString(p.Chunk)
		}
	}
	return out.String()
}

// TestAgent: an agent of twenty lines, in a process of its own but for the name, with the
// bus, the kernel, a ledger and a tool service that are the real ones.
func TestAgent(t *testing.T) {
	h := open(t)
	stop := h.runs(func(ctx context.Context, tr worker.Transcript) (worker.Decision, error) {
		counted, done := tr.Find("count")
		switch {
		case !done:
			_, _ = fmt.Fprintln(worker.Output(ctx), "I have the words counted.")
			return worker.Decision{
				Calls:    []worker.Call{{Key: "count", Tool: "words.count", Args: tr.Args}},
				Question: &worker.Question{Key: "sure", Text: "Are you sure?", Kinds: []worker.Kind{worker.YesNo}},
			}, nil
		case counted.Status != utp.StatusSuccess:
			return worker.Decision{Answer: &worker.Answer{Status: counted.Status, Code: counted.Code, Summary: counted.Message}}, nil
		}
		sure, _ := tr.Find("sure")
		a, _ := sure.Answered()
		return worker.Decision{Answer: &worker.Answer{
			Summary: string(counted.Value) + " " + string(a.Answer), Fields: []worker.Field{{Name: "words", Value: counted.Value}},
		}}, nil
	})
	defer stop()
	heard := h.hears(api.EnqueueRequest{
		Agent: "counter", Args: jsontext.Value(`{"text":"one two three"}`), Request: "count them", ResultFields: []string{"words"},
	}, func(token string) {
		if _, err := h.hub.Answer(t.Context(), api.ReplyRequest{Token: token, Response: "yes", By: person, Surface: "terminal"}); err != nil {
			t.Error(err)
		}
	})
	last, completed := heard[len(heard)-1].Payload.(aaep.SessionCompleted)
	if !completed || !strings.Contains(last.OutputSummary, `{"words":3} true`) {
		t.Errorf("the last event is %+v", heard[len(heard)-1].Payload)
	}
	if got := said(heard); got != "I have the words counted.\n" {
		t.Errorf("it said %q", got)
	}
}

// TestAnotherGoesOn: the process of an agent ends in the middle, and the next one has the
// turn without waiting for its lease.
func TestAnotherGoesOn(t *testing.T) {
	h := open(t)
	planning := make(chan struct{})
	first := h.runs(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
		_, _ = fmt.Fprint(worker.Output(ctx), "One. ")
		close(planning)
		<-ctx.Done()
		return worker.Decision{}, ctx.Err()
	})
	second := make(chan func(), 1)
	go func() {
		<-planning
		first()
		second <- h.runs(func(ctx context.Context, _ worker.Transcript) (worker.Decision, error) {
			_, err := fmt.Fprint(worker.Output(ctx), "One. Two.")
			return worker.Decision{Answer: &worker.Answer{Summary: "Counted."}}, err
		})
	}()
	heard := h.hears(api.EnqueueRequest{Agent: "counter", Args: jsontext.Value(`{}`), Request: "count to two"}, nil)
	(<-second)()
	if got := said(heard); got != "One. Two." && got != "Two." { // the first may have ended before its text was sent
		t.Errorf("it said %q", got)
	}
}

// door lets an agent through to its bus, but for the first time that it asks for its wakeups:
// then the bus goes away.
type door struct {
	t    *testing.T
	bus  string
	gone atomic.Bool
}

// build opens a door before the bus of the credentials in a file, and changes them to lead there.
func (d *door) build(file string) {
	d.t.Helper()
	c, err := bus.ReadCredentials(file)
	if err != nil {
		d.t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(d.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	d.bus, c.URL = strings.TrimPrefix(c.URL, "nats://"), "nats://"+listener.Addr().String()
	raw, err := json.Marshal(c)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		d.t.Fatal(err)
	}
	var owned sync.WaitGroup
	d.t.Cleanup(owned.Wait)
	d.t.Cleanup(func() { _ = listener.Close() })
	owned.Go(func() {
		for {
			agent, err := listener.Accept()
			if err != nil {
				return
			}
			owned.Go(func() { d.pass(agent) })
		}
	})
}

// pass forwards data in both directions until either side disconnects.
func (d *door) pass(agent net.Conn) {
	defer func() { _ = agent.Close() }()
	there, err := new(net.Dialer).DialContext(context.WithoutCancel(d.t.Context()), "tcp", d.bus)
	if err != nil {
		return // the bus has been closed
	}
	var back sync.WaitGroup
	defer back.Wait()
	defer func() { _ = there.Close() }()
	back.Go(func() {
		_, _ = io.Copy(agent, there)
		_ = agent.Close()
	})
	lines := bufio.NewReader(agent)
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "SUB ") && strings.Contains(line, ".wakeup") && !d.gone.Swap(true) {
			return
		}
		if _, err := io.WriteString(there, line); err != nil {
			return
		}
	}
}

// TestBusGoesAsItBegins: the bus goes away when the agent has joined it and does not get its wakeups
// yet. It is waited for, as later.
func TestBusGoesAsItBegins(t *testing.T) {
	h, d := open(t), &door{t: t}
	d.build(h.file)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	planned, ended := make(chan struct{}), make(chan error, 1)
	var log strings.Builder // slog writes one record at a time
	go func() {
		ended <- agent.Run(ctx, agent.Options{Credentials: h.file, Logger: slog.New(slog.NewTextHandler(&log, nil))}, worker.Agent{
			Name: "counter", Plan: worker.PlanFunc(func(context.Context, worker.Transcript) (worker.Decision, error) {
				close(planned)
				return worker.Decision{Answer: &worker.Answer{Summary: "Counted."}}, nil
			}),
		})
	}()
	if _, err := h.hub.Enqueue(ctx, api.EnqueueRequest{Agent: "counter", Args: jsontext.Value(`{}`), Request: "count"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-planned:
	case err := <-ended:
		t.Fatalf("it has ended: %v", err)
	}
	if stop(); !d.gone.Load() {
		t.Error("the bus has not gone away")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if want := `msg="Waiting for turns." agent=counter connected_to=nats://127.0.0.1:`; strings.Count(log.String(), want) != 1 {
		t.Errorf("its log does not say once %q:\n%s", want, &log)
	}
}

// TestCredentials: the error says what is wrong with them.
func TestCredentials(t *testing.T) {
	h := open(t)
	other := worker.Agent{Name: "other", Plan: worker.PlanFunc(func(context.Context, worker.Transcript) (worker.Decision, error) { return worker.Decision{}, nil })}
	for name, o := range map[string]agent.Options{
		"none":               {},
		"no such file":       {Credentials: filepath.Join(t.TempDir(), "none.json")},
		"of somebody else's": {Credentials: h.file},
	} {
		if err := agent.Run(t.Context(), o, other); !errors.Is(err, bus.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
