package kernel_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/registry"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

const (
	agentName = "tidy"
	target    = "files"
	person    = "ada"
)

// world is a whole installation in one bubble of virtual time: a kernel on a real
// ledger with real words, services and workers on their SDKs, a hub, a person. Only
// the bus, the clocks and the disk's failures are ours.
type world struct {
	t     *testing.T
	clock *clock
	away  *clock // of the services, where they are on another machine
	bus   *bus
	count *count
	log   *slog.Logger
	lines *lines

	rules   []rulebook.Rule
	policy  kernel.Policy // in place of rules
	project string
	key     []byte
	env     map[string]string
	sole    bool
	secrets []string // values that must be nowhere

	approvers kernel.Approvers
	passkeys  passkey.Requirement // which accepts take one, on the page at pageOrigin
	names     kernel.Names
	retention admin.Retention
	unjudged  bool         // what is left behind says nothing any more
	flaws     []audit.Flaw // what the test has put into the ledger, and the audit of it has to find
	unresumed bool         // a kernel that is booted leaves the open turns alone
	idle      time.Duration
	poll      time.Duration
	dispatch  time.Duration  // that a queued turn waits for a worker
	takes     jsontext.Value // the schema of every agent's arguments, as its program says
	starts    []string       // turns of which agents anybody may start
	active    int            // turns that an agent may have under way
	cards     int            // that a worker may add to a turn
	own       bool           // its next kernel keeps to its own turns
	patient   bool           // its questions wait to be shown
	hints     bool           // third-party followers are told
	presence  registry.Presence

	now       *process
	processes []*process
	services  []*service
	agents    []*agent
	hub       *hub.Hub
	person    *conn
	effects   *effects
	gates     []gate
	readers   map[string]*sql.DB // of the ledgers by path, while the world is judged
	dumps     dumps

	mu        sync.Mutex
	followers map[string]*follower
	stop      context.CancelFunc // of the followers
	ctx       context.Context    //nolint:containedctx // The life of the followers.
	restored  bool
	unended   bool          // a turn may be open at the end
	takenOver bool          // the ledger was another's
	bytes     int64         // that a credential may put in a day
	calls     int           // that an agent may have open
	seats     int           // turns that a worker works on at once
	keep      time.Duration // how long it keeps one that waits
	lasting   bool          // a restart begins no generation, as where other kernels are on the ledger
	unnoticed bool          // no surface says that it was told of a yes
}

// raced reports whether sizes are to be small for the race detector: what is large runs without it.
func raced() bool { return testkit.Raced && os.Getenv("EARSHOT_SOAK") == "" }

func inBubble(t *testing.T, ledger func(*world) home, configure func(*world), play func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t: t, clock: &clock{began: time.Now(), mono: time.Hour}, bus: &bus{t: t}, count: &count{}, lines: &lines{},
			project: "home", followers: map[string]*follower{}, dumps: dumps{}, env: map[string]string{},
			effects: &effects{path: filepath.Join(t.TempDir(), "effects")},
		}
		w.log = slog.New(slog.NewTextHandler(w.lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
		w.ctx, w.stop = context.WithCancel(context.Background())
		if configure != nil {
			configure(w)
		}
		w.person = w.bus.connect(kernel.HubCaller, person)
		w.hub = hub.New(w.person, 0)
		defer w.end()
		w.boot(ledger(w))
		w.serve(target, standardTools)
		w.review(standardClasses())
		play(t, w)
	})
}

// review is the operator looking at the tools.
func (w *world) review(classes map[string]utp.Class) {
	w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		w.until(name+" is registered", func() bool { return w.isRegistered(name) }) // again, if the disk was too slow for the first time
		d := w.tool(name)
		risk := utp.RiskMedium
		switch classes[name] {
		case utp.Irreversible:
			risk = utp.RiskHigh
		case utp.Read:
			risk = utp.RiskLow
		case utp.Idempotent, utp.Reversible:
		}
		if err := w.now.kernel.Admin().Review(w.ctx, name, d.Digest, classes[name], risk); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) isRegistered(name string) (registered bool) {
	w.t.Helper()
	w.view(func(tx store.Tx) error {
		rows, err := tx.Tools(store.ToolFilter{Names: []string{name}})
		registered = len(rows) > 0
		return err
	})
	return registered
}

// tool reads the registry.
func (w *world) tool(name string) store.Tool {
	w.t.Helper()
	var found store.Tool
	w.view(func(tx store.Tx) (err error) {
		found, err = store.OneRow(tx.Tools(store.ToolFilter{Names: []string{name}}))
		return err
	})
	return found
}

func (w *world) view(fn func(store.Tx) error) {
	w.t.Helper()
	if err := w.now.store.View(context.Background(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) lookup(name string) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	value, found := w.env[name]
	return value, found
}

// settle waits until nobody has anything to do at this instant.
func (w *world) settle() { synctest.Wait() }

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// until lets time go by until the condition holds.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	const most = 20 * time.Minute
	step := 100 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		if waited >= time.Minute {
			step = time.Second
		}
		synctest.Wait()
		if holds() {
			return
		}
		if waited >= most {
			w.t.Fatalf("waited %v in vain: %s\n%s", most, what, w.tale())
		}
		<-time.After(step)
	}
}

// begin enqueues a turn and follows its session from the first event on.
func (w *world) begin() api.EnqueueAnswer {
	w.t.Helper()
	a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: agentName, Args: jsontext.Value(`{}`), Request: "tidy up"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.follow(a.Session)
	return a
}

func (w *world) follow(session string) {
	f := &follower{done: make(chan struct{})}
	w.mu.Lock()
	w.followers[session] = f
	w.mu.Unlock()
	go func() {
		defer close(f.done)
		for row, err := range w.hub.Follow(w.ctx, session, 0) {
			f.take(row, err)
		}
	}()
}

// follower keeps what a listener has heard of a session.
type follower struct {
	mu   sync.Mutex
	rows []api.EventRow
	err  error
	done chan struct{}
}

func (f *follower) take(row api.EventRow, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.err = err
		return
	}
	f.rows = append(f.rows, row)
}

// turn reads a turn as the ledger has it.
func (w *world) turn(id string) turn.State {
	w.t.Helper()
	return w.record(id).State
}

func (w *world) record(id string) store.Record {
	w.t.Helper()
	var rec store.Record
	w.view(func(tx store.Tx) (err error) {
		rec, err = tx.Turn(store.TurnRef{Turn: id})
		return err
	})
	return rec
}

// last is the latest call of a turn.
func (w *world) last(id string) turn.Call {
	w.t.Helper()
	calls := w.turn(id).Calls
	if len(calls) == 0 {
		w.t.Fatalf("the turn has no calls\n%s", w.tale())
	}
	return calls[len(calls)-1]
}

// reaches waits until the latest call of a turn is in the state.
func (w *world) reaches(id string, state turn.CallState) turn.Call {
	w.t.Helper()
	w.until(fmt.Sprintf("%s is to be %s", id, state), func() bool {
		calls := w.turn(id).Calls
		return len(calls) > 0 && calls[len(calls)-1].State == state
	})
	return w.last(id)
}

// over waits for the end of a turn.
func (w *world) over(id string) turn.State {
	w.t.Helper()
	w.until(id+" is to end", func() bool { return w.turn(id).Status == turn.Ended })
	return w.turn(id)
}

// questions lists what is open.
func (w *world) questions() []api.QuestionRow {
	w.t.Helper()
	rows, err := w.hub.Questions(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// asked waits for the one open question.
func (w *world) asked() api.QuestionRow {
	w.t.Helper()
	var rows []api.QuestionRow
	w.until("one question is to be open", func() bool {
		rows = w.questions()
		return len(rows) == 1
	})
	return rows[0]
}

// askedAnew waits for the one open question whose token is another than the last's.
func (w *world) askedAnew(last api.QuestionRow) api.QuestionRow {
	w.t.Helper()
	var rows []api.QuestionRow
	w.until("it is to be asked again", func() bool {
		rows = w.questions()
		return len(rows) == 1 && rows[0].Token != last.Token
	})
	return rows[0]
}

// askedAfter waits for the one open question whose number is another than the last's.
func (w *world) askedAfter(last api.QuestionRow) api.QuestionRow {
	w.t.Helper()
	var rows []api.QuestionRow
	w.until("another question is to be open", func() bool {
		rows = w.questions()
		return len(rows) == 1 && rows[0].Number != last.Number
	})
	return rows[0]
}

// reply answers a question as the person, by its token.
func (w *world) reply(q api.QuestionRow, word string) (api.ReplyAnswer, error) {
	r := api.ReplyRequest{Token: q.Token, By: person, Surface: "terminal"}
	switch word {
	case "accept", "reject":
		r.Decision = word
	default:
		r.Response = word
	}
	return w.answer(r)
}

// answer answers a question, and says that its surface was told.
func (w *world) answer(r api.ReplyRequest) (api.ReplyAnswer, error) {
	a, err := w.hub.Answer(w.ctx, r)
	if a.Resolution == "accepted" && !w.unnoticed {
		w.hub.Noticed(w.ctx, api.ReplyRequest{Question: a.Question, Token: r.Token, By: r.By, Credential: r.Credential, Surface: r.Surface})
	}
	return a, err
}

// reads reads all that a question is about, as the person on the surface that answers.
func (w *world) reads(q api.QuestionRow) []byte {
	w.t.Helper()
	var shown []byte
	for size := int64(1); int64(len(shown)) < size; {
		piece, all, err := w.hub.Arguments(w.ctx, api.ArgumentsRequest{Question: q.Number, Offset: int64(len(shown)), By: person, Surface: "terminal"})
		if err != nil || len(piece) == 0 {
			w.t.Fatal(len(shown), err)
		}
		shown, size = append(shown, piece...), all
	}
	return shown
}

// say is reply that has to be taken.
func (w *world) say(q api.QuestionRow, word string) {
	w.t.Helper()
	if _, err := w.reply(q, word); err != nil {
		w.t.Fatalf("%q to question %d: %v", word, q.Number, err)
	}
}

// accepts answers the next question with yes.
func (w *world) accepts() api.QuestionRow {
	w.t.Helper()
	q := w.asked()
	w.say(q, "accept")
	return q
}

// one is a step of a single call.
func one(name string) []worker.Call {
	return []worker.Call{{Key: "k1", Tool: name, Args: map[string]any{"name": "x"}, To: 100}}
}

// end stops everybody and judges all that is left behind.
func (w *world) end() {
	defer w.close()
	for _, g := range w.gates {
		g.open()
	}
	for _, a := range w.agents {
		a.cancel()
		<-a.done
	}
	for _, s := range w.services {
		s.cancel()
		<-s.done
	}
	if !w.t.Failed() && !w.unjudged {
		w.heardAll()
	}
	w.stop()
	w.mu.Lock()
	followers := slices.Collect(maps.Values(w.followers))
	w.mu.Unlock()
	for _, f := range followers {
		<-f.done
	}
	for _, p := range w.processes {
		p.cancel()
		<-p.done
	}
	if !w.t.Failed() && !w.unjudged {
		w.judge()
	}
	if w.t.Failed() {
		w.t.Log(w.tale())
	}
}

func (w *world) close() {
	w.dumps.close()
	for _, p := range w.processes {
		if err := p.store.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

// lines keeps the log.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// effects is what the tools have done to the world, one line for each time.
type effects struct {
	path string
	mu   sync.Mutex
	// hooks run at points of a tool's work; an error ends it there.
	hooks map[string]func(context.Context, *service, *tool.Call) error
}

// at sets what happens at a point: "begun", before the effect, or "done", after it.
func (e *effects) at(point string, hook func(context.Context, *service, *tool.Call) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hooks == nil {
		e.hooks = map[string]func(context.Context, *service, *tool.Call) error{}
	}
	e.hooks[point] = hook
}

func (e *effects) reach(ctx context.Context, point string, s *service, c *tool.Call) error {
	e.mu.Lock()
	hook := e.hooks[point]
	e.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, s, c)
}

// happen has the effect: it is in the file when happen returns.
func (e *effects) happen(call string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := os.OpenFile(e.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(call + "\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// all lists the calls that have had an effect, one entry for each time.
func (e *effects) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	raw, err := os.ReadFile(e.path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(raw))
}
