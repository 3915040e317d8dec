package main_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
)

const (
	groundProject = "proj_1"
	groundTool    = "word_count"
)

// groundTables are the tables that the bridge and a tool service of CommonGround share, with the columns and the rules that
// either of them goes by.
var groundTables = []string{
	`CREATE SCHEMA resource`, `CREATE SCHEMA state`,
	`CREATE TABLE cards (card_id text PRIMARY KEY, tenant_id text NOT NULL, content jsonb, tool_call_id text, metadata jsonb, created_at timestamptz, deleted_at timestamptz)`,
	`CREATE UNIQUE INDEX one_result ON cards (tenant_id, md5(tool_call_id)) WHERE tool_call_id IS NOT NULL AND metadata->>'type' = 'tool.result'`,
	`CREATE TABLE resource.project_agents (project_id text, agent_id text, worker_target text NOT NULL, PRIMARY KEY (project_id, agent_id))`,
	`CREATE TABLE resource.tools (project_id text, tool_name text, description text, parameters jsonb NOT NULL, target_subject text, after_execution text,
		options jsonb NOT NULL, PRIMARY KEY (project_id, tool_name))`,
	`CREATE TABLE state.agent_inbox (inbox_id text PRIMARY KEY, project_id text NOT NULL, agent_id text NOT NULL, channel_id text NOT NULL, message_type text NOT NULL,
		enqueue_mode text, correlation_id text, agent_turn_id text, turn_epoch bigint NOT NULL DEFAULT 0, context_headers jsonb NOT NULL DEFAULT '{}',
		payload jsonb NOT NULL DEFAULT '{}', status text NOT NULL DEFAULT 'pending', retry_count int NOT NULL DEFAULT 0,
		next_retry_at timestamptz, last_error text, processed_at timestamptz, archived_at timestamptz,
		created_at timestamptz DEFAULT now())`,
	`CREATE UNIQUE INDEX one_row ON state.agent_inbox (project_id, message_type, md5(correlation_id))`,
	`CREATE TABLE state.execution_edges (edge_id text PRIMARY KEY, project_id text NOT NULL, channel_id text, primitive text NOT NULL, edge_phase text NOT NULL,
		source_agent_id text, source_agent_turn_id text, source_step_id text, target_agent_id text, target_agent_turn_id text, correlation_id text,
		enqueue_mode text, recursion_depth int NOT NULL CHECK (recursion_depth >= 0), trace_id text, metadata jsonb NOT NULL DEFAULT '{}', created_at timestamptz DEFAULT now())`,
	`CREATE UNIQUE INDEX one_edge ON state.execution_edges (project_id, md5(correlation_id), primitive, edge_phase)`,
}

// ground is an installation of CommonGround: its PostgreSQL, its NATS with JetStream, and a tool service that counts words,
// as strict as the original about what it takes.
type ground struct {
	t       *testing.T
	dsn     string // of the installation
	bridge  string // of the bridge's own user
	cluster *cluster.Cluster
	nats    *server.Server
	nc      *nats.Conn
	js      jetstream.JetStream
	kv      jetstream.KeyValue
	running func() // ends the service

	mu   sync.Mutex
	runs int    // of the tool
	mode string // of the service: "", silent, or what is wrong with its card
}

// newGround starts an installation. Where it uses tools of ours, the bridge has the rights for that, too. May are further
// subjects that the bridge may publish to.
func newGround(t *testing.T, uses bool, may ...string) *ground {
	t.Helper()
	g := &ground{t: t}
	g.cluster, g.dsn = database(t)
	for _, table := range groundTables {
		g.do(table)
	}
	g.lets()
	if uses {
		g.do(`GRANT SELECT ON state.execution_edges TO bridge`)
	}
	g.do(`INSERT INTO resource.project_agents VALUES ($1, 'earshot', 'earshot')`, groundProject)
	g.tool(groundTool, "{}")
	var err error
	g.nats, err = server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), NoAuthUser: "bridge",
		Users: []*server.User{{Username: "service", Password: "s"}, {Username: "bridge", Password: "b", Permissions: groundRights(uses, may...)}},
	})
	must(t, err)
	g.nats.Start()
	t.Cleanup(func() { g.nats.Shutdown(); g.nats.WaitForShutdown() })
	if !g.nats.ReadyForConnections(patience) {
		t.Fatal("the NATS does not come up")
	}
	g.nc, err = nats.Connect(g.nats.ClientURL(), nats.Timeout(patience), nats.UserInfo("service", "s"))
	must(t, err)
	t.Cleanup(g.nc.Close)
	g.js, err = jetstream.New(g.nc)
	must(t, err)
	_, err = g.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "cg_cmd_v1r4", Subjects: []string{"cg.v1r4.*.*.cmd.*.*.>"}, MaxAge: 24 * time.Hour})
	must(t, err)
	g.kv, err = g.js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "cg_tool_idem_v1"})
	must(t, err)
	g.serve()
	return g
}

// groundRights is what docs/foreign-peers.md says that the bridge needs of their NATS.
func groundRights(uses bool, may ...string) *server.Permissions {
	consumers := []string{"cg_cmd_v1r4.earshot_bridge_" + groundProject + "_earshot"}
	allowed := append([]string{"cg.v1r4." + groundProject + ".*.cmd.tool.>", "$JS.API.STREAM.INFO.cg_cmd_v1r4", "$JS.API.CONSUMER.LIST.cg_cmd_v1r4"}, may...)
	if uses {
		allowed = append(allowed, "cg.v1r4."+groundProject+".*.cmd.agent.*.wakeup")
		consumers = append(consumers, consumers[0]+"_tools")
	}
	for _, c := range consumers {
		allowed = append(allowed, "$JS.API.CONSUMER.CREATE."+c+".>", "$JS.API.CONSUMER.MSG.NEXT."+c, "$JS.ACK."+c+".>")
	}
	return &server.Permissions{Publish: &server.SubjectPermission{Allow: allowed}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}}
}

// lets makes the bridge's own user of their database, with the rights that docs/foreign-peers.md names and no others.
func (g *ground) lets() {
	g.t.Helper()
	at, err := url.Parse(g.dsn)
	must(g.t, err)
	secret := password(g.t, g.dsn)
	must(g.t, g.cluster.Do(g.t.Context(), "CREATE ROLE bridge LOGIN PASSWORD '"+secret+"'"))
	g.do(`GRANT USAGE ON SCHEMA resource, state, ` + at.Query().Get("search_path") + ` TO bridge`)
	g.do(`GRANT SELECT ON resource.project_agents, resource.tools, cards, state.agent_inbox TO bridge`)
	g.do(`GRANT INSERT ON cards, state.execution_edges, state.agent_inbox TO bridge`)
	g.do(`GRANT UPDATE ON state.agent_inbox TO bridge`)
	at.User = url.UserPassword("bridge", secret)
	g.bridge = at.String()
}

// tool registers the tool in their table.
func (g *ground) tool(name, options string) {
	g.t.Helper()
	g.do(`INSERT INTO resource.tools VALUES ($1, $2, 'Counts words.', $3::jsonb, 'cg.v1r4.{project_id}.{channel_id}.cmd.tool.word_count.call', 'suspend', $4::jsonb)
		ON CONFLICT (project_id, tool_name) DO UPDATE SET options = excluded.options`,
		groundProject, name, `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":true}`, options)
}

func (g *ground) do(query string, args ...any) {
	g.t.Helper()
	pg, err := pgx.Connect(g.t.Context(), g.dsn)
	must(g.t, err)
	defer pg.Close(context.Background()) //nolint:errcheck // what counts was said by Exec
	_, err = pg.Exec(g.t.Context(), query, args...)
	must(g.t, err)
}

// cell reads one value as text.
func (g *ground) cell(query string, args ...any) string {
	g.t.Helper()
	pg, err := pgx.Connect(g.t.Context(), g.dsn)
	must(g.t, err)
	defer pg.Close(context.Background()) //nolint:errcheck // what counts was said by Scan
	var value string
	must(g.t, pg.QueryRow(g.t.Context(), query, args...).Scan(&value))
	return value
}

// waits waits until a query says what is wanted.
func (g *ground) waits(want, query string, args ...any) {
	g.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if g.cell(query, args...) == want {
			return
		}
		select {
		case <-g.t.Context().Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	g.t.Fatalf("%s is %s; want %s", query, g.cell(query, args...), want)
}

// commands counts the commands to tools in the stream.
func (g *ground) commands() uint64 {
	g.t.Helper()
	s, err := g.js.Stream(g.t.Context(), "cg_cmd_v1r4")
	must(g.t, err)
	info, err := s.Info(g.t.Context(), jetstream.WithSubjectFilter("cg.v1r4.*.*.cmd.tool.>"))
	must(g.t, err)
	var n uint64
	for _, of := range info.State.Subjects {
		n += of
	}
	return n
}

// called counts the calls that have a command in the stream. A read that is repeated has several, and they may come late.
func (g *ground) called() int {
	g.t.Helper()
	s, err := g.js.Stream(g.t.Context(), "cg_cmd_v1r4")
	must(g.t, err)
	state := s.CachedInfo().State
	calls := map[string]bool{}
	for i := state.FirstSeq; i <= state.LastSeq; i++ {
		m, err := s.GetMsg(g.t.Context(), i)
		must(g.t, err)
		if strings.Contains(m.Subject, ".cmd.tool.") {
			calls[m.Header.Get("CG-Tool-Call-Id")] = true
		}
	}
	return len(calls)
}

func (g *ground) sets(mode string) { g.mu.Lock(); defer g.mu.Unlock(); g.mode = mode }

func (g *ground) ran() int { g.mu.Lock(); defer g.mu.Unlock(); return g.runs }

// serve runs the tool service on its durable consumer.
func (g *ground) serve() {
	g.t.Helper()
	consumer, err := g.js.CreateOrUpdateConsumer(g.t.Context(), "cg_cmd_v1r4", jetstream.ConsumerConfig{
		Durable: "tool_word_count_cmd_v1r4", FilterSubject: "cg.v1r4.*.*.cmd.tool.word_count.*",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second, MaxDeliver: 3, DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	must(g.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		g.mu.Lock()
		mode := g.mode
		g.mu.Unlock()
		if mode == "silent" {
			_ = m.Ack()
			return
		}
		if err := g.count(ctx, m, mode); err != nil && ctx.Err() == nil {
			g.t.Logf("the service: %v", err)
			_ = m.Nak()
			return
		}
		_ = m.Ack()
	})
	must(g.t, err)
	g.running = func() { cancel(); consuming.Stop(); <-consuming.Closed() }
	g.t.Cleanup(g.running)
}

// groundCommand is a command as the service understands it.
type groundCommand struct {
	agent, turn, step, call, depth, trace, epoch string
	channel                                      string
	payload                                      map[string]string
}

// understands reads a command as strictly as the original does: headers in their exact case, and the three keys.
func understands(m jetstream.Msg) (groundCommand, error) {
	h := m.Headers()
	one := func(name string) string { return strings.Join(h[name], " and ") }
	c := groundCommand{
		agent: one("CG-Agent-Id"), turn: one("CG-Turn-Id"), step: one("CG-Step-Id"), call: one("CG-Tool-Call-Id"),
		depth: one("CG-Recursion-Depth"), trace: one("traceparent"), epoch: one("CG-Turn-Epoch"), channel: one("CG-Channel-Id"),
	}
	if err := json.Unmarshal(m.Data(), &c.payload); err != nil {
		return c, err
	}
	if keys := slices.Sorted(maps.Keys(c.payload)); !slices.Equal(keys, []string{"after_execution", "tool_call_card_id", "tool_name"}) {
		return c, fmt.Errorf("the payload has the keys %v", keys)
	}
	if subject := strings.Split(m.Subject(), "."); subject[2] != one("CG-Project-Id") || subject[3] != c.channel {
		return c, fmt.Errorf("the headers contradict %s", m.Subject())
	}
	for name := range h { // the original copies what it gets onto what it publishes, and NATS would drop or refuse that
		if strings.HasPrefix(name, "Nats-") {
			return c, fmt.Errorf("a header of NATS's own: %s", name)
		}
	}
	if c.agent == "" || c.turn == "" || c.step == "" || c.call == "" || len(c.trace) != 55 {
		return c, fmt.Errorf("a header is missing: %+v", c)
	}
	return c, nil
}

// count is one delivery of a command: the key of idempotency, the work, the card, the report, the wakeup.
func (g *ground) count(ctx context.Context, m jetstream.Msg, mode string) error {
	c, err := understands(m)
	if err != nil {
		return err
	}
	if strings.Count(m.Subject(), ".") != 7 {
		return fmt.Errorf("the service does not hear %s", m.Subject())
	}
	pg, err := pgx.Connect(ctx, g.dsn)
	if err != nil {
		return err
	}
	defer pg.Close(ctx) //nolint:errcheck // what counts was said by Exec
	var text, target string
	err = pg.QueryRow(ctx, `SELECT c.content->'arguments'->>'text', a.worker_target
		FROM cards c, state.execution_edges e, state.agent_inbox i, resource.project_agents a
		WHERE c.card_id = $1 AND c.tenant_id = $2 AND c.tool_call_id = $3 AND c.metadata->>'author_id' = $4 AND c.content->>'__type__' = 'ToolCallContent'
		AND e.project_id = $2 AND e.correlation_id = $3 AND e.primitive = 'tool_call' AND e.edge_phase = 'request' AND e.recursion_depth = $5::int
		AND i.project_id = $2 AND i.correlation_id = $3 AND i.message_type = 'command_anchor' AND i.agent_turn_id = $6 AND i.turn_epoch = $7::bigint
		AND i.context_headers->>'CG-Recursion-Depth' = $8 AND a.project_id = $2 AND a.agent_id = $4`,
		c.payload["tool_call_card_id"], groundProject, c.call, c.agent, c.depth, c.turn, c.epoch, c.depth).Scan(&text, &target)
	if err != nil {
		return fmt.Errorf("card, edge, anchor and agent: %w", err)
	}
	digest := sha256.Sum256([]byte(c.call))
	key := "tool." + groundProject + ".word_count." + hex.EncodeToString(digest[:])
	if _, err := g.kv.Create(ctx, key, []byte(`{"status":"running"}`)); err != nil {
		if errors.Is(err, jetstream.ErrKeyExists) {
			return g.wake(ctx, c, target) // it was done before
		}
		return err
	}
	g.mu.Lock()
	g.runs++
	g.mu.Unlock()
	if err := g.answers(ctx, pg, c, mode, text); err != nil {
		return err
	}
	return g.wake(ctx, c, target)
}

// answers writes the result card and the row of the report.
func (g *ground) answers(ctx context.Context, pg *pgx.Conn, c groundCommand, mode, text string) error {
	content := map[string]any{
		"__type__": "ToolResultContent", "status": "success", "after_execution": "suspend", "error": nil,
		"result": map[string]any{"total_tokens": len(strings.Fields(text))},
	}
	metadata := map[string]string{
		"type": "tool.result", "role": "tool", "function_name": groundTool, "tool_call_id": c.call, "agent_turn_id": c.turn, "step_id": c.step,
		"trace_id": c.trace[3:35], "project_id": groundProject, "author_id": "tool.word_count", "created_at": "2026-11-20T15:17:37.523565+00:00",
	}
	switch mode {
	case "failed":
		content["status"], content["result"] = "failed", nil
		content["error"] = map[string]string{"code": "bad_request", "message": "mode must be one of: map, reduce", "source": "tool"}
	case "untyped":
		delete(content, "__type__")
	}
	card := "res" + strings.TrimPrefix(c.call, "tc_")
	_, err := pg.Exec(ctx, `INSERT INTO cards (card_id, tenant_id, content, tool_call_id, metadata, created_at) VALUES ($1, $2, $3, $4, $5, now())`,
		card, groundProject, content, c.call, metadata)
	if err != nil {
		return err
	}
	headers := map[string]string{"CG-Agent-Id": c.agent, "CG-Turn-Id": c.turn, "CG-Tool-Call-Id": c.call, "CG-Recursion-Depth": c.depth, "traceparent": c.trace}
	_, err = pg.Exec(ctx, `INSERT INTO state.agent_inbox (inbox_id, project_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch,
		context_headers, payload) VALUES ($1, $2, $3, $4, 'tool_result', $5, $6, $7::bigint, $8, $9)`, "inbox_"+card, groundProject, c.agent, c.channel, c.call, c.turn, c.epoch,
		headers, map[string]any{"after_execution": "suspend", "status": content["status"], "tool_result_card_id": card})
	return err
}

// wake rings for the worker of the agent.
func (g *ground) wake(ctx context.Context, c groundCommand, target string) error {
	m := nats.NewMsg("cg.v1r4." + groundProject + "." + c.channel + ".cmd.agent." + target + ".wakeup")
	m.Header = nats.Header{"CG-Agent-Id": {c.agent}, "CG-Turn-Id": {c.turn}}
	m.Data = []byte("{}")
	_, err := g.js.PublishMsg(ctx, m)
	return err
}
