package sqlite_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

var update = flag.Bool("update", false, "write newest.sql again")

// TestNewest: a new ledger, which gets the newest schema at once, is the one that all migrations make: the same tables,
// indexes and columns in the same order and words, the same settings of the file, the same rows.
func TestNewest(t *testing.T) {
	t.Parallel()
	migrated := t.TempDir()
	if err := sqlite.Migrate(t.Context(), migrated); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("newest.sql", []byte(script(t, ledgerIn(migrated))), 0o600); err != nil {
			t.Fatal(err)
		}
		return // what was compiled in is still the old one
	}
	at := filled(t, 0)
	shut(t, open(t, migrated))
	for _, query := range []string{
		`SELECT type || ' ' || name || ' of ' || tbl_name || ': ' || ifnull(sql, '') FROM sqlite_schema ORDER BY rowid`,
		`SELECT version_id || ' ' || is_applied FROM goose_db_version ORDER BY id`,
		`SELECT application_id || ' ' || user_version || ' ' || encoding || ' ' || page_size || ' ' || auto_vacuum
			FROM pragma_application_id, pragma_user_version, pragma_encoding, pragma_page_size, pragma_auto_vacuum`,
		`SELECT key FROM meta ORDER BY key`,
		`SELECT name || ' ' || value FROM counters ORDER BY name`,
		`SELECT name || ' ' || seq FROM sqlite_sequence ORDER BY name`,
	} {
		want, got := rows(t, ledgerIn(migrated), query), rows(t, ledgerIn(at), query)
		if len(want) == 0 && !strings.Contains(query, "counters") {
			t.Errorf("%s finds nothing", query)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\nat once:\n%s\nby migrations:\n%s\n(go test ./internal/kernel/store/sqlite -run TestNewest -update)", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, table := range rows(t, ledgerIn(at), `SELECT name FROM sqlite_schema WHERE type = 'table'`) {
		count := fmt.Sprintf(`SELECT count(*) FROM %q`, table)
		if got, want := rows(t, ledgerIn(at), count), rows(t, ledgerIn(migrated), count); got[0] != want[0] {
			t.Errorf("%s: %s rows at once, %s by migrations", table, got[0], want[0])
		}
	}
}

// script makes the schema of a file and the migrator's rows; the file must hold no others.
func script(t *testing.T, file string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("-- What all migrations make, for a new ledger; generated (TestNewest).\n")
	for _, mark := range rows(t, file, `SELECT application_id FROM pragma_application_id`) {
		fmt.Fprintf(&b, "PRAGMA application_id = %s;\n", mark)
	}
	for _, statement := range rows(t, file, `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY rowid`) {
		fmt.Fprintf(&b, "%s;\n", statement)
	}
	b.WriteString("INSERT INTO goose_db_version (version_id, is_applied) VALUES\n")
	versions := rows(t, file, `SELECT printf('    (%d, %d)', version_id, is_applied) FROM goose_db_version ORDER BY id`)
	b.WriteString(strings.Join(versions, ",\n") + ";\n")
	return b.String()
}

// rows reads the one column of a query, beside the program.
func rows(t *testing.T, file, query string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing was written
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	for found.Next() {
		var one string
		if err := found.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
