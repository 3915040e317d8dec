package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// filled makes a ledger of some size, closed, and returns its folder.
func filled(t *testing.T, turns int) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir)
	for n := range turns {
		if err := save(t.Context(), s, twoEvents(n)); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, s)
	return dir
}

func ledgerIn(dir string) string { return filepath.Join(dir, "ledger.db") }

// outside runs statements on a file as another program would.
func outside(t *testing.T, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing of the test hangs on it
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func change(t *testing.T, file string, by func([]byte) []byte) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, by(raw), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, file string)
		says   string
	}{
		{"header", func(t *testing.T, f string) {
			t.Helper()
			change(t, f, func(b []byte) []byte { copy(b, "garbage garbage!"); return b })
		}, "garbage"},
		{"text", func(t *testing.T, f string) {
			t.Helper()
			change(t, f, func([]byte) []byte { return []byte("dear diary") })
		}, "dear diary"},
		{"cut in the header", func(t *testing.T, f string) {
			t.Helper()
			change(t, f, func(b []byte) []byte { return b[:60] })
		}, "60 bytes"},
		{"cut by half", func(t *testing.T, f string) {
			t.Helper()
			change(t, f, func(b []byte) []byte { return b[:len(b)/2] })
		}, "as its header says"},
		{"cut by a byte", func(t *testing.T, f string) {
			t.Helper()
			change(t, f, func(b []byte) []byte { return b[:len(b)-1] })
		}, "as its header says"},
		{"another program's", func(t *testing.T, f string) {
			t.Helper()
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
			outside(t, f, "CREATE TABLE recipes (name TEXT)")
		}, "another program's"},
		{"another program's mark", func(t *testing.T, f string) {
			t.Helper()
			outside(t, f, "PRAGMA application_id = 252006674")
		}, "another program's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t, 50)
			c.damage(t, ledgerIn(dir))
			before, err := os.ReadFile(ledgerIn(dir))
			if err != nil {
				t.Fatal(err)
			}
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: dir})
			if err == nil {
				shut(t, s)
			}
			if !errors.Is(err, ledgersql.ErrCorrupt) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), ledgerIn(dir)) {
				t.Errorf("got %v, want %v that names the file and %q", err, ledgersql.ErrCorrupt, c.says)
			}
			after, err := os.ReadFile(ledgerIn(dir))
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the refused file was changed (%v)", err)
			}
		})
	}
}

func TestNewerLedger(t *testing.T) {
	t.Parallel()
	dir := filled(t, 1)
	outside(t, ledgerIn(dir), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (42, 1)")
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: dir})
	var newer *ledgersql.VersionError
	if !errors.As(err, &newer) || newer.Found != 42 || newer.Expected != 25 || newer.Path != ledgerIn(dir) {
		t.Errorf("got %v, want a VersionError with 42 and 25", err)
	}
}

// TestOlderLedger: one of the first version is brought up to date with all that is in it.
func TestOlderLedger(t *testing.T) {
	t.Parallel()
	dir := filled(t, 3)
	outside(t, ledgerIn(dir), "DROP VIEW results", "DROP INDEX reports_applied", "ALTER TABLE reports DROP COLUMN key", "ALTER TABLE reports DROP COLUMN tool",
		`CREATE TABLE results (turn_id TEXT NOT NULL REFERENCES turns (turn_id), n INTEGER NOT NULL CHECK (n > 0), key TEXT NOT NULL, call_id TEXT NOT NULL,
			tool TEXT NOT NULL, card TEXT NOT NULL, PRIMARY KEY (turn_id, n)) STRICT, WITHOUT ROWID`,
		"INSERT INTO reports (call_id, turn_id, card, status, after_execution, at, applied) SELECT 'tc_first', min(turn_id), 'card_1', 'success', 'suspend', 5, 1 FROM turns",
		"INSERT INTO reports (call_id, turn_id, card, status, after_execution, at) SELECT 'tc_second', min(turn_id), 'card_2', 'success', 'suspend', 6 FROM turns",
		"INSERT INTO results SELECT min(turn_id), 1, 'first', 'tc_first', 'files.read', 'card_1' FROM turns",
		`INSERT INTO outbox (session_id, subject, payload, call_id, published_at) VALUES ('sess_old', 'sent', x'', '', 7), ('sess_old', 'waits', x'', '', NULL)`,
		"DROP INDEX turns_name", "DROP INDEX turns_topic", "ALTER TABLE turns DROP COLUMN name", "ALTER TABLE turns DROP COLUMN topic",
		"DROP TABLE request_keys", "DROP TABLE permissions", "DROP TABLE passkeys", "DROP TABLE agents", "DROP TABLE box_entries", "DROP TABLE in_force", "DROP TABLE audit", "DROP INDEX receipts_entry", "ALTER TABLE receipts DROP COLUMN salt", "ALTER TABLE receipts DROP COLUMN terms", "ALTER TABLE receipts DROP COLUMN entry", "ALTER TABLE receipts DROP COLUMN older", "ALTER TABLE grants DROP COLUMN older",
		"DROP TABLE agenda", "DROP INDEX turns_agent", "DROP INDEX turns_open", "DROP INDEX turns_owner", "DROP INDEX turns_content", "ALTER TABLE turns DROP COLUMN ended", "ALTER TABLE turns DROP COLUMN imported",
		"CREATE INDEX turns_open ON turns (created, turn_id) WHERE status <> 'ended'", "DROP INDEX turns_erased",
		"ALTER TABLE turns DROP COLUMN erased_at",
		"DROP INDEX receipts_session", "DROP INDEX outbox_dead", "DROP INDEX cards_created",
		"DROP INDEX cards_turn", "ALTER TABLE cards DROP COLUMN turn_id",
		"DROP INDEX late_results_turn", "ALTER TABLE blobs DROP COLUMN created", "DROP TABLE blob_refs", "ALTER TABLE tools DROP COLUMN seen",
		"DROP TABLE people", "DROP INDEX questions_open", "ALTER TABLE turns DROP COLUMN summary",
		"ALTER TABLE turns DROP COLUMN worker",
		"ALTER TABLE turns DROP COLUMN due_at", "ALTER TABLE turns DROP COLUMN claim_at", "ALTER TABLE outbox DROP COLUMN created", "DELETE FROM goose_db_version WHERE version_id > 1")
	outside(t, ledgerIn(dir), `INSERT INTO receipts (session_id, call_id, question, decision, given_by, surface, at, shown, language)
			VALUES ('sess_old', 'tc_old', 1, 'accept', 'ann', '', 5, '', '')`,
		`INSERT INTO calls SELECT 'tc_old', min(turn_id), '', '', '', '', '', '', '', '', NULL, '', 0, '', '{}' FROM turns`,
		`INSERT INTO cards VALUES ('card_a', 'p', 't', 'a', 'tc_old', '{}', '{"agent_turn_id": "turn_b"}', 1), ('card_b', 'p', 't', 'a', 'tc_none', '{}', '{"agent_turn_id": "turn_b"}', 1),
			('card_c', 'p', 't', 'a', '', '{}', '{', 1), ('card_d', 'p', 't', 'a', '', NULL, '{"agent_turn_id": 7}', 1)`)
	s := open(t, dir)
	for n := range 3 {
		if !holds(t, s, n) {
			t.Errorf("the turn %d is lost", n)
		}
	}
	cardsOf(t, s, "turn_b", "card_b")
	err := s.View(t.Context(), func(tx store.Tx) error {
		if rows, err := tx.Turns(store.TurnFilter{Due: time.Now()}); len(rows) != 3 || err != nil {
			t.Errorf("%d turns are due, want every open turn of an older ledger: 3 (%v)", len(rows), err)
		}
		first, err := tx.Turns(store.TurnFilter{Limit: 1})
		if err != nil {
			return err
		}
		want := []store.ResultRow{{N: 1, Key: "first", Call: "tc_first", Tool: "files.read", Card: "card_1"}}
		if rows, err := tx.Results(first[0].Turn, 0, 9); !slices.Equal(rows, want) || err != nil {
			t.Errorf("the transcript of an older ledger: %+v, want %+v (%v)", rows, want, err)
		}
		if rows, err := tx.Outbox(store.OutboxFilter{}); len(rows) != 1 || rows[0].Subject != "waits" || err != nil {
			t.Errorf("what waits in an older ledger: %+v (%v)", rows, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := save(t.Context(), s, store.Batch{Preferences: []store.Preferences{{Person: "ann", Preferences: api.Preferences{AnswerSeconds: new(60)}}}}); err != nil {
		t.Error(err)
	}
	if err := save(t.Context(), s, store.Batch{Applied: []store.ResultRow{{Key: "second", Call: "tc_second", Tool: "files.read", Card: "card_2"}}}); err != nil {
		t.Errorf("applying what an older ledger has reported: %v", err)
	}
	if err := save(t.Context(), s, storetest.Answered(1)); err != nil {
		t.Error(err)
	}
	if r := storetest.Audit(t, s); r.Older != 1 || r.Entries != 1 {
		t.Errorf("the audit chain: %+v, want an older receipt and an entry for the new one", r)
	}
	shut(t, s)
}

// TestLostAgenda: a turn whose agenda is gone gets one with its next step.
func TestLostAgenda(t *testing.T) {
	t.Parallel()
	dir := filled(t, 0)
	s := open(t, dir)
	r := twoEvents(1).Turn
	r.Due = time.UnixMicro(5)
	if err := save(t.Context(), s, store.Batch{Turn: r}); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	outside(t, ledgerIn(dir), "DELETE FROM agenda")
	s = open(t, dir)
	err := s.Update(t.Context(), func(tx store.Tx) error {
		r, err := tx.Turn(store.TurnRef{Turn: r.State.Turn})
		if err != nil {
			return err
		}
		r.Due = time.UnixMicro(6)
		return tx.Save(store.Batch{Turn: &r})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{Due: time.UnixMicro(6)})
		if len(rows) != 1 {
			t.Errorf("%d turns are due, want 1", len(rows))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	shut(t, s)
}

func TestRefusedPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"no path":      "",
		"no folder":    filepath.Join(dir, "missing", "ledger.db"),
		"below a file": filepath.Join(file, "ledger.db"),
		"a device":     os.DevNull,
		"NUL":          dir + "/a\x00b",
	} {
		s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
		if err == nil {
			shut(t, s)
		}
		var e *ledgersql.Error
		if !errors.Is(err, ledgersql.ErrAccess) || !errors.As(err, &e) || e.SafeToRetry() {
			t.Errorf("%s: got %v, want %v", name, err, ledgersql.ErrAccess)
		}
	}
}

func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "50%", "a?b=c", "a#b", "?", "%41", "räum;auf", "'quoted\"", ":memory:", "file:x?mode=memory"} {
		file := filepath.Join(t.TempDir(), name)
		s := open(t, file)
		if err := save(t.Context(), s, twoEvents(1)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		shut(t, s)
		if info, err := os.Stat(file); err != nil || info.Size() == 0 || s.Path() != file {
			t.Errorf("%q: the ledger is not there: %v", name, err)
		}
		s = open(t, file)
		if !holds(t, s, 1) {
			t.Errorf("%q: the turn is not there", name)
		}
		shut(t, s)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if err := save(t.Context(), s, twoEvents(1)); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 3 {
		t.Fatalf("%d files, %v; want the ledger, its log and its index", len(names), err)
	}
	for _, n := range names {
		info, err := n.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", n.Name(), info.Mode(), err)
		}
	}
}

// TestOpeningIsCancelled leaves nothing half made behind.
func TestOpeningIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(ctx, sqlite.Options{Path: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	shut(t, open(t, dir))
}

// TestBrokenOffAtBirth: the first opening was killed between the migrator's own table
// and the first migration.
func TestBrokenOffAtBirth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside(t, ledgerIn(dir), `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`)
	s := open(t, dir)
	if err := save(t.Context(), s, twoEvents(1)); err != nil {
		t.Error(err)
	}
}

func TestNameOfALedger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	name := s.ID()
	shut(t, s)
	again, other := open(t, dir), open(t, t.TempDir())
	if len(name) != 32 || again.ID() != name || other.ID() == name {
		t.Errorf("%q, opened again %q, another %q", name, again.ID(), other.ID())
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Options{Path: t.TempDir(), Rand: strings.NewReader("short")}); err == nil {
		t.Error("a ledger was named without randomness")
	}
}

// TestSettings are those that durability and the bound on memory rest on.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	check := func(want map[string]string) func(store.Tx) error {
		return func(tx store.Tx) error {
			for name, value := range want {
				if got, err := sqlite.Pragma(tx, name); got != value || err != nil {
					t.Errorf("%s is %s, want %s (%v)", name, got, value, err)
				}
			}
			return nil
		}
	}
	writer := map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000", "cache_size": "-4096", "temp_store": "2"}
	if err := s.Update(t.Context(), check(writer)); err != nil {
		t.Error(err)
	}
	if err := s.View(t.Context(), check(map[string]string{"query_only": "1", "busy_timeout": "5000", "cache_size": "-1024"})); err != nil {
		t.Error(err)
	}
}

// uncleanCopy is a ledger as a crash would leave it: with a log beside it.
func uncleanCopy(t *testing.T) string {
	t.Helper()
	dir := filled(t, 200)
	s := open(t, dir)
	if err := save(t.Context(), s, twoEvents(1000)); err != nil {
		t.Fatal(err)
	}
	return string(place(dir).Crashed(t).(place))
}

func TestUncleanEndIsChecked(t *testing.T) {
	t.Parallel()
	dir := uncleanCopy(t)
	s := open(t, dir)
	if !holds(t, s, 1000) {
		t.Error("the last step is gone")
	}
	shut(t, s)
	dir = uncleanCopy(t)
	change(t, ledgerIn(dir), func(b []byte) []byte {
		clear(b[len(b)/2 : len(b)/2+3*4096])
		return b
	})
	if s, err := sqlite.Open(t.Context(), sqlite.Options{Path: dir}); !errors.Is(err, ledgersql.ErrCorrupt) {
		t.Errorf("got %v, want %v", err, ledgersql.ErrCorrupt)
		if err == nil {
			shut(t, s)
		}
	}
}

// TestDamage overwrites parts of a closed ledger and reads all of it: the errors are
// typed, and nothing crashes or hangs.
func TestDamage(t *testing.T) {
	t.Parallel()
	original, err := os.ReadFile(ledgerIn(filled(t, 100)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		raw := bytes.Clone(original)
		for range rapid.IntRange(1, 4).Draw(rt, "places") {
			at := rapid.IntRange(0, len(raw)-1).Draw(rt, "at")
			copy(raw[at:], rapid.SliceOfN(rapid.Byte(), 1, 64).Draw(rt, "bytes"))
		}
		file := filepath.Join(dir, "damaged.db")
		for _, tail := range []string{"-wal", "-shm", "-journal"} {
			if err := os.Remove(file + tail); err != nil && !errors.Is(err, fs.ErrNotExist) {
				rt.Fatal(err)
			}
		}
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			rt.Fatal(err)
		}
		if err := readThrough(t.Context(), file); err != nil && !typed(err) {
			rt.Fatalf("%T: %v", err, err)
		}
	})
}

func typed(err error) bool {
	var newer *ledgersql.VersionError
	var e *ledgersql.Error
	return errors.As(err, &newer) || errors.As(err, &e) || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound)
}

func readThrough(ctx context.Context, file string) error {
	s, err := sqlite.Open(ctx, sqlite.Options{Path: file})
	if err != nil {
		return err
	}
	err = s.View(ctx, func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{})
		for _, r := range rows {
			_, terr := tx.Turn(store.TurnRef{Turn: r.Turn})
			_, eerr := tx.Events(store.EventFilter{Session: r.Session, Limit: 10})
			err = errors.Join(err, terr, eerr)
		}
		return err
	})
	return errors.Join(err, save(ctx, s, twoEvents(5000)), s.Close())
}

func TestBackup(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if err := save(t.Context(), s, twoEvents(1)); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "it's a copy.db")
	err := s.Update(t.Context(), func(tx store.Tx) error { // beside an update that is under way
		return errors.Join(tx.Save(twoEvents(2)), s.Backup(t.Context(), to))
	})
	if err != nil {
		t.Fatal(err)
	}
	backup := open(t, to)
	if !holds(t, backup, 1) || holds(t, backup, 2) || backup.ID() != s.ID() {
		t.Errorf("the copy has step 1: %t, step 2: %t, name %s", holds(t, backup, 1), holds(t, backup, 2), backup.ID())
	}
	shut(t, backup)
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	before, _ := os.ReadFile(to)
	if err := s.Backup(t.Context(), to); !errors.Is(err, ledgersql.ErrAccess) {
		t.Errorf("onto a file: got %v, want %v", err, ledgersql.ErrAccess)
	}
	if after, _ := os.ReadFile(to); !bytes.Equal(before, after) {
		t.Error("the file that was there has changed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Backup(ctx, to+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := os.Stat(to + "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a cancelled backup left a file: %v", err)
	}
}

func TestTimesAreTheStoresOwn(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	dir := t.TempDir()
	s := openWith(t, sqlite.Options{Path: dir, Now: func() time.Time { return at }})
	if err := save(t.Context(), s, store.Batch{Outbox: []store.Outgoing{{}, {}}}); err != nil {
		t.Fatal(err)
	}
	if err := save(t.Context(), s, store.Batch{Published: []int64{1}, Dead: []store.DeadLetter{{ID: 2, Reason: "why"}}}); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	db, err := sql.Open("sqlite", ledgerIn(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // only read
	var left, dead int64
	var reason string
	err = db.QueryRowContext(t.Context(), "SELECT count(*), dead_at, dead_reason FROM outbox").Scan(&left, &dead, &reason)
	if err != nil || left != 1 || dead != at.UnixMicro() || reason != "why" {
		t.Errorf("%d messages, dead %d for %q, %v; want the one that is dead", left, dead, reason, err)
	}
}

func cardsOf(t *testing.T, s *sqlite.Store, turnID string, want ...string) {
	t.Helper()
	var is []string
	err := s.View(t.Context(), func(tx store.Tx) error {
		cards, err := tx.Cards(store.CardFilter{Turn: turnID})
		for _, c := range cards {
			is = append(is, c.ID)
		}
		return err
	})
	if err != nil || !slices.Equal(is, want) {
		t.Errorf("the cards of %s are %v, %v; want %v", turnID, is, err, want)
	}
}
