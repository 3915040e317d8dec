package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// counted is what a database has done.
type counted struct {
	Commits, Syncs, Rows, Bytes float64
}

func (c counted) minus(o counted) counted {
	return counted{c.Commits - o.Commits, c.Syncs - o.Syncs, c.Rows - o.Rows, c.Bytes - o.Bytes}
}

// over is what each of so many calls has cost.
func (c counted) over(calls int) counted {
	n := max(float64(calls), 1)
	return counted{c.Commits / n, c.Syncs / n, c.Rows / n, c.Bytes / n}
}

// server reads the counters of a PostgreSQL. Its commits are the transactions that wrote
// something: those have been given numbers. A backend hands its own counters in when it ends:
// so everybody else has to be gone.
func server(ctx context.Context, dsn string) (c counted, err error) {
	pg, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, pg.Close(ctx)) }()
	for others := 1; others > 0; {
		err := pg.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`).Scan(&others)
		if err != nil {
			return c, err
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return c, err
		}
	}
	err = pg.QueryRow(ctx, `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8, wal_sync, wal_bytes::float8,
		(SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::float8 FROM pg_stat_user_tables)
		FROM pg_stat_database, pg_stat_wal WHERE datname = current_database()`).Scan(&c.Commits, &c.Syncs, &c.Bytes, &c.Rows)
	return c, err
}

// embedded reads the counters of an SQLite ledger: its commits, each of which flushes the log
// once; the rows that its writer has changed; and what this process has handed to the disk.
func embedded(ctx context.Context, s *sqlite.Store) (c counted, err error) {
	c.Commits = float64(s.Commits())
	c.Syncs = c.Commits
	err = s.Update(ctx, func(tx store.Tx) error {
		return inside(tx).QueryRow(`SELECT total_changes()`, nil, &c.Rows)
	})
	if err != nil {
		return c, err
	}
	raw, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return c, err
	}
	for line := range strings.Lines(string(raw)) {
		if n, is := strings.CutPrefix(line, "write_bytes: "); is {
			c.Bytes, err = strconv.ParseFloat(strings.TrimSpace(n), 64)
		}
	}
	return c, err
}

// inside is what a transaction of our stores runs its statements on.
func inside(tx store.Tx) ledgersql.Conn {
	return tx.(*ledgersql.Tx).Conn() //nolint:forcetypeassert // both stores make no other
}

// dropSchema removes what a contender has left.
func dropSchema(ctx context.Context, dsn string) error {
	pg, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer pg.Close(ctx) //nolint:errcheck // the whole server ends soon
	_, err = pg.Exec(ctx, `DO $$ BEGIN EXECUTE format('DROP SCHEMA %I CASCADE', current_schema()); END $$`)
	return err
}

// processors is how long processors have worked so far: for this process, and for the
// server's processes that are there, whose postmaster has the id parent.
type processors struct{ own, server time.Duration }

func (p processors) minus(o processors) processors {
	return processors{p.own - o.own, p.server - o.server}
}

func spent(postmaster int) processors {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for oneself
	p := processors{own: time.Duration(u.Utime.Nano() + u.Stime.Nano())}
	if postmaster == 0 {
		return p
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // its pattern is right
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, after, _ := strings.Cut(string(raw), ") ")
		f := strings.Fields(after)
		at := 11
		switch {
		case len(f) < 15:
			continue
		case path == "/proc/"+strconv.Itoa(postmaster)+"/stat":
			at = 13 // those of its children that have ended
		case f[1] != strconv.Itoa(postmaster):
			continue
		}
		user, _ := strconv.Atoi(f[at])
		system, _ := strconv.Atoi(f[at+1])
		const tick = time.Second / 100
		p.server += time.Duration(user+system) * tick
	}
	return p
}

// postmaster finds the process that has started a backend.
func postmaster(ctx context.Context, dsn string) (int, error) {
	pg, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer pg.Close(ctx) //nolint:errcheck // nothing hangs on it
	var pid int
	if err := pg.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		return 0, err
	}
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	return strconv.Atoi(strings.Fields(after)[1])
}
