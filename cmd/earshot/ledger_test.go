package main_test

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the ledger's own driver

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// ledger is a copy of what a data directory held.
type ledger struct {
	t  *testing.T
	db *sql.DB
}

// readLedger copies the ledger and reads the copy: looking must not change what a
// crash has left. The program must not be running.
func readLedger(t *testing.T, data string) *ledger {
	t.Helper()
	counts(t)
	dir := t.TempDir()
	before, now := map[string]string(nil), ledgerFiles(t, data)
	for !maps.Equal(before, now) { // a program that lives may write meanwhile, and move what is in one into the other
		before, now = now, ledgerFiles(t, data)
	}
	for name, raw := range now {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(raw), 0o600))
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return &ledger{t: t, db: db}
}

// ledgerFiles returns the files of a ledger by name.
func ledgerFiles(t *testing.T, data string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"ledger.db", "ledger.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(data, name))
		if name != "ledger.db" && os.IsNotExist(err) {
			continue
		}
		must(t, err)
		files[name] = string(raw)
	}
	return files
}

// rows reads a question's answer as texts.
func (l *ledger) rows(query string, args ...any) [][]string {
	l.t.Helper()
	rows, err := l.db.Query(query, args...)
	must(l.t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(l.t, err)
	var all [][]string
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		must(l.t, rows.Scan(into...))
		row := make([]string, len(names))
		for i, v := range values {
			row[i] = v.String
		}
		all = append(all, row)
	}
	must(l.t, rows.Err())
	return all
}

// one reads a single value; "" when there is no row.
func (l *ledger) one(query string, args ...any) string {
	l.t.Helper()
	all := l.rows(query, args...)
	if len(all) == 0 {
		return ""
	}
	return all[0][0]
}

// openQuestions reads number, token, deadline and kind of what waits for an answer.
func (l *ledger) openQuestions() [][]string {
	return l.rows(`SELECT number, token, deadline, kind FROM questions WHERE state = 'open' ORDER BY number`)
}

// bodies are the events of a session in their order.
func (l *ledger) bodies(id string) []string {
	l.t.Helper()
	var all []string
	for _, row := range l.rows(`SELECT body FROM events WHERE session_id = ? ORDER BY seq`, id) {
		all = append(all, row[0])
	}
	return all
}

// sessions lists the ids.
func (l *ledger) sessions() []string {
	l.t.Helper()
	var all []string
	for _, row := range l.rows(`SELECT session_id FROM turns ORDER BY created, turn_id`) {
		all = append(all, row[0])
	}
	return all
}

var terminal = []string{aaep.TypeSessionCompleted, aaep.TypeSessionErrored, aaep.TypeSessionCancelled}

// ended demands that every turn has ended once, and that the events are whole: none is
// missing, repeated, malformed or out of its order.
func (l *ledger) ended() {
	l.t.Helper()
	for _, row := range l.rows(`SELECT turn_id, status FROM turns WHERE status <> 'ended'`) {
		l.t.Errorf("%s has not ended: it is %s", row[0], row[1])
	}
	for _, id := range l.sessions() {
		types := l.rows(`SELECT seq, type FROM events WHERE session_id = ? ORDER BY seq`, id)
		ends := 0
		for i, row := range types {
			if row[0] != l.one(`SELECT ?`, i+1) {
				l.t.Errorf("event %d of %s has the number %s", i+1, id, row[0])
			}
			if slices.Contains(terminal, row[1]) {
				ends++
			}
		}
		if ends != 1 || !slices.Contains(terminal, types[len(types)-1][1]) {
			l.t.Errorf("%s has %d ends; its last event is %s", id, ends, types[len(types)-1][1])
		}
		judge(l.t, l.bodies(id), true)
	}
	if doubles := l.rows(`SELECT event_id FROM events GROUP BY event_id HAVING count(*) > 1`); len(doubles) > 0 {
		l.t.Errorf("event ids that occur twice: %v", doubles)
	}
	if open := l.openQuestions(); len(open) > 0 {
		l.t.Errorf("questions are still open: %v", open)
	}
}

// judge checks each event by itself and all of them in their order. A whole stream
// must also have come to its end.
func judge(t *testing.T, bodies []string, whole bool) {
	t.Helper()
	checker := session.NewChecker()
	complain := func(where string, found []aaep.Violation) {
		for _, v := range found {
			if v.Severity == aaep.SeverityError {
				t.Errorf("%s: %s", where, v)
			}
		}
	}
	for _, body := range bodies {
		complain(body, aaep.Validate([]byte(body), aaep.ModeProducer))
		complain(body, checker.Check([]byte(body)))
	}
	if whole {
		complain("at the end", checker.Close())
	}
}

// consented demands that whatever was started with an effect had a consent of its own,
// consumed for that very call before its start, and that no call was started more often
// than the most that is given.
func (l *ledger) consented(most int) {
	l.t.Helper()
	for _, row := range l.rows(`SELECT call_id FROM calls WHERE class <> 'read'`) {
		grants := l.rows(`SELECT fence, at FROM grants WHERE call_id = ? ORDER BY fence`, row[0])
		if len(grants) > most {
			l.t.Errorf("%s was granted %d times, at most %d are allowed here", row[0], len(grants), most)
		}
		if len(grants) == 0 {
			continue
		}
		if n := l.one(`SELECT count(*) FROM consents WHERE call_id = ? AND consumed_at <= ?`, row[0], grants[0][1]); n != "1" {
			l.t.Errorf("%s was started with %s consents consumed for it, want 1", row[0], n)
		}
		if n := l.one(`SELECT count(*) FROM consents c JOIN calls k USING (call_id) WHERE call_id = ? AND c.digest = k.digest AND c.digest <> ''`, row[0]); n != "1" {
			l.t.Errorf("%s: the consent is not for what was started", row[0])
		}
	}
}

// jsonLines cuts standard output into its events.
func jsonLines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}
