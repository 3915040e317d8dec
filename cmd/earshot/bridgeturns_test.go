package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/worker"
	"github.com/earshot-dev/earshot/worker/agent"
)

// groundPMO is the PMO of an installation: it has an agent of theirs do something, and reports what came of it.
type groundPMO struct {
	*bridged

	mu     sync.Mutex
	silent bool // it takes commands, and its agents never end
	took   int  // commands
}

const (
	pmoTool = "fork_join"
	pmoArgs = `{"tasks":[{"target_strategy":"new","target_ref":"researcher","instruction":"What is 6 * 7?"}]}`
)

func newGroundPMO(t *testing.T, seconds string) *groundPMO {
	t.Helper()
	g := newGround(t, false, "cg.v1r4."+groundProject+".*.cmd.sys.pmo.internal.*")
	g.do(`INSERT INTO resource.tools VALUES ($1, $2, 'Fans out.', '{"type":"object"}', 'cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.fork_join', 'suspend', $3::jsonb)`,
		groundProject, pmoTool, `{"suspend_timeout_seconds":`+seconds+`}`)
	p := &groundPMO{bridged: newBridgedTo(g, "rules: []\n", pmoTool)}
	_, err := g.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "cg_evt_v1r4", Subjects: []string{"cg.v1r4.*.*.evt.*.*.>"}})
	must(t, err)
	consumer, err := g.js.CreateOrUpdateConsumer(t.Context(), "cg_cmd_v1r4", jetstream.ConsumerConfig{
		Durable: "pmo_service_cmd_v1r4", FilterSubject: "cg.v1r4.*.*.cmd.sys.pmo.>", AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		_ = m.Ack() // as the original, before it has done anything
		if err := p.fork(ctx, m); err != nil && ctx.Err() == nil {
			t.Errorf("the PMO: %v", err)
		}
	})
	must(t, err)
	t.Cleanup(func() { cancel(); consuming.Stop(); <-consuming.Closed() })
	return p
}

// fork is one command. The original keeps no account of what it has had: a command that comes twice is done twice.
func (p *groundPMO) fork(ctx context.Context, m jetstream.Msg) error {
	c, err := understands(m)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.took++
	silent := p.silent
	p.mu.Unlock()
	if silent {
		return nil
	}
	pg, err := pgx.Connect(ctx, p.dsn)
	if err != nil {
		return err
	}
	defer pg.Close(ctx) //nolint:errcheck // what counts was said by Exec
	var asks, target string
	err = pg.QueryRow(ctx, `SELECT c.content->'arguments'->'tasks'->0->>'instruction', a.worker_target
		FROM cards c, resource.tools t, state.execution_edges e, state.agent_inbox i, resource.project_agents a
		WHERE c.card_id = $1 AND c.tenant_id = $2 AND c.tool_call_id = $3 AND c.content->>'tool_name' = t.tool_name AND t.project_id = $2
		AND t.tool_name = $4 AND t.after_execution = $5 AND $6 LIKE '%.cmd.sys.pmo.internal.' || t.tool_name
		AND e.project_id = $2 AND e.correlation_id = $3 AND e.edge_phase = 'request' AND e.recursion_depth = $7::int
		AND i.project_id = $2 AND i.correlation_id = $3 AND i.message_type = 'command_anchor' AND i.agent_turn_id = $8 AND i.turn_epoch = $9::bigint
		AND a.project_id = $2 AND a.agent_id = $10`,
		c.payload["tool_call_card_id"], groundProject, c.call, c.payload["tool_name"], c.payload["after_execution"], m.Subject(), c.depth, c.turn, c.epoch, c.agent).
		Scan(&asks, &target)
	if err != nil {
		return fmt.Errorf("card, tool, edge, anchor and agent: %w", err)
	}
	// The headers that it got are on what it publishes: the event that the child has been dispatched.
	event := &nats.Msg{Subject: "cg.v1r4." + groundProject + ".public.evt.agent.child.state", Header: m.Headers(), Data: []byte("{}")}
	if _, err := p.js.PublishMsg(ctx, event); err != nil {
		return fmt.Errorf("the event: %w", err)
	}
	card := "res" + strings.TrimPrefix(c.call, "tc_")
	_, err = pg.Exec(ctx, `INSERT INTO cards (card_id, tenant_id, content, tool_call_id, metadata, created_at) VALUES ($1, $2, $3, $4, $5, now())`,
		card, groundProject, map[string]any{
			"__type__": "ToolResultContent", "status": "success", "after_execution": "suspend", "error": nil,
			"result": map[string]any{"status": "success", "results": []map[string]any{{"task_index": 0, "status": "success", "summary": asks + " output: 42"}}},
		}, c.call, map[string]string{
			"type": "tool.result", "role": "tool", "function_name": pmoTool, "tool_call_id": c.call, "agent_turn_id": c.turn, "step_id": c.step,
			"project_id": groundProject, "author_id": "sys.pmo.batch_manager", "created_at": "2026-11-20T15:17:37.523565+00:00",
		})
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, `INSERT INTO state.agent_inbox (inbox_id, project_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch, payload)
		VALUES ($1, $2, $3, $4, 'tool_result', $5, $6, $7::bigint, $8)`, "inbox_"+card, groundProject, c.agent, c.channel, c.call, c.turn, c.epoch,
		map[string]any{"after_execution": "suspend", "status": "success", "tool_result_card_id": card})
	if err != nil {
		return err
	}
	return p.wake(ctx, c, target)
}

// commanded is how many commands it has had.
func (p *groundPMO) commanded() int { p.mu.Lock(); defer p.mu.Unlock(); return p.took }

// TestBridgePMO: an agent of ours has one of CommonGround's do something, by a tool of its PMO, under the bridge's name. The
// gate is passed first; the PMO gets its own name of the tool, and its result is ours.
func TestBridgePMO(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	p := newGroundPMO(t, "60")
	contains(t, p.bridge("").out.String(), "Offered to Earshot: commonground.fork_join.")
	if o := p.callsTool("commonground."+pmoTool, pmoArgs).comesTo(3); o.Code != "denied_by_policy" || p.commanded() != 0 {
		t.Errorf("a tool of the PMO that nobody has reviewed: %+v, %d commands", o, p.commanded())
	}
	p.reviewedTool("commonground."+pmoTool, "read")
	call := p.callsTool("commonground."+pmoTool, pmoArgs)
	if o := call.comesTo(0); o.Status != "success" || !strings.Contains(call.out.String(), "What is 6 * 7? output: 42") || p.commanded() != 1 {
		t.Errorf("%+v after %d commands: %s", o, p.commanded(), call.out)
	}
	p.waits("0", `SELECT count(*)::text FROM state.agent_inbox WHERE status <> 'consumed'`)
}

// TestBridgePMOOnce: a command to the PMO leaves once, although Earshot sends that of a reading call again and the bridge dies.
func TestBridgePMOOnce(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for point, want := range map[string]struct {
		seconds  string
		commands int
		status   string
	}{"": {"15", 1, "timeout"}, "bridge.inserted": {"6", 0, "timeout"}, "bridge.published": {"60", 1, "success"}} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			counts(t)
			p := newGroundPMO(t, want.seconds)
			p.silent = point == "" // before any command
			b := p.bridge(point)
			p.reviewedTool("commonground."+pmoTool, "read")
			call := p.callsTool("commonground."+pmoTool, pmoArgs)
			if point != "" {
				b.ends(killed)
				p.bridge("")
			}
			call.wait()
			var o outcome
			must(t, json.Unmarshal([]byte(call.out.String()), &o))
			if o.Status != want.status || p.commanded() != want.commands {
				t.Errorf("%s after %d commands; want %s after %d", o.Status, p.commanded(), want.status, want.commands)
			}
		})
	}
}

// scout is an agent of Earshot that agents of CommonGround ask.
type scout struct {
	asked chan string   // the questions, as it begins
	goOn  chan struct{} // its answers
}

// newScout has the agent scout come to the server.
func (w *groundWorker) newScout() *scout {
	w.t.Helper()
	s := &scout{asked: make(chan string, 10), goOn: make(chan struct{}, 10)}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- agent.Run(ctx, agent.Options{Credentials: filepath.Join(w.data, "credentials", "agent.scout.json")}, worker.Agent{
			Name: "scout", Plan: worker.PlanFunc(func(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
				var args struct {
					Text string `json:"text"`
				}
				if err := json.Unmarshal(t.Args, &args); err != nil {
					return worker.Decision{}, err
				}
				s.asked <- args.Text
				select {
				case <-s.goOn:
					return worker.Decision{Answer: &worker.Answer{Summary: "To " + args.Text + ": 42"}}, nil
				case <-ctx.Done():
					return worker.Decision{}, ctx.Err()
				}
			}),
		})
	}()
	w.t.Cleanup(func() {
		stop()
		must(w.t, <-ended)
	})
	return s
}

// begins waits until the agent is asked something, and returns the question.
func (s *scout) begins(t *testing.T) string {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case q := <-s.asked:
		return q
	case <-timer.C:
		t.Fatal("scout is not asked")
		return ""
	}
}

// newAsked is a worker of CommonGround whose project has a tool that asks our agent scout.
func newAsked(t *testing.T, seconds string) (*groundWorker, *scout) {
	t.Helper()
	w := newGroundWorker(t, "--may-start", "commonground=scout")
	for _, name := range []string{"ask_scout", "ask_tidy", "ask_operator"} {
		w.do(`INSERT INTO resource.tools VALUES ($1, $2, 'Asks an agent of Earshot.', '{"type":"object"}', 'cg.v1r4.{project_id}.{channel_id}.cmd.tool.earshot.call', 'suspend', $3::jsonb)`,
			groundProject, name, `{"suspend_timeout_seconds":`+seconds+`}`)
	}
	s := w.newScout()
	return w, s
}

func (w *groundWorker) askable(fault string) *process {
	w.t.Helper()
	p := w.bridge(fault, "--project", groundProject, "--ask", "scout,tidy")
	contains(w.t, p.out.String(), "CommonGround may ask: scout, tidy.")
	return p
}

// TestBridgeAsked: an agent of CommonGround starts a turn of one of ours and gets its answer; the same command again starts
// none. Whom the bridge does not name, and whom the operator lets nobody start from there, is not asked.
func TestBridgeAsked(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	w, s := newAsked(t, "60")
	p := w.askable("")
	w.calls("call_1", "ask_scout", `{"question":"6 * 7"}`)
	w.sends("call_1", "ask_scout", nil)
	if q := s.begins(t); q != "6 * 7" {
		t.Errorf("scout is asked %q", q)
	}
	s.goOn <- struct{}{}
	if r := w.resumes("call_1"); r.Status != "success" || !strings.Contains(string(r.Result), "To 6 * 7: 42") {
		t.Errorf("the answer is %+v, %s", r, r.Result)
	}
	for call, want := range map[string]struct{ tool, args, code string }{
		"call_2": {"ask_operator", `{"question":"6 * 7"}`, "auth_failed"},
		"call_3": {"ask_tidy", `{"question":"6 * 7"}`, "auth_failed"},
		"call_4": {"ask_scout", `{"question":" "}`, "bad_request"},
		"call_5": {"ask_scout", `{"question":"6 * 7","history":true}`, "bad_request"},
	} {
		w.calls(call, want.tool, want.args)
		if r := w.resumes(call); r.Error == nil || !strings.Contains(string(r.Result)+r.Error.Code, want.code) {
			t.Errorf("%s %s: %+v, %s", want.tool, want.args, r, r.Result)
		}
	}
	if len(s.asked) > 0 {
		t.Errorf("scout is asked %q", <-s.asked)
	}
	p.signal(os.Interrupt)
	p.ends(0)
}

// TestBridgeAskedKilled: the bridge dies while our agent works, and when its answer is there and not written. The next one
// delivers it; the turn runs once.
func TestBridgeAskedKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, point := range testkit.Sample(t, []string{"no.such.point", "bridge.called", "bridge.answered"}, 1) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			counts(t)
			w, s := newAsked(t, "60")
			p := w.askable(point)
			w.calls("call_1", "ask_scout", `{"question":"6 * 7"}`)
			s.begins(t)
			if point == "no.such.point" {
				p.kill()
				p.wait()
				s.goOn <- struct{}{}
			} else {
				s.goOn <- struct{}{}
				p.ends(killed)
			}
			w.askable("")
			if r := w.resumes("call_1"); r.Status != "success" || !strings.Contains(string(r.Result), "To 6 * 7: 42") {
				t.Errorf("the answer is %+v, %s", r, r.Result)
			}
			if len(s.asked) > 0 {
				t.Error("scout is asked twice")
			}
			w.made(1, 0)
		})
	}
}

// TestBridgeAskedLate: when the time of their worker is over, our turn is stopped, and the result is a timeout.
func TestBridgeAskedLate(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	w, s := newAsked(t, "8")
	w.askable("")
	began := time.Now()
	w.calls("call_1", "ask_scout", `{"question":"6 * 7"}`)
	s.begins(t)
	if r := w.resumes("call_1"); r.Status == "success" || time.Since(began) < 7*time.Second {
		t.Errorf("after %v: %+v", time.Since(began), r)
	}
	var turns []struct {
		Agent string `json:"agent"`
	}
	for end := time.Now().Add(patience); ; {
		w.reads(&turns, "turns", "tree", "--json")
		if len(turns) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("turns are open: %+v", turns)
		}
	}
}
