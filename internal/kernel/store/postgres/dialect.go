package postgres

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// lastEvent is the largest number that was given to a row of events. A sequence is not part
// of any snapshot: it is read as it is now.
const lastEvent = `CASE WHEN is_called THEN last_value ELSE last_value - 1 END`

// claims ends every query that claims rows.
const claims = " SKIP LOCKED"

// dialect is how PostgreSQL says what is said differently, and what is held where several
// kernels write at once.
var dialect = ledgersql.Dialect{
	Among: func(column, parameter string) string { return column + " = ANY(" + parameter + ")" },
	List:  func(texts []string) any { return texts },
	Claim: func(tables string) string { return " FOR NO KEY UPDATE OF " + tables + claims },
	Hash:  func(text string) string { return "encode(sha256(convert_to(" + text + ", 'UTF8')), 'hex')" },

	LockBlob: `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
	LockTurns: `SELECT turn_id FROM turns WHERE turn_id IN (
			SELECT turn_id FROM turns WHERE session_id = ANY($1) UNION SELECT turn_id FROM reports WHERE call_id = ANY($2))
		ORDER BY turn_id FOR NO KEY UPDATE`,
	LockAudit: `SELECT pg_advisory_xact_lock(hashtextextended('earshot: audit ' || current_schema(), 0))`,
	// A shared lock says to everybody: a transaction is under way that will number rows of
	// events, none of them below this. Nobody waits for it; settled reads it.
	LockEvents: `SELECT pg_advisory_xact_lock_shared('events_id_seq'::regclass::oid::bigint::bit(32)::int, (` + lastEvent + `)::bit(32)::int)
		FROM events_id_seq`,
}

// lockFamily is what an update holds that is run again, statement by statement: of the ends of many turns within one, of which
// each may stop all others, none waits for a row that another has.
const lockFamily = `SELECT pg_advisory_xact_lock(hashtextextended('earshot: turn ' || current_schema() || $1, 0))`

// openEvents lists what HoldEvents has said in transactions that are under way, without
// the upper halves of the numbers.
const openEvents = `SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
	AND classid = 'events_id_seq'::regclass::oid AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// lastSettled is the number up to which everything has ended: the last one that was given, or
// where the first of the transactions under way began. Their numbers are less than 2^32
// behind the last one, which gives them their upper halves.
func lastSettled(last int64, open []int64) int64 {
	settled := last
	for _, low := range open {
		settled = min(settled, last-(last-low)&(1<<32-1))
	}
	return settled
}

// storable reports whether a text can be kept: UTF-8 without NUL.
func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// repaired is a text that can be kept: what cannot stand in it is replaced. A turn that
// cannot be saved could never end.
func repaired(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\x00", string(utf8.RuneError))
}

// readArguments makes the arguments of a question. A text that cannot be kept was never kept: one
// in a list is left out, and any other means that there is no answer.
func readArguments(args []any) (kept []any, answer bool) {
	kept = slices.Clone(args)
	for i, a := range kept {
		switch a := a.(type) {
		case string:
			if !storable(a) {
				return nil, false
			}
		case []string:
			kept[i] = slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !storable(s) })
		}
	}
	return kept, true
}

// writeArguments makes the arguments of a statement that writes.
func writeArguments(args []any) []any {
	kept, clean := readArguments(args)
	if clean {
		return kept
	}
	kept = slices.Clone(args)
	for i, a := range kept {
		if s, is := a.(string); is {
			kept[i] = repaired(s)
		}
	}
	return kept
}
