package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

const (
	// ownerOfModel has the turns of the family that is copied; its copies have people of their own.
	ownerOfModel = "owner-of-the-model"
	// familiesOfOne is how many families one person has: an owner may have 200 open turns.
	familiesOfOne = 40
	// idsOfFamily is more than a family has ids.
	idsOfFamily = 128
)

// dialect is what copying rows says differently in the two databases.
type dialect struct {
	columns string // lists the columns of a table
	hex     string // makes 32 digits of a number
	series  string // gives the numbers up to another one, as g
}

var (
	sqliteDialect = dialect{
		`SELECT name FROM pragma_table_info('%s')`, `printf('%%032x', %s)`,
		`(WITH RECURSIVE n(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < %d) SELECT g FROM n) AS s`,
	}
	postgresDialect = dialect{
		`SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '%s' AND is_generated = 'NEVER'`,
		`lpad(to_hex(%s), 32, '0')`, `generate_series(1, %d) AS s(g)`,
	}
)

// familyTables are those in which a turn that waits for others has rows, in the order in which they are filled.
var familyTables = []string{"turns", "turn_inputs", "agenda", "calls", "grants", "cards", "events", "request_keys"}

var ids = regexp.MustCompile(`(?:^|[^0-9a-f])([0-9a-f]{32})(?:[^0-9a-f]|$)`)

// family holds the rows that the kernel has written for a turn and those within it, as a model for others.
type family struct {
	dialect

	rows []familyRow
	ids  map[string]int // every id in it, with its number
}

type familyRow struct {
	table   string
	columns []string
	values  []any
}

// readFamily reads every row of the person who owns the model.
func readFamily(ctx context.Context, s store.Ledger, d dialect) (*family, error) {
	f := &family{dialect: d, ids: map[string]int{}}
	const turns = `SELECT turn_id FROM turns WHERE owner = '` + ownerOfModel + `'`
	for _, table := range familyTables {
		columns, err := list(ctx, s, fmt.Sprintf(d.columns, table))
		if err != nil {
			return nil, err
		}
		columns = slices.DeleteFunc(columns, func(c string) bool { return c == "id" }) // the database numbers them
		where := "turn_id IN (" + turns + ")"
		switch table {
		case "events":
			where = "session_id IN (" + strings.Replace(turns, "turn_id", "session_id", 1) + ")"
		case "grants":
			where = "call_id IN (SELECT call_id FROM calls WHERE " + where + ")"
		}
		if err := f.read(ctx, s, table, columns, where); err != nil {
			return nil, err
		}
	}
	if len(f.ids) >= idsOfFamily {
		return nil, fmt.Errorf("the family has %d ids; expected fewer than %d", len(f.ids), idsOfFamily)
	}
	return f, nil
}

func (f *family) read(ctx context.Context, s store.Ledger, table string, columns []string, where string) error {
	return s.View(ctx, func(tx store.Tx) error {
		return inside(tx).Each("SELECT "+strings.Join(columns, ", ")+" FROM "+table+" WHERE "+where, nil, func(scan func(...any) error) error {
			row := familyRow{table: table, columns: columns, values: make([]any, len(columns))}
			into := make([]any, len(columns))
			for i := range into {
				into[i] = &row.values[i]
			}
			if err := scan(into...); err != nil {
				return err
			}
			for _, v := range row.values {
				f.know(v)
			}
			f.rows = append(f.rows, row)
			return nil
		})
	})
}

func (f *family) know(value any) {
	text, _ := value.(string)
	for { // ids may share the character between them
		at := ids.FindStringSubmatchIndex(text)
		if at == nil {
			return
		}
		if id := text[at[2]:at[3]]; f.ids[id] == 0 {
			f.ids[id] = len(f.ids) + 1
		}
		text = text[at[3]:]
	}
}

// copies are the statements that copy the family so many times, each under ids of its own. What is due in it is due a day
// later: nobody has a look at all of them meanwhile.
func (f *family) copies(times int) []string {
	var all []string
	for _, row := range f.rows {
		values := make([]string, len(row.values))
		for i, v := range row.values {
			values[i] = f.expression(row.columns[i], v)
		}
		all = append(all, "INSERT INTO "+row.table+" ("+strings.Join(row.columns, ", ")+") SELECT "+strings.Join(values, ", ")+
			" FROM "+fmt.Sprintf(f.series, times))
	}
	return all
}

// expression is a value of the model as one of the copy g.
func (f *family) expression(column string, value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return f.text(column, v)
	case int64:
		if column == "due_at" {
			v += 86400e6
		}
		return strconv.FormatInt(v, 10)
	default:
		return fmt.Sprint(v)
	}
}

// text is a text of the model with the ids and the person of the copy g.
func (f *family) text(column, text string) string {
	var parts []string
	literal := func(s string) {
		for i, piece := range strings.Split(s, ownerOfModel) {
			if i > 0 {
				parts = append(parts, fmt.Sprintf("'person-' || (g / %d)", familiesOfOne))
			}
			if piece != "" {
				parts = append(parts, "'"+strings.ReplaceAll(piece, "'", "''")+"'")
			}
		}
	}
	for {
		at := ids.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		literal(text[:at[2]])
		parts = append(parts, fmt.Sprintf(f.hex, fmt.Sprintf("g * %d + %d", idsOfFamily, f.ids[text[at[2]:at[3]]])))
		text = text[at[3]:]
	}
	literal(text)
	if column == "name" && text != "" { // no two open sessions have the same
		parts = append(parts, "'-' || g")
	}
	if len(parts) == 0 {
		return "''"
	}
	return strings.Join(parts, " || ")
}

// session is the session of the model's first turn in its copy g.
func (f *family) session(id string, g int) string {
	return fmt.Sprintf("sess_%032x", g*idsOfFamily+f.ids[strings.TrimPrefix(id, "sess_")])
}
