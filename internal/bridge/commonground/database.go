package commonground

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// columns are what the bridge reads and writes of their tables. An installation without one of them is of another version.
var columns = []struct {
	table string
	names []string
}{
	{"cards", []string{"card_id", "tenant_id", "content", "tool_call_id", "metadata", "created_at", "deleted_at"}},
	{"resource.project_agents", []string{"project_id", "agent_id", "worker_target"}},
	{"resource.tools", []string{"project_id", "tool_name", "description", "parameters", "target_subject", "after_execution", "options"}},
	{"state.agent_inbox", []string{
		"inbox_id", "project_id", "agent_id", "channel_id", "message_type", "enqueue_mode", "correlation_id", "agent_turn_id", "turn_epoch",
		"context_headers", "payload", "status", "last_error", "processed_at", "archived_at", "created_at",
	}},
	{"state.execution_edges", []string{
		"edge_id", "project_id", "channel_id", "primitive", "edge_phase", "source_agent_id", "source_agent_turn_id", "source_step_id",
		"target_agent_id", "target_agent_turn_id", "correlation_id", "enqueue_mode", "recursion_depth", "trace_id", "metadata", "created_at",
	}},
}

const (
	connectTimeout = 10 * time.Second
	// statementTimeout bounds each exchange with their database.
	statementTimeout = 20 * time.Second
	// reportsAtOnce is how many rows of the inbox are read at once.
	reportsAtOnce = 100
)

// database is their PostgreSQL.
type database struct {
	pool  *pgxpool.Pool
	where string
}

// openDatabase connects, and refuses a database that is not theirs.
func openDatabase(ctx context.Context, dsn string, answers bool) (*database, error) {
	const hint = "see that it is up, that the DSN names it, and that the user and password are right; a password is best kept in a password file (PGPASSFILE)"
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, cause.Misuse("--dsn does not say where CommonGround's database is", "for example postgres://cg@db.example.org/cardbox")
	}
	to := config.ConnConfig
	d := &database{where: "postgres://" + net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))) + "/" + to.Database}
	to.ConnectTimeout, config.MaxConns = connectTimeout, 4
	if to.RuntimeParams["application_name"] == "" {
		to.RuntimeParams["application_name"] = "earshot-bridge"
	}
	if d.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
		return nil, cause.Fail(err, "the database "+d.where+" cannot be opened", hint)
	}
	if err := d.pool.Ping(ctx); err != nil {
		d.pool.Close()
		return nil, cause.Fail(err, "the database "+d.where+" cannot be reached", hint)
	}
	if err := d.check(ctx, answers); err != nil {
		d.pool.Close()
		return nil, err
	}
	return d, nil
}

func (d *database) close() { d.pool.Close() }

// check demands each table, with the columns that the bridge uses.
func (d *database) check(ctx context.Context, answers bool) error {
	for _, t := range columns {
		if answers && t.table == "state.agent_inbox" {
			t.names = slices.Concat(t.names, answering)
		}
		rows, err := d.pool.Query(ctx, `SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, t.table)
		var names []string
		if err == nil {
			names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil {
			return cause.Fail(err, "the tables of "+d.where+" cannot be looked at", "see that the user may read them")
		}
		const hint = "name the database of a CommonGround installation of v1r4 (its setting cardbox.postgres_dsn)"
		if len(names) == 0 {
			return cause.Fail(nil, "the database "+d.where+" has no table "+t.table, hint)
		}
		for _, name := range t.names {
			if !slices.Contains(names, name) {
				return cause.Fail(nil, "the table "+t.table+" of "+d.where+" has no column "+name+": it is of another version", hint)
			}
		}
	}
	return nil
}

// project returns the only project with tools.
func (d *database) project(ctx context.Context) (string, error) {
	rows, err := d.pool.Query(ctx, `SELECT DISTINCT project_id FROM resource.tools ORDER BY project_id LIMIT 20`)
	var all []string
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	switch {
	case err != nil:
		return "", cause.Fail(err, "the projects of "+d.where+" cannot be read", "see that the user may read resource.tools")
	case len(all) == 0:
		return "", cause.Fail(nil, "no project of "+d.where+" has tools", "register a tool with CommonGround first")
	case len(all) > 1:
		return "", cause.Misuse("several projects have tools: "+cause.OneLine(strings.Join(all, ", ")), "name one with --project")
	}
	return all[0], nil
}

// target returns where their wakeups for the bridge's agent go.
func (d *database) target(ctx context.Context, project, agent string) (string, error) {
	var target string
	err := d.pool.QueryRow(ctx, `SELECT worker_target FROM resource.project_agents WHERE project_id = $1 AND agent_id = $2`, project, agent).Scan(&target)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", cause.Fail(nil, "the roster of the project "+project+" has no agent "+agent+": CommonGround's services answer only to agents that they know",
			"add it as docs/foreign-peers.md shows, with a worker_target that no worker of theirs serves; or name another one with --agent")
	case err != nil:
		return "", cause.Fail(err, "the roster of "+d.where+" cannot be read", "see that the user may read resource.project_agents")
	case !utp.ValidToken(target):
		return "", cause.Fail(nil, "the worker_target of the agent "+agent+" is "+utp.Shown(target), "use 1 to 128 of A-Z a-z 0-9 _ -")
	}
	return target, nil
}

// twice runs a statement again where its connection has failed: theirs may have been restarted, and all statements here
// may be repeated.
func (d *database) twice(ctx context.Context, run func() error) error {
	err := run()
	fault, told := errors.AsType[*pgconn.PgError](err)
	if err == nil || ctx.Err() != nil || told && !strings.HasPrefix(fault.Code, "57P") {
		return err
	}
	d.pool.Reset()
	return run()
}

// tools returns those of the names that their table of tools has.
func (d *database) tools(ctx context.Context, project string, names ...string) (all map[string]tool, err error) {
	err = d.twice(ctx, func() error {
		all, err = d.readTools(ctx, project, names)
		return err
	})
	return all, err
}

func (d *database) readTools(ctx context.Context, project string, names []string) (map[string]tool, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	rows, err := d.pool.Query(ctx, `SELECT tool_name, coalesce(description, ''), coalesce(target_subject, ''), coalesce(after_execution, ''),
		parameters::text, options::text FROM resource.tools WHERE project_id = $1 AND tool_name = ANY($2)`, project, names)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it was
	}
	all := map[string]tool{}
	var t tool
	var parameters, options string
	_, err = pgx.ForEachRow(rows, []any{&t.name, &t.description, &t.target, &t.after, &parameters, &options}, func() error {
		t.parameters, t.options = jsontext.Value(parameters), jsontext.Value(options)
		all[t.name] = t
		return nil
	})
	return all, err //nolint:wrapcheck // the caller says what it was
}

// insert writes what their service looks for before it takes a command. All of it may be there already; entered reports whether
// it certainly was not.
func (d *database) insert(ctx context.Context, c call) (entered bool, err error) {
	err = d.twice(ctx, func() error {
		entered, err = d.write(ctx, c)
		return err
	})
	return entered, err
}

func (d *database) write(ctx context.Context, c call) (entered bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	err = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		at := c.context
		_, err := tx.Exec(ctx, `INSERT INTO cards (card_id, tenant_id, content, tool_call_id, metadata, created_at)
			VALUES ($1, $2, $3::jsonb, $4, $5::jsonb, $6) ON CONFLICT DO NOTHING`,
			c.card.ID, at.ProjectID, string(c.card.Content), c.id, string(c.card.Metadata), c.card.CreatedAt)
		if err != nil {
			return err //nolint:wrapcheck // the caller says what it was
		}
		_, err = tx.Exec(ctx, `INSERT INTO state.execution_edges (edge_id, project_id, channel_id, primitive, edge_phase,
				source_agent_id, source_agent_turn_id, source_step_id, target_agent_id, target_agent_turn_id, correlation_id, enqueue_mode,
				recursion_depth, trace_id, metadata, created_at)
			VALUES ($1, $2, $3, 'tool_call', 'request', $4, $5, $6, $4, $5, $7, 'call', $8, $9, $10::jsonb, now()) ON CONFLICT DO NOTHING`,
			c.edge, at.ProjectID, at.ChannelID, at.AgentID, at.TurnID, at.StepID, c.id, at.RecursionDepth, c.trace, string(c.edgeMetadata))
		if err != nil {
			return err //nolint:wrapcheck // the caller says what it was
		}
		added, err := tx.Exec(ctx, `INSERT INTO state.agent_inbox (inbox_id, project_id, agent_id, channel_id, message_type, enqueue_mode,
				correlation_id, agent_turn_id, turn_epoch, context_headers, payload, status, created_at)
			VALUES ($1, $2, $3, $4, 'command_anchor', 'call', $5, $6, $7, $8::jsonb, $9::jsonb, 'consumed', now()) ON CONFLICT DO NOTHING`,
			c.inbox, at.ProjectID, at.AgentID, at.ChannelID, c.id, at.TurnID, at.TurnEpoch, string(c.headers), string(c.anchor))
		entered = added.RowsAffected() > 0
		return err //nolint:wrapcheck // the caller says what it was
	})
	return entered && err == nil, err //nolint:wrapcheck // the caller says what it was
}

// refusedValue reports whether the database refuses a value as such, for example text with a NUL.
func refusedValue(err error) bool {
	fault, is := errors.AsType[*pgconn.PgError](err)
	return is && strings.HasPrefix(fault.Code, "22")
}

// reports returns the reports in the bridge's inbox that it has not consumed, the oldest first.
func (d *database) reports(ctx context.Context, project, agent string) ([]report, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	rows, err := d.pool.Query(ctx, `SELECT i.inbox_id, coalesce(i.correlation_id, ''), i.payload::text, coalesce(c.content->>'tool_name', ''),
			coalesce(c.content->>'target_subject', ''), coalesce(c.metadata::text, '{}')
		FROM state.agent_inbox i
		LEFT JOIN cards c ON c.tenant_id = i.project_id AND c.tool_call_id = i.correlation_id AND c.metadata->>'type' = 'tool.call' AND c.deleted_at IS NULL
		WHERE i.project_id = $1 AND i.agent_id = $2 AND i.message_type IN ('tool_result', 'timeout') AND i.status IN ('pending', 'processing', 'deferred')
		ORDER BY i.created_at, i.inbox_id LIMIT $3`, project, agent, reportsAtOnce)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it was
	}
	var all []report
	var r report
	var payload, metadata string
	_, err = pgx.ForEachRow(rows, []any{&r.inbox, &r.call, &payload, &r.tool, &r.subject, &metadata}, func() error {
		r.payload, r.metadata = jsontext.Value(payload), jsontext.Value(metadata)
		all = append(all, r)
		return nil
	})
	return all, err //nolint:wrapcheck // the caller says what it was
}

// errNoCard is the answer for a card that is not there, or is there without content.
var errNoCard = errors.New("its result card is not there")

// card reads a card as utp has it, whatever it holds.
func (d *database) card(ctx context.Context, project, id string) (utp.Card, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	var call, content, metadata *string
	err := d.pool.QueryRow(ctx, `SELECT tool_call_id, content::text, metadata::text FROM cards WHERE tenant_id = $1 AND card_id = $2 AND deleted_at IS NULL`,
		project, id).Scan(&call, &content, &metadata)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && (content == nil || metadata == nil):
		return utp.Card{}, &utp.CardError{Reason: utp.CodeCardNotFound, Card: id, Field: "the card", Found: "not there", Expected: "the result", Err: errNoCard}
	case err != nil:
		return utp.Card{}, err //nolint:wrapcheck // the caller says what it was
	}
	row := map[string]any{"card_id": id, "tenant_id": project, "content": jsontext.Value(*content), "metadata": jsontext.Value(*metadata)}
	if call != nil {
		row["tool_call_id"] = *call
	}
	raw, err := json.Marshal(row, jsontext.PreserveRawStrings(true))
	if err != nil {
		return utp.Card{}, &utp.CardError{Reason: utp.CodeBadRequest, Card: id, Field: "the card", Found: "malformed", Expected: "JSON", Err: err}
	}
	return utp.DecodeCard(raw)
}

// consume marks a row as done, as a worker of theirs does; with a reason, as one that cannot be used.
func (d *database) consume(ctx context.Context, project, agent, inbox, reason string) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	_, err := d.pool.Exec(ctx, `UPDATE state.agent_inbox SET status = CASE WHEN $4 = '' THEN 'consumed' ELSE 'error' END, last_error = nullif($4, ''),
		processed_at = coalesce(processed_at, now()), archived_at = now()
		WHERE project_id = $1 AND agent_id = $2 AND inbox_id = $3 AND message_type IN ('tool_result', 'timeout')`, project, agent, inbox, reason)
	return err //nolint:wrapcheck // the caller says what it was
}
