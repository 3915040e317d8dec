package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/earshot-dev/earshot/internal/boottime"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

const (
	defaultTimeout = 30 * time.Second
	// defaultConnections is how many updates and views run at once at most, unless the DSN
	// says pool_max_conns.
	defaultConnections = 16
	// readingHands and writingHands are how many connections carry the reads and the commits
	// of many updates at most, groupMost how many of them go together.
	readingHands, writingHands = 2, 2
	groupMost                  = 64
)

// Options of a ledger. Only DSN is required.
type Options struct {
	// DSN says where the database is: a URL (postgres://user@host/database) or words
	// (host=… dbname=…), with what libpq and pgxpool know. What it leaves out is taken from
	// the environment (PGHOST, PGPASSWORD, …).
	DSN string
	// Logger gets errors that no caller waits for. Default: none.
	Logger *slog.Logger
	// Now dates what the kernel gives no time for. Default: [Store.Now].
	Now func() time.Time
	// Boot counts the time since the machine booted; the time of the database goes on by it between
	// two looks at it. Default: [boottime.Now].
	Boot func() time.Duration
	// Rand names a new ledger. Default: crypto/rand.
	Rand io.Reader
	// Timeout bounds a transaction from its first statement to its last: after it the
	// connection is given up, and the server undoes what was not committed. Default: 30 s.
	Timeout time.Duration
	// Tracer traces every statement; a [pgx.BatchTracer] also traces batches. Default: none.
	Tracer pgx.QueryTracer
}

func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Boot == nil {
		o.Boot = boottime.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
}

// Open opens the ledger and makes or migrates its tables as needed. It refuses a database
// that cannot be reached ([ledgersql.ErrUnreachable]) or used ([ledgersql.ErrAccess]), one with
// somebody else's tables ([ledgersql.ErrCorrupt]), and one that a newer program wrote
// ([*ledgersql.VersionError]), each time leaving it as it was. The context bounds the opening
// only.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.fill()
	config, err := configure(o)
	if err != nil {
		return nil, err
	}
	s := &Store{where: describe(config.ConnConfig), log: o.Logger, now: o.Now, timeout: o.Timeout, clock: clock{boot: o.Boot}}
	if s.now == nil {
		s.now = s.Now
	}
	config.AfterConnect = s.connected
	if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
		return nil, &ledgersql.Error{Kind: ledgersql.ErrAccess, Op: "opening", Path: s.where, Err: err}
	}
	s.readers.workerPool = workerPool[question]{pool: s.pool, timeout: o.Timeout, workers: readingHands, most: groupMost, work: s.answerQuestions}
	s.writers.workerPool = workerPool[[]statement]{pool: s.pool, timeout: o.Timeout, workers: writingHands, most: groupMost, work: s.commitGroup}
	if err := s.prepare(ctx, o.Rand); err != nil {
		s.pool.Close()
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.under.Go(func() { s.followTime(alive) })
	return s, nil
}

// Reach connects to a database, looks whether a ledger could be in it, and changes nothing. It
// returns where that is, without the credentials. Errors are those of [Open].
func Reach(ctx context.Context, dsn string) (place string, err error) {
	o := Options{DSN: dsn}
	o.fill()
	config, err := configure(o)
	if err != nil {
		return "", err
	}
	s := &Store{where: describe(config.ConnConfig), log: o.Logger}
	pg, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return s.where, s.opening(ctx, err)
	}
	defer pg.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what counts has been said
	return s.where, s.usable(ctx, pg)
}

func configure(o Options) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return nil, &ledgersql.Error{
			Kind: ledgersql.ErrAccess, Op: "reading where the ledger is", Expected: "postgres://user@host/database or host=… dbname=…", Err: err,
		}
	}
	if !strings.Contains(o.DSN, "pool_max_conns") {
		config.MaxConns = defaultConnections
	}
	config.MaxConns = max(config.MaxConns, 2) // migrating holds one and needs another
	params := config.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "earshot"
	}
	// The server ends what a kernel that has vanished left open, so that its locks are free.
	params["idle_in_transaction_session_timeout"] = strconv.FormatInt(2*o.Timeout.Milliseconds(), 10)
	config.ConnConfig.Tracer = o.Tracer
	return config, nil
}

// insist has commits wait for the disk, whatever the database's own default is.
func insist(ctx context.Context, pg *pgx.Conn) error {
	_, err := pg.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	return err //nolint:wrapcheck // pgx says that it was connecting
}

// describe names a database without its credentials.
func describe(c *pgx.ConnConfig) string {
	return "postgres://" + net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// prepare brings the ledger into the state that this program works on.
func (s *Store) prepare(ctx context.Context, random io.Reader) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.locate(border("opening", err))
	}
	defer pooled.Release()
	pg := pooled.Conn()
	if err := s.usable(ctx, pg); err != nil {
		return err
	}
	// Of several kernels that come up at once, one makes the tables.
	const alone = `hashtextextended('earshot: migrating ' || current_schema(), 0)`
	if _, err := pg.Exec(ctx, `SELECT pg_advisory_lock(`+alone+`)`); err != nil {
		return s.opening(ctx, err)
	}
	err = s.migrate(ctx, pg)
	if err == nil {
		err = s.identify(ctx, pg, random)
	}
	if _, uerr := pg.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock(`+alone+`)`); uerr != nil && err == nil {
		err = s.opening(ctx, uerr)
	}
	return err
}

// usable looks at what the database is before anything is done to it.
func (s *Store) usable(ctx context.Context, pg *pgx.Conn) error {
	var encoding, flush string
	var schema *string
	err := pg.QueryRow(ctx, `SELECT current_setting('server_encoding'), current_setting('fsync'), current_schema()`).Scan(&encoding, &flush, &schema)
	switch {
	case err != nil:
		return s.opening(ctx, err)
	case encoding != "UTF8":
		return &ledgersql.Error{Kind: ledgersql.ErrAccess, Op: "opening", Path: s.where, Found: "the encoding " + encoding, Expected: "a database in UTF8"}
	case schema == nil:
		return &ledgersql.Error{
			Kind: ledgersql.ErrAccess, Op: "opening", Path: s.where, Found: "no schema of the search_path", Expected: "a schema that exists", Advice: "create it",
		}
	case flush != "on":
		s.log.Warn("the server does not flush what it commits (fsync is off): a loss of power can lose or damage the ledger", "ledger", s.where)
	}
	return nil
}

// identify reads the ledger's name, or gives it one.
func (s *Store) identify(ctx context.Context, pg *pgx.Conn, random io.Reader) error {
	err := pg.QueryRow(ctx, `SELECT value FROM meta WHERE key = 'ledger'`).Scan(&s.id)
	if !errors.Is(err, pgx.ErrNoRows) {
		return s.opening(ctx, err)
	}
	raw := make([]byte, 16)
	if _, err := io.ReadFull(random, raw); err != nil {
		return fmt.Errorf("postgres: randomness for the name of a new ledger: %w", err)
	}
	s.id = hex.EncodeToString(raw)
	_, err = pg.Exec(ctx, `INSERT INTO meta (key, value) VALUES ('ledger', $1)`, s.id)
	return s.opening(ctx, err)
}

// opening names the ledger in an error of its first use.
func (s *Store) opening(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return s.locate(border("opening", err))
}
