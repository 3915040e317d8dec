package postgres

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// How transactions begin. An update reads what is committed at each of its statements, for
// what it decides is compared and set; a view reads one snapshot, which its first statement
// takes.
const (
	beginUpdate = `BEGIN READ WRITE ISOLATION LEVEL READ COMMITTED`
	beginView   = `BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ`
)

// conn is one transaction. It has no connection of its own before it needs one: an update
// reads what is committed, which any connection can tell, and what it writes is put off to
// its end, where it goes with what others write. Only what has to be answered in between
// (a lock, a number) begins a transaction on a connection, and so does a view.
type conn struct {
	ctx    context.Context //nolint:containedctx // the bound of the whole transaction, which its statements share
	waits  context.Context //nolint:containedctx // the caller's, as long as it waits for a connection
	s      *Store
	begin  string // how it begins
	cancel func()
	pooled *pgxpool.Conn // nil before it has one
	pg     *pgx.Conn     // the same
	begun  bool
	plain  bool // no statement is put off
	later  []statement
	rerun  error // why the function has to be run again with each statement by itself
}

// statement is one that was put off. It should touch so many rows.
type statement struct {
	query string
	args  []any
	rows  int64
	// number is set to that of the row that it adds.
	number *int64
	// table is where it adds rows and does no more.
	table *ledgersql.Table
}

// errOtherwise: a statement that was put off has touched other rows than its caller was told.
var errOtherwise = errors.New("postgres: a statement came out otherwise than expected")

// Exec implements [ledgersql.Conn].
func (c *conn) Exec(query string, args ...any) (int64, error) {
	if err := c.ready(); err != nil {
		return 0, err
	}
	tag, err := c.pg.Exec(c.ctx, query, writeArguments(args)...)
	return tag.RowsAffected(), err
}

// Write implements [ledgersql.Conn].
func (c *conn) Write(query string, rows int64, args ...any) (int64, error) {
	if c.plain {
		return c.Exec(query, args...)
	}
	c.later = append(c.later, statement{query: query, args: writeArguments(args), rows: rows})
	return rows, nil
}

// Add implements [ledgersql.Conn].
func (c *conn) Add(t *ledgersql.Table, values ...any) (added int64, err error) {
	err = t.Insert(writeArguments(values), func(query string, args []any, rows int64) error {
		if c.plain {
			rows, err = c.Exec(query, args...)
		} else {
			c.later = append(c.later, statement{query: query, args: args, rows: rows, table: t})
		}
		added += rows
		return err
	})
	return added, err
}

// Insert implements [ledgersql.Conn].
func (c *conn) Insert(query string, number *int64, args ...any) error {
	if c.plain {
		return c.QueryRow(query, writeArguments(args), number)
	}
	c.later = append(c.later, statement{query: query, args: writeArguments(args), rows: 1, number: number})
	return nil
}

// QueryRow implements [ledgersql.Conn].
func (c *conn) QueryRow(query string, args []any, into ...any) error {
	args, answer := arguments(query, args)
	if !answer {
		return sql.ErrNoRows
	}
	found := false
	err := c.ask(query, args, new(bool), func(rows pgx.Rows) error {
		if found = rows.Next(); !found {
			return nil
		}
		return rows.Scan(into...)
	})
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// Each implements [ledgersql.Conn].
func (c *conn) Each(query string, args []any, read func(scan func(...any) error) error) error {
	args, answer := arguments(query, args)
	if !answer {
		return nil
	}
	fed := false
	return c.ask(query, args, &fed, func(rows pgx.Rows) error {
		for rows.Next() {
			fed = true
			if err := read(rows.Scan); err != nil {
				return err
			}
		}
		return nil
	})
}

// ask runs a query: where nothing was begun that it would have to be part of, with those of
// others.
func (c *conn) ask(query string, args []any, fed *bool, read func(pgx.Rows) error) error {
	if c.alone(query) {
		return c.s.readers.ask(c.waits, question{query: query, args: args, read: read, fed: fed})
	}
	if c.begin == beginView && !c.begun {
		return c.startWith(question{query: query, args: args, read: read, fed: fed})
	}
	if err := c.ready(); err != nil {
		return err
	}
	rows, err := c.pg.Query(c.ctx, query, args...)
	if err != nil {
		return err //nolint:wrapcheck // border maps it
	}
	return finished(rows, read(rows))
}

// alone reports whether a query can be answered outside of a transaction.
func (c *conn) alone(query string) bool {
	return c.begin == beginUpdate && !c.plain && !c.begun && len(c.later) == 0 &&
		strings.HasPrefix(query, "SELECT") && !strings.HasSuffix(query, claims)
}

// finished ends the reading of rows; what the server says comes first.
func finished(rows pgx.Rows, err error) error {
	rows.Close()
	if rerr := rows.Err(); rerr != nil {
		return rerr //nolint:wrapcheck // border maps it
	}
	return err
}

// ready begins the transaction if it has not begun, and runs what was put off.
func (c *conn) ready() error {
	if c.begun && len(c.later) == 0 {
		return nil
	}
	if c.rerun != nil {
		return c.rerun
	}
	if !c.begun {
		if err := c.start(); err != nil {
			return err
		}
	}
	later := c.later
	c.later = nil
	err := send(c.ctx, c.pg, later, nil)
	if err != nil {
		c.rerun = err
	}
	return err
}

func arguments(query string, args []any) (fit []any, answer bool) {
	if strings.HasPrefix(query, "SELECT") {
		return readArguments(args)
	}
	return writeArguments(args), true
}

// Border implements [ledgersql.Conn].
func (c *conn) Border(op string, err error) error { return border(op, err) }

// LastVisible implements [ledgersql.Conn]. The numbers are given in one order and committed in
// another, so the last row that is seen may still be overtaken by smaller ones. What is
// read here, in this order: the last number that was given, then which transactions are
// under way, and only after that the rows themselves. A number up to the last one was given
// to a transaction that had said so before; either it is still under way, and counts, or it
// has ended, and its rows are seen.
func (c *conn) LastVisible() (int64, error) {
	view := c.begin == beginView
	switch {
	case !view:
		if err := c.ready(); err != nil {
			return 0, err
		}
	default: // its snapshot must be younger than all this; nothing was read in it yet
		if err := c.stepOut(); err != nil {
			return 0, err
		}
	}
	var last int64
	if err := c.pg.QueryRow(c.ctx, `SELECT `+lastEvent+` FROM events_id_seq`).Scan(&last); err != nil {
		return 0, err //nolint:wrapcheck // border maps it
	}
	rows, err := c.pg.Query(c.ctx, openEvents)
	if err != nil {
		return 0, err //nolint:wrapcheck // border maps it
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err == nil && view {
		err = c.run(beginView)
	}
	return lastSettled(last, open), err
}

// stepOut leaves a view with a connection that lives, and no transaction on it.
func (c *conn) stepOut() error {
	if !c.begun {
		if err := c.start(); err != nil {
			return err
		}
	}
	return c.run("ROLLBACK")
}

// run begins or ends a transaction.
func (c *conn) run(statement string) error { return run(c.ctx, c.pg, statement) }

// broken reports whether an error without a SQLSTATE means that nobody is at the other end.
func broken(err error) bool {
	var wire net.Error
	return errors.As(err, &wire) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		pgconn.SafeToRetry(err) // nothing was sent: the connection was closed before
}
