package ledgersql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// found is what was read of a turn, as it was written.
type found struct {
	version, seq  int64
	doc           string
	args, request string
	noArgs        bool
	agenda        agenda
	calls         map[string]filed
	place         place
}

// place holds the columns of a turn that indexes hang on, or that hardly ever change: a step that leaves them as they were does
// not write them.
type place struct {
	project, agent, owner string
	created               int64
	ended                 bool
}

func placeOf(r *store.Record) place {
	return place{r.State.Project, r.State.Agent, r.State.Owner, stamp(r.Created), r.State.Status == turn.Ended}
}

// contains reports whether a part of the turn's document was written with it: the same encoding
// of the same value stands in it, byte for byte.
func (f found) contains(part string) bool { return strings.Contains(f.doc, part) }

// filed holds what the row of a call is read for while it runs: what it is found and audited by.
type filed struct {
	tool, target, definition, card, digest, policy string
	class                                          utp.Class
	risk                                           utp.Risk
	decision                                       turn.Decision
	question, fence                                int
}

// filedOf returns them. The starts of a call without effect are in no entry of the audit chain, so its fence is not compared
// with one.
func filedOf(c *turn.Call) filed {
	f := filed{c.Tool, c.Target, c.Definition, c.Card, c.Digest, c.Policy, c.Class, c.Risk, c.Decision, c.Question, c.Fence}
	if c.Class == utp.Read {
		f.fence = 0
	}
	return f
}

// has reports whether a call stood in the document.
func (f found) has(c *turn.Call) bool {
	_, is := f.calls[c.ID]
	return is
}

// follows reports whether the row of a call that runs can stay as it is: its state, owner and times are read from the turn,
// where they are written anyway.
func (f found) follows(c *turn.Call) bool {
	was, is := f.calls[c.ID]
	return is && c.State == turn.Started && c.Outcome == nil && was == filedOf(c)
}

// was is the turn as it was read, if it still is what is being saved.
func (t *Tx) was(r *store.Record) found {
	if f := t.turns[r.State.Turn]; f.version == r.Version {
		return f
	}
	return found{}
}

const turnColumns = `SELECT t.doc, t.narration, t.created, t.version, t.due_at, t.claim_at, t.seq, i.args, i.request
	FROM turns t JOIN turn_inputs i USING (turn_id) WHERE `

// Turn implements [store.Tx].
func (t *Tx) Turn(ref store.TurnRef) (store.Record, error) {
	first := !t.used
	r, err := t.readTurn(ref)
	if err != nil || !first || !t.writes || t.d.LockFamily == "" {
		return r, err
	}
	for _, id := range []string{r.State.Parent, r.State.Turn} { // from above, as everybody does
		if id == "" {
			continue
		}
		if err := t.lock("the turn "+id, t.d.LockFamily, id); err != nil {
			return store.Record{}, err
		}
	}
	return t.readTurn(ref) // others had it meanwhile
}

func (t *Tx) readTurn(ref store.TurnRef) (store.Record, error) {
	var r store.Record
	if err := t.usable(); err != nil {
		return r, err
	}
	where, handle, err := locateTurn(ref)
	if err != nil {
		return r, err
	}
	var raw string
	var created int64
	var due, free *int64
	err = t.c.QueryRow(turnColumns+where, []any{handle}, &raw, value(&r.Narration), &created, &r.Version, &due, &free, &r.Last, value(&r.Args), &r.Request)
	if err != nil {
		return store.Record{}, t.read(err, "the turn of %+v", ref)
	}
	var d document
	if err := decode(raw, &d); err != nil {
		return store.Record{}, err // The transaction stays usable: what depends on this row stands still, nothing else.
	}
	d.fill(&r)
	r.Created, r.Due, r.Free = instant(created), optionalInstant(due), optionalInstant(free)
	if t.writes {
		t.turns[r.State.Turn] = found{
			version: r.Version, seq: r.Last, doc: raw, args: string(r.Args), noArgs: r.Args == nil, request: r.Request,
			agenda: agendaOf(&r), calls: filedIn(r.State.Calls), place: placeOf(&r),
		}
	}
	return r, nil
}

func filedIn(calls []turn.Call) map[string]filed {
	all := make(map[string]filed, len(calls))
	for i := range calls {
		all[calls[i].ID] = filedOf(&calls[i])
	}
	return all
}

// locateTurn says where the turn of a handle is. An empty handle leads nowhere.
func locateTurn(ref store.TurnRef) (where string, handle any, err error) {
	set := 0
	for _, h := range []struct {
		is    bool
		where string
		value any
	}{
		{ref.Turn != "", `t.turn_id = $1`, ref.Turn},
		{ref.Session != "", `t.session_id = $1`, ref.Session},
		{ref.Call != "", `t.turn_id = (SELECT turn_id FROM calls WHERE call_id = $1)`, ref.Call},
		{ref.Token != "", `t.turn_id = (SELECT turn_id FROM tokens WHERE token = $1)`, ref.Token},
		{ref.Question != 0, `t.turn_id = (SELECT turn_id FROM questions WHERE number = $1)`, ref.Question},
	} {
		if h.is {
			where, handle = h.where, h.value
			set++
		}
	}
	switch set {
	case 0:
		return "", nil, fmt.Errorf("%w: a turn without a handle", store.ErrNotFound)
	case 1:
		return where, handle, nil
	default:
		return "", nil, invalid("finding a turn", fmt.Sprintf("%d handles", set), "one")
	}
}

// saveTurn inserts or compares and sets a turn, with what is found by way of it.
// events is how many numbers of its session it takes; the last of them is returned.
func (t *Tx) saveTurn(r *store.Record, events int) (last int64, err error) {
	doc, err := encodeTurn(documentOf(r))
	if err != nil {
		return 0, err
	}
	was := t.was(r)
	if r.Version == 0 {
		last, err = t.insertTurn(r, doc, events)
	} else {
		last, err = t.updateTurn(r, doc, events)
	}
	if err != nil {
		return 0, err
	}
	if err := t.saveAgenda(r, was); err != nil {
		return 0, err
	}
	if err := t.saveCalls(r, was); err != nil {
		return 0, err
	}
	return last, t.saveQuestions(r, was)
}

func (t *Tx) insertTurn(r *store.Record, doc string, events int) (int64, error) {
	s := r.State
	if s.Turn == "" || s.Session == "" {
		return 0, invalid("saving a turn", "no turn or session id", "both")
	}
	err := t.exec("the new turn "+s.Turn, `INSERT INTO turns
		(turn_id, session_id, project, agent, owner, status, created, version, seq, doc, narration, summary, worker, due_at, claim_at, imported, name, topic, ended)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		s.Turn, s.Session, s.Project, s.Agent, s.Owner, string(s.Status), stamp(r.Created), events, doc, text(r.Narration), summary(s),
		s.Worker, optionalStamp(r.Due), optionalStamp(r.Free), !r.Imported.IsZero(), s.Name, s.Topic, placeOf(r).ended)
	if err != nil {
		return 0, err
	}
	return int64(events), t.exec("the input of the turn "+s.Turn,
		`INSERT INTO turn_inputs (turn_id, args, request) VALUES ($1, $2, $3)`, s.Turn, text(r.Args), r.Request)
}

// updateTurn compares and sets a turn. Where it was read in this transaction, the last number
// of its session is known, and compared as well: nothing has to be asked.
func (t *Tx) updateTurn(r *store.Record, doc string, events int) (int64, error) {
	s := r.State
	const set = `UPDATE turns SET status = $4, version = version + 1, seq = seq + $5, doc = $6, narration = $7, summary = $8, worker = $9, due_at = $10, claim_at = $11`
	const moved = `, project = $12, agent = $13, owner = $14, created = $15, ended = $16`
	const one = ` WHERE turn_id = $1 AND session_id = $2 AND version = $3`
	args := append(make([]any, 0, 16),
		s.Turn, s.Session, r.Version, string(s.Status), events, doc, text(r.Narration), summary(s), s.Worker, optionalStamp(r.Due), optionalStamp(r.Free))
	was, at := t.was(r), placeOf(r)
	delete(t.turns, s.Turn) // from here on it is another
	if was.version != 0 && was.place == at {
		n, err := t.c.Write(set+one+` AND seq = $12`, 1, append(slices.Clip(args), was.seq)...)
		if err != nil {
			return 0, t.c.Border("the turn "+s.Turn, err)
		}
		if n == 1 {
			return was.seq + int64(events), t.saveInput(r, was)
		}
	}
	var last int64
	err := t.c.QueryRow(set+moved+one+` RETURNING seq`, append(args, at.project, at.agent, at.owner, at.created, at.ended), &last)
	if noRows(err) {
		return 0, conflict("the turn %s is not at version %d", s.Turn, r.Version)
	}
	if err != nil {
		return 0, t.c.Border("the turn "+s.Turn, err)
	}
	return last, t.saveInput(r, was)
}

// saveInput writes what a turn was given, which hardly ever changes.
func (t *Tx) saveInput(r *store.Record, was found) error {
	if was.version != 0 && was.args == string(r.Args) && was.noArgs == (r.Args == nil) && was.request == r.Request {
		return nil
	}
	return t.exec("the input of the turn "+r.State.Turn, `UPDATE turn_inputs SET args = $2, request = $3
		WHERE turn_id = $1 AND (args IS DISTINCT FROM $2 OR request <> $3)`, r.State.Turn, text(r.Args), r.Request)
}

// summary returns the line that lists show about a turn's end. It has a column of its own, so that a
// list reads no documents.
func summary(s turn.State) string {
	if s.End == nil {
		return ""
	}
	return s.End.Message
}

// saveCalls saves each call under its id, where it is found also after the turn has dropped it. A call that runs on, or a
// read that starts, is not written again, nor is an unchanged one.
func (t *Tx) saveCalls(r *store.Record, was found) error {
	for i := range r.State.Calls {
		c := &r.State.Calls[i]
		if was.follows(c) {
			continue
		}
		doc, err := encodeTurn(c)
		if err != nil {
			return err
		}
		if was.contains(doc) {
			continue
		}
		if err := t.saveCall(r, c, doc, was); err != nil {
			return err
		}
	}
	return nil
}

// saveCall writes one call. One that stood in the turn's document should have a row; any other
// may have one, from before the turn dropped it.
func (t *Tx) saveCall(r *store.Record, c *turn.Call, doc string, was found) error {
	args := []any{
		c.ID, r.State.Turn, c.Tool, c.Target, string(c.State), string(c.Class), string(c.Risk), c.Definition, c.Card, c.Question, c.Digest, c.Fence, c.Owner, doc,
	}
	if was.has(c) {
		n, err := t.c.Write(`UPDATE calls SET tool = $3, target = $4, state = $5, class = $6, risk = $7, definition = $8, card = $9,
			question = nullif(CAST($10 AS bigint), 0), digest = $11, fence = $12, owner = $13, doc = $14 WHERE call_id = $1 AND turn_id = $2`, 1, args...)
		if err != nil || n == 1 {
			return t.c.Border("the call "+c.ID, err)
		}
	}
	_, err := t.mine("call", c.ID, r.State.Turn, `SELECT turn_id FROM calls WHERE call_id = $1`, `INSERT INTO calls
		(call_id, turn_id, tool, target, state, class, risk, definition, card, question, digest, fence, owner, doc, session_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif(CAST($10 AS bigint), 0), $11, $12, $13, $14, $15)
		ON CONFLICT (call_id) DO UPDATE SET
			tool = excluded.tool, target = excluded.target, state = excluded.state, class = excluded.class,
			risk = excluded.risk, definition = excluded.definition, card = excluded.card, question = excluded.question,
			digest = excluded.digest, fence = excluded.fence, owner = excluded.owner, doc = excluded.doc
		WHERE calls.turn_id = excluded.turn_id AND calls.doc <> excluded.doc`, append(args, r.State.Session)...)
	return err
}

// saveQuestions saves each question under its number and its tokens.
func (t *Tx) saveQuestions(r *store.Record, was found) error {
	for i := range r.Questions {
		q := &r.Questions[i]
		doc, err := encodeTurn(q)
		if err != nil {
			return err
		}
		if was.contains(doc) {
			continue
		}
		const owner = `SELECT turn_id FROM questions WHERE number = $1`
		changed, err := t.mine("question", q.Number, r.State.Turn, owner, `INSERT INTO questions
			(number, turn_id, token, kind, state, deadline, digest, doc) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (number) DO UPDATE SET token = excluded.token, state = excluded.state,
				deadline = excluded.deadline, digest = excluded.digest, doc = excluded.doc
			WHERE questions.turn_id = excluded.turn_id AND questions.doc <> excluded.doc`,
			q.Number, r.State.Turn, q.Token, string(q.Kind), string(q.State), stamp(q.Deadline()), q.Digest, doc)
		if err == nil && changed {
			err = t.saveTokens(q, r.State.Turn, was)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// saveTokens keeps the tokens of a question, the spent ones too: each may only ever be
// one question's.
func (t *Tx) saveTokens(q *consent.Question, turnID string, was found) error {
	for _, token := range append(slices.Clip(q.SpentTokens), q.Token) {
		if mine, err := encodeTurn(token); err == nil && was.contains(mine) { // as this very question's, or it would not have been saved
			continue
		}
		n, err := t.c.Write(`INSERT INTO tokens (token, number, turn_id) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING`, 1,
			token, q.Number, turnID)
		if err == nil && n == 0 {
			err = t.c.QueryRow(`SELECT token FROM tokens WHERE token = $1 AND number = $2`, []any{token, q.Number}, &token)
		}
		if noRows(err) {
			return conflict("a token of the question %d belongs to another", q.Number)
		}
		if err != nil {
			return t.c.Border(fmt.Sprintf("a token of the question %d", q.Number), err)
		}
	}
	return nil
}

// mine upserts a row that may only ever belong to one turn, and reports whether that
// has changed it.
func (t *Tx) mine(what string, id any, turnID, owner, upsert string, args ...any) (changed bool, err error) {
	n, err := t.c.Write(upsert, 1, args...)
	if err != nil || n > 0 {
		return true, t.c.Border(fmt.Sprintf("the %s %v", what, id), err)
	}
	var has string
	if err := t.c.QueryRow(owner, []any{id}, &has); err != nil {
		return false, t.c.Border(fmt.Sprintf("the %s %v", what, id), err)
	}
	if has != turnID {
		return false, conflict("the %s %v belongs to the turn %s", what, id, has)
	}
	return false, nil
}
