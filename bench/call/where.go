package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// share of the log of a table or an index: how many changes it has, or pages, and bytes.
type portion struct{ changes, bytes, images float64 }

// portions are what stands in the log, by what it is about.
type portions map[string]portion

func (p portions) add(name string, changes, bytes, images float64) {
	was := p[name]
	p[name] = portion{was.changes + changes, was.bytes + bytes, was.images + images}
}

// print prints them for each of so many calls, the largest first.
func (p portions) print(who, unit string, calls int) {
	n := float64(max(calls, 1))
	fmt.Fprintf(os.Stderr, "\nwhere the log of a call on %s goes, %d calls\n%-34s %9s %9s %12s\n", who, calls, "", unit, "bytes", "whole pages")
	var sum portion
	names := slices.SortedFunc(maps.Keys(p), func(a, b string) int { return cmp.Compare(p[b].bytes, p[a].bytes) })
	for _, name := range names {
		fmt.Fprintf(os.Stderr, "%-34s %9.2f %9.0f %12.0f\n", name, p[name].changes/n, p[name].bytes/n, p[name].images/n)
		sum = portion{sum.changes + p[name].changes, sum.bytes + p[name].bytes, sum.images + p[name].images}
	}
	fmt.Fprintf(os.Stderr, "%-34s %9.2f %9.0f %12.0f\n", "all", sum.changes/n, sum.bytes/n, sum.images/n)
}

// keepLog has an SQLite ledger keep its whole log, so that it can be read at the end.
func keepLog(ctx context.Context, s *sqlite.Store) error {
	return s.Update(ctx, func(tx store.Tx) error {
		var n int
		return inside(tx).QueryRow(`PRAGMA wal_autocheckpoint=0`, nil, &n)
	})
}

// whereEmbedded reads the log of an SQLite ledger: each frame is a page, and the page belongs to the table or index that
// has it in the end.
func whereEmbedded(ctx context.Context, s *sqlite.Store, from int64, calls int) (int64, error) {
	raw, err := os.ReadFile(s.Path() + "-wal")
	if err != nil {
		return 0, err
	}
	owner := map[uint32]string{}
	err = s.View(ctx, func(tx store.Tx) error {
		return inside(tx).Each(`SELECT pageno, name || CASE pagetype WHEN 'overflow' THEN ' (overflow)' ELSE '' END FROM dbstat`, nil,
			func(scan func(...any) error) error {
				var page uint32
				var name string
				err := scan(&page, &name)
				owner[page] = name
				return err
			})
	})
	if err != nil {
		return 0, err
	}
	const header, frame = 32, 24
	size := int64(binary.BigEndian.Uint32(raw[8:]))
	all := portions{}
	salt := string(raw[16:24])
	at := max(from, header)
	for ; at+frame+size <= int64(len(raw)) && string(raw[at+8:at+16]) == salt; at += frame + size {
		name, is := owner[binary.BigEndian.Uint32(raw[at:])]
		if !is {
			name = "free pages and the list of them"
		}
		all.add(name, 1, float64(frame+size), 0)
	}
	if calls > 0 {
		all.print("SQLite", "pages", calls)
	}
	return at, nil
}

// readable lets the role of the ledgers read the log of the server, by an extension that comes with PostgreSQL.
func readable(ctx context.Context, server *cluster.Cluster) error {
	return server.Do(ctx, "CREATE EXTENSION IF NOT EXISTS pg_walinspect WITH SCHEMA public", "GRANT pg_read_server_files TO "+cluster.Role)
}

// position returns where the log of a server ends.
func position(ctx context.Context, dsn string) (lsn string, err error) {
	pg, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, pg.Close(ctx)) }()
	return lsn, pg.QueryRow(ctx, `SELECT pg_current_wal_lsn()::text`).Scan(&lsn)
}

// whereServer reads the log of a server from a position on. A record that is about several pages counts for the first of
// their tables or indexes.
func whereServer(ctx context.Context, dsn, from string, calls int) (err error) {
	pg, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pg.Close(ctx)) }()
	rows, err := pg.Query(ctx, `SELECT coalesce(c.relname, '-') || ': ' || l.resource_manager || ' ' || l.record_type, count(*),
			sum(l.record_length)::float8, sum(l.fpi_length)::float8
		FROM public.pg_get_wal_records_info($1::pg_lsn, pg_current_wal_lsn()) l
		LEFT JOIN pg_class c ON pg_relation_filenode(c.oid) = substring(l.block_ref FROM 'rel [0-9]+/[0-9]+/([0-9]+)')::oid
		GROUP BY 1`, from)
	if err != nil {
		return err
	}
	all, tables := portions{}, portions{}
	var name string
	var n, length, images float64
	_, err = pgx.ForEachRow(rows, []any{&name, &n, &length, &images}, func() error {
		all.add(name, n, length, images)
		of, _, _ := strings.Cut(name, ": ")
		tables.add(of, n, length, images)
		return nil
	})
	if err != nil {
		return err
	}
	all.print("PostgreSQL", "records", calls)
	tables.print("PostgreSQL, by table and index", "records", calls)
	changed, err := pg.Query(ctx, `SELECT relname || ' (' || n_tup_ins || ' added, ' || n_tup_upd || ' updated, ' || n_tup_hot_upd || ' of them heap-only, '
		|| n_tup_del || ' removed)', (n_tup_ins + n_tup_upd + n_tup_del)::float8 FROM pg_stat_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0`)
	if err != nil {
		return err
	}
	written := portions{}
	_, err = pgx.ForEachRow(changed, []any{&name, &n}, func() error {
		written.add(name, n, n, 0)
		return nil
	})
	written.print("PostgreSQL, by rows", "rows", calls)
	return err
}
