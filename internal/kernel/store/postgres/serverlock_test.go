package postgres_test

import (
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// TestHold: a ledger has one server at a time. The second is told who the first is; when
// that goes, or the database ends its claim, another may have it.
func TestHold(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	at, err := url.Parse(dsn)
	must(t, err)
	one, two := open(t, dsn), open(t, dsn)
	hold, err := one.LockServer(t.Context())
	must(t, err)
	_, err = two.LockServer(t.Context())
	e, is := errors.AsType[*ledgersql.Error](err)
	if !is || !errors.Is(err, ledgersql.ErrBusy) || !strings.Contains(e.Found, "earshot server "+strconv.Itoa(os.Getpid())+" on ") {
		t.Fatalf("a second server is told %v; want busy, and by whom", err)
	}
	hold.Release()
	hold, err = two.LockServer(t.Context())
	must(t, err)
	select {
	case <-hold.Lost():
		t.Error("it is lost at once")
	default:
	}
	must(t, server.Do(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND
		((classid::bigint << 32) | objid::bigint) = hashtextextended('earshot: serving `+at.Query().Get("search_path")+`', 0)`))
	select {
	case <-hold.Lost():
	case <-time.After(5 * time.Minute):
		t.Fatal("it is not told that the database has ended it")
	}
	hold.Release()
	again, err := one.LockServer(t.Context())
	for errors.Is(err, ledgersql.ErrBusy) { // the database tells it before it is free
		again, err = one.LockServer(t.Context())
	}
	must(t, err)
	again.Release()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
