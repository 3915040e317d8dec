package main_test

import (
	"encoding/json"
	"maps"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/earshot-dev/earshot/internal/bus/bustest"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// groundWorker is an agent of CommonGround that uses tools of ours: it enters its calls and sends its commands as the original
// does, and reads its rows and cards as strictly.
type groundWorker struct {
	*bridged

	bells jetstream.Consumer
	lines string // what box.add has written
}

const (
	groundTrace = "0af7651916cd43dd8448eb211c80319c"
	groundAgent = "researcher"
)

func newGroundWorker(t *testing.T, with ...string) *groundWorker {
	t.Helper()
	b := &bridged{scene: emptyScene(t), ground: newGround(t, true), t: t}
	w := &groundWorker{bridged: b}
	b.does(0, "credential", "add", "commonground", "--role", "foreign", "--tools", groundTool)
	b.does(0, "credential", "add", "scout", "--role", "agent")
	tools, lines := b.box()
	w.lines = lines
	b.server = b.up(append([]string{"--nats-listen", bustest.Address(t), "--tools", tools}, with...)...)
	b.do(`INSERT INTO resource.project_agents VALUES ($1, $2, 'worker_generic')`, groundProject, groundAgent)
	for name, seconds := range map[string]string{"box_add": "60", "box_read": "60"} {
		b.do(`INSERT INTO resource.tools VALUES ($1, $2, 'A tool of Earshot.', '{"type":"object"}', 'cg.v1r4.{project_id}.{channel_id}.cmd.tool.earshot.call', 'suspend', $3::jsonb)`,
			groundProject, name, `{"suspend_timeout_seconds":`+seconds+`}`)
	}
	var err error
	w.bells, err = b.js.CreateOrUpdateConsumer(t.Context(), "cg_cmd_v1r4", jetstream.ConsumerConfig{
		Durable: "agent_worker_worker_generic_wakeup_v1r4", FilterSubject: "cg.v1r4.*.*.cmd.agent.worker_generic.wakeup",
		AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	must(t, err)
	return w
}

// serves starts the bridge with tools for CommonGround.
func (w *groundWorker) serves(fault string) *process {
	w.t.Helper()
	p := w.bridge(fault, "--project", groundProject, "--serve", "box.add,box.read")
	contains(w.t, p.out.String(), "CommonGround may use: box.add, box.read.")
	return p
}

// enters writes what the worker writes before its command: the card of the call, the request edge and the anchor.
func (w *groundWorker) enters(call, tool, args string) {
	w.t.Helper()
	pg, err := pgx.Connect(w.t.Context(), w.dsn)
	must(w.t, err)
	defer pg.Close(w.t.Context()) //nolint:errcheck // what counts was said by Exec
	_, err = pg.Exec(w.t.Context(), `INSERT INTO cards VALUES ($1, $2, $3, $4, $5, now())`, "card_"+call, groundProject,
		map[string]any{"__type__": "ToolCallContent", "tool_name": tool, "arguments": json.RawMessage(args), "status": "called", "target_subject": nil}, call,
		map[string]string{
			"type": "tool.call", "project_id": groundProject, "author_id": groundAgent, "created_at": "2026-11-20T15:17:37.523565+00:00",
			"agent_turn_id": "turn_1", "step_id": "step_1", "tool_call_id": call, "trace_id": groundTrace,
		})
	must(w.t, err)
	w.do(`INSERT INTO state.execution_edges (edge_id, project_id, channel_id, primitive, edge_phase, source_agent_id, source_agent_turn_id, source_step_id,
		target_agent_id, target_agent_turn_id, correlation_id, enqueue_mode, recursion_depth, trace_id)
		VALUES ($1, $2, 'public', 'tool_call', 'request', $3, 'turn_1', 'step_1', $3, 'turn_1', $4, 'call', 2, $5)`, "edge_"+call, groundProject, groundAgent, call, groundTrace)
	headers := map[string]string{}
	for name, value := range w.headers(call) {
		headers[name] = value[0]
	}
	w.do(`INSERT INTO state.agent_inbox (inbox_id, project_id, agent_id, channel_id, message_type, enqueue_mode, correlation_id, agent_turn_id, turn_epoch,
		context_headers, status) VALUES ($1, $2, $3, 'public', 'command_anchor', 'call', $4, 'turn_1', 3, $5, 'consumed')`,
		"anchor_"+call, groundProject, groundAgent, call, headers)
}

func (w *groundWorker) headers(call string) nats.Header {
	return nats.Header{
		"CG-Project-Id": {groundProject}, "CG-Channel-Id": {"public"}, "CG-Agent-Id": {groundAgent}, "CG-Turn-Id": {"turn_1"}, "CG-Turn-Epoch": {"3"},
		"CG-Step-Id": {"step_1"}, "CG-Tool-Call-Id": {call}, "CG-Recursion-Depth": {"2"}, "traceparent": {"00-" + groundTrace + "-b7ad6b7169203331-01"},
	}
}

// sends publishes the command of a call, as often as it is called.
func (w *groundWorker) sends(call, tool string, other nats.Header) {
	w.t.Helper()
	m := nats.NewMsg("cg.v1r4." + groundProject + ".public.cmd.tool.earshot.call")
	m.Header = w.headers(call)
	maps.Copy(m.Header, other)
	m.Data = []byte(`{"tool_name":"` + tool + `","after_execution":"suspend","tool_call_card_id":"card_` + call + `"}`)
	_, err := w.js.PublishMsg(w.t.Context(), m)
	must(w.t, err)
}

func (w *groundWorker) calls(call, tool, args string) {
	w.t.Helper()
	w.enters(call, tool, args)
	w.sends(call, tool, nil)
}

// groundResult is the result of a call as the worker reads it.
type groundResult struct {
	Type   string          `json:"__type__"` //nolint:tagliatelle // theirs
	Status string          `json:"status"`
	After  string          `json:"after_execution"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// resumes waits for the row of a call, takes it as the worker does, and returns its result. The row has to agree with the
// call in all that the original looks at.
func (w *groundWorker) resumes(call string) (r groundResult) {
	w.t.Helper()
	w.waits("1", `SELECT count(*)::text FROM state.agent_inbox i, cards c, state.execution_edges e
		WHERE i.project_id = $1 AND i.agent_id = $2 AND i.correlation_id = $3 AND i.message_type = 'tool_result' AND i.status = 'pending'
		AND i.next_retry_at <= now() AND i.turn_epoch = 3 AND i.agent_turn_id = 'turn_1' AND i.context_headers->>'CG-Tool-Call-Id' = $3
		AND i.context_headers->>'CG-Recursion-Depth' = '2' AND i.context_headers->>'CG-Step-Id' = 'step_1' AND substr(i.context_headers->>'traceparent', 4, 32) = $4
		AND c.card_id = i.payload->>'tool_result_card_id' AND c.tenant_id = $1 AND c.tool_call_id = $3 AND c.metadata->>'type' = 'tool.result'
		AND c.metadata->>'author_id' = 'tool.earshot' AND c.metadata->>'function_name' <> '' AND c.metadata->>'step_id' = 'step_1'
		AND c.metadata->>'agent_turn_id' = 'turn_1' AND c.metadata->>'trace_id' = $4 AND c.content->>'status' = i.payload->>'status'
		AND (SELECT count(*) FROM jsonb_object_keys(i.payload)) = 3
		AND e.project_id = $1 AND e.correlation_id = $3 AND e.primitive = 'report' AND e.edge_phase = 'response' AND e.recursion_depth = 2`,
		groundProject, groundAgent, call, groundTrace)
	content := w.cell(`SELECT content::text FROM cards WHERE tool_call_id = $1 AND metadata->>'type' = 'tool.result'`, call)
	must(w.t, json.Unmarshal([]byte(content), &r))
	if r.Type != "ToolResultContent" || r.After != "suspend" || (r.Status == "success") != (r.Error == nil) {
		w.t.Errorf("the result of %s is %s", call, content)
	}
	bell, err := w.bells.Next(jetstream.FetchMaxWait(patience))
	must(w.t, err)
	if got := strings.Join(bell.Headers()["CG-Agent-Id"], " and "); got != groundAgent || string(bell.Data()) != "{}" {
		w.t.Errorf("the doorbell is for %s: %s", got, bell.Data())
	}
	must(w.t, bell.Ack())
	return r
}

// made is how many results there are, at both sides, and lines how often box.add was done.
func (w *groundWorker) made(results, lines int) {
	w.t.Helper()
	if got := w.cell(`SELECT count(*)::text FROM cards WHERE metadata->>'type' = 'tool.result'`); got != strconv.Itoa(results) {
		w.t.Errorf("%s results at CommonGround; want %d", got, results)
	}
	if got := strings.Count(linesOf(w.t, w.lines), "\n"); got != lines {
		w.t.Errorf("box.add was done %d times; want %d", got, lines)
	}
}

// TestBridgeServes: an agent of CommonGround uses tools of ours. Each call goes through the gate: what cannot be undone is
// asked for, in a session with its name. A command that comes twice, malformed, or without being entered does nothing.
func TestBridgeServes(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	w := newGroundWorker(t)
	p := w.serves("")
	w.calls("call_1", "box_read", `{}`)
	w.sends("call_1", "box_read", nil)
	if r := w.resumes("call_1"); r.Status != "success" {
		t.Errorf("a read: %+v", r)
	}
	w.calls("call_2", "box_add", `{"line":"one"}`)
	w.awaitQuestion(1)
	if sessions := w.does(0, "sessions"); !strings.Contains(sessions, groundAgent) {
		t.Errorf("the person sees %s", sessions)
	}
	w.made(1, 0)
	w.does(0, "reply", "1", "reject")
	if r := w.resumes("call_2"); r.Status == "success" || r.Error.Code == "" {
		t.Errorf("what was rejected: %+v", r)
	}
	w.calls("call_3", "box_add", `{"line":"two"}`)
	w.awaitQuestion(2)
	w.does(0, "reply", "2", "accept")
	if r := w.resumes("call_3"); r.Status != "success" {
		t.Errorf("what was accepted: %+v", r)
	}
	w.made(3, 1)
	w.do(`INSERT INTO resource.tools SELECT project_id, 'tidy', description, parameters, target_subject, after_execution, options FROM resource.tools WHERE tool_name = 'box_read'`)
	w.calls("call_4", "tidy", `{}`)
	if r := w.resumes("call_4"); r.Error == nil || r.Error.Code != "auth_failed" || !strings.Contains(r.Error.Message, "--serve") {
		t.Errorf("a tool that is not served: %+v", r)
	}
	w.enters("call_5", "box_read", `{}`)
	w.sends("call_5", "box_add", nil) // the card calls another tool
	if r := w.resumes("call_5"); r.Error == nil || r.Error.Code != "bad_request" {
		t.Errorf("a card of another tool: %+v", r)
	}
	w.sends("call_6", "box_read", nil) // was not entered
	w.enters("call_7", "box_read", `{}`)
	w.sends("call_7", "box_read", nats.Header{"CG-Turn-Epoch": {"2"}}) // an epoch that is over
	w.calls("call_8", "box_read", `{}`)
	w.resumes("call_8")
	w.made(6, 1)
	w.sends("call_3", "box_add", nil) // long after
	w.calls("call_9", "box_read", `{}`)
	w.resumes("call_9")
	w.made(7, 1)
	p.signal(os.Interrupt)
	p.ends(0)
}

// TestBridgeServesKilled: the bridge dies after the call and after its result is written. The next one goes on: the call is
// made once, and its result is delivered.
func TestBridgeServesKilled(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, point := range testkit.Sample(t, []string{"bridge.called", "bridge.answered"}, 1) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newGroundWorker(t)
			p := w.serves(point)
			w.calls("call_1", "box_add", `{"line":"one"}`)
			w.awaitQuestion(1)
			w.does(0, "reply", "1", "accept")
			p.ends(killed)
			w.serves("")
			if r := w.resumes("call_1"); r.Status != "success" {
				t.Errorf("the result is %+v", r)
			}
			w.made(1, 1)
		})
	}
}

// TestBridgeServesLate: what nobody has answered when the time of the worker is over is not done any more, also if somebody
// says yes then.
func TestBridgeServesLate(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	w := newGroundWorker(t)
	w.bridge("", "--project", groundProject, "--serve", "box.add,box.read")
	w.do(`UPDATE resource.tools SET options = '{"suspend_timeout_seconds":4}' WHERE tool_name = 'box_add'`)
	began := time.Now()
	w.calls("call_1", "box_add", `{"line":"one"}`)
	w.awaitQuestion(1)
	if r := w.resumes("call_1"); r.Status == "success" || time.Since(began) < 3*time.Second {
		t.Errorf("after %v: %+v", time.Since(began), r)
	}
	if said := w.does(0, "pending"); strings.Contains(said, "box.add") {
		t.Errorf("the question is still open: %s", said)
	}
	w.made(1, 0)
	// What has begun is not told as not done: here it reads from a pipe that nobody writes to.
	must(t, os.Remove(w.lines))
	must(t, syscall.Mkfifo(w.lines, 0o600))
	w.do(`UPDATE resource.tools SET options = '{"suspend_timeout_seconds":4}' WHERE tool_name = 'box_read'`)
	w.calls("call_2", "box_read", `{}`)
	if r := w.resumes("call_2"); r.Error == nil || !strings.Contains(r.Error.Message, "it may still be done") {
		t.Errorf("a call under way: %+v", r.Error)
	}
	end, err := os.OpenFile(w.lines, os.O_RDWR, 0)
	must(t, err)
	must(t, end.Close())
}
