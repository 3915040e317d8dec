package ledgersql

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Turns implements [store.Tx].
func (t *Tx) Turns(f store.TurnFilter) ([]store.TurnRow, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if f.Claim && !t.writes {
		return nil, fmt.Errorf("%w: claiming turns", store.ErrReadOnly)
	}
	by := orderOf(f)
	if f.After != "" && by == byCreation {
		if err := t.c.QueryRow(`SELECT turn_id FROM turns WHERE turn_id = $1`, []any{f.After}, &f.After); err != nil {
			return nil, t.read(err, "the turn %s", f.After)
		}
	}
	query, args := t.listTurns(f, by)
	var rows []store.TurnRow
	err := t.c.Each(query, args, func(scan func(...any) error) error {
		var r store.TurnRow
		var created, place int64
		err := scan(&r.Turn, &r.Session, &r.Agent, &r.Name, &r.Owner, &r.Status, &created, &r.Last, &r.Request, &r.Summary, &place)
		r.Created = instant(created)
		if by == byDue || by == byClaim {
			r.Position = instant(place)
		}
		rows = append(rows, r)
		return err
	})
	return rows, t.read(err, "the turns")
}

// The columns that lists of turns are ordered by, before the turn's id.
const (
	byCreation = "created"
	byDue      = "agenda.due_at"
	byClaim    = "agenda.claim_at"
	byID       = "" // the id alone, as the index of the active turns has them
)

func orderOf(f store.TurnFilter) string {
	switch {
	case !f.Due.IsZero():
		return byDue
	case !f.Free.IsZero():
		return byClaim
	case f.Active:
		return byID
	default:
		return byCreation
	}
}

// tablesFor says where the turns of a list are found, which tables are locked for a claim, and
// where their agent stands.
func tablesFor(f store.TurnFilter, by string) (tables, locked, agent string) {
	if by == byCreation && f.Worker == "" {
		return "turns JOIN turn_inputs USING (turn_id)", "turns", "turns.agent"
	}
	return "agenda JOIN turns USING (turn_id) JOIN turn_inputs USING (turn_id)", "turns, agenda", "agenda.agent"
}

// amongStatusesAndOwners are the conditions on what a list may name several of.
func (t *Tx) amongStatusesAndOwners(f store.TurnFilter, parameter func(any) string) (wanted []string) {
	if len(f.Statuses) > 0 {
		among := make([]string, len(f.Statuses))
		for i, s := range f.Statuses {
			among[i] = parameter(string(s))
		}
		wanted = append(wanted, "status IN ("+strings.Join(among, ", ")+")")
	}
	switch {
	case len(f.Owners) == 1: // their turns stand in the order of an index
		wanted = append(wanted, "owner = "+parameter(f.Owners[0]))
	case len(f.Owners) > 1:
		wanted = append(wanted, t.d.Among("owner", parameter(t.d.List(f.Owners))))
	}
	return wanted
}

// atWork are the conditions on the agent and worker of a turn, literally as the partial indexes have them.
func atWork(f store.TurnFilter, agent string, parameter func(any) string) (wanted []string) {
	switch {
	case f.Active && f.Agent != "":
		wanted = append(wanted, "CASE WHEN agenda.active = 1 THEN agenda.agent END = "+parameter(f.Agent))
	case f.Agent != "":
		wanted = append(wanted, agent+" = "+parameter(f.Agent))
	}
	if f.Worker != "" {
		wanted = append(wanted, "agenda.worker <> '' AND agenda.worker = "+parameter(f.Worker))
	}
	if f.Active {
		wanted = append(wanted, "agenda.active = 1")
	}
	return wanted
}

// named are the conditions on what a session is called, literally as the partial indexes have them.
func (t *Tx) named(f store.TurnFilter, parameter func(any) string) (wanted []string) {
	if f.Topic != "" {
		wanted = append(wanted, "topic <> '' AND topic = "+parameter(f.Topic))
	}
	if len(f.Names) > 0 {
		wanted = append(wanted, "project = "+parameter(f.Project), "name <> ''", t.d.Among("name", parameter(t.d.List(f.Names))))
	}
	return wanted
}

// listTurns makes the query; its texts are a fixed set, also for many owners.
func (t *Tx) listTurns(f store.TurnFilter, by string) (query string, args []any) {
	parameter := func(value any) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args))
	}
	tables, locked, agent := tablesFor(f, by)
	wanted := []string{"true"}
	if f.Open {
		wanted = append(wanted, "NOT ended") // literally so: the partial index says it
	}
	wanted = append(wanted, t.named(f, parameter)...)
	if f.Asking {
		wanted = append(wanted, "turn_id IN (SELECT turn_id FROM questions WHERE state = 'open')")
	}
	if f.Turn != "" {
		wanted = append(wanted, "turn_id = "+parameter(f.Turn))
	}
	if f.Session != "" {
		wanted = append(wanted, "session_id = "+parameter(f.Session))
	}
	wanted = append(wanted, atWork(f, agent, parameter)...)
	switch by {
	case byDue:
		wanted = append(wanted, byDue+" IS NOT NULL AND "+byDue+" <= "+parameter(stamp(f.Due)))
	case byClaim:
		wanted = append(wanted, byClaim+" IS NOT NULL AND "+byClaim+" <= "+parameter(stamp(f.Free)))
	}
	wanted = append(wanted, t.amongStatusesAndOwners(f, parameter)...)
	behind, order := ">", ""
	if f.Newest {
		behind, order = "<", " DESC"
	}
	switch {
	case f.After != "" && by == byID:
		wanted = append(wanted, "turn_id "+behind+" "+parameter(f.After))
	case f.After != "" && by != byCreation:
		wanted = append(wanted, "("+by+", turn_id) "+behind+" ("+parameter(stamp(f.Position))+", "+parameter(f.After)+")")
	case f.After != "":
		wanted = append(wanted, "(created, turn_id) "+behind+" (SELECT created, turn_id FROM turns WHERE turn_id = "+parameter(f.After)+")")
	}
	limit := int64(math.MaxInt64)
	if f.Limit > 0 {
		limit = int64(f.Limit)
	}
	place, before := by, by+order+", "
	if by == byID {
		place, before = "0", ""
	}
	query = `SELECT turn_id, session_id, turns.agent, name, owner, status, created, seq, request, summary, ` + place + `
		FROM ` + tables + ` WHERE ` + strings.Join(wanted, " AND ") +
		` ORDER BY ` + before + `turn_id` + order + limited(parameter(limit))
	if f.Claim {
		query += t.d.Claim(locked)
	}
	return query, args
}
