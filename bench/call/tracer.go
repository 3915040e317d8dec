package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// seen is one statement that was sent, with its parameters as texts.
type seen struct {
	session uint32
	query   string
	params  []string
	null    []bool
}

// tracer keeps every statement that is sent.
type tracer struct {
	mu  sync.Mutex
	all []seen
}

// TraceQueryStart implements pgx.QueryTracer.
func (t *tracer) TraceQueryStart(ctx context.Context, c *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	t.keep(c, q.SQL, q.Args)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (t *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements pgx.BatchTracer.
func (t *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (t *tracer) TraceBatchQuery(_ context.Context, c *pgx.Conn, q pgx.TraceBatchQueryData) {
	t.keep(c, q.SQL, q.Args)
}

// TraceBatchEnd implements pgx.BatchTracer.
func (t *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (t *tracer) keep(c *pgx.Conn, query string, args []any) {
	s := seen{session: c.PgConn().PID(), query: strings.TrimSpace(query)}
	for _, a := range args {
		s.params, s.null = append(s.params, written(a)), append(s.null, a == nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, s)
}

// written is a value as PostgreSQL reads it.
func written(a any) string {
	switch a := a.(type) {
	case []byte:
		return `\x` + hex.EncodeToString(a)
	case []string:
		return "{" + strings.Join(a, ",") + "}"
	default:
		return fmt.Sprint(a)
	}
}
