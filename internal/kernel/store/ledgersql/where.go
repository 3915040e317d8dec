package ledgersql

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// where is the condition of a list, with its arguments. Its texts are a fixed set, however
// many names it is given.
type where struct {
	d          Dialect
	conditions []string
	args       []any
}

func (t *Tx) where() *where { return &where{d: t.d, conditions: []string{"true"}} }

// add takes a condition in which %s stands for the argument.
func (w *where) add(condition string, arg any) {
	w.args = append(w.args, arg)
	w.conditions = append(w.conditions, fmt.Sprintf(condition, "$"+strconv.Itoa(len(w.args))))
}

// among keeps the rows of these names; nil keeps all.
func (w *where) among(column string, names []string) {
	switch {
	case names == nil:
	case len(names) == 1: // by far the most, and no list has to be taken apart
		w.add(column+" = %s", names[0])
	default:
		w.args = append(w.args, w.d.List(names))
		w.conditions = append(w.conditions, w.d.Among(column, "$"+strconv.Itoa(len(w.args))))
	}
}

// page ends the query; a limit of 0 does not limit.
func (w *where) page(order string, limit int) string {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	w.args = append(w.args, limit)
	return "WHERE " + strings.Join(w.conditions, " AND ") + " ORDER BY " + order + limited("$"+strconv.Itoa(len(w.args)))
}

// limited bounds a query by a parameter. SQLite takes a bare one for a constant of the plan, and prepares the
// statement again each time that it is bound: a seventh of the processor.
func limited(parameter string) string { return " LIMIT CAST(" + parameter + " AS bigint)" }
