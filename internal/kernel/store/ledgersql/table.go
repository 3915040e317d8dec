package ledgersql

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Table is one whose rows are only ever added, with a value for each column and without regard
// to what else the transaction writes, or when. So those of many transactions can be added
// together: a statement costs more than a row.
type Table struct {
	columns int
	inserts func() *[rowsPower + 1]string // of 1, 2, 4, … rows; made at their first use
}

// rowsPower says how many rows are added by one statement at most: 2 to the power of it.
const rowsPower = 5

// The tables that rows are added to.
var (
	events = newTable("events", "", "session_id", "seq", "event_id", "type", "body", "template", "params", "at")
	cards  = newTable("cards", " ON CONFLICT (card_id) DO NOTHING",
		"card_id", "project", "type", "author", "tool_call_id", "content", "metadata", "created", "turn_id")
	grants = newTable("grants", "", "call_id", "fence", "owner", "at")
)

// newTable returns a table; clash is what they say of a row that is there already.
func newTable(name, clash string, columns ...string) *Table {
	return &Table{columns: len(columns), inserts: sync.OnceValue(func() *[rowsPower + 1]string { return insertsOf(name, clash, columns) })}
}

func insertsOf(name, clash string, columns []string) *[rowsPower + 1]string {
	var inserts [rowsPower + 1]string
	for power := range inserts {
		rows := make([]string, 1<<power)
		for n := range rows {
			places := make([]string, len(columns))
			for i := range places {
				places[i] = "$" + strconv.Itoa(n*len(columns)+i+1)
			}
			rows[n] = "(" + strings.Join(places, ", ") + ")"
		}
		inserts[power] = "INSERT INTO " + name + " (" + strings.Join(columns, ", ") + ") VALUES " + strings.Join(rows, ", ") + clash
	}
	return &inserts
}

// Insert calls add for each statement that is needed to add the rows, whose values stand one
// after the other. There are only a few texts of statements, however many rows there are.
func (t *Table) Insert(values []any, add func(query string, args []any, rows int64) error) error {
	for power := rowsPower; power >= 0; power-- {
		rows := 1 << power
		for len(values) >= rows*t.columns {
			args := values[:rows*t.columns]
			values = values[len(args):]
			if err := add(t.inserts()[power], slices.Clip(args), int64(rows)); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds rows to a table.
func (t *Tx) add(what string, table *Table, values ...any) error {
	_, err := t.c.Add(table, values...)
	return t.c.Border(what, err)
}
