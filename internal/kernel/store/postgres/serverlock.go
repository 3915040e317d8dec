package postgres

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// ServerLock is a claim to be the ledger's only server: nobody else gets one while it lasts. It
// hangs on a connection of its own, and ends with that.
type ServerLock struct {
	pg     *pgx.Conn
	stop   context.CancelFunc
	lost   chan struct{} // closed when the database has ended it
	waited chan struct{} // closed when the goroutine that watches has ended
}

// serverLockKey names the claim among the locks of the database.
const serverLockKey = `hashtextextended('earshot: serving ' || current_schema(), 0)`

// LockServer claims the ledger. Where another process has it, that is [ledgersql.ErrBusy] and says
// which. The context bounds the claiming only; Release gives it back.
func (s *Store) LockServer(ctx context.Context) (*ServerLock, error) {
	config := s.pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = holder()
	pg, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, s.opening(ctx, err)
	}
	if err := s.claim(ctx, pg); err != nil {
		_ = pg.Close(context.WithoutCancel(ctx)) // it is of no use any more
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &ServerLock{pg: pg, stop: stop, lost: make(chan struct{}), waited: make(chan struct{})}
	go h.watch(alive)
	return h, nil
}

// holder is how the claim shows to others: at most 63 bytes, the limit of the database.
func holder() string {
	const room = 40
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "a machine without a name"
	}
	return "earshot server " + strconv.Itoa(os.Getpid()) + " on " + host[:min(len(host), room)]
}

func (s *Store) claim(ctx context.Context, pg *pgx.Conn) error {
	var got bool
	if err := pg.QueryRow(ctx, `SELECT pg_try_advisory_lock(`+serverLockKey+`)`).Scan(&got); err != nil {
		return s.opening(ctx, err)
	}
	if got {
		return nil
	}
	found := "another server"
	var name string
	var since time.Time
	err := pg.QueryRow(ctx, `SELECT a.application_name, a.backend_start FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND ((l.classid::bigint << 32) | l.objid::bigint) = `+serverLockKey).Scan(&name, &since)
	if err == nil { // else it has just gone
		found = fmt.Sprintf("%s, since %s", name, since.UTC().Format(time.RFC3339))
	}
	return &ledgersql.Error{
		Kind: ledgersql.ErrBusy, Op: "serving", Path: s.where, Found: found, Expected: "no other server", Advice: "end that one first, or use another database",
	}
}

// watch reads the connection, on which nothing comes, to its end.
func (h *ServerLock) watch(alive context.Context) {
	defer close(h.waited)
	for alive.Err() == nil {
		if _, err := h.pg.WaitForNotification(alive); err != nil && alive.Err() == nil {
			close(h.lost)
			return
		}
	}
}

// Lost is closed when the database has ended the claim: it was stopped, or the connection
// broke. Somebody else may have it by then.
func (h *ServerLock) Lost() <-chan struct{} { return h.lost }

// Release gives the claim back: when it returns, another may have it. It may be called once.
func (h *ServerLock) Release() {
	h.stop()
	<-h.waited
	ctx, cancel := context.WithTimeout(context.Background(), defaultTimeout)
	defer cancel()
	// The database ends the claim with the connection, however that ends, but in its own time.
	_, _ = h.pg.Exec(ctx, `SELECT pg_advisory_unlock(`+serverLockKey+`)`)
	_ = h.pg.Close(ctx)
}
