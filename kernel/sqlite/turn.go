package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/kernel/turn"
)

// document is what the ledger keeps of a turn as JSON.
type document struct {
	State         turn.State         `json:"state"`
	Questions     []consent.Question `json:"questions,omitzero"`
	AnswerSeconds int                `json:"answer_seconds,omitzero"`
	Absent        bool               `json:"absent,omitzero"`
}

// allowInvalidUTF8 lets a broken text be kept with its broken bytes replaced.
var allowInvalidUTF8 = jsontext.AllowInvalidUTF8(true)

// encode writes a document. Durations are nanoseconds; a text that is no UTF-8 is
// repaired, because a turn that cannot be saved could never end.
func encode(v any) (string, error) {
	raw, err := json.Marshal(v, jsonv1.FormatDurationAsNano(true), json.Deterministic(true), allowInvalidUTF8)
	if err != nil {
		return "", &Error{Kind: ErrInvalid, Op: "encoding a turn", Expected: "values that JSON can hold", Err: err}
	}
	return string(raw), nil
}

func decode(raw string, into any) error {
	if err := json.Unmarshal([]byte(raw), into, jsonv1.FormatDurationAsNano(true)); err != nil {
		return &Error{Kind: ErrCorrupt, Op: "decoding a turn", Advice: "restore the ledger from a backup", Err: err}
	}
	return nil
}

const turnColumns = `SELECT t.doc, t.narration, t.created, t.version, i.args, i.request
	FROM turns t JOIN turn_inputs i USING (turn_id) WHERE `

// Turn implements [kernel.Tx].
func (t *tx) Turn(ref kernel.TurnRef) (kernel.Record, error) {
	var r kernel.Record
	if err := t.usable(); err != nil {
		return r, err
	}
	where, handle, err := locateTurn(ref)
	if err != nil {
		return r, err
	}
	var raw string
	var created int64
	err = t.c.one(turnColumns+where, []any{handle}, &raw, value(&r.Narration), &created, &r.Version, value(&r.Args), &r.Request)
	if err != nil {
		return kernel.Record{}, t.read(err, "the turn of %+v", ref)
	}
	var d document
	if err := decode(raw, &d); err != nil {
		return kernel.Record{}, t.fail(err)
	}
	r.State, r.Questions, r.AnswerSeconds, r.Absent = d.State, d.Questions, d.AnswerSeconds, d.Absent
	r.Created = instant(created)
	return r, nil
}

// locateTurn says where the turn of a handle is. An empty handle leads nowhere.
func locateTurn(ref kernel.TurnRef) (where string, handle any, err error) {
	set := 0
	for _, h := range []struct {
		is    bool
		where string
		value any
	}{
		{ref.Turn != "", `t.turn_id = ?1`, ref.Turn},
		{ref.Session != "", `t.session_id = ?1`, ref.Session},
		{ref.Call != "", `t.turn_id = (SELECT turn_id FROM calls WHERE call_id = ?1)`, ref.Call},
		{ref.Token != "", `t.turn_id = (SELECT turn_id FROM tokens WHERE token = ?1)`, ref.Token},
		{ref.Question != 0, `t.turn_id = (SELECT turn_id FROM questions WHERE number = ?1)`, ref.Question},
	} {
		if h.is {
			where, handle = h.where, h.value
			set++
		}
	}
	switch set {
	case 0:
		return "", nil, fmt.Errorf("%w: a turn without a handle", kernel.ErrNotFound)
	case 1:
		return where, handle, nil
	default:
		return "", nil, invalid("finding a turn", fmt.Sprintf("%d handles", set), "one")
	}
}

// Turns implements [kernel.Tx].
func (t *tx) Turns(f kernel.TurnFilter) ([]kernel.TurnRow, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	query, args := listTurns(f)
	var rows []kernel.TurnRow
	err := t.c.each(query, args, func(scan func(...any) error) error {
		var r kernel.TurnRow
		var created int64
		err := scan(&r.Turn, &r.Session, &r.Agent, &r.Owner, &r.Status, &created)
		r.Created = instant(created)
		rows = append(rows, r)
		return err
	})
	return rows, t.read(err, "the turns")
}

func listTurns(f kernel.TurnFilter) (query string, args []any) {
	wanted := []string{"true"}
	if f.Open {
		wanted = append(wanted, "status <> 'ended'") // literally so: the partial index says it
	}
	if f.Agent != "" {
		wanted = append(wanted, "agent = ?")
		args = append(args, f.Agent)
	}
	if len(f.Statuses) > 0 {
		wanted = append(wanted, "status IN (?"+strings.Repeat(", ?", len(f.Statuses)-1)+")")
		for _, s := range f.Statuses {
			args = append(args, string(s))
		}
	}
	limit := f.Limit
	if limit <= 0 {
		limit = -1 // all
	}
	query = `SELECT turn_id, session_id, agent, owner, status, created FROM turns WHERE ` +
		strings.Join(wanted, " AND ") + ` ORDER BY created, turn_id LIMIT ?`
	return query, append(args, limit)
}

// saveTurn inserts or compares and sets a turn, with what is found by way of it.
// events is how many numbers of its session it takes; the last of them is returned.
func (t *tx) saveTurn(r *kernel.Record, events int) (last int64, err error) {
	doc, err := encode(document{State: r.State, Questions: r.Questions, AnswerSeconds: r.AnswerSeconds, Absent: r.Absent})
	if err != nil {
		return 0, err
	}
	if r.Version == 0 {
		last, err = t.insertTurn(r, doc, events)
	} else {
		last, err = t.updateTurn(r, doc, events)
	}
	if err != nil {
		return 0, err
	}
	if err := t.saveCalls(r); err != nil {
		return 0, err
	}
	return last, t.saveQuestions(r)
}

func (t *tx) insertTurn(r *kernel.Record, doc string, events int) (int64, error) {
	s := r.State
	if s.Turn == "" || s.Session == "" {
		return 0, invalid("saving a turn", "no turn or session id", "both")
	}
	err := t.put("the new turn "+s.Turn, `INSERT INTO turns
		(turn_id, session_id, project, agent, owner, status, created, version, seq, doc, narration)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9, ?10)`,
		s.Turn, s.Session, s.Project, s.Agent, s.Owner, string(s.Status), stamp(r.Created), events, doc, text(r.Narration))
	if err != nil {
		return 0, err
	}
	return int64(events), t.put("the input of the turn "+s.Turn,
		`INSERT INTO turn_inputs (turn_id, args, request) VALUES (?1, ?2, ?3)`, s.Turn, text(r.Args), r.Request)
}

func (t *tx) updateTurn(r *kernel.Record, doc string, events int) (int64, error) {
	s := r.State
	var last int64
	err := t.c.one(`UPDATE turns SET project = ?4, agent = ?5, owner = ?6, status = ?7, created = ?8,
		version = version + 1, seq = seq + ?9, doc = ?10, narration = ?11
		WHERE turn_id = ?1 AND session_id = ?2 AND version = ?3 RETURNING seq`,
		[]any{s.Turn, s.Session, r.Version, s.Project, s.Agent, s.Owner, string(s.Status), stamp(r.Created), events, doc, text(r.Narration)}, &last)
	if noRows(err) {
		return 0, conflict("the turn %s is not at version %d", s.Turn, r.Version)
	}
	if err != nil {
		return 0, border("the turn "+s.Turn, err)
	}
	return last, t.put("the input of the turn "+s.Turn, `UPDATE turn_inputs SET args = ?2, request = ?3
		WHERE turn_id = ?1 AND (args IS DISTINCT FROM ?2 OR request <> ?3)`, s.Turn, text(r.Args), r.Request)
}

// saveCalls keeps each call where it is found by its id, also after the turn has
// dropped it.
func (t *tx) saveCalls(r *kernel.Record) error {
	for i := range r.State.Calls {
		c := &r.State.Calls[i]
		doc, err := encode(c)
		if err != nil {
			return err
		}
		_, err = t.mine("call", c.ID, r.State.Turn, `SELECT turn_id FROM calls WHERE call_id = ?1`, `INSERT INTO calls
			(call_id, turn_id, session_id, tool, target, state, class, risk, definition, card, question, digest, fence, owner, doc)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, nullif(?11, 0), ?12, ?13, ?14, ?15)
			ON CONFLICT (call_id) DO UPDATE SET
				tool = excluded.tool, target = excluded.target, state = excluded.state, class = excluded.class,
				risk = excluded.risk, definition = excluded.definition, card = excluded.card, question = excluded.question,
				digest = excluded.digest, fence = excluded.fence, owner = excluded.owner, doc = excluded.doc
			WHERE turn_id = excluded.turn_id AND doc <> excluded.doc`,
			c.ID, r.State.Turn, r.State.Session, c.Tool, c.Target, string(c.State), string(c.Class), string(c.Risk),
			c.Definition, c.Card, c.Question, c.Digest, c.Fence, c.Owner, doc)
		if err != nil {
			return err
		}
	}
	return nil
}

// saveQuestions keeps each question where its number and its tokens lead to it.
func (t *tx) saveQuestions(r *kernel.Record) error {
	for i := range r.Questions {
		q := &r.Questions[i]
		doc, err := encode(q)
		if err != nil {
			return err
		}
		const owner = `SELECT turn_id FROM questions WHERE number = ?1`
		changed, err := t.mine("question", q.Number, r.State.Turn, owner, `INSERT INTO questions
			(number, turn_id, token, kind, state, deadline, digest, doc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
			ON CONFLICT (number) DO UPDATE SET token = excluded.token, state = excluded.state,
				deadline = excluded.deadline, digest = excluded.digest, doc = excluded.doc
			WHERE turn_id = excluded.turn_id AND doc <> excluded.doc`,
			q.Number, r.State.Turn, q.Token, string(q.Kind), string(q.State), stamp(q.Deadline()), q.Digest, doc)
		if err == nil && changed {
			err = t.saveTokens(q, r.State.Turn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// saveTokens keeps the tokens of a question, the spent ones too: each may only ever be
// one question's.
func (t *tx) saveTokens(q *consent.Question, turnID string) error {
	for _, token := range append(slices.Clip(q.SpentTokens), q.Token) {
		n, err := t.c.exec(`INSERT INTO tokens (token, number, turn_id) VALUES (?1, ?2, ?3) ON CONFLICT (token) DO NOTHING`,
			token, q.Number, turnID)
		if err == nil && n == 0 {
			err = t.c.one(`SELECT token FROM tokens WHERE token = ?1 AND number = ?2`, []any{token, q.Number}, &token)
		}
		if noRows(err) {
			return conflict("a token of the question %d belongs to another", q.Number)
		}
		if err != nil {
			return border(fmt.Sprintf("a token of the question %d", q.Number), err)
		}
	}
	return nil
}

// mine upserts a row that may only ever belong to one turn, and reports whether that
// has changed it.
func (t *tx) mine(what string, id any, turnID, owner, upsert string, args ...any) (changed bool, err error) {
	n, err := t.c.exec(upsert, args...)
	if err != nil || n > 0 {
		return true, border(fmt.Sprintf("the %s %v", what, id), err)
	}
	var has string
	if err := t.c.one(owner, []any{id}, &has); err != nil {
		return false, border(fmt.Sprintf("the %s %v", what, id), err)
	}
	if has != turnID {
		return false, conflict("the %s %v belongs to the turn %s", what, id, has)
	}
	return false, nil
}
