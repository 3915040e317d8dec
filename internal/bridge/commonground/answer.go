package commonground

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/utp"
)

// answering are the columns that are needed beside the others where tools of Earshot are served.
var answering = []string{"retry_count", "next_retry_at"}

// anchor reads how a call was entered, and holds it against its command. Where it was not, or otherwise, nobody may be
// answered: [errUnusable].
func (d *database) anchor(ctx context.Context, project string, c utp.Context) (a anchor, err error) {
	var headers string
	err = d.twice(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		defer cancel()
		return d.pool.QueryRow(ctx, `SELECT a.worker_target, i.channel_id, e.recursion_depth, i.turn_epoch, coalesce(e.trace_id, ''), i.context_headers::text
			FROM resource.project_agents a
			JOIN state.execution_edges e ON e.project_id = a.project_id AND e.source_agent_id = a.agent_id AND e.correlation_id = $3
				AND e.primitive = 'tool_call' AND e.edge_phase = 'request'
			JOIN state.agent_inbox i ON i.project_id = a.project_id AND i.agent_id = a.agent_id AND i.correlation_id = $3
				AND i.message_type = 'command_anchor' AND i.agent_turn_id = $4
			WHERE a.project_id = $1 AND a.agent_id = $2`, project, c.AgentID, c.ToolCallID, c.TurnID).
			Scan(&a.target, &a.channel, &a.depth, &a.epoch, &a.trace, &headers)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return a, errUnusable
	case err != nil:
		return a, err
	case json.Unmarshal([]byte(headers), &a.headers) != nil,
		a.channel != c.ChannelID,
		!c.DepthAbsent && a.depth != c.RecursionDepth,
		c.TurnEpoch > 0 && a.epoch != c.TurnEpoch:
		return a, errUnusable
	}
	if a.trace == "" {
		a.trace = traceOf(a.headers)
	}
	return a, nil
}

// traceOf is the trace id of the headers of a row.
func traceOf(headers map[string]string) string {
	for name, value := range headers {
		if strings.EqualFold(name, utp.HeaderTraceparent) {
			_, id, _ := utp.ParseTraceparent(value) // without one, a result has none
			return id
		}
	}
	return ""
}

// answered reports whether a call has its result: it can have one, ever.
func (d *database) answered(ctx context.Context, project, call string) (answered bool, err error) {
	err = d.twice(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		defer cancel()
		return d.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM cards WHERE tenant_id = $1 AND tool_call_id = $2 AND metadata->>'type' = 'tool.result')
			OR EXISTS (SELECT FROM state.agent_inbox WHERE project_id = $1 AND correlation_id = $2 AND message_type IN ('tool_result', 'timeout'))`,
			project, call).Scan(&answered)
	})
	return answered, err
}

// answer writes a result, as a tool service of theirs does: the card, the row that the worker finds, and the edge. All of it
// may be there already; where the call has another result, nothing is written.
func (d *database) answer(ctx context.Context, a answerRows) error {
	return d.twice(ctx, func() error { return d.writeAnswer(ctx, a) })
}

func (d *database) writeAnswer(ctx context.Context, a answerRows) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { //nolint:wrapcheck // the caller says what it was
		at := a.context
		added, err := tx.Exec(ctx, `INSERT INTO cards (card_id, tenant_id, content, tool_call_id, metadata, created_at)
			VALUES ($1, $2, $3::jsonb, $4, $5::jsonb, $6) ON CONFLICT DO NOTHING`,
			a.card.ID, at.ProjectID, string(a.card.Content), at.ToolCallID, string(a.card.Metadata), a.card.CreatedAt)
		if err != nil || added.RowsAffected() == 0 { // this one, with its row, or another: theirs is the word that counts
			return err //nolint:wrapcheck // the caller says what it was
		}
		_, err = tx.Exec(ctx, `INSERT INTO state.agent_inbox (inbox_id, project_id, agent_id, channel_id, message_type, correlation_id,
				agent_turn_id, turn_epoch, context_headers, payload, status, retry_count, next_retry_at, created_at)
			VALUES ($1, $2, $3, $4, 'tool_result', $5, $6, $7, $8::jsonb, $9::jsonb, 'pending', 0, now(), now()) ON CONFLICT DO NOTHING`,
			a.inbox, at.ProjectID, at.AgentID, at.ChannelID, at.ToolCallID, at.TurnID, a.anchor.epoch, string(a.headers), string(a.payload))
		if err != nil {
			return err //nolint:wrapcheck // the caller says what it was
		}
		_, err = tx.Exec(ctx, `INSERT INTO state.execution_edges (edge_id, project_id, channel_id, primitive, edge_phase, source_agent_id,
				target_agent_id, target_agent_turn_id, correlation_id, recursion_depth, trace_id, metadata, created_at)
			VALUES ($1, $2, $3, 'report', 'response', $4, $5, $6, $7, $8, nullif($9, ''), $10::jsonb, now()) ON CONFLICT DO NOTHING`,
			a.edge, at.ProjectID, at.ChannelID, a.source, at.AgentID, at.TurnID, at.ToolCallID, a.anchor.depth, a.anchor.trace, string(a.edgeMetadata))
		return err //nolint:wrapcheck // the caller says what it was
	})
}
