package chaos_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/storetest"
	"github.com/earshot-dev/earshot/utp"
)

// verdict holds against each other what the ledger says, what the events tell, and what was
// really done.
type verdict struct {
	t     *testing.T
	pg    *pgx.Conn
	begun map[string]task
	said  map[string]bool // by call: a person said yes, as they remember it themselves
	yes   map[string]bool
	done  map[string]int // by call: how often the tools really did it

	turns, parts, calls, effects, unknown, stale, again int
}

func judge(ctx context.Context, t *testing.T, dsn, dir string, p *people) *verdict {
	t.Helper()
	pg, err := pgx.Connect(ctx, dsn)
	must(t, err)
	defer func() { _ = pg.Close(ctx) }()
	v := &verdict{t: t, pg: pg, begun: p.begun, said: p.said, yes: p.accepted, done: map[string]int{}}
	v.readDeeds(dir)
	for _, statement := range []string{`CREATE INDEX ON cards (tool_call_id)`, `ANALYZE`} { // for what is asked here only
		_, err := pg.Exec(ctx, statement)
		must(t, err)
	}
	v.nothingLost(ctx)
	v.nothingTwice(ctx)
	v.partsOnce(ctx)
	v.nothingAskedTwice(ctx)
	v.nothingWithoutConsent(ctx)
	v.nothingLeft(ctx)
	v.wellTold(ctx)
	v.chained(ctx, dsn)
	return v
}

func (v *verdict) readDeeds(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "effects-*"))
	must(v.t, err)
	for _, file := range files {
		f, err := os.Open(file)
		must(v.t, err)
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var call, name string
			var n int
			if _, err := fmt.Sscan(lines.Text(), &call, &name, &n); err != nil {
				v.t.Errorf("%s: %q: %v", file, lines.Text(), err)
			}
			v.done[call]++
			v.effects++
		}
		must(v.t, f.Close())
	}
}

// nothingLost: each turn that the kernel took has ended well, and its agent has seen each of
// its calls.
func (v *verdict) nothingLost(ctx context.Context) {
	ends := map[string]string{}
	v.each(ctx, `SELECT turn_id, status || ': ' || summary FROM turns`, func(scan func(...any) error) error {
		var id, end string
		err := scan(&id, &end)
		ends[id] = end
		return err
	})
	v.turns = len(ends)
	for id, end := range ends { // also those whose beginning nobody was told of
		if t, told := v.begun[id]; told && end != "ended: "+t.seen() {
			v.t.Errorf("the turn %s with %d calls: %s", id, t.calls(), end)
		} else if !told && !strings.HasPrefix(end, "ended: Seen ") {
			v.t.Errorf("the turn %s, which nobody was told of: %s", id, end)
		}
	}
	for id := range v.begun {
		if ends[id] == "" {
			v.t.Errorf("the turn %s was taken and is lost", id)
		}
	}
}

// nothingTwice: of each irreversible call there is one grant and one effect at most, of each
// call one report and one place in the transcript.
func (v *verdict) nothingTwice(ctx context.Context) {
	v.each(ctx, `SELECT c.call_id, c.class, c.state, count(g.call_id), (SELECT count(*) FROM results r WHERE r.call_id = c.call_id),
		(SELECT count(*) FROM cards k WHERE k.tool_call_id = c.call_id AND k.type = 'tool.result'),
		coalesce((SELECT k.content::json->>'status' FROM cards k WHERE k.tool_call_id = c.call_id AND k.type = 'tool.result'), ''), c.tool
		FROM calls c LEFT JOIN grants g ON g.call_id = c.call_id GROUP BY c.call_id`, func(scan func(...any) error) error {
		var id, class, state, status, tool string
		var grants, applied, cards int
		if err := scan(&id, &class, &state, &grants, &applied, &cards, &status, &tool); err != nil {
			return err
		}
		v.calls++
		if tool == forkJoin && status == "success" { // what the turns of its parts did is in their own calls
			v.done[id], grants = 1, 1
		}
		v.call(id, class, state, status, grants, applied, cards)
		return nil
	})
}

func (v *verdict) call(id, class, state, status string, grants, applied, cards int) {
	done := v.done[id]
	switch state {
	case "finished", "resolved", "over":
	default:
		v.t.Errorf("the call %s (%s) is %s after the end", id, class, state)
	}
	if cards != 1 || applied > 1 {
		v.t.Errorf("the call %s (%s, %s) has %d results, applied %d times", id, class, state, cards, applied)
	}
	if class == "irreversible" && (grants > 1 || done > 1) {
		v.t.Errorf("the irreversible call %s was granted %d times and done %d times", id, grants, done)
	}
	if class == "irreversible" && done > 0 && !v.said[id] {
		v.t.Errorf("the irreversible call %s was done, and nobody has said yes to it", id)
	}
	if done > 0 && grants == 0 {
		v.t.Errorf("the call %s was done %d times and never granted", id, done)
	}
	if status == "success" && done == 0 {
		v.t.Errorf("the call %s is told as done, and was not", id)
	}
	if state == "over" && done > 0 && class == "irreversible" {
		v.t.Errorf("the irreversible call %s is told as not begun, and was done", id)
	}
	switch {
	case state == "resolved":
		v.unknown++
	case grants > 1:
		v.again++
	case state == "over" && v.yes[id]:
		v.stale++
	}
}

// partsOnce: each part of a call was begun once, and of one that a person has refused none was.
func (v *verdict) partsOnce(ctx context.Context) {
	v.each(ctx, `SELECT c.call_id, (SELECT count(*) FROM turns t WHERE t.doc::json->'state'->'within'->>'call' = c.call_id),
		(SELECT count(DISTINCT coalesce(t.doc::json->'state'->'within'->>'index', '0')) FROM turns t WHERE t.doc::json->'state'->'within'->>'call' = c.call_id),
		coalesce((SELECT k.content::json->>'status' FROM cards k WHERE k.tool_call_id = c.call_id AND k.type = 'tool.result'), '')
		FROM calls c WHERE c.tool = '`+forkJoin+`'`, func(scan func(...any) error) error {
		var id, status string
		var begun, different int
		err := scan(&id, &begun, &different, &status)
		want := 2
		if status == string(utp.StatusCanceled) {
			want = 0
		}
		if v.parts += begun; err == nil && (begun != want || different != want) {
			v.t.Errorf("the call %s (%s) has begun %d turns for %d of its parts; want %d", id, status, begun, different, want)
		}
		return err
	})
	if v.parts == 0 {
		v.t.Error("no turn was a part of another one")
	}
}

// nothingAskedTwice: each call that an agent has named was asked for once, under whatever id: an
// agent that is started again does not ask again for what it has asked for. What the kernel
// itself puts in the place of a call that was too old to start is no other one.
func (v *verdict) nothingAskedTwice(ctx context.Context) {
	v.each(ctx, `SELECT turn_id, coalesce(doc::json->>'key', ''), count(*) FILTER (WHERE coalesce(doc::json->>'replaces', '') = '')
		FROM calls GROUP BY 1, 2`, func(scan func(...any) error) error {
		var turn, key string
		var n int
		err := scan(&turn, &key, &n)
		if err == nil && (key == "" || n != 1) {
			v.t.Errorf("in %s the call %q was asked for %d times", turn, key, n)
		}
		return err
	})
}

// nothingWithoutConsent: whatever irreversible was granted has a consent to that very call,
// used up, and a receipt.
func (v *verdict) nothingWithoutConsent(ctx context.Context) {
	v.each(ctx, `SELECT c.call_id FROM calls c JOIN grants g ON g.call_id = c.call_id
		WHERE c.class = 'irreversible' AND NOT EXISTS (SELECT 1 FROM consents s JOIN receipts r ON r.call_id = s.call_id AND r.decision = 'accept'
		WHERE s.call_id = c.call_id AND s.consumed_at IS NOT NULL AND s.digest = c.digest)`, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		v.t.Errorf("the call %s was started without a consent that was used up for it", id)
		return err
	})
}

// nothingLeft: no message waits for ever, and none was given up.
func (v *verdict) nothingLeft(ctx context.Context) {
	var waiting, dead int
	must(v.t, v.pg.QueryRow(ctx, `SELECT count(*) FILTER (WHERE published_at IS NULL AND dead_at IS NULL), count(*) FILTER (WHERE dead_at IS NOT NULL) FROM outbox`).Scan(&waiting, &dead))
	if waiting+dead > 0 {
		v.t.Errorf("%d messages have not left, %d were given up", waiting, dead)
	}
}

// wellTold: the events of each session are legal, without a gap, and end once.
func (v *verdict) wellTold(ctx context.Context) {
	var judge aaep.Validator
	checker := session.NewChecker()
	last := map[string]int64{}
	v.each(ctx, `SELECT session_id, seq, body FROM events ORDER BY session_id, seq`, func(scan func(...any) error) error {
		var id string
		var seq int64
		var body []byte
		if err := scan(&id, &seq, &body); err != nil {
			return err
		}
		if seq != last[id]+1 {
			v.t.Errorf("%s: event %d comes behind %d", id, seq, last[id])
		}
		last[id] = seq
		d := aaep.Read(body)
		for _, found := range append(judge.Judge(d, aaep.ModeProducer), checker.CheckDocument(d)...) {
			if found.Severity == aaep.SeverityError {
				v.t.Errorf("%s, event %d: %v", id, seq, found)
			}
		}
		return nil
	})
	for _, found := range checker.Close() {
		if found.Severity == aaep.SeverityError {
			v.t.Errorf("at the end: %v", found)
		}
	}
}

// chained: each answer has its entry in the audit chain, and the chain is whole, with all that the ledger keeps of
// what was answered and done.
func (v *verdict) chained(ctx context.Context, dsn string) {
	store, err := postgres.Open(ctx, postgres.Options{DSN: dsn})
	must(v.t, err)
	defer func() { must(v.t, store.Close()) }()
	report := storetest.Verify(v.t, store)
	var receipts int64
	must(v.t, v.pg.QueryRow(ctx, `SELECT count(*) FROM receipts`).Scan(&receipts))
	if report.Receipts != receipts || report.Older != 0 || receipts < int64(len(v.yes)) {
		v.t.Errorf("the audit chain %+v, of %d receipts and %d answers", report, receipts, len(v.yes))
	}
}

func (v *verdict) each(ctx context.Context, query string, read func(scan func(...any) error) error) {
	v.t.Helper()
	rows, err := v.pg.Query(ctx, query)
	must(v.t, err)
	defer rows.Close()
	for rows.Next() {
		must(v.t, read(rows.Scan))
	}
	must(v.t, rows.Err())
}

func (v *verdict) String() string {
	return fmt.Sprintf("%d turns, %d of them parts of others, %d calls, %d effects in the tools' own files; "+
		"%d repeatable calls granted again, %d unknown fates told to a person, %d calls too old to start after a yes",
		v.turns, v.parts, v.calls, v.effects, v.again, v.unknown, v.stale)
}
