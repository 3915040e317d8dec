package ledgersql

import (
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Conn runs the statements of one transaction, in one dialect. It belongs to one
// goroutine at a time. Parameters are $1, $2, and so on; texts are UTF-8.
type Conn interface {
	// Exec runs a statement and returns how many rows it affected.
	Exec(query string, args ...any) (int64, error)
	// Write is Exec for a statement whose caller knows how many rows it should affect (Any: any
	// number). A store may defer it to send it with others: then it returns that number at once. If
	// the real number differs, or the statement fails, the whole function runs again, with each
	// statement sent by itself.
	Write(query string, rows int64, args ...any) (int64, error)
	// Insert is Write for a statement that adds a row and returns its number. If it is deferred,
	// number is set by the time that the transaction is committed.
	Insert(query string, number *int64, args ...any) error
	// Add is Write for plain inserts into a table. The values of all rows follow one another.
	Add(t *Table, values ...any) (int64, error)
	// QueryRow reads one row; none is [database/sql.ErrNoRows].
	QueryRow(query string, args []any, into ...any) error
	// Each calls read for every row. It has read them all when it returns.
	Each(query string, args []any, read func(scan func(...any) error) error) error
	// Border maps an error of the driver to one of the ledger's; nil stays nil.
	Border(op string, err error) error
	// LastVisible returns the row of events up to which no further row can appear: every transaction
	// that has taken a smaller number has ended, and its writes are visible.
	LastVisible() (int64, error)
}

// Any is the number of rows of a [Conn.Write] that may affect any number.
const Any = -1

// AllVisible is what [Conn.LastVisible] returns if only one connection writes.
const AllVisible = math.MaxInt64

// Dialect is what two databases say differently, and what a database where many write at
// once has to be told: without a Hold, one that many read and one writes.
type Dialect struct {
	// Among returns the condition that a column is one of the texts in a parameter ($1, $2, …), and
	// List makes the parameter.
	Among func(column, parameter string) string
	List  func(texts []string) any
	// Claim returns the end of a query that locks its rows of these tables until the transaction
	// ends, and skips rows that others have locked.
	Claim func(tables string) string
	// Hash returns an expression for the SHA-256, in lower-case hex, of a text expression.
	Hash func(text string) string
	// LockBlob runs before the blob $1 is read in order to change it. LockTurns runs before rows are
	// numbered in the sessions $1 and the turns of the calls $2 (each made by List) whose turn is not
	// written. LockAudit runs before an append to the audit chain. Each keeps others from doing the
	// same until the transaction ends. LockEvents runs before the first event is written, and makes
	// the transaction known to [Conn.LastVisible].
	LockBlob, LockTurns, LockAudit, LockEvents string
	// LockFamily, if a transaction takes row after row, runs when its first question is for a turn: for the turn above that one,
	// and then for itself. Its steps write to both, and one that came from below while another came from above would each hold
	// what the other waits for.
	LockFamily string
}

// stamp returns an instant in the ledger's form.
func stamp(t time.Time) int64 { return t.UnixMicro() }

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// optionalStamp is stamp, with nil for the zero time.
func optionalStamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// optionalInstant is the inverse of optionalStamp.
func optionalInstant(micros *int64) time.Time {
	if micros == nil {
		return time.Time{}
	}
	return instant(*micros)
}

// text returns JSON unchanged as a parameter; nil stays nil.
func text(v jsontext.Value) any {
	if v == nil {
		return nil
	}
	return string(v)
}

// whole returns bytes that may be empty but are never NULL.
func whole(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// value scans a column that text wrote.
func value(v *jsontext.Value) *[]byte { return (*[]byte)(v) }
