package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

//go:embed migrations/*.sql
var migrations embed.FS

// latest is the newest schema version: one for each file, numbered from 1.
func latest() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	return int64(len(files)), err
}

// migrate brings the schema up to date, each version in a transaction of its own, and
// only ever forward.
func (s *Store) migrate(ctx context.Context, pg *pgx.Conn) error {
	want, err := latest()
	if err != nil {
		return err
	}
	have, err := s.version(ctx, pg)
	if err != nil || have == want {
		return err
	}
	if have > want {
		return &ledgersql.VersionError{Path: s.where, Found: have, Expected: want}
	}
	if err := s.advance(ctx); err != nil {
		return s.opening(ctx, err)
	}
	s.log.Info("the ledger's schema is up to date", "ledger", s.where, "was", have, "version", want)
	return nil
}

// version reads the schema version; 0 is an empty schema. Another program's tables are
// ErrCorrupt.
func (s *Store) version(ctx context.Context, pg *pgx.Conn) (int64, error) {
	var schema string
	var made, marked bool
	var foreign int64
	err := pg.QueryRow(ctx, `SELECT current_schema(), to_regclass('goose_db_version') IS NOT NULL, to_regclass('meta') IS NOT NULL,
		(SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relname <> 'goose_db_version')`).
		Scan(&schema, &made, &marked, &foreign)
	if err != nil {
		return 0, s.opening(ctx, err)
	}
	if foreign == 0 { // empty, or the very first migration did not get through
		return 0, nil
	}
	other := &ledgersql.Error{
		Kind: ledgersql.ErrCorrupt, Op: "opening", Path: s.where, Found: "another program's tables in the schema " + schema,
		Expected: "a ledger, or nothing", Advice: "give the ledger a database or a schema (search_path) of its own",
	}
	if !made || !marked {
		return 0, other
	}
	var mark string
	if err := pg.QueryRow(ctx, `SELECT value FROM meta WHERE key = 'application'`).Scan(&mark); err != nil || mark != "earshot" {
		other.Err = err
		return 0, other
	}
	var have int64
	err = pg.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&have)
	return have, s.opening(ctx, err)
}

// advance runs the missing migrations.
func (s *Store) advance(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("postgres: reading the migrations: %w", err)
	}
	db := stdlib.OpenDBFromPool(s.pool)
	defer db.Close() //nolint:errcheck // its connections are the pool's
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("postgres: reading the migrations: %w", err)
	}
	_, err = provider.Up(ctx)
	return err //nolint:wrapcheck // opening maps it
}
