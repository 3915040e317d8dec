package ledgersql

import (
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Conn runs the statements of one transaction, in one dialect. It belongs to one
// goroutine at a time. Parameters are $1, $2, and so on; texts are UTF-8.
type Conn interface {
	// Exec runs a statement and returns how many rows it touched.
	Exec(query string, args ...any) (int64, error)
	// Write is Exec for a statement whose caller knows how many rows it should touch (Any:
	// it does not care). A store may put it off to send it with others: then it returns that
	// number at once, and where it comes out otherwise, or fails, the whole function is run
	// again, this time with each statement by itself.
	Write(query string, rows int64, args ...any) (int64, error)
	// Insert is Write for a statement that adds a row and returns its number. Where it is put
	// off, number is set by the time that the transaction is committed.
	Insert(query string, number *int64, args ...any) error
	// Add is Write for rows of a table that are added and no more; the values of one row follow
	// those of the other.
	Add(t *Table, values ...any) (int64, error)
	// QueryRow reads one row; none is [database/sql.ErrNoRows].
	QueryRow(query string, args []any, into ...any) error
	// Each calls read for every row. It has read them all when it returns.
	Each(query string, args []any, read func(scan func(...any) error) error) error
	// Border turns an error of the driver into one of the ledger's; nil stays nil.
	Border(op string, err error) error
	// LastVisible is the row of events up to which nothing can come any more: every
	// transaction that has taken a smaller number has ended, and what it wrote is seen.
	LastVisible() (int64, error)
}

// Any is the number of rows of a [Conn.Write] that may touch any.
const Any = -1

// AllVisible is what [Conn.LastVisible] returns where one connection writes.
const AllVisible = math.MaxInt64

// Dialect is what two databases say differently, and what a database where many write at
// once has to be told: without a Hold, one that many read and one writes.
type Dialect struct {
	// Among is the condition that a column is one of the texts that a parameter ($1, $2, …)
	// lists, and List makes the parameter.
	Among func(column, parameter string) string
	List  func(texts []string) any
	// Claim ends a query for rows of these tables, so that nobody else changes them before the
	// transaction ends, and those that others hold are left out.
	Claim func(tables string) string
	// Hash is the SHA-256 in lower-case hex of a text, which is given as an expression.
	Hash func(text string) string
	// LockBlob is run before the blob $1 is looked at in order to change it, LockTurns
	// before rows are numbered in the sessions $1 and the turns of the calls $2 (each made by
	// List) whose turn is not written, LockAudit before the audit chain is appended to,
	// LockEvents before the first event is written: each keeps others from doing the same
	// until the transaction ends, or, the last, tells [Conn.LastVisible] of it.
	LockBlob, LockTurns, LockAudit, LockEvents string
}

// stamp is an instant as the ledger keeps it.
func stamp(t time.Time) int64 { return t.UnixMicro() }

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// optionalStamp keeps an instant that may not be there.
func optionalStamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// optionalInstant is what mark has kept.
func optionalInstant(micros *int64) time.Time {
	if micros == nil {
		return time.Time{}
	}
	return instant(*micros)
}

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
