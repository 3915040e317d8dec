package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// application marks an SQLite file as a ledger: "Ersh", as the first migration sets it.
const application = 0x45727368

//go:embed migrations/*.sql
var migrations embed.FS

// newest makes what all migrations make, at once. It is generated: go test ./internal/kernel/store/sqlite -run TestNewest -update.
//
//go:embed newest.sql
var newest string

// latest is the newest schema version: one for each file, numbered from 1.
func latest() (int64, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	return int64(len(files)), err
}

// migrate brings the schema up to date, each version in a transaction of its own, and only ever forward. A new ledger
// gets the newest at once.
func (s *Store) migrate(ctx context.Context) error {
	want, err := latest()
	if err != nil {
		return err
	}
	have, err := s.version()
	if err != nil {
		return err
	}
	if have > want {
		return &ledgersql.VersionError{Path: s.path, Found: have, Expected: want}
	}
	if err := s.enterLogMode(); err != nil || have == want {
		return err
	}
	bring := s.advance
	if empty, err := s.empty(); err != nil {
		return s.opening(err)
	} else if empty {
		bring = s.create
	}
	if err := bring(ctx); err != nil {
		return s.opening(err)
	}
	s.log.Info("the ledger's schema is up to date", "path", s.path, "was", have, "version", want)
	return nil
}

// version reads the schema version; 0 is an empty file. Another program's database is
// ledgersql.ErrCorrupt.
func (s *Store) version() (int64, error) {
	var mark, made, foreign int64
	err := s.writer.QueryRow(`SELECT application_id,
		(SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'),
		(SELECT count(*) FROM sqlite_schema WHERE tbl_name NOT IN ('goose_db_version', 'sqlite_sequence'))
		FROM pragma_application_id`, nil, &mark, &made, &foreign)
	if err != nil {
		return 0, s.opening(err)
	}
	if foreign == 0 { // empty, or the very first migration did not get through
		return 0, nil
	}
	if mark != application || made == 0 {
		return 0, &ledgersql.Error{
			Kind: ledgersql.ErrCorrupt, Op: "opening", Path: s.path, Found: fmt.Sprintf("another program's database (application id %d)", mark),
			Expected: fmt.Sprintf("a ledger (%d)", application), Advice: "use another file",
		}
	}
	var have int64
	err = s.writer.QueryRow("SELECT max(version_id) FROM goose_db_version WHERE is_applied", nil, &have)
	return have, s.opening(err)
}

// empty reports whether nothing at all is in the file, not even the migrator's own table.
func (s *Store) empty() (bool, error) {
	var made int64
	err := s.writer.QueryRow("SELECT count(*) FROM sqlite_schema", nil, &made)
	return made == 0, err
}

// create makes the newest schema in an empty file, in one transaction.
func (s *Store) create(ctx context.Context) error {
	tx, err := s.writer.sql.BeginTx(ctx, nil)
	if err != nil {
		return err //nolint:wrapcheck // opening maps it
	}
	if _, err := tx.ExecContext(ctx, newest); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit() //nolint:wrapcheck // opening maps it
}

// advance runs the missing migrations. The migrator wants the pool, so the connection
// goes back to it meanwhile.
func (s *Store) advance(ctx context.Context) (err error) {
	for _, stmt := range s.writer.stmts {
		err = errors.Join(err, stmt.Close())
	}
	clear(s.writer.stmts)
	err = errors.Join(err, s.writer.sql.Close())
	if s.writer.sql = nil; err != nil {
		return fmt.Errorf("sqlite: handing the connection over: %w", err)
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("sqlite: reading the migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.writer.db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("sqlite: reading the migrations: %w", err)
	}
	if _, err = provider.Up(ctx); err != nil {
		return err //nolint:wrapcheck // opening maps it
	}
	s.writer.sql, err = s.writer.db.Conn(ctx)
	return err //nolint:wrapcheck // opening maps it
}
