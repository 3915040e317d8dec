package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// Kind is what a result code means.
var Kind = kind

// Border is how errors of the driver become ours.
var Border = border

// Pragma reads or sets one on the connection of a transaction.
func Pragma(t store.Tx, text string) (value string, err error) {
	err = t.(*ledgersql.Tx).Conn().QueryRow("PRAGMA "+text, nil, &value)
	return value, err
}

// Lose does what SQLite does when it cannot go on: it ends the whole transaction, and
// the statement fails.
func Lose(t store.Tx, why error) error {
	mine := t.(*ledgersql.Tx)
	if _, err := mine.Conn().Exec("ROLLBACK"); err != nil {
		return err
	}
	return mine.Fail(&ledgersql.Error{Kind: why, Op: "losing a transaction"})
}

// Migrate makes a new ledger by the migrations, one after another.
func Migrate(ctx context.Context, folder string) error {
	path, err := locate(folder)
	if err != nil {
		return err
	}
	s := &Store{path: path}
	if s.writer, err = dial(ctx, path, writing); err != nil {
		return err
	}
	return errors.Join(s.enterLogMode(), s.advance(ctx), s.writer.close())
}

// Plan returns how SQLite carries out the queries for which run prepares a statement.
func Plan(t store.Tx, run func() error) (plan []string, err error) {
	c := t.(*ledgersql.Tx).Conn().(*conn)
	kept := c.stmts
	c.stmts = map[string]*sql.Stmt{}
	err = run()
	queries := c.stmts
	c.stmts = kept
	for query, stmt := range queries {
		err = errors.Join(err, stmt.Close())
		args := make([]any, strings.Count(query, "$"))
		err = errors.Join(err, c.Each("EXPLAIN QUERY PLAN "+query, args, func(scan func(...any) error) error {
			var id, parent, unused int
			var detail string
			err := scan(&id, &parent, &unused, &detail)
			plan = append(plan, detail)
			return err
		}))
	}
	return plan, err
}
