package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/api"
	wire "github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// shutting is how long before the end of the tests' own time these tests give up.
const shutting = 20 * time.Second

// wholeTime ends shortly before the time of all tests does: these go by the real clock, and a
// machine with much to do is to get what there is. It has no deadline that a request could take
// for its own: one whose answer is lost is to be over after the usual time.
func wholeTime(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	deadline, limited := t.Deadline()
	if !limited {
		return ctx, cancel
	}
	timer := time.AfterFunc(time.Until(deadline.Add(-shutting)), cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

// yard is an installation on the real bus, with a real ledger and by the real clock: our
// service and our worker on their SDKs, and two third-party peers.
type yard struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // The life of the test.
	began  time.Time
	bus    *wire.Server
	kernel *kernel.Kernel
	hub    *hub.Hub
}

// newYard opens the yard. Its own planner asks for the given call and then answers.
func newYard(t *testing.T, call string) *yard {
	t.Helper()
	ctx, cancel := wholeTime(t)
	y := &yard{t: t, ctx: ctx, began: time.Now()}
	var owned sync.WaitGroup
	t.Cleanup(func() { cancel(); owned.Wait() })
	var err error
	y.bus, err = wire.Start(ctx, wire.Options{Project: "home", Listen: "127.0.0.1:0", Principals: []wire.Principal{
		{Kind: wire.Hub, Name: person},
		{Kind: wire.Agent, Name: agentName},
		{Kind: wire.Tool, Name: target},
		{Kind: wire.External, Name: "peer"},
		{Kind: wire.External, Name: "words"},
	}})
	y.check(err)
	t.Cleanup(y.bus.Close)
	y.serve(&owned, ledgertest.Open(t))
	y.hub = hub.New(y.connect(wire.Hub, person), 0)
	service, err := tool.New(tool.Options{Conn: y.connect(wire.Tool, target), Tools: []tool.Tool{{
		Definition: definition(poller, utp.Read, `{}`),
		Run: func(context.Context, *tool.Call) (tool.Result, error) {
			return tool.Result{Value: map[string]any{"did": poller}}, nil
		},
	}}})
	y.check(err)
	agent, err := worker.New(worker.Options{Conn: y.connect(wire.Agent, agentName), Agent: worker.Agent{
		Name: agentName,
		Plan: func(context.Context, jsontext.Value) (worker.Planner, error) {
			return &planner{steps: [][]worker.Call{one(call)}}, nil
		},
	}})
	y.check(err)
	y.lives(&owned, "service", service.Run)
	y.lives(&owned, "worker", agent.Run)
	y.reviewed(poller)
	return y
}

// lives runs a part until the yard is closed. Anyone who waits for one that has ended before waits in
// vain, and is told why.
func (y *yard) lives(owned *sync.WaitGroup, part string, run func(context.Context) error) {
	owned.Go(func() {
		if err := run(y.ctx); err != nil && y.ctx.Err() == nil {
			y.t.Errorf("the %s has ended: %v", part, err)
		}
	})
}

func (y *yard) serve(owned *sync.WaitGroup, store store.Ledger) {
	y.t.Helper()
	end, err := y.bus.Kernel(y.ctx)
	y.check(err)
	narrator, err := narrate.New(narrate.Options{})
	y.check(err)
	policy, err := rulebook.NewRules(nil)
	y.check(err)
	y.kernel, err = kernel.New(kernel.Options{Store: store, Bus: end, Policy: policy, Narrator: narrator, Presence: end, Project: "home"})
	y.check(err)
	y.check(end.Serve(y.ctx, func(ctx context.Context, from wire.Principal, op string, request []byte) []byte {
		return y.kernel.Handle(ctx, kernel.Caller{Kind: string(from.Kind), Name: from.Name}, op, request)
	}))
	owned.Go(func() { y.kernel.Run(y.ctx) })
}

func (y *yard) check(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

// reviewed waits until a tool is registered and has it looked at.
func (y *yard) reviewed(name string) {
	y.t.Helper()
	d := definition(name, utp.Read, `{}`)
	if name != poller {
		d = wordsTool()
	}
	digest, err := d.Digest()
	y.check(err)
	y.waits("the tool "+name, func() bool {
		err := y.kernel.Admin().Review(y.ctx, name, digest, utp.Read, utp.RiskLow)
		if err != nil && !rpc.Code(err, utp.CodeNotFound) && y.ctx.Err() == nil { // not registered yet
			y.t.Fatalf("the tool %s cannot be looked at: %v", name, err)
		}
		return err == nil
	})
}

// wordsTool is the foreign service's tool as the ledger has it.
func wordsTool() utp.Definition {
	d := definition("words.count", utp.Read, `{"enforcement":"broker-only"}`)
	d.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call"
	return d
}

func (y *yard) waits(what string, holds func() bool) {
	y.t.Helper()
	for !holds() {
		select {
		case <-y.ctx.Done():
			y.late(what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// late ends a test that has waited until the time of all tests was over.
func (y *yard) late(what string) {
	y.t.Helper()
	y.t.Fatalf("waited in vain for %s, for %s: there is no more time for all tests (-timeout)", what, time.Since(y.began).Round(time.Second))
}

// line is a peer's end of the real bus, as the SDKs want it.
type line struct{ *wire.Client }

func (y *yard) connect(kind wire.Kind, name string) line {
	y.t.Helper()
	c, err := y.bus.Connect(y.ctx, wire.Principal{Kind: kind, Name: name})
	y.check(err)
	return line{c}
}

func (l line) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	s, err := l.Client.Commands(ctx, func(ctx context.Context, m wire.Message) {
		handle(ctx, tool.Message{Subject: m.Subject, Header: m.Header, Payload: m.Payload})
	})
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

func (l line) Wakeups(ctx context.Context, ring func(turn string)) (func(), error) {
	s, err := l.SubscribeWakeups(ctx, func(_ context.Context, m wire.Message) { ring(strings.Join(m.Header[utp.HeaderTurnID], "")) })
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

func (l line) Broadcasts(ctx context.Context, _ string, hear func([]byte)) (func(), error) {
	s, err := l.Client.Broadcasts(ctx, func(_ context.Context, m wire.Message) { hear(m.Payload) })
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

// sent sends a message of the tool protocol and reads the kernel's answer.
func (l line) sent(ctx context.Context, m wire.Message, into any) error {
	answer, err := l.Send(ctx, m)
	if err != nil {
		return err
	}
	return api.DecodeAnswer(answer, into)
}

// goldenMessage is a message as it stands in a golden file.
type goldenMessage struct {
	Subject string            `json:"subject,omitzero"`
	Header  map[string]string `json:"header"`
	Payload jsontext.Value    `json:"payload"`
}

func (m goldenMessage) message(subject string) wire.Message {
	header := make(map[string][]string, len(m.Header))
	for name, value := range m.Header {
		header[name] = []string{value}
	}
	return wire.Message{Subject: subject, Header: header, Payload: m.Payload}
}

// goldenForeign are the golden files of foreign peers.
type goldenForeign struct {
	About   string         `json:"about"`
	Card    jsontext.Value `json:"card"`
	Command goldenMessage  `json:"command"`
	Row     jsontext.Value `json:"row,omitzero"`
	Result  jsontext.Value `json:"result"`
	Wakeups goldenMessage  `json:"doorbell,omitzero"`
	Report  goldenMessage  `json:"report,omitzero"`
}

// goldenOf reads a golden file with what is known put in for its places.
func goldenOf(t *testing.T, name string, places map[string]string) goldenForeign {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "foreign", name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for place, value := range places {
		text = strings.ReplaceAll(text, "${"+place+"}", value)
	}
	var g goldenForeign
	if err := json.Unmarshal([]byte(text), &g, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	return g
}

var changing = []struct {
	what  *regexp.Regexp
	place string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+\+00:00`), "${at}"},
	{regexp.MustCompile(`"\d{13}"`), `"${ms}"`},
	{regexp.MustCompile(`-[0-9a-f]{16}-01`), "-${span}-01"},
}

// isGolden compares the bytes that were on the wire with those of the file. What differs each
// time and is not known stands as its place in both.
func isGolden(t *testing.T, what string, got, want []byte) {
	t.Helper()
	text, golden := string(got), jsontext.Value(want).Clone()
	for _, c := range changing {
		text = c.what.ReplaceAllStringFunc(text, func(found string) string {
			if strings.Contains(string(want), found) { // it is known, and to be just that
				return found
			}
			return c.place
		})
	}
	if err := golden.Compact(); err != nil {
		t.Fatal(err)
	}
	if text != string(golden) {
		t.Errorf("%s\n got %s\nwant %s", what, text, golden)
	}
}

func (m goldenMessage) is(t *testing.T, what string, got wire.Message) {
	t.Helper()
	flat := map[string]string{}
	for name, values := range got.Header {
		flat[name] = strings.Join(values, " and ")
	}
	header, err := json.Marshal(flat, json.Deterministic(true))
	want, werr := json.Marshal(m.Header, json.Deterministic(true))
	if err := errors.Join(err, werr); err != nil {
		t.Fatal(err)
	}
	isGolden(t, "headers of "+what, header, want)
	isGolden(t, "payload of "+what, got.Payload, m.Payload)
	if got.Subject != m.Subject {
		t.Errorf("%s came on %s; want %s", what, got.Subject, m.Subject)
	}
}

// TestForeignWorkerOnTheWire: golden messages of a v1r4 worker go in, golden answers come out.
func TestForeignWorkerOnTheWire(t *testing.T) {
	t.Parallel()
	y := newYard(t, poller)
	peer := y.connect(wire.External, "peer")
	bells := make(chan wire.Message, 64)
	_, err := peer.SubscribeWakeups(y.ctx, func(_ context.Context, m wire.Message) { bells <- m })
	y.check(err)
	c := y.holds(peer)
	g := goldenOf(t, "worker.json", map[string]string{"turn": c.Turn, "trace": c.Turn[len("turn_"):]})
	y.check(rpc.Ask(y.ctx, peer, api.OpCard, api.CardRequest{Card: g.Card}, nil))
	var a api.CommandAnswer
	y.check(peer.sent(y.ctx, g.Command.message(g.Command.Subject), &a))
	if a.State != api.CommandAdopted {
		t.Fatalf("the command was %+v", a)
	}
	const call = "tc_0192f0c7a2b37c4d8e5f60718293a4b6"
	var rows api.InboxAnswer
	y.waits("the report", func() bool {
		y.check(rpc.Ask(y.ctx, peer, api.OpInbox, api.InboxRequest{Turn: c.Turn, Calls: []string{call}}, &rows))
		return len(rows.Rows) == 1
	})
	isGolden(t, "the inbox row", rows.Rows[0], g.Row)
	row, err := utp.DecodeInboxRow(rows.Rows[0])
	y.check(err)
	var read api.CardRequest
	y.check(rpc.Ask(y.ctx, peer, api.OpRead, api.ReadRequest{Card: row.Report.ToolResultCardID}, &read))
	isGolden(t, "the result card", read.Card, g.Result)
	var bell wire.Message
	for len(bell.Header[utp.HeaderTurnEpoch]) == 0 { // the first rings were for the turn itself
		select {
		case bell = <-bells:
		case <-y.ctx.Done():
			y.late("the doorbell")
		}
	}
	g.Wakeups.is(t, "the doorbell", bell)
	y.delivered(peer, c)
}

// TestForeignServiceOnTheWire: golden messages of a v1r4 tool service, which serves our worker.
func TestForeignServiceOnTheWire(t *testing.T) {
	t.Parallel()
	y := newYard(t, "words.count")
	words := y.connect(wire.External, "words")
	commands := y.commandsOf(words)
	turn := y.counts(words)
	m, command, g := y.commanded(turn, commands)
	g.Command.is(t, "the command", m)
	var read api.CardRequest
	y.check(rpc.Ask(y.ctx, words, api.OpRead, api.ReadRequest{Card: command.ToolCallCardID}, &read))
	isGolden(t, "the card of the call", read.Card, g.Card)
	y.check(rpc.Ask(y.ctx, words, api.OpCard, api.CardRequest{Card: g.Result}, nil))
	for _, want := range []string{api.ReportAccepted, ""} { // the second time it is one of two, as fast as our worker is
		var a api.ReportAnswer
		y.check(words.sent(y.ctx, g.Report.message("earshot.v1.home.kernel.report"), &a))
		if want != "" && a.Outcome != want || a.Outcome == api.ReportLate {
			t.Errorf("the report is %s", a.Outcome)
		}
	}
	y.ends(turn.Session)
}

// commandsOf are the commands that a service gets from now on.
func (y *yard) commandsOf(words line) <-chan wire.Message {
	y.t.Helper()
	commands := make(chan wire.Message, 64)
	_, err := words.Client.Commands(y.ctx, func(_ context.Context, m wire.Message) { commands <- m })
	y.check(err)
	return commands
}

// counts has the service's tool registered and looked at, and begins a turn that calls it.
func (y *yard) counts(words line) api.EnqueueAnswer {
	y.t.Helper()
	y.check(rpc.Ask(y.ctx, words, api.OpRegister, api.RegisterRequest{Definition: wordsTool()}, nil))
	y.reviewed("words.count")
	a, err := y.hub.Enqueue(y.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Request: "count"})
	y.check(err)
	return a
}

// commanded waits for the service's command in a turn. The golden messages are those of its call.
func (y *yard) commanded(a api.EnqueueAnswer, commands <-chan wire.Message) (m wire.Message, command utp.Command, g goldenForeign) {
	y.t.Helper()
	select {
	case m = <-commands:
	case <-y.ctx.Done():
		y.late("the command")
	}
	header, err := utp.DecodeHeader(m.Header)
	y.check(err)
	command, header, err = utp.DecodeCommand(m.Payload, header)
	y.check(err)
	return m, command, goldenOf(y.t, "service.json", map[string]string{
		"turn": a.Turn, "trace": a.Turn[len("turn_"):], "call": header.ToolCallID, "step": header.StepID, "card": command.ToolCallCardID,
	})
}

// holds begins a turn of the peer's and claims it.
func (y *yard) holds(peer line) api.ClaimAnswer {
	y.t.Helper()
	_, err := y.hub.Enqueue(y.ctx, api.EnqueueRequest{Agent: peer.Principal().Name, Args: jsontext.Value(`{}`), Request: "look"})
	y.check(err)
	var c api.ClaimAnswer
	y.check(rpc.Ask(y.ctx, peer, api.OpClaim, api.ClaimRequest{Agent: peer.Principal().Name, Worker: "seat"}, &c))
	return c
}

func (y *yard) delivered(peer line, c api.ClaimAnswer) {
	y.t.Helper()
	y.check(rpc.Ask(y.ctx, peer, api.OpDeliver, api.DeliverRequest{
		WorkerRequest: api.WorkerRequest{Turn: c.Turn, Epoch: c.Epoch, Worker: "seat"}, Status: utp.StatusSuccess, Summary: "Done.",
	}, nil))
	y.ends(c.Session)
}

// ends waits for the end of a session, which is to be a success.
func (y *yard) ends(session string) {
	y.t.Helper()
	var last api.EventRow
	for row, err := range y.hub.Follow(y.ctx, session, 0) {
		y.check(err)
		last = row
	}
	if y.ctx.Err() != nil {
		y.late("the end of " + session)
	}
	if !strings.Contains(string(last.Body), `session.completed"`) {
		y.t.Errorf("the session ended with %s", last.Body)
	}
}

// TestForeignFlood: more than ten thousand messages (a tenth of them under the race detector),
// good ones among malformed ones. The good ones finish, the bad ones that tell their call are
// answered, the others are counted, and nobody else's requests wait.
func TestForeignFlood(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	const (
		senders, each      = 8, 40 / testkit.Slowdown
		answered, dropped  = 1000 / testkit.Slowdown, 9000 / testkit.Slowdown
		others             = 200 / testkit.Slowdown
		finished, everyone = senders * each, senders*each + answered + dropped
	)
	y := newYard(t, poller)
	peer := y.connect(wire.External, "peer")
	c := y.holds(peer)
	g := goldenOf(t, "worker.json", map[string]string{"turn": c.Turn, "trace": c.Turn[len("turn_"):]})
	mouth, other := y.dials(peer), y.dials(peer) // what one of them floods does not stand before the other's

	var all sync.WaitGroup
	var done atomic.Int64
	all.Go(func() { y.flood(other, g, answered, dropped) })
	for sender := range senders {
		all.Go(func() {
			for i := range each {
				if err := y.asksFor(peer, mouth, c, g, fmt.Sprintf("good_%d_%d", sender, i)); err != nil {
					t.Errorf("good command %d of %d: %v", i, sender, err)
					return
				}
				done.Add(1)
			}
		})
	}
	person := y.connect(wire.Hub, person)
	all.Go(func() {
		for range others {
			var a api.QuestionsAnswer
			if err := rpc.Ask(y.ctx, person, api.OpQuestions, api.QuestionsRequest{}, &a); err != nil {
				t.Errorf("somebody else: %v", err)
				return
			}
		}
	})
	all.Wait()
	y.waits("the end of the flood", func() bool {
		n := y.kernel.ExternalCounts()
		return n.Adopted+n.Answered+n.Dropped >= everyone
	})
	if n := y.kernel.ExternalCounts(); done.Load() != finished || n != (kernel.ExternalCounts{Adopted: finished, Answered: answered, Dropped: dropped}) {
		t.Errorf("%d good ones finished; counts %+v; want %d finished, %d answered, %d dropped", done.Load(), n, finished, answered, dropped)
	}
	var rows api.InboxAnswer
	y.check(rpc.Ask(y.ctx, peer, api.OpInbox, api.InboxRequest{Turn: c.Turn, Calls: []string{"bad_0", fmt.Sprintf("bad_%d", answered-1)}}, &rows))
	for _, raw := range rows.Rows {
		row, err := utp.DecodeInboxRow(raw)
		if err != nil || row.Report.Status != utp.StatusFailed {
			t.Errorf("a bad command was answered with %s, %v", raw, err)
		}
	}
	if len(rows.Rows) != 2 {
		t.Errorf("%d answers to two bad commands", len(rows.Rows))
	}
	y.delivered(peer, c)
}

// flood publishes bad commands: those that tell their call, and those that do not.
func (y *yard) flood(nc *nats.Conn, g goldenForeign, answered, dropped int) {
	good := g.Command.message(g.Command.Subject)
	publish := func(header map[string][]string, payload string) {
		if err := nc.PublishMsg(&nats.Msg{Subject: good.Subject, Header: header, Data: []byte(payload)}); err != nil {
			y.t.Error(err)
		}
	}
	wrong := []string{"", "[]", "\xff\x00{", `{"args":{},"tool_call_card_id":"c"}`, `{"tool_call_card_id":""}`, strings.Repeat("[", 10_000), `{"a":1,"a":2}`}
	for i := range dropped {
		header := maps.Clone(good.Header)
		switch i % 4 {
		case 0:
			header = nil
		case 1:
			delete(header, utp.HeaderToolCallID)
		case 2:
			header[utp.HeaderTurnID] = []string{"turn_none"}
		case 3:
			header[utp.HeaderAgentID] = []string{agentName}
		}
		publish(header, wrong[i%len(wrong)])
		if i*answered/dropped < (i+1)*answered/dropped {
			header := maps.Clone(good.Header)
			header[utp.HeaderToolCallID] = []string{fmt.Sprintf("bad_%d", i*answered/dropped)}
			publish(header, wrong[i%len(wrong)])
		}
	}
	ctx, cancel := context.WithTimeout(y.ctx, time.Hour) // the library wants one
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil {
		y.t.Error(err)
	}
}

// dials connects as a peer's own client library does.
func (y *yard) dials(peer line) *nats.Conn {
	y.t.Helper()
	login, err := y.bus.Credentials(peer.Principal())
	y.check(err)
	nc, err := nats.Connect(login.URL, nats.UserInfo(login.Request.User, login.Request.Password), nats.Timeout(10*time.Minute))
	y.check(err)
	y.t.Cleanup(nc.Close)
	return nc
}

// asksFor publishes one command as a worker does, which waits for no answer, and waits for its
// result.
func (y *yard) asksFor(peer line, mouth *nats.Conn, c api.ClaimAnswer, g goldenForeign, call string) error {
	name := strings.NewReplacer("tc_0192f0c7a2b37c4d8e5f60718293a4b6", call, "0192f0c7a2b37c4d8e5f60718293a4b5", "card_of_"+call)
	if err := rpc.Ask(y.ctx, peer, api.OpCard, api.CardRequest{Card: jsontext.Value(name.Replace(string(g.Card)))}, nil); err != nil {
		return err
	}
	m := g.Command.message(g.Command.Subject)
	m.Header[utp.HeaderToolCallID], m.Payload = []string{call}, []byte(name.Replace(string(m.Payload)))
	if err := mouth.PublishMsg(&nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Payload}); err != nil {
		return err
	}
	for {
		var a api.InboxAnswer
		if err := rpc.Ask(y.ctx, peer, api.OpInbox, api.InboxRequest{Turn: c.Turn, Calls: []string{call}}, &a); err != nil {
			return err
		}
		if len(a.Rows) == 0 {
			select {
			case <-y.ctx.Done():
				return y.ctx.Err()
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		row, err := utp.DecodeInboxRow(a.Rows[0])
		if err == nil && row.Report.Status != utp.StatusSuccess {
			err = fmt.Errorf("the result is %s", row.Report.Status)
		}
		return err
	}
}
