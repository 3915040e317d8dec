package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/utp"
)

// The agents, the person and the service of a case.
const (
	lead, clerk = "lead", "clerk"
	person      = "ada"
	service     = "fire"
)

// The tools of the service: two that read, of which one takes its time, one whose effect can be undone, and one whose cannot.
const (
	look, dig, paint, burn = "look", "dig", "paint", "burn"
)

// scene is a ledger, and the kernel that works on it.
type scene struct {
	t      *testing.T
	ledger store.Ledger
	kernel *kernel.Kernel
	active int

	mu  sync.Mutex
	now time.Duration // since the beginning
}

var beginning = time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)

func newScene(t *testing.T, ledger store.Ledger) *scene {
	t.Helper()
	s := &scene{t: t, ledger: ledger}
	s.start()
	for name, timeout := range map[string]int{look: 10, dig: 60, paint: 60, burn: 60} {
		d := utp.Definition{
			Tool: name, Description: "Does it.", Parameters: jsontext.Value(`{"type":"object"}`), AfterExecution: utp.Suspend,
			Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + service + ".run", Class: utp.Read, Risk: utp.RiskLow,
			Options: jsontext.Value(fmt.Sprintf(`{"timeout_seconds":%d}`, timeout)),
		}
		switch name {
		case paint:
			d.Class = utp.Reversible
		case burn:
			d.Class = utp.Irreversible
		}
		digest, err := d.Digest()
		if err == nil {
			err = s.kernel.Registry().Register(t.Context(), service, d)
		}
		if err == nil {
			err = s.kernel.Admin().Review(t.Context(), name, digest, d.Class, d.Risk)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// start begins with another kernel, as after a crash of the one before: nothing but the ledger is left.
func (s *scene) start() {
	s.t.Helper()
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	rules, err := rulebook.NewRules([]rulebook.Rule{{Tool: look, Decide: turn.Allow}, {Tool: dig, Decide: turn.Allow}, {Tool: paint, Decide: turn.Ask}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.kernel, err = kernel.New(kernel.Options{
		Store: s.ledger, Bus: silence{}, Policy: rules, Narrator: narrator, MaxActive: func(string) int { return s.active },
		MayStart: func(string, string) bool { return true }, DispatchTimeout: 30 * time.Second, Generation: func() string { return "one" },
		Clock: kernel.Clock{
			Now: func() time.Time { return beginning.Add(s.passed()) }, SinceBoot: func() time.Duration { return time.Hour + s.passed() }, Boot: "boot",
		},
	})
	if err == nil {
		_, err = s.kernel.Recover(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// silence is a bus on which nobody listens: the cases do what services and workers would.
type silence struct{}

// Publish implements the kernel's bus.
func (silence) Publish(context.Context, string, map[string][]string, []byte) error { return nil }

func (s *scene) passed() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// pass lets time pass, and then ticks every open turn as often as something may follow from it.
func (s *scene) pass(d time.Duration) {
	s.t.Helper()
	s.mu.Lock()
	s.now += d
	s.mu.Unlock()
	const deepest = 3
	for range deepest {
		for _, row := range s.open() {
			if err := s.kernel.Tick(s.t.Context(), row.Turn); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

func (s *scene) open() (rows []store.TurnRow) {
	s.t.Helper()
	err := s.ledger.View(s.t.Context(), func(tx store.Tx) (err error) {
		rows, err = tx.Turns(store.TurnFilter{Open: true})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return rows
}

// turn reads a turn.
func (s *scene) turn(id string) turn.State {
	s.t.Helper()
	var rec store.Record
	err := s.ledger.View(s.t.Context(), func(tx store.Tx) (err error) {
		rec, err = tx.Turn(store.TurnRef{Turn: id})
		return err
	})
	if err != nil {
		s.t.Fatal(id, err)
	}
	return rec.State
}

// ask asks the kernel, and returns how it refuses.
func (s *scene) ask(kind, name, op string, request, into any) error {
	s.t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		s.t.Fatal(err)
	}
	return api.DecodeAnswer(s.kernel.Handle(s.t.Context(), kernel.Caller{Kind: kind, Name: name}, op, raw), into)
}

func (s *scene) must(kind, name, op string, request, into any) {
	s.t.Helper()
	if err := s.ask(kind, name, op, request, into); err != nil {
		s.t.Fatalf("%s: %v", op, err)
	}
}

// refused expects a refusal with a code.
func (s *scene) refused(err error, code utp.Code) {
	s.t.Helper()
	if f, is := errors.AsType[*api.Fault](err); !is || f.Code != code {
		s.t.Errorf("got %v; want %s", err, code)
	}
}

// seat is a worker with the turn that it has.
type seat struct {
	*scene

	agent, name string
	claim       api.ClaimAnswer
}

// begin begins a turn of the lead.
func (s *scene) begin() {
	s.t.Helper()
	s.must(kernel.HubCaller, person, api.OpEnqueue, api.EnqueueRequest{Agent: lead, Args: jsontext.Value(`{}`), Owner: person}, nil)
}

// claims has a worker take the next turn of its agent.
func (s *scene) claims(agent, name string) *seat {
	s.t.Helper()
	w := &seat{scene: s, agent: agent, name: name}
	s.must(kernel.AgentCaller, agent, api.OpClaim, api.ClaimRequest{Agent: agent, Worker: name}, &w.claim)
	if w.claim.Turn == "" {
		s.t.Fatalf("%s has found no turn of %s", name, agent)
	}
	return w
}

// leads begins a turn of the lead and has it claimed.
func (s *scene) leads() *seat {
	s.t.Helper()
	s.begin()
	return s.claims(lead, "wrk_lead")
}

func (w *seat) at() api.WorkerRequest { return w.claim.WorkerRequest(w.name) }

// calls requests a step.
func (w *seat) calls(calls ...api.ToolCall) {
	w.t.Helper()
	w.must(kernel.AgentCaller, w.agent, api.OpCall, api.CallRequest{WorkerRequest: w.at(), Step: w.claim.Step + 1, Calls: calls}, nil)
	w.claim.Step++
}

// one is a call.
func one(tool, args string) api.ToolCall {
	return api.ToolCall{Key: "k1", Tool: tool, Args: api.Body{Inline: jsontext.Value(args)}}
}

// joins has so many turns of the clerk do something.
func joins(n int, more string) api.ToolCall {
	tasks := make([]string, n)
	for i := range tasks {
		tasks[i] = fmt.Sprintf(`{"target_strategy":"new","target_ref":%q,"instruction":"part %d"}`, clerk, i)
	}
	return one("fork_join", `{"tasks":[`+strings.Join(tasks, ",")+`]`+more+`}`)
}

// resumes reads the results and goes on under the epoch that they have led to.
func (w *seat) resumes() api.ResumeAnswer {
	w.t.Helper()
	var a api.ResumeAnswer
	w.must(kernel.AgentCaller, w.agent, api.OpResume, api.TranscriptRequest{WorkerRequest: w.at()}, &a)
	if a.Epoch != 0 {
		w.claim.Epoch, w.claim.Nonce = a.Epoch, a.Nonce
	}
	return a
}

// result is the only one.
func (w *seat) result() api.CallResult {
	w.t.Helper()
	a := w.resumes()
	if a.Waiting != 0 || len(a.Results) != 1 {
		w.t.Fatalf("the results are %+v; want one, and none to wait for", a)
	}
	return a.Results[0]
}

// delivery is an end of the turn.
func (w *seat) delivery(status utp.Status) api.DeliverRequest {
	q := api.DeliverRequest{WorkerRequest: w.at(), Status: status, Summary: "done"}
	if status != utp.StatusSuccess {
		q.Code = utp.CodeInternalError
	}
	return q
}

func (w *seat) ends(status utp.Status) error {
	w.t.Helper()
	return w.ask(kernel.AgentCaller, w.agent, api.OpDeliver, w.delivery(status), nil)
}

func (w *seat) mustEnd(status utp.Status) {
	w.t.Helper()
	if err := w.ends(status); err != nil {
		w.t.Fatal(err)
	}
}

// call is the n-th open call of the turn.
func (w *seat) call(n int) turn.Call {
	w.t.Helper()
	calls := w.turn(w.claim.Turn).Calls
	if n >= len(calls) {
		w.t.Fatalf("the turn has %d calls", len(calls))
	}
	return calls[n]
}

// starts has the service start a call.
func (s *scene) starts(call string) (o api.OwnerRequest, err error) {
	s.t.Helper()
	var a api.StartAnswer
	err = s.ask(kernel.ToolCaller, service, api.OpStart, api.StartRequest{Call: call, Owner: "replica"}, &a)
	return api.OwnerRequest{Call: call, Owner: "replica", Fence: a.Fence}, err
}

// mustStart is starts where it has to be granted.
func (s *scene) mustStart(call string) api.OwnerRequest {
	s.t.Helper()
	o, err := s.starts(call)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// finishes has the service report the result of a call.
func (s *scene) finishes(o api.OwnerRequest, result string) error {
	s.t.Helper()
	return s.ask(kernel.ToolCaller, service, api.OpFinish, api.FinishRequest{
		OwnerRequest: o, Status: utp.StatusSuccess, Result: api.Body{Inline: jsontext.Value(result)},
	}, nil)
}

func (s *scene) mustFinish(o api.OwnerRequest) {
	s.t.Helper()
	if err := s.finishes(o, `"done"`); err != nil {
		s.t.Fatal(err)
	}
}

// stops is the person stopping a turn.
func (s *scene) stops(id string) {
	s.t.Helper()
	s.must(kernel.HubCaller, person, api.OpStop, api.ReplyRequest{Session: s.turn(id).Session, By: person, Surface: "terminal"}, nil)
}

// questions are those that are open.
func (s *scene) questions() []api.QuestionRow {
	s.t.Helper()
	var a api.QuestionsAnswer
	s.must(kernel.HubCaller, person, api.OpQuestions, api.QuestionsRequest{}, &a)
	return a.Questions
}
