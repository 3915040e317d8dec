package kernel_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/memory"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// dumps are databases with the rows of ledgers in memory, for the queries of tests.
type dumps map[*memory.Ledger]dump

type dump struct {
	db      *sql.DB
	commits int
}

// of returns the rows of a ledger as they are now.
func (d dumps) of(l *memory.Ledger) (*sql.DB, error) {
	old := d[l]
	if old.db != nil && old.commits == l.Commits() {
		return old.db, nil
	}
	if old.db != nil {
		_ = old.db.Close() // nothing depends on it
	}
	c := l.Contents()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	d[l] = dump{db, c.Commits}
	if _, err := db.Exec(dumpSchema); err != nil {
		return nil, err
	}
	w := writer{db: db}
	w.contents(c)
	err = l.View(context.Background(), func(tx store.Tx) error { w.rows(tx); return nil })
	return db, errors.Join(err, w.err)
}

func (d dumps) close() {
	for _, one := range d {
		_ = one.db.Close() // nothing depends on it
	}
}

// dumpSchema has the tables and columns that tests ask for, named as in the databases.
const dumpSchema = `
CREATE TABLE turns (turn_id, session_id, project, agent, owner, status, created, version, seq);
CREATE TABLE calls (call_id, turn_id, session_id, tool, target, state, class, card, question, digest, fence, owner, doc);
CREATE TABLE questions (number, turn_id, token, state);
CREATE TABLE tokens (token, number);
CREATE TABLE events (session_id, seq, event_id, type, body, template, params);
CREATE TABLE cards (card_id, project, type, author, tool_call_id, content, metadata);
CREATE TABLE results (turn_id, n, key, call_id, tool, card);
CREATE TABLE reports (call_id, turn_id, card, status, after_execution);
CREATE TABLE late_results (turn_id, call_id, card, status, after_execution);
CREATE TABLE receipts (id INTEGER PRIMARY KEY, session_id, call_id, question, decision, given_by, surface, shown, language, salt);
CREATE TABLE consents (call_id, question, digest, given_by, surface, consumed_at);
CREATE TABLE grants (call_id, fence, owner);
CREATE TABLE outbox (id, session_id, subject, payload, call_id, published_at, dead_at, dead_reason);
CREATE TABLE request_keys (principal, key, digest, turn_id, session_id, call_id);
CREATE TABLE counters (name, value);
CREATE TABLE sealed (call_id, ref);
CREATE TABLE blobs (sha256);
CREATE TABLE tools (tool_name, digest, reviewed);
CREATE TABLE agents (name, digest);
CREATE TABLE audit (n, kind, doc);
`

// writer writes a dump.
type writer struct {
	db  *sql.DB
	err error
}

// add inserts a row; its values are in the order of the columns.
func (w *writer) add(table string, values ...any) {
	places := strings.TrimSuffix(strings.Repeat("?,", len(values)), ",")
	_, err := w.db.Exec("INSERT INTO "+table+" VALUES ("+places+")", values...)
	w.note(err)
}

func (w *writer) note(err error) { w.err = errors.Join(w.err, err) }

// mark is NULL where something is not so.
func mark(is bool) any {
	if !is {
		return nil
	}
	return 1
}

func (w *writer) contents(c memory.Contents) {
	for _, q := range c.Questions {
		w.add("questions", q.Number, q.Turn, q.Token, string(q.State))
	}
	for token, number := range c.Tokens {
		w.add("tokens", token, number)
	}
	for _, r := range c.Reports {
		w.add("reports", r.Call, r.Turn, r.Card, string(r.Status), r.After)
	}
	for _, r := range c.Late {
		w.add("late_results", r.Turn, r.Call, r.Card, string(r.Status), r.After)
	}
	for _, k := range c.Consents {
		w.add("consents", k.Call, k.Question, k.Digest, k.By, k.Surface, mark(k.Used))
	}
	for _, g := range c.Grants {
		w.add("grants", g.Call, g.Fence, g.Owner)
	}
	for _, k := range c.Keys {
		w.add("request_keys", k.Principal, k.Key, k.Digest, k.Turn, k.Session, k.Call)
	}
	for name, n := range c.Counters {
		w.add("counters", name, n)
	}
	for _, s := range c.Sealed {
		w.add("sealed", s.Call, s.Ref)
	}
	for _, sha := range c.Blobs {
		w.add("blobs", sha)
	}
}

// list returns what was read, and notes an error.
func list[T any](w *writer, rows []T, err error) []T {
	w.note(err)
	return rows
}

func (w *writer) rows(tx store.Tx) {
	turns, err := tx.Turns(store.TurnFilter{})
	for _, row := range list(w, turns, err) {
		rec, err := tx.Turn(store.TurnRef{Turn: row.Turn})
		w.note(err)
		s := rec.State
		w.add("turns", s.Turn, s.Session, s.Project, s.Agent, s.Owner, string(s.Status), rec.Created.UnixMicro(), rec.Version, rec.Last)
		w.turn(tx, s)
	}
	cards, err := tx.Cards(store.CardFilter{})
	for _, c := range list(w, cards, err) {
		w.add("cards", c.ID, c.Project, c.Type, c.AuthorID, c.ToolCallID, string(c.Content), string(c.Metadata))
	}
	for _, dead := range []bool{false, true} {
		messages, err := tx.Outbox(store.OutboxFilter{Dead: dead})
		for _, o := range list(w, messages, err) {
			w.add("outbox", o.ID, o.Session, o.Subject, o.Payload, o.Call, nil, mark(dead), o.Reason)
		}
	}
	tools, err := tx.Tools(store.ToolFilter{})
	for _, t := range list(w, tools, err) {
		w.add("tools", t.Definition.Tool, t.Digest, t.Reviewed)
	}
	agents, err := tx.Agents(store.AgentFilter{})
	for _, a := range list(w, agents, err) {
		w.add("agents", a.Definition.Name, a.Digest)
	}
	entries, err := tx.Audit(store.AuditFilter{Limit: math.MaxInt})
	for _, e := range list(w, entries, err) {
		w.add("audit", e.N, e.Kind, w.document(e.Act))
		if r := e.Receipt; r != nil {
			w.add("receipts", e.N, r.Session, r.Call, r.Question, r.Decision, r.By, r.Surface, r.Shown, r.Language, r.Salt)
		}
	}
}

// turn writes what belongs to one turn.
func (w *writer) turn(tx store.Tx, s turn.State) {
	calls, err := tx.Calls(store.CallFilter{Turn: s.Turn})
	for _, c := range list(w, calls, err) {
		w.add("calls", c.ID, s.Turn, s.Session, c.Tool, c.Target, string(c.State), string(c.Class), c.Card, c.Question, c.Digest, c.Fence, c.Owner, w.document(c))
	}
	events, err := tx.Events(store.EventFilter{Session: s.Session, Limit: math.MaxInt})
	for _, e := range list(w, events, err) {
		w.add("events", e.Session, e.Seq, e.ID, e.Type, string(e.Body), e.Template, string(e.Params))
	}
	results, err := tx.Results(s.Turn, 0, math.MaxInt)
	for _, r := range list(w, results, err) {
		w.add("results", s.Turn, r.N, r.Key, r.Call, r.Tool, r.Card)
	}
}

func (w *writer) document(v any) string {
	raw, err := json.Marshal(v)
	w.note(err)
	return string(raw)
}
