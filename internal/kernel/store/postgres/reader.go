package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// question is a query outside of any transaction.
type question struct {
	query string
	args  []any
	read  func(pgx.Rows) error
	// fed: rows were handed over, so it cannot be sent again.
	fed *bool
}

// readers answer the questions of several updates together.
type readers struct{ workerPool[question] }

func (r *readers) ask(ctx context.Context, q question) error { return r.do(ctx, q) }

// answerQuestions sends a group of queries at once. After one fails, the server answers none of the
// rest: those and the failed one are sent again by themselves, so that each gets its own error. A query
// whose rows were handed over in part cannot be sent again.
func (s *Store) answerQuestions(ctx context.Context, pooled *pgxpool.Conn, group []*job[question]) {
	pg := pooled.Conn()
	if len(group) == 1 {
		group[0].answer(s.single(ctx, pg, group[0].request))
		return
	}
	var batch pgx.Batch
	for _, j := range group {
		batch.Queue(j.request.query, j.request.args...)
	}
	results := pg.SendBatch(ctx, &batch)
	var left []*job[question]
	for _, j := range group {
		if len(left) > 0 {
			left = append(left, j)
			continue
		}
		rows, err := results.Query()
		if err == nil {
			own := j.request.read(rows)
			rows.Close()
			if err = rows.Err(); err == nil {
				j.answer(own)
				continue
			}
		}
		if *j.request.fed {
			j.answer(err)
			continue
		}
		left = append(left, j)
	}
	_ = results.Close() // what failed is asked again
	for _, j := range left {
		j.answer(s.single(ctx, pg, j.request))
	}
}

// single asks one question, on another connection where the first is dead.
func (s *Store) single(ctx context.Context, pg *pgx.Conn, q question) error {
	rows, err := pg.Query(ctx, q.query, q.args...)
	if err == nil {
		err = finished(rows, q.read(rows))
	}
	const tries = 3
	for try := 1; try < tries && lost(err) && !*q.fed && ctx.Err() == nil; try++ {
		s.pool.Reset()
		err = s.pool.AcquireFunc(ctx, func(other *pgxpool.Conn) error {
			rows, err := other.Query(ctx, q.query, q.args...)
			if err != nil {
				return err //nolint:wrapcheck // border maps it
			}
			return finished(rows, q.read(rows))
		})
	}
	return err //nolint:wrapcheck // border maps it
}
