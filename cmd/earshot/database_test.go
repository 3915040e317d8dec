package main_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// database gives a private PostgreSQL, with an empty place for a ledger. With CI=true a
// missing one is a failure.
func database(t *testing.T) (server *cluster.Cluster, dsn string) {
	t.Helper()
	server, err := cluster.Start(t.Context())
	if errors.Is(err, cluster.ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip("left out: " + err.Error() + "; scripts/need postgres installs it")
	}
	must(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	dsn, err = server.Ledger(t.Context())
	must(t, err)
	return server, dsn
}

func password(t *testing.T, dsn string) string {
	t.Helper()
	at, err := url.Parse(dsn)
	must(t, err)
	secret, _ := at.User.Password()
	return secret
}

// TestServerLedgerInADatabase: with its ledger in PostgreSQL a server does what it does with a
// file: a turn outlives its death, the database may go away and come back meanwhile, and no
// second server gets in.
func TestServerLedgerInADatabase(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	server, dsn := database(t)
	s, other := newScene(t), newScene(t)
	first := s.upApart("--ledger", dsn)
	contains(t, first.out.String(), "Ledger: postgres://")
	if strings.Contains(first.out.String()+first.prompt.String(), password(t, dsn)) {
		t.Error("the password is printed")
	}
	if _, err := os.Stat(filepath.Join(s.data, "ledger.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a ledger in the data directory too: %v", err)
	}
	contains(t, other.does(1, "up", "--root", other.folder, "--http", "127.0.0.1:0", "--ledger", dsn),
		"is served already: by earshot server "+strconv.Itoa(first.pid())+" on ", "hint: end that server first")

	run := s.run("--json", "--answer-within", "10m")
	run.await(asked)
	before := s.pending()
	first.kill()
	first.wait()
	second := s.up("--ledger", dsn)
	second.await("Resumed: sess_")
	if after := s.pending(); len(before) != 1 || len(after) != 1 || before[0].Token != after[0].Token || !before[0].Deadline.Equal(after[0].Deadline) {
		t.Errorf("the question was %+v and is %+v", before, after)
	}

	must(t, server.RestartAfter(t.Context(), func() { run.await("Waiting: the server answers, but does not take work") }))
	run.await("The server takes work again")
	second.await("Database: the connection to postgres://")
	second.await("Database: the connection is back")
	if said := s.does(0, "doctor", "--ledger", dsn); strings.Contains(said, "not there yet") || strings.Contains(said, "name it with --ledger") {
		t.Errorf("doctor misses what a ledger in a database does not have:\n%s", said)
	}
	s.does(0, "reply", "1", "accept")
	run.ends(0)
	if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
		t.Errorf("gone are %v", gone)
	}
	contains(t, other.does(1, "up", "--root", other.folder, "--http", "127.0.0.1:0", "--ledger", dsn), "is served already")
	second.signal(os.Interrupt)
	second.ends(0)
	refused := other.does(1, "up", "--root", other.folder, "--http", "127.0.0.1:0", "--ledger", dsn)
	contains(t, refused, "belongs to another data directory: it was used with another key", "hint: start with the data directory that it was used with (--data)")
	counter, err := filepath.Glob(filepath.Join(s.data, "incarnation-*"))
	must(t, err)
	must(t, os.Rename(counter[0], counter[0]+".away"))
	contains(t, s.does(1, "up", "--root", s.folder, "--http", "127.0.0.1:0", "--ledger", dsn), "has no counter for it")
	must(t, os.Rename(counter[0]+".away", counter[0]))
	third := other.up("--ledger", dsn, "--take-over")
	third.signal(os.Interrupt)
	third.ends(0) // all that it has said has been read then
	contains(t, third.prompt.String(), "Ledger: taken over from another data directory.")
	contains(t, s.does(1, "up", "--root", s.folder, "--http", "127.0.0.1:0", "--ledger", dsn), "belongs to another data directory")

	// Without the server, nobody takes a file in the directory for the ledger.
	must(t, os.WriteFile(filepath.Join(s.data, "ledger.db"), nil, 0o600))
	contains(t, s.does(1, "turns", "list"), "is in the database postgres://", "hint: start its server")
	contains(t, s.does(1, "backup", t.TempDir()), "is in the database postgres://", "hint: back it up with PostgreSQL's own means")
	fourth := s.up()
	fourth.signal(os.Interrupt)
	fourth.ends(0)
	s.does(0, "turns", "list") // the file is the ledger again
}

// TestServerWrongDatabase: what cannot be a ledger is refused with the reason and a hint, and
// left as it was.
func TestServerWrongDatabase(t *testing.T) {
	t.Parallel()
	server, dsn := database(t)
	s := newScene(t)
	contains(t, s.does(0, "doctor", "--ledger", dsn), "ok: database: postgres://", "can be reached")
	foreign, err := server.Ledger(t.Context())
	must(t, err)
	schema := foreign[strings.Index(foreign, "search_path=")+len("search_path="):]
	must(t, server.Do(t.Context(), "CREATE TABLE "+schema+".invoices (n int)", "ALTER TABLE "+schema+".invoices OWNER TO "+cluster.Role))
	closed, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	must(t, err)
	nobody := closed.Addr().String()
	must(t, closed.Close())
	contains(t, s.does(1, "doctor", "--ledger", "postgres://anna@"+nobody+"/earshot"), "problem: database: the database postgres://"+nobody+"/earshot cannot be reached")
	for _, row := range []struct {
		name, dsn, says, hint string
		code                  int
	}{
		{"no DSN", "earshot.db", "--ledger is earshot.db, expected where a PostgreSQL database is", "for example --ledger postgres://", 2},
		{"no DSN either", "postgres://[", "cannot be used as a ledger", "check its name", 1},
		{"nobody there", "postgres://anna@" + nobody + "/earshot", "cannot be reached", "see that it is up", 1},
		{"wrong password", strings.Replace(dsn, ":"+password(t, dsn), ":wrong", 1), "cannot be used as a ledger", "check its name, the user", 1},
		{"no such database", strings.Replace(dsn, "/postgres?", "/nothing?", 1), "cannot be used as a ledger", "check its name", 1},
		{"another program's", foreign, "holds no ledger", "use an empty database or schema", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := s.does(row.code, "up", "--root", s.folder, "--http", "127.0.0.1:0", "--ledger", row.dsn)
			contains(t, out, "error: ", row.says, "hint: "+row.hint)
			if strings.Contains(out, "wrong@") {
				t.Errorf("the password is printed: %s", out)
			}
		})
	}
}
