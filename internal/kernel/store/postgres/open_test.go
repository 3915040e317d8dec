package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// outside runs statements as another program would, with the ledger's own rights.
func outside(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	pg, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing of the test hangs on it
	for _, s := range statements {
		if _, err := pg.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestManyOpenAtOnce: of several kernels that come up on an empty schema one makes the
// tables, and all have the same ledger.
func TestManyOpenAtOnce(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	var all sync.WaitGroup
	stores := make([]*postgres.Store, 5)
	for i := range stores {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn + "&pool_max_conns=2"})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			stores[i] = s
		})
	}
	all.Wait()
	for _, s := range stores {
		if s == nil {
			continue
		}
		if len(s.ID()) != 32 || s.ID() != stores[0].ID() {
			t.Errorf("the name %q, and the first's %q", s.ID(), stores[0].ID())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if again := open(t, dsn); again.ID() != stores[0].ID() || open(t, nowhere(t)).ID() == again.ID() {
		t.Error("a ledger keeps its name, and another one has another")
	}
}

func TestNewerLedger(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	if err := open(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	outside(t, dsn, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (42, true)")
	_, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
	var newer *ledgersql.VersionError
	if !errors.As(err, &newer) || newer.Found != 42 || newer.Expected != postgres.Latest(t) || strings.Contains(err.Error(), "@") {
		t.Errorf("got %v, want a VersionError with 42 and %d", err, postgres.Latest(t))
	}
}

// TestOlderLedger: what stood in a ledger of the version before the agendas is found by way of
// them after it has been opened.
func TestOlderLedger(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	s := open(t, dsn)
	due, free, held, still := numbered("due"), numbered("free"), numbered("held"), numbered("still")
	due.Due, free.Free, held.State.Worker = time.UnixMicro(5), time.UnixMicro(6), "seat"
	for _, r := range []*store.Record{due, free, held, still} {
		must(t, save(t.Context(), s, store.Batch{Turn: r}))
	}
	must(t, s.Close())
	outside(t, dsn, "DROP VIEW results", "DROP INDEX reports_applied", "ALTER TABLE reports DROP COLUMN key, DROP COLUMN tool",
		`CREATE TABLE results (turn_id text COLLATE "C" NOT NULL, n bigint NOT NULL CHECK (n > 0), key text COLLATE "C" NOT NULL,
			call_id text COLLATE "C" NOT NULL, tool text COLLATE "C" NOT NULL, card text COLLATE "C" NOT NULL, PRIMARY KEY (turn_id, n))`,
		`INSERT INTO reports (call_id, turn_id, card, status, after_execution, at, applied) VALUES ('tc_first', 'turn_due', 'card_1', 'success', 'suspend', 5, 1)`,
		`INSERT INTO results VALUES ('turn_due', 1, 'first', 'tc_first', 'files.read', 'card_1')`,
		`INSERT INTO outbox (session_id, subject, payload, call_id, published_at) VALUES ('sess_old', 'sent', '', '', 7), ('sess_old', 'waits', '', '', NULL)`,
		"CREATE INDEX outbox_session ON outbox (session_id)",
		"ALTER TABLE turns DROP COLUMN name, DROP COLUMN topic", "DROP TABLE request_keys", "DROP TABLE permissions", "DROP TABLE passkeys", "DROP TABLE agents", "DROP TABLE box_entries", "DROP TABLE in_force", "DROP TABLE audit", "ALTER TABLE grants DROP COLUMN older", "ALTER TABLE receipts DROP COLUMN older, DROP COLUMN salt, DROP COLUMN entry, DROP COLUMN terms",
		`INSERT INTO receipts (session_id, call_id, question, decision, given_by, surface, at, shown, language)
			VALUES ('sess_old', 'tc_old', 1, 'accept', 'ann', '', 5, '', '')`,
		"ALTER TABLE results ADD CONSTRAINT results_turn_id_fkey FOREIGN KEY (turn_id) REFERENCES turns",
		"ALTER TABLE reports ADD CONSTRAINT reports_turn_id_fkey FOREIGN KEY (turn_id) REFERENCES turns", "DROP TABLE agenda", "ALTER TABLE turns DROP COLUMN ended", "ALTER TABLE turns DROP COLUMN imported",
		"CREATE INDEX turns_open ON turns (created, turn_id) WHERE status <> 'ended'",
		"CREATE INDEX turns_owner ON turns (owner, created, turn_id) WHERE status <> 'ended'",
		"CREATE INDEX turns_content ON turns (created, turn_id) WHERE status = 'ended' AND erased_at IS NULL",
		"CREATE INDEX turns_due ON turns (due_at, turn_id) WHERE due_at IS NOT NULL",
		"CREATE INDEX turns_claim ON turns (agent, claim_at, turn_id) WHERE claim_at IS NOT NULL",
		"CREATE INDEX turns_worker ON turns (worker) WHERE worker <> ''",
		"ALTER TABLE people DROP COLUMN undo_seconds, DROP COLUMN choices", "ALTER TABLE consents DROP CONSTRAINT consents_pkey",
		"ALTER TABLE consents ADD PRIMARY KEY (question)", "ALTER TABLE consents ADD UNIQUE (call_id)", "ALTER TABLE people DROP CONSTRAINT people_answer_seconds_check",
		"ALTER TABLE people ADD CONSTRAINT people_answer_seconds_check CHECK (answer_seconds > 0)",
		"DELETE FROM goose_db_version WHERE version_id > 6")
	s = open(t, dsn)
	must(t, save(t.Context(), s, storetest.Answered(1)))
	if r := storetest.Audit(t, s); r.Older != 1 || r.Entries != 1 {
		t.Errorf("the audit chain: %+v, want an older receipt and an entry for the new one", r)
	}
	must(t, s.View(t.Context(), func(tx store.Tx) error {
		for want, f := range map[string]store.TurnFilter{
			"[turn_due]":  {Due: time.UnixMicro(9)},
			"[turn_free]": {Free: time.UnixMicro(9), Agent: free.State.Agent},
			"[turn_held]": {Worker: "seat"},
			"[turn_due turn_free turn_held turn_still]": {Open: true},
		} {
			rows, err := tx.Turns(f)
			var names []string
			for _, r := range rows {
				names = append(names, r.Turn)
			}
			if got := fmt.Sprint(names); err != nil || got != want {
				t.Errorf("%+v lists %s, want %s (%v)", f, got, want, err)
			}
		}
		want := []store.ResultRow{{N: 1, Key: "first", Call: "tc_first", Tool: "files.read", Card: "card_1"}}
		if rows, err := tx.Results("turn_due", 0, 9); !slices.Equal(rows, want) || err != nil {
			t.Errorf("the transcript of an older ledger: %+v, want %+v (%v)", rows, want, err)
		}
		if rows, err := tx.Outbox(store.OutboxFilter{}); len(rows) != 1 || rows[0].Subject != "waits" || err != nil {
			t.Errorf("what waits in an older ledger: %+v (%v)", rows, err)
		}
		var rows int
		if err := postgres.Ask(tx, `SELECT count(*) FROM agenda`, &rows); err != nil || rows != 3 {
			t.Errorf("%d agendas, want one for each turn that has something on it: 3 (%v)", rows, err)
		}
		return nil
	}))
}

// TestOthersTables: what is another program's is refused and left as it is.
func TestOthersTables(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"a table":                   {"CREATE TABLE recipes (name text)"},
		"a table of a name of ours": {"CREATE TABLE turns (name text)"},
		"migrated by goose, too":    {"CREATE TABLE recipes (name text)", "CREATE TABLE goose_db_version (version_id bigint, is_applied boolean)"},
		"with a meta of its own":    {"CREATE TABLE meta (note text)", "CREATE TABLE goose_db_version (version_id bigint, is_applied boolean)"},
		"with another mark": {
			"CREATE TABLE meta (key text, value text)", "INSERT INTO meta VALUES ('application', 'cookbook')",
			"CREATE TABLE goose_db_version (version_id bigint, is_applied boolean)",
		},
	} {
		dsn := nowhere(t)
		outside(t, dsn, statements...)
		before := tables(t, dsn)
		s, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn})
		if err == nil {
			_ = s.Close()
		}
		if !errors.Is(err, ledgersql.ErrCorrupt) || !strings.Contains(err.Error(), "another program's") {
			t.Errorf("%s: got %v, want %v", name, err, ledgersql.ErrCorrupt)
		}
		if after := tables(t, dsn); after != before {
			t.Errorf("%s: the schema has changed from %s to %s", name, before, after)
		}
	}
}

func tables(t *testing.T, dsn string) (names string) {
	t.Helper()
	pg, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // only read
	err = pg.QueryRow(t.Context(), `SELECT coalesce(string_agg(relname, ' ' ORDER BY relname), '') FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`).Scan(&names)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestBrokenOffAtBirth: the first opening was killed between the migrator's own table and
// the first migration.
func TestBrokenOffAtBirth(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	outside(t, dsn, `CREATE TABLE goose_db_version (id integer PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
		version_id bigint NOT NULL, is_applied boolean NOT NULL, tstamp timestamp NOT NULL DEFAULT now())`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, true)`)
	if err := save(t.Context(), open(t, dsn), store.Batch{Turn: numbered("a")}); err != nil {
		t.Error(err)
	}
}

func TestOpeningIsCancelled(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := postgres.Open(ctx, postgres.Options{DSN: dsn}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Rand: strings.NewReader("short")}); err == nil {
		t.Error("a ledger was named without randomness")
	}
	if s := open(t, dsn); len(s.ID()) != 32 {
		t.Errorf("the name %q", s.ID())
	}
}

// TestOrdinaryRole: everything here runs as a role that may do nothing special, also over
// the loopback.
func TestOrdinaryRole(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(nowhere(t))
	if err != nil {
		t.Fatal(err)
	}
	words := at.Query()
	words.Del("host")
	words.Del("port")
	at.Host, at.RawQuery = server.Address(), words.Encode()
	s := open(t, at.String())
	if !strings.Contains(s.Location(), server.Address()) || strings.Contains(s.Location(), cluster.Role) {
		t.Errorf("the ledger lies at %s", s.Location())
	}
	err = s.Update(t.Context(), func(tx store.Tx) error {
		var special bool
		err := postgres.Ask(tx, `SELECT rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls FROM pg_roles WHERE rolname = current_user`, &special)
		if special {
			t.Error("the role is not an ordinary one")
		}
		return errors.Join(err, tx.Save(store.Batch{Turn: numbered("a")}))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestSettings are those that durability rests on, whatever the database's defaults are.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t)+"&options=-csynchronous_commit%3Doff%20-cdefault_transaction_isolation%3Dserializable")
	want := func(name, value string) func(store.Tx) error {
		return func(tx store.Tx) error {
			var got string
			err := postgres.Ask(tx, `SELECT current_setting('`+name+`')`, &got)
			if got != value {
				t.Errorf("%s is %s, want %s", name, got, value)
			}
			return err
		}
	}
	for name, value := range map[string]string{
		"synchronous_commit": "on", "fsync": "on", "transaction_isolation": "read committed", "transaction_read_only": "off",
		"idle_in_transaction_session_timeout": "1min", "application_name": "earshot",
	} {
		if err := s.Update(t.Context(), want(name, value)); err != nil {
			t.Error(err)
		}
	}
	for name, value := range map[string]string{"transaction_isolation": "repeatable read", "transaction_read_only": "on"} {
		if err := s.View(t.Context(), want(name, value)); err != nil {
			t.Error(err)
		}
	}
}
