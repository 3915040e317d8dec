package bus_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/testkit"
)

const (
	project  = "home"
	patience = 3 * time.Minute // how long a test waits for what has to come

	filesCommand   = "cg.v1r4.home.public.cmd.tool.files.delete"
	victimCommand  = "cg.v1r4.home.public.cmd.tool.victim.run"
	workerDoorbell = "cg.v1r4.home.public.cmd.agent.worker.wakeup"
	victimDoorbell = "cg.v1r4.home.public.cmd.agent.victim.wakeup"
	broadcast      = "earshot.v1.home.events.sess_1"
	filesCancel    = "cg.v1r4.home.public.evt.tool.files.cancel"
	filesProgress  = "cg.v1r4.home.public.evt.tool.files.progress"

	// A foreign peer hears two subjects.
	peerCommand  = "cg.v1r4.home.public.cmd.tool.peer.run"
	peerDoorbell = "cg.v1r4.home.public.cmd.agent.peer.wakeup"
	preyCommand  = "cg.v1r4.home.public.cmd.tool.prey.run"
	preyDoorbell = "cg.v1r4.home.public.cmd.agent.prey.wakeup"
)

var (
	worker      = bus.Principal{Kind: bus.Agent, Name: "worker"}
	victimAgent = bus.Principal{Kind: bus.Agent, Name: "victim"}
	prober      = bus.Principal{Kind: bus.Agent, Name: "prober"}
	files       = bus.Principal{Kind: bus.Tool, Name: "files"}
	victimTool  = bus.Principal{Kind: bus.Tool, Name: "victim"}
	desk        = bus.Principal{Kind: bus.Hub, Name: "desk"}
	victimHub   = bus.Principal{Kind: bus.Hub, Name: "victim"}
	overseer    = bus.Principal{Kind: bus.Operator, Name: "overseer"}
	peer        = bus.Principal{Kind: bus.External, Name: "peer"}
	victimPeer  = bus.Principal{Kind: bus.External, Name: "prey"}
	scout       = bus.Principal{Kind: bus.External, Name: "scout"}
)

func everybody() []bus.Principal {
	return []bus.Principal{worker, victimAgent, prober, files, victimTool, desk, victimHub, overseer, peer, victimPeer, scout}
}

// setting is one way to run the bus; every proof holds in all of them.
type setting struct {
	name              string
	listen, jetStream bool
	kernels           bool // those of other processes are let in
	changed           bool // most are let in while it runs, and so is another once all listen
}

// settings are all of them; in short mode, and under the race detector, which makes them eight times as slow, the two
// that differ most. With EARSHOT_SOAK=1 (make soak) they are always all.
func settings() []setting {
	if (testing.Short() || testkit.Raced) && os.Getenv("EARSHOT_SOAK") == "" {
		return []setting{{name: "in process"}, {name: "listening, changed while it runs", listen: true, kernels: true, changed: true}}
	}
	return []setting{
		{name: "in process"},
		{name: "listening", listen: true},
		{name: "listening, also for kernels", listen: true, kernels: true},
		{name: "in process, changed while it runs", changed: true},
		{name: "listening, changed while it runs", listen: true, kernels: true, changed: true},
		{name: "in process with JetStream", jetStream: true},
		{name: "listening with JetStream", listen: true, jetStream: true},
	}
}

// canary is a listener that should hear nothing but what the kernel sends.
type canary struct {
	name     string
	subject  string
	sentinel chan string

	mu  sync.Mutex
	got []string
}

func (c *canary) hear(subject string, payload []byte) {
	if bytes.HasPrefix(payload, []byte("sentinel ")) {
		c.sentinel <- string(payload)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, fmt.Sprintf("%s on %s: %.200q", c.name, subject, payload))
}

func (c *canary) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

// watcher holds a login's own inbox open.
type watcher struct {
	login bus.Login
	nc    *nats.Conn
	inbox chan *nats.Msg
}

// asked is a request that reached the kernel.
type asked struct {
	from    bus.Principal
	op      string
	request string
}

// world is a bus with everybody on it, listening.
type world struct {
	setting
	server   *bus.Server
	kernel   *bus.Kernel
	probe    *bus.Client
	lanes    *nats.Conn  // of scout, who fills every lane of foreign commands at once
	met      chan func() // by which scout's commands wait for one another
	streams  *nats.Conn  // only with JetStream
	canaries []*canary
	watchers []*watcher
	clients  map[bus.Principal]*bus.Client
	rounds   int

	mu    sync.Mutex
	asked []asked
}

func newWorld(t *testing.T, s setting) *world {
	t.Helper()
	// One handler at a time keeps requests in their order, so that an answer to the
	// probe proves that all before it have been answered.
	o := bus.Options{Project: project, Principals: everybody(), Concurrency: 1, Backlog: 1 << 16, Timeout: patience}
	if s.listen {
		o.Listen, o.Kernels = "127.0.0.1:0", s.kernels
	}
	if s.jetStream {
		o.JetStreamDir = t.TempDir()
	}
	if s.changed {
		o.Principals = []bus.Principal{worker, prober, victimTool, desk}
	}
	w := &world{setting: s, clients: map[bus.Principal]*bus.Client{}, met: make(chan func(), bus.ForeignAtOnce)}
	var err error
	w.server, err = bus.Start(t.Context(), o)
	must(t, err)
	t.Cleanup(w.server.Close)
	w.kernel, err = w.server.Kernel(t.Context())
	must(t, err)
	must(t, w.kernel.Serve(t.Context(), w.echo))
	var known []bus.Credentials
	if s.changed {
		known = drawn(t, victimAgent, files, victimHub, overseer, peer, victimPeer, scout)
		must(t, w.server.SetKnown(known))
	}
	w.addListeners(t)
	if s.changed {
		must(t, w.server.SetKnown(append(known, drawn(t, bus.Principal{Kind: bus.Tool, Name: "newcomer"})...)))
	}
	w.probe = w.connect(t, prober)
	w.lanes = w.raw(t, w.credentials(t, scout).Request)
	if s.jetStream {
		w.addStreams(t)
	}
	return w
}

// drawn are new credentials.
func drawn(t *testing.T, principals ...bus.Principal) []bus.Credentials {
	t.Helper()
	return drawnFor(t, project, principals...)
}

func drawnFor(t *testing.T, project string, principals ...bus.Principal) []bus.Credentials {
	t.Helper()
	all := make([]bus.Credentials, 0, len(principals))
	for _, p := range principals {
		c, err := bus.NewCredentials(rand.Reader, project, p)
		must(t, err)
		all = append(all, c)
	}
	return all
}

// echo is the worst kernel there could be: it sends back what the caller wrote.
func (w *world) echo(ctx context.Context, from bus.Principal, op string, request []byte) []byte {
	switch from {
	case prober:
	case scout:
		w.meet(ctx)
	default:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked = append(w.asked, asked{from, op, string(request)})
	}
	return request
}

// meet returns when all lanes of foreign commands are in it.
func (w *world) meet(ctx context.Context) {
	ctx, leave := context.WithCancel(ctx)
	w.met <- leave
	<-ctx.Done()
}

func (w *world) takeAsked() []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.asked
	w.asked = nil
	return got
}

func (w *world) connect(t *testing.T, p bus.Principal) *bus.Client {
	t.Helper()
	if !w.listen {
		c, err := w.server.Connect(t.Context(), p)
		must(t, err)
		t.Cleanup(c.Close)
		return c
	}
	c, err := bus.Dial(t.Context(), w.credentials(t, p), bus.DialOptions{})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func (w *world) credentials(t *testing.T, p bus.Principal) bus.Credentials {
	t.Helper()
	c, err := w.server.Credentials(p)
	must(t, err)
	return c
}

// raw is a connection without any of this package's manners.
func (w *world) raw(t *testing.T, l bus.Login, more ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := w.tryRaw(append([]nats.Option{nats.UserInfo(l.User, l.Password), nats.CustomInboxPrefix(l.Inbox)}, more...)...)
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

func (w *world) tryRaw(options ...nats.Option) (*nats.Conn, error) {
	// A thousand subscriptions each make a queue of the default length, which is four megabytes.
	const queue = 1 << 10
	options = append(options, nats.Timeout(patience), nats.NoReconnect(), nats.SyncQueueLen(queue),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if !w.listen {
		options = append(options, nats.InProcessServer(pipe{w.server}))
	}
	return nats.Connect(w.server.URL(), options...)
}

// pipe gives a raw connection a buffer to write into. Without it a refused login
// lasts until the server's write deadline, because each end waits for the other to
// read.
type pipe struct{ server *bus.Server }

func (p pipe) InProcessConn() (net.Conn, error) {
	c, err := p.server.InProcessConn()
	if err != nil {
		return nil, err
	}
	b := &bufferedConn{Conn: c, out: make(chan []byte, 1<<16), gone: make(chan struct{})}
	go b.copy()
	return b, nil
}

type bufferedConn struct {
	net.Conn

	out  chan []byte
	gone chan struct{}
	once sync.Once
}

func (b *bufferedConn) Write(p []byte) (int, error) {
	select {
	case b.out <- bytes.Clone(p):
		return len(p), nil
	case <-b.gone:
		return 0, net.ErrClosed
	}
}

func (b *bufferedConn) Close() error {
	b.once.Do(func() { close(b.gone) })
	return b.Conn.Close()
}

func (b *bufferedConn) copy() {
	for {
		select {
		case p := <-b.out:
			if _, err := b.Conn.Write(p); err != nil {
				return
			}
		case <-b.gone:
			return
		}
	}
}

func (w *world) addListeners(t *testing.T) {
	t.Helper()
	for _, x := range []struct {
		who     bus.Principal
		subject string
	}{
		{files, filesCommand},
		{victimTool, victimCommand},
		{worker, workerDoorbell},
		{victimAgent, victimDoorbell},
		{desk, broadcast},
		{victimHub, broadcast},
		{overseer, filesProgress},
		{peer, peerCommand},
		{peer, peerDoorbell},
		{victimPeer, preyCommand},
		{victimPeer, preyDoorbell},
	} {
		c := &canary{name: x.who.String(), subject: x.subject, sentinel: make(chan string, 64)}
		w.canaries = append(w.canaries, c)
		client, known := w.clients[x.who]
		if !known {
			client = w.connect(t, x.who)
			w.clients[x.who] = client
		}
		_, err := listen(t.Context(), client, x.subject, func(_ context.Context, m bus.Message) { c.hear(m.Subject, m.Payload) })
		must(t, err)
		if known {
			continue
		}
		credentials := w.credentials(t, x.who)
		w.watch(t, credentials.Request)
	}
}

// listen hears what a principal of this kind hears.
func listen(ctx context.Context, c *bus.Client, subject string, h func(context.Context, bus.Message)) (*bus.Subscription, error) {
	switch kind := c.Principal().Kind; {
	case kind == bus.Agent, kind == bus.External && strings.HasSuffix(subject, ".wakeup"):
		return c.SubscribeWakeups(ctx, h)
	case kind == bus.Tool, kind == bus.External:
		return c.Commands(ctx, h)
	case kind == bus.Operator:
		return c.Progress(ctx, h)
	default:
		return c.Broadcasts(ctx, h)
	}
}

func (w *world) watch(t *testing.T, l bus.Login) {
	t.Helper()
	x := &watcher{login: l, nc: w.raw(t, l), inbox: make(chan *nats.Msg, 1<<16)}
	_, err := x.nc.ChanSubscribe(l.Inbox+".>", x.inbox)
	must(t, err)
	must(t, x.nc.FlushTimeout(patience))
	w.watchers = append(w.watchers, x)
}

// addStreams makes what an attacker would like to find: a stream over all commands,
// one with a message in it, and a consumer of that.
func (w *world) addStreams(t *testing.T) {
	t.Helper()
	w.streams = w.rawKernel(t, w.server.StreamsLogin())
	w.manage(t, "STREAM.CREATE.commands", `{"name":"commands","subjects":["cg.v1r4.*.*.cmd.>"],"storage":"file","allow_direct":true}`)
	w.manage(t, "STREAM.CREATE.other", `{"name":"other","subjects":["earshot.v1.home.events.>"],"storage":"file","allow_direct":true}`)
	w.manage(t, "CONSUMER.DURABLE.CREATE.other.pull", `{"stream_name":"other","config":{"durable_name":"pull","ack_policy":"none"}}`)
	must(t, w.kernel.Publish(t.Context(), broadcast, nil, []byte("sentinel stored")))
	for _, c := range w.canaries {
		if c.subject == broadcast {
			w.await(t, c, "sentinel stored")
		}
	}
}

func (w *world) rawKernel(t *testing.T, l bus.Login) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("", nats.UserInfo(l.User, l.Password), nats.CustomInboxPrefix(l.Inbox), nats.NoReconnect(), nats.InProcessServer(pipe{w.server}),
		nats.Timeout(patience), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// manage makes one request to JetStream with the one credential that may.
func (w *world) manage(t *testing.T, what, body string) string {
	t.Helper()
	m, err := w.streams.Request("$JS.API."+what, []byte(body), patience)
	must(t, err)
	if bytes.Contains(m.Data, []byte(`"error"`)) {
		t.Fatalf("%s: %s", what, m.Data)
	}
	return string(m.Data)
}

// settle returns when everything that was published before has arrived wherever it
// was going to.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.settleLanes(t)
	// The answers of the lanes have left by the probe's, on the same connection. Some are requests themselves, where a command
	// named an operation as its reply subject: by the second answer they have been handled.
	for range 2 {
		if _, err := w.probe.Request(t.Context(), "claim", []byte("probe")); err != nil {
			t.Fatal(err)
		}
	}
	if w.streams != nil {
		w.manage(t, "INFO", "")
	}
	w.rounds++
	mark := "sentinel " + strconv.Itoa(w.rounds)
	sent := map[string]bool{}
	for _, c := range w.canaries {
		if !sent[c.subject] {
			must(t, w.kernel.Publish(t.Context(), c.subject, nil, []byte(mark)))
			sent[c.subject] = true
		}
	}
	for _, c := range w.canaries {
		w.await(t, c, mark)
	}
	for _, x := range w.watchers {
		must(t, x.nc.FlushTimeout(patience))
	}
}

// settleLanes returns when the commands of external peers that were sent before have been
// handled: scout's are in every lane at once, so no lane has an earlier one.
func (w *world) settleLanes(t *testing.T) {
	t.Helper()
	for range bus.ForeignAtOnce {
		send(w.lanes, victimCommand, "", "probe")
	}
	flush(w.lanes)
	var leave []func()
	defer func() {
		for _, one := range leave {
			one()
		}
	}()
	for range bus.ForeignAtOnce {
		select {
		case one := <-w.met:
			leave = append(leave, one)
		case <-time.After(patience):
			t.Fatal("the commands of scout are not in every lane")
		}
	}
}

func (w *world) await(t *testing.T, c *canary, mark string) {
	t.Helper()
	select {
	case got := <-c.sentinel:
		if got != mark {
			t.Fatalf("%s heard %q, expected %q", c.name, got, mark)
		}
	case <-time.After(patience):
		t.Fatalf("%s did not hear %q on %s", c.name, mark, c.subject)
	}
}

// breaches returns everything that somebody heard and should not have. A login's
// own inbox is its own affair.
func (w *world) breaches(t *testing.T, attacker bus.Login) []string {
	t.Helper()
	w.settle(t)
	var all []string
	for _, c := range w.canaries {
		all = append(all, c.take()...)
	}
	for _, x := range w.watchers {
		for len(x.inbox) > 0 {
			m := <-x.inbox
			if x.login.User != attacker.User {
				all = append(all, fmt.Sprintf("inbox of %s on %s: %.200q", x.login.User, m.Subject, m.Data))
			}
		}
	}
	return all
}

// seat is one credential that an attacker may hold.
type seat struct {
	name  string
	who   bus.Principal
	login bus.Login
	asks  bool     // may ask the kernel
	hears []string // what it may hear beside its inbox
	says  []string // what it may publish beside requests
}

func (w *world) seats(t *testing.T) []seat {
	t.Helper()
	var all []seat
	for _, x := range []struct {
		who   bus.Principal
		hears []string
	}{
		{worker, []string{workerDoorbell}},
		{files, []string{filesCommand, filesCancel}},
		{desk, []string{broadcast}},
		{overseer, []string{filesProgress}},
		{peer, []string{peerCommand, peerDoorbell}},
	} {
		c := w.credentials(t, x.who)
		mouth := seat{name: string(x.who.Kind) + "'s mouth", who: x.who, login: c.Request, asks: x.who != overseer}
		if x.who == overseer {
			mouth.says = []string{"$SRV.PING", "$SRV.INFO", "$SRV.STATS", "$SRV.PING.kernel", "$SRV.STATS.files.1"}
		}
		all = append(all, mouth, seat{name: string(x.who.Kind) + "'s ear", who: x.who, login: c.Subscribe, hears: x.hears})
		if x.who == files {
			all = append(all, seat{
				name: "tool's face", who: x.who, login: c.Discovery, says: []string{"_R_.forged"},
				hears: []string{"$SRV.PING", "$SRV.PING.files", "$SRV.PING.files.*"},
			})
		}
	}
	return all
}

// aims are what the attacker tries to reach, with full knowledge of every subject,
// secret inboxes included. Its own ear is among them: nobody can forge for itself
// either, so two processes that share a credential need not trust each other.
func (w *world) aims(t *testing.T, s seat) []string {
	t.Helper()
	aims := []string{
		filesCommand, victimCommand, workerDoorbell, victimDoorbell, broadcast, filesCancel, filesProgress,
		peerCommand, peerDoorbell, preyCommand, preyDoorbell,
	}
	for _, x := range w.watchers {
		if x.login.User != s.login.User {
			aims = append(aims, x.login.Inbox+".forged")
		}
	}
	return aims
}

func allOps() []string {
	var ops []string
	for _, k := range bus.Kinds() {
		ops = append(ops, bus.Ops(k)...)
	}
	slices.Sort(ops)
	return slices.Compact(ops)
}

func opSubject(op string) string { return "earshot.v1." + project + ".kernel." + op }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func first(list []string) string {
	return strings.Join(list[:min(len(list), 5)], "\n\t")
}
