package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// conn is one connection with the statements that it has met. It belongs to one
// goroutine at a time. Its methods take no context: a statement that has begun is
// short, and one that is cut off half-way would end the whole transaction.
type conn struct {
	db    *sql.DB // of this one connection
	sql   *sql.Conn
	stmts map[string]*sql.Stmt
}

// exec runs a statement and returns how many rows it touched.
func (c *conn) exec(query string, args ...any) (int64, error) {
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

// one reads one row; none is [sql.ErrNoRows].
func (c *conn) one(query string, args []any, into ...any) error {
	s, err := c.prepared(query) //nolint:sqlclosecheck // kept; close closes it
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(into...) //nolint:wrapcheck // border maps it
}

// each calls read for every row. It has read them all when it returns.
func (c *conn) each(query string, args []any, read func(scan func(...any) error) error) error {
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

func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// stamp is an instant as the ledger keeps it.
func stamp(t time.Time) int64 { return t.UnixMicro() }

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// text keeps JSON as it was given; nil stays nil.
func text(v jsontext.Value) any {
	if v == nil {
		return nil
	}
	return string(v)
}

// whole keeps bytes that may be empty and are never NULL.
func whole(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// value scans what text kept.
func value(v *jsontext.Value) *[]byte { return (*[]byte)(v) }
