package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// conn is one connection with the statements that it has met. It belongs to one
// goroutine at a time. Its methods take no context: a statement that has begun is
// short, and one that is cut off half-way would end the whole transaction.
type conn struct {
	db    *sql.DB // of this one connection
	sql   *sql.Conn
	stmts map[string]*sql.Stmt
}

// Exec runs a statement and returns how many rows it touched.
func (c *conn) Exec(query string, args ...any) (int64, error) {
	s, err := c.prepared(query) //nolint:sqlclosecheck // kept; close closes it
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err //nolint:wrapcheck // border maps it, with what was being done
	}
	return r.RowsAffected() //nolint:wrapcheck // never fails with this driver
}

// Write implements [ledgersql.Conn]. A statement costs no way to anywhere, so none is put off.
func (c *conn) Write(query string, _ int64, args ...any) (int64, error) {
	return c.Exec(query, args...)
}

// Insert implements [ledgersql.Conn].
func (c *conn) Insert(query string, number *int64, args ...any) error {
	return c.QueryRow(query, args, number)
}

// Add implements [ledgersql.Conn].
func (c *conn) Add(t *ledgersql.Table, values ...any) (added int64, err error) {
	err = t.Insert(values, func(query string, args []any, _ int64) error {
		n, err := c.Exec(query, args...)
		added += n
		return err
	})
	return added, err
}

// QueryRow reads one row; none is [sql.ErrNoRows].
func (c *conn) QueryRow(query string, args []any, into ...any) error {
	s, err := c.prepared(query) //nolint:sqlclosecheck // kept; close closes it
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(into...) //nolint:wrapcheck // border maps it
}

// Each calls read for every row. It has read them all when it returns.
func (c *conn) Each(query string, args []any, read func(scan func(...any) error) error) error {
	s, err := c.prepared(query) //nolint:sqlclosecheck // kept; close closes it
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return err //nolint:wrapcheck // border maps it
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err() //nolint:wrapcheck // border maps it
}

// prepared keeps every statement: their texts are a fixed set.
func (c *conn) prepared(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.sql.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err //nolint:wrapcheck // border maps it
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	if c.sql != nil {
		errs = append(errs, c.sql.Close())
	}
	return border("closing the ledger", errors.Join(append(errs, c.db.Close())...))
}

// Border implements [ledgersql.Conn].
func (c *conn) Border(op string, err error) error { return border(op, err) }

// LastVisible implements [ledgersql.Conn]: the one writer numbers the rows of the ledger in the
// order of their commits.
func (c *conn) LastVisible() (int64, error) { return ledgersql.AllVisible, nil }

// dialect is how SQLite says what is said differently. A list is JSON, where broken UTF-8
// cannot stand: such a name is left out, and finds nothing.
var dialect = ledgersql.Dialect{
	Among: func(column, parameter string) string {
		return column + " IN (SELECT value FROM json_each(" + parameter + "))"
	},
	List: func(texts []string) any {
		list, err := json.Marshal(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return !utf8.ValidString(s) }))
		if err != nil {
			return "[]" // texts in UTF-8 can always be written
		}
		return string(list)
	},
	Claim: func(string) string { return "" },
	Hash:  func(text string) string { return hashFunction + "(" + text + ")" },
}
