package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// border turns an error of the driver into one of ours, by its SQLSTATE. Without one it is
// the connection that failed.
func border(op string, err error) error {
	var fault *pgconn.PgError
	var known *ledgersql.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known): // from beginning a transaction in the middle
		return err
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: %s", store.ErrNotFound, op)
	case errors.As(err, &fault):
		k := kind(fault.Code)
		return &ledgersql.Error{Kind: k, Op: op, Found: found(fault.Code), Advice: advice(k), Err: err}
	case pgconn.Timeout(err), errors.Is(err, context.Canceled), lost(err):
		return &ledgersql.Error{Kind: ledgersql.ErrUnreachable, Op: op, Advice: advice(ledgersql.ErrUnreachable), Err: err}
	}
	return &ledgersql.Error{Kind: ledgersql.ErrInvalid, Op: op, Err: err} // what the driver itself refuses to send or to read
}

// kind names what a SQLSTATE means. The whole code decides where its class is too coarse.
func kind(state string) error {
	switch state {
	case "23502", "23514": // null, check
		return ledgersql.ErrInvalid
	case "53100": // disk full
		return store.ErrFull
	case "40001", "40P01", "40002", "53300", "53400", "55P03", "57014": // race, deadlock, too many connections, lock or statement timeout
		return ledgersql.ErrBusy
	case "25006", "42501", "3D000", "3F000": // read only, no right, no such database or schema
		return ledgersql.ErrAccess
	case "42P01", "42703", "XX001", "XX002": // a table or a column is not there; damaged
		return ledgersql.ErrCorrupt
	case "25P03", "57P01", "57P02", "57P03", "57P05": // the server has ended the session, or is not up
		return ledgersql.ErrUnreachable
	}
	switch state[:min(2, len(state))] {
	case "08":
		return ledgersql.ErrUnreachable
	case "22", "54":
		return ledgersql.ErrInvalid
	case "23":
		return store.ErrConflict
	case "28":
		return ledgersql.ErrAccess
	default:
		return ledgersql.ErrIO
	}
}

// found says in words for a person what a SQLSTATE means. The state itself stays in the cause, for who reads the code.
func found(state string) string {
	switch state {
	case "42501":
		return "a user without the rights for that"
	case "25006":
		return "a database that can only be read"
	case "3D000":
		return "no database of that name"
	case "3F000":
		return "no schema of that name"
	case "42P01", "42703":
		return "a table or a column less than a ledger has"
	case "53100":
		return "a full disk"
	case "53300", "53400":
		return "as many connections as it takes"
	case "55P03", "40001", "40P01", "40002":
		return "another program that holds it"
	case "57014":
		return "a statement that took too long"
	case "57P03":
		return "a database that is just being started"
	case "57P01", "57P02", "57P05", "25P03":
		return "a database that has ended the connection"
	case "XX001", "XX002":
		return "data that are damaged"
	}
	switch state[:min(2, len(state))] {
	case "28":
		return "a user or a password that it does not know"
	case "23":
		return "what contradicts a rule of the ledger"
	case "22", "54":
		return "a value that does not fit"
	case "08":
		return "a broken connection"
	default:
		return "an error of the database"
	}
}

func advice(kind error) string {
	switch {
	case errors.Is(kind, store.ErrFull):
		return "make room and try again; nothing was written"
	case errors.Is(kind, ledgersql.ErrCorrupt):
		return "restore the ledger from a backup"
	case errors.Is(kind, ledgersql.ErrAccess):
		return "check the name of the database, the user and what it may do"
	case errors.Is(kind, ledgersql.ErrBusy):
		return "try again; nothing was written"
	case errors.Is(kind, ledgersql.ErrUnreachable):
		return "see that the database is up and try again; nothing was written"
	case errors.Is(kind, ledgersql.ErrIO):
		return "read what was recorded before trying again"
	}
	return ""
}

// transient reports whether a transaction that has failed so goes better when it is run
// again at once: it has lost a race, and the database has undone it.
func transient(err error) bool {
	var told *pgconn.PgError
	return errors.As(err, &told) && (told.Code == "40001" || told.Code == "40P01")
}

// lost reports whether the connection failed rather than what was said on it.
func lost(err error) bool {
	if told, is := errors.AsType[*pgconn.PgError](err); is {
		return errors.Is(kind(told.Code), ledgersql.ErrUnreachable)
	}
	var dialing *pgconn.ConnectError
	return errors.As(err, &dialing) || broken(err)
}
