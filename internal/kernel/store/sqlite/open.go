package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	driver "modernc.org/sqlite"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// fileName is the ledger's name in a folder.
const fileName = "ledger.db"

// Options of a ledger. Only Path is required.
type Options struct {
	// Path is the ledger's file; its folder has to exist. A folder stands for ledger.db
	// in it. A file that is not there is made, readable by its owner only.
	Path string
	// Logger takes what nobody is waiting to hear. Default: nothing.
	Logger *slog.Logger
	// Now dates what the kernel gives no time for. Default: time.Now.
	Now func() time.Time
	// Rand names a new ledger. Default: crypto/rand.
	Rand io.Reader
	// Quota is the most bytes that the file may grow to; then updates are
	// kernel.ErrFull. Default: what the disk holds.
	Quota int64
	// Together is how many updates share one commit at most. Default: 256. 1 is for
	// measuring what sharing is worth.
	Together int
}

func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Together <= 0 {
		o.Together = most
	}
}

// Open opens the ledger and makes or migrates it as needed. It refuses a file that is
// damaged or no ledger ([ledgersql.ErrCorrupt]), one that a newer program wrote ([*ledgersql.VersionError]),
// and one that cannot be written ([ledgersql.ErrAccess]), each time leaving it as it was. The
// context bounds the opening only.
func Open(ctx context.Context, o Options) (*Store, error) {
	o.fill()
	path, err := locate(o.Path)
	if err != nil {
		return nil, err
	}
	clean, err := inspect(path)
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: path, log: o.Logger, now: o.Now, together: o.Together,
		ended: make(chan struct{}), wakeup: make(chan struct{}, 1), pool: make(chan *conn, readers),
	}
	if s.writer, err = dial(ctx, path, writing); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, o, clean); err != nil {
		return nil, errors.Join(err, s.writer.close())
	}
	for range readers {
		s.pool <- nil
	}
	go s.write()
	return s, nil
}

// prepare brings the ledger into the state that this program works on.
func (s *Store) prepare(ctx context.Context, o Options, clean bool) error {
	if !clean {
		if err := s.check(); err != nil {
			return err
		}
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if err := s.identify(o.Rand); err != nil {
		return err
	}
	return s.limit(o.Quota)
}

// locate finds the file that the path means and makes an empty one where none is.
func locate(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil || path == "" {
		return "", &ledgersql.Error{Kind: ledgersql.ErrAccess, Op: "opening", Path: path, Found: "no usable path", Expected: "a file or a folder", Err: err}
	}
	if info, err := os.Stat(abs); err == nil && info.IsDir() {
		abs = filepath.Join(abs, fileName)
	}
	f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", &ledgersql.Error{
			Kind: ledgersql.ErrAccess, Op: "opening", Path: abs, Expected: "a file that can be read and written, in a folder that exists",
			Advice: "check the path and its permissions", Err: err,
		}
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return "", &ledgersql.Error{Kind: ledgersql.ErrAccess, Op: "opening", Path: abs, Err: err}
	}
	if !info.Mode().IsRegular() {
		return "", &ledgersql.Error{Kind: ledgersql.ErrAccess, Op: "opening", Path: abs, Found: info.Mode().Type().String(), Expected: "a regular file"}
	}
	return abs, nil
}

// purpose is what a connection is for.
type purpose int

const (
	reading purpose = iota
	writing
	// looking reads and changes nothing on the disk but the index of the log; lookingStill not even
	// that, and is for a file that nobody has open.
	looking
	lookingStill
)

// pragmas of a connection, in their order. The page caches, in KiB, are bounded: 4 MiB
// for the writer and 1 MiB for each of the readers.
func (p purpose) pragmas() []string {
	if p != writing {
		return []string{"busy_timeout(5000)", "cache_size(-1024)", "query_only(1)"}
	}
	return []string{
		"busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-4096)",
		"secure_delete(ON)",           // what is erased is not left lying in the file
		"temp_store(MEMORY)",          // nothing of the ledger is written outside its folder
		"journal_size_limit(8388608)", // a log that has grown large is cut after a checkpoint
	}
}

// dial opens one connection.
func dial(ctx context.Context, path string, p purpose) (*conn, error) {
	where := filepath.ToSlash(path)
	if !strings.HasPrefix(where, "/") {
		where = "/" + where // a drive letter
	}
	query := url.Values{"_pragma": p.pragmas(), "_txlock": {"immediate"}, "_defensive": {"1"}}
	if p == looking || p == lookingStill {
		query.Set("mode", "ro")
	}
	if p == lookingStill {
		query.Set("immutable", "1")
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: where, RawQuery: query.Encode()}
	if err := extend(); err != nil {
		return nil, border("opening "+path, err)
	}
	connector, err := driver.NewConnector(name.String())
	if err != nil {
		return nil, border("opening "+path, err)
	}
	c := &conn{db: sql.OpenDB(connector), stmts: map[string]*sql.Stmt{}}
	c.db.SetMaxOpenConns(1)
	if c.sql, err = c.db.Conn(ctx); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		} else {
			err = border("opening "+path, err)
		}
		return nil, errors.Join(err, c.db.Close())
	}
	return c, nil
}

// enterLogMode turns the write-ahead log on. It stays on in the file.
func (s *Store) enterLogMode() error {
	var mode string
	if err := s.writer.QueryRow("PRAGMA journal_mode=WAL", nil, &mode); err != nil {
		return border("opening "+s.path, err)
	}
	if mode != "wal" {
		return &ledgersql.Error{
			Kind: ledgersql.ErrAccess, Op: "opening", Path: s.path, Found: "journal mode " + mode, Expected: "a file system that can share memory between connections",
			Advice: "put the ledger on a local disk",
		}
	}
	return nil
}

// identify reads the ledger's name, or gives it one.
func (s *Store) identify(random io.Reader) error {
	err := s.writer.QueryRow(`SELECT value FROM meta WHERE key = 'ledger'`, nil, &s.id)
	if !errors.Is(err, sql.ErrNoRows) {
		return border("reading the name of "+s.path, err)
	}
	raw := make([]byte, 16)
	if _, err := io.ReadFull(random, raw); err != nil {
		return fmt.Errorf("sqlite: randomness for the name of a new ledger: %w", err)
	}
	s.id = hex.EncodeToString(raw)
	_, err = s.writer.Exec(`INSERT INTO meta (key, value) VALUES ('ledger', ?1)`, s.id)
	return border("naming "+s.path, err)
}

// limit bounds the file. SQLite counts in pages and never sets the bound below what is
// there.
func (s *Store) limit(quota int64) error {
	if quota <= 0 {
		return nil
	}
	var size, bound int64
	if err := s.writer.QueryRow("PRAGMA page_size", nil, &size); err != nil {
		return border("reading the page size of "+s.path, err)
	}
	pages := max(quota/size, 1)
	return border("bounding "+s.path, s.writer.QueryRow("PRAGMA max_page_count="+strconv.FormatInt(pages, 10), nil, &bound))
}
