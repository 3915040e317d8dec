package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// errAlone: what an update wrote could not be committed with the others, and nothing of it
// was. It is run again by itself, and hears then what is wrong.
var errAlone = errors.New("postgres: it has to be run by itself")

// writers commit what several updates write in one transaction.
type writers struct{ workerPool[[]statement] }

func (w *writers) commit(ctx context.Context, later []statement) error { return w.do(ctx, later) }

// commitGroup commits a group: first with the rows of all in as few statements as they need.
// Where something is wrong with that, each writes its own rows: those whose statements fail or
// come out otherwise than expected are left out, and the others sent again without them.
func (s *Store) commitGroup(ctx context.Context, pooled *pgxpool.Conn, group []*job[[]statement]) {
	pg := pooled.Conn()
	for merged := true; len(group) > 0; merged = false {
		bad, err := s.sendGroup(ctx, pg, group, merged)
		if len(bad) == 0 && err == nil {
			err = run(ctx, pg, "COMMIT")
			for _, j := range group {
				j.answer(committing(err))
			}
			return
		}
		rerr := run(ctx, pg, "ROLLBACK")
		if merged && rerr == nil {
			continue
		}
		if rerr != nil || len(bad) == 0 {
			for _, j := range group { // the connection is gone, or the blame cannot be placed
				j.answer(errAlone)
			}
			return
		}
		var good []*job[[]statement]
		for i, j := range group {
			if bad[i] {
				j.answer(errAlone)
				continue
			}
			good = append(good, j)
		}
		group = good
	}
}

// sendGroup begins a transaction and runs what the group writes, and says who is to blame
// where that cannot be committed: nobody, where it was merged.
func (s *Store) sendGroup(ctx context.Context, pg *pgx.Conn, group []*job[[]statement], merged bool) (bad map[int]bool, err error) {
	all := []statement{{query: beginUpdate, rows: ledgersql.Any}}
	const everybody = -1
	whose := []int{everybody}
	held := map[string]bool{}
	var rows additions
	add := func(i int, statements []statement) {
		for _, st := range statements {
			switch hold := st.query == dialect.LockEvents || st.query == dialect.LockAudit; {
			case hold && held[st.query]:
				continue
			case hold:
				held[st.query] = true
			case merged && st.table != nil:
				rows.add(st)
				continue
			}
			all, whose = append(all, st), append(whose, i)
		}
	}
	for i, j := range group {
		first, _ := apart(j.request)
		add(i, first)
	}
	for _, st := range rows.statements() {
		all, whose = append(all, st), append(whose, everybody)
	}
	rows = nil
	for i, j := range group {
		_, last := apart(j.request)
		add(i, last)
	}
	for _, st := range rows.statements() {
		all, whose = append(all, st), append(whose, everybody)
	}
	bad = map[int]bool{}
	err = send(ctx, pg, all, func(n int) { bad[whose[n]] = true })
	if bad[everybody] || merged {
		return nil, err
	}
	return bad, err
}

// apart divides what one update writes: the audit chain comes last, for all others wait for it from then
// on until the commit. Nothing that is numbered by what others write may come after it.
func apart(statements []statement) (first, last []statement) {
	i := slices.IndexFunc(statements, func(st statement) bool { return st.query == dialect.LockAudit })
	if i < 0 || slices.ContainsFunc(statements[i:], func(st statement) bool { return st.query == dialect.LockEvents }) {
		return statements, nil
	}
	return statements[:i], statements[i:]
}

// additions are rows to add, by table. The tables stand in the order in which they came, and
// so do the rows of each.
type additions []addition

type addition struct {
	table  *ledgersql.Table
	values []any
}

func (a *additions) add(st statement) {
	i := slices.IndexFunc(*a, func(to addition) bool { return to.table == st.table })
	if i < 0 {
		i = len(*a)
		*a = append(*a, addition{table: st.table})
	}
	(*a)[i].values = append((*a)[i].values, st.args...)
}

func (a additions) statements() (all []statement) {
	for _, to := range a {
		_ = to.table.Insert(to.values, func(query string, args []any, rows int64) error { // which never fails
			all = append(all, statement{query: query, args: args, rows: rows})
			return nil
		})
	}
	return all
}

// send runs statements on one way there and back. Wrong is told of each that has come out
// otherwise, and of the one that has failed.
func send(ctx context.Context, pg *pgx.Conn, all []statement, wrong func(n int)) error {
	var batch pgx.Batch
	for _, st := range all {
		batch.Queue(st.query, st.args...)
	}
	results := pg.SendBatch(ctx, &batch)
	var failed error
	for n, st := range all {
		tag, err := st.answer(results)
		if err == nil && (st.rows == ledgersql.Any || st.rows == tag.RowsAffected()) {
			continue
		}
		if err == nil {
			err = errOtherwise
		}
		if wrong != nil {
			wrong(n)
		}
		if failed = err; !errors.Is(err, errOtherwise) {
			break
		}
	}
	if err := results.Close(); err != nil && failed == nil {
		failed = err
	}
	return failed
}

// answer reads what a statement that was sent has done.
func (st statement) answer(from pgx.BatchResults) (pgconn.CommandTag, error) {
	if st.number == nil {
		return from.Exec() //nolint:wrapcheck // border maps it
	}
	rows, err := from.Query()
	if err != nil {
		return pgconn.CommandTag{}, err //nolint:wrapcheck // border maps it
	}
	for rows.Next() {
		err = rows.Scan(st.number)
	}
	err = finished(rows, err)
	return rows.CommandTag(), err
}

// run begins or ends a transaction.
func run(ctx context.Context, pg *pgx.Conn, statement string) error {
	tag, err := pg.Exec(ctx, statement)
	if err == nil && !strings.HasPrefix(statement, tag.String()) { // a COMMIT that the server answers with ROLLBACK
		return pgx.ErrTxCommitRollback
	}
	return err //nolint:wrapcheck // border maps it
}
