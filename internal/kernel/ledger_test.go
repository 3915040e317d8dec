package kernel_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
	"github.com/earshot-dev/earshot/utp"
)

// query reads the present ledger beside its kernel, or the file at the path.
func (w *world) query(path, text string, args ...any) [][]string {
	w.t.Helper()
	db, done := w.reader(path)
	defer done()
	rows, err := db.Query(text, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		w.t.Fatal(err)
	}
	var all [][]string
	for rows.Next() {
		cells := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			w.t.Fatal(err)
		}
		row := make([]string, len(names))
		for i := range cells {
			row[i] = cells[i].String
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// reader opens a ledger's file, or what is dumped of one in memory. While the world is judged it stays open for the next query.
func (w *world) reader(path string) (db *sql.DB, done func()) {
	w.t.Helper()
	if path == "" {
		db, err := w.dumps.of(w.now.home.memory)
		if err != nil {
			w.t.Fatal(err)
		}
		return db, func() {}
	}
	if db := w.readers[path]; db != nil {
		return db, func() {}
	}
	db, err := sql.Open("sqlite", ledgertest.Address(path))
	if err != nil {
		w.t.Fatal(err)
	}
	if w.readers == nil {
		return db, func() { _ = db.Close() } // it only reads
	}
	w.readers[path] = db
	return db, func() {}
}

// tamper writes to the ledger's file behind the kernel's back; at least one row has to
// change.
func (w *world) tamper(text string, args ...any) {
	w.t.Helper()
	if w.now.path == "" {
		w.t.Fatal("a ledger in memory has no database; begin the test with onDisk")
	}
	w.settle()
	db, err := sql.Open("sqlite", ledgertest.Address(w.now.path))
	if err != nil {
		w.t.Fatal(err)
	}
	result, err := db.Exec(text, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		w.t.Fatalf("%s changed %d rows: %v", text, n, err)
	}
	if err := db.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// cell reads one value of the present ledger.
func (w *world) cell(text string, args ...any) string {
	w.t.Helper()
	rows := w.query(w.now.path, text, args...)
	if len(rows) != 1 || len(rows[0]) != 1 {
		w.t.Fatalf("%s: %d rows; want one value", text, len(rows))
	}
	return rows[0][0]
}

// heardAll waits until the followers have everything that the ledger has.
func (w *world) heardAll() {
	for id, f := range w.followers {
		if w.restored {
			continue // what was lost with the ledger has been heard
		}
		want := w.bodies(id)
		var got []string
		w.until("the listener of "+id+" is to hear all", func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			got = nil
			for _, row := range f.rows {
				got = append(got, string(row.Body))
			}
			return len(got) >= len(want)
		})
		if !slices.Equal(got, want) {
			w.t.Errorf("the listener of %s heard %d events, not the %d of the ledger in their order", id, len(got), len(want))
		}
		if f.err != nil {
			w.t.Errorf("the listener of %s: %v", id, f.err)
		}
	}
}

func (w *world) bodies(session string) []string {
	w.t.Helper()
	var all []string
	for _, e := range w.eventsOf(session) {
		all = append(all, string(e.Body))
	}
	return all
}

// eventsOf reads the events of a session.
func (w *world) eventsOf(session string) []store.Event {
	w.t.Helper()
	var rows []store.Event
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Events(store.EventFilter{Session: session, Limit: math.MaxInt})
		return err
	})
	return rows
}

// turnRows lists the turns, the oldest first.
func (w *world) turnRows() []store.TurnRow {
	w.t.Helper()
	var rows []store.TurnRow
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Turns(store.TurnFilter{})
		return err
	})
	return rows
}

// judge looks at the ledgers for what must hold whatever has happened.
func (w *world) judge() {
	w.readers = map[string]*sql.DB{}
	defer func() {
		for _, db := range w.readers {
			_ = db.Close() // it only reads
		}
		w.readers = nil
	}()
	w.turnsEndOnce()
	for _, row := range w.turnRows() {
		w.judgeSession(row.Session, row.Status == turn.Ended)
	}
	w.consentsCoverEffects()
	w.nothingSecret()
	w.wholeChain()
}

func (w *world) turnsEndOnce() {
	times := map[string]int{}
	for _, row := range w.turnRows() {
		if row.Status != turn.Ended && !w.unended {
			w.t.Errorf("%s is still %s at the end of the test", row.Turn, row.Status)
		}
		w.view(func(tx store.Tx) error {
			results, err := tx.Results(row.Turn, 0, math.MaxInt)
			for _, r := range results {
				times[r.Call]++
			}
			return err
		})
	}
	for call, n := range times {
		if n > 1 {
			w.t.Errorf("the result of %s was applied %d times", call, n)
		}
	}
}

// judgeSession: gapless, without repeats, valid one by one and as a whole, and one end.
func (w *world) judgeSession(id string, ended bool) {
	checker := session.NewChecker()
	seen := map[string]bool{}
	ends := 0
	for i, row := range w.eventsOf(id) {
		if want := int64(i + 1); row.Seq != want {
			w.t.Errorf("%s: event %d follows where %d was due", id, row.Seq, want)
		}
		if seen[row.ID] {
			w.t.Errorf("%s: the event %s is there twice", id, row.ID)
		}
		seen[row.ID] = true
		raw := []byte(row.Body)
		for _, v := range aaep.Errors(aaep.Validate(raw, aaep.ModeProducer)) {
			w.t.Errorf("%s: event %d: %s\n%s", id, i+1, v, raw)
		}
		for _, v := range aaep.Errors(checker.Check(raw)) {
			w.t.Errorf("%s: event %d in its session: %s\n%s", id, i+1, v, raw)
		}
		e, err := aaep.DecodeEvent(raw)
		if err != nil {
			w.t.Errorf("%s: event %d: %v", id, i+1, err)
			continue
		}
		if e.IsTerminal() {
			ends++
		}
	}
	if ended {
		for _, v := range aaep.Errors(checker.Close()) {
			w.t.Errorf("%s at its end: %s", id, v)
		}
	}
	if want := map[bool]int{true: 1}[ended]; ends != want {
		w.t.Errorf("%s has %d ends; want %d", id, ends, want)
	}
}

// consentsCoverEffects: every effect of a call that needs consent has a consent that
// was used for that very call, in this ledger or in the part of it that was lost, and
// nothing that must not be repeated happened twice.
func (w *world) consentsCoverEffects() {
	used := map[string]bool{}
	class := map[string]string{}
	for _, p := range w.processes {
		w.agreed(p, used, class)
	}
	times := map[string]int{}
	for _, call := range w.effects.all() {
		times[call]++
	}
	for call, n := range times {
		switch {
		case class[call] == "":
			w.t.Errorf("%s had an effect and is in no ledger", call)
		case class[call] == "irreversible" && !used[call]:
			w.t.Errorf("%s had an effect without a consent", call)
		case class[call] != "idempotent" && n > 1:
			w.t.Errorf("%s had its effect %d times", call, n)
		}
	}
	for _, row := range w.grantedAgain() {
		w.t.Errorf("%s was granted %s times", row[0], row[1])
	}
}

// agreed adds the calls of a process's ledger: which had a consent that was used, and their classes.
func (w *world) agreed(p *process, used map[string]bool, class map[string]string) {
	w.t.Helper()
	if p.home.memory != nil {
		for _, c := range p.home.memory.Contents().Consents {
			used[c.Call] = used[c.Call] || c.Used
		}
		for _, c := range w.callsOf(p) {
			class[c.ID] = string(c.Class)
		}
		return
	}
	for _, row := range w.query(p.path, `SELECT call_id FROM consents WHERE consumed_at IS NOT NULL`) {
		used[row[0]] = true
	}
	for _, row := range w.query(p.path, `SELECT call_id, class FROM calls`) {
		class[row[0]] = row[1]
	}
}

// callsOf lists the calls of all turns.
func (w *world) callsOf(p *process) (calls []turn.Call) {
	w.t.Helper()
	err := p.store.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{})
		for _, row := range rows {
			found, ferr := tx.Calls(store.CallFilter{Turn: row.Turn})
			calls, err = append(calls, found...), errors.Join(err, ferr)
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
	return calls
}

// grantedAgain lists the calls that must not be repeated and were granted more than once, and how often.
func (w *world) grantedAgain() (rows [][]string) {
	w.t.Helper()
	if w.now.home.memory == nil {
		return w.query(w.now.path, `SELECT g.call_id, count(*) FROM grants g JOIN calls c USING (call_id)
			WHERE c.class IN ('irreversible','reversible') AND c.tool <> ? GROUP BY 1 HAVING count(*) > 1`, shred)
	}
	times := map[string]int{}
	for _, g := range w.now.home.memory.Contents().Grants {
		times[g.Call]++
	}
	for _, c := range w.callsOf(w.now) {
		if once := c.Class == utp.Irreversible || c.Class == utp.Reversible; once && c.Tool != shred && times[c.ID] > 1 {
			rows = append(rows, []string{c.ID, fmt.Sprint(times[c.ID])})
		}
	}
	return rows
}

// nothingSecret: a secret is in no event, card, log or message, and nowhere in the
// ledger in the clear.
func (w *world) nothingSecret() {
	if len(w.secrets) == 0 {
		return
	}
	if w.now.path == "" {
		w.t.Fatal("a secret is looked for in the whole database; begin the test with onDisk")
	}
	places := map[string]string{"the log": w.lines.String()}
	for i, m := range w.bus.heard {
		places[fmt.Sprintf("message %d, a %s", i, m.kind)] = string(m.payload)
	}
	for _, table := range w.query(w.now.path, `SELECT name FROM sqlite_schema WHERE type = 'table'`) {
		for i, row := range w.query(w.now.path, `SELECT * FROM `+table[0]) {
			places[fmt.Sprintf("%s row %d", table[0], i)] = strings.Join(row, " ")
		}
	}
	for _, secret := range w.secrets {
		for place, text := range places {
			if strings.Contains(text, secret) {
				w.t.Errorf("the secret %q stands in %s", secret, place)
			}
		}
	}
}

// tale tells what happened, for anyone who looks into a failure.
func (w *world) tale() string {
	var out strings.Builder
	fmt.Fprintf(&out, "effects: %v\n", w.effects.all())
	if w.now != nil {
		for _, row := range w.turnRows() {
			for _, e := range w.eventsOf(row.Session) {
				var body struct {
					Normal string `json:"summary_normal"`
				}
				if err := json.Unmarshal(e.Body, &body); err != nil {
					fmt.Fprintln(&out, err)
				}
				fmt.Fprintf(&out, "%s %d %s %s\n", e.Session[len(e.Session)-4:], e.Seq, strings.TrimPrefix(e.Type, "aaep:agent."), body.Normal)
			}
		}
		for _, c := range w.callsOf(w.now) {
			fmt.Fprintln(&out, c.ID, c.Tool, c.State, c.Fence, c.Digest)
		}
	}
	log := w.lines.String()
	const tail = 2000
	if len(log) > tail {
		log = "…" + log[len(log)-tail:]
	}
	return out.String() + log
}
