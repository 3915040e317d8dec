package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
)

// kill ends the server's side of a transaction's connection.
func kill(t *testing.T, tx store.Tx) {
	t.Helper()
	var pid int
	if err := postgres.Ask(tx, `SELECT pg_backend_pid()`, &pid); err != nil {
		t.Fatal(err)
	}
	// The second argument waits until it has ended.
	if err := server.Do(t.Context(), fmt.Sprintf("SELECT pg_terminate_backend(%d, 60000)", pid)); err != nil {
		t.Fatal(err)
	}
}

// TestLostConnections: anyone who loses the connection in the middle is told that nothing was
// written and that it may be tried again; nothing was, and it can.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t))
	batch := store.Batch{Turn: numbered("a"), Events: []store.Event{event("sess_a", "a")}}
	for name, fn := range map[string]func(store.Tx) error{
		"before a read": func(tx store.Tx) error {
			kill(t, tx)
			_, err := tx.Turn(store.TurnRef{Turn: "turn_a"})
			return err
		},
		"between two writes": func(tx store.Tx) error {
			if err := tx.Save(batch); err != nil {
				return err
			}
			kill(t, tx)
			return tx.Save(store.Batch{Events: []store.Event{event("sess_a", "b")}})
		},
		"hidden": func(tx store.Tx) error {
			kill(t, tx)
			_ = tx.Save(batch)
			return nil
		},
	} {
		err := s.Update(t.Context(), fn)
		var e *ledgersql.Error
		if !errors.As(err, &e) || !errors.Is(err, ledgersql.ErrUnreachable) || !e.SafeToRetry() {
			t.Errorf("%s: got %v, want %v, safe to retry", name, err, ledgersql.ErrUnreachable)
		}
		untouched(t, s, name)
	}
	err := s.View(t.Context(), func(tx store.Tx) error {
		kill(t, tx)
		_, err := tx.Turns(store.TurnFilter{})
		return err
	})
	if !errors.Is(err, ledgersql.ErrUnreachable) {
		t.Errorf("a view: got %v, want %v", err, ledgersql.ErrUnreachable)
	}
	if err := save(t.Context(), s, batch); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func untouched(t *testing.T, s *postgres.Store, what string) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) error {
		_, err := tx.Turn(store.TurnRef{Turn: "turn_a"})
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%s: something was written in part: %v", what, err)
	}
}

// TestLostInTheCommit: where the commit could not even be sent, nothing was written. Who has
// sent it and hears no answer is not told that it may be tried again.
func TestLostInTheCommit(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t))
	err := s.Update(t.Context(), func(tx store.Tx) error {
		err := tx.Save(store.Batch{Turn: numbered("a")})
		kill(t, tx)
		return err
	})
	if !errors.Is(err, ledgersql.ErrUnreachable) {
		t.Errorf("got %v, want %v", err, ledgersql.ErrUnreachable)
	}
	untouched(t, s, "the update")
	for _, c := range []struct {
		err  error
		want error
		safe bool
	}{
		{io.ErrUnexpectedEOF, ledgersql.ErrIO, false},
		{context.DeadlineExceeded, ledgersql.ErrIO, false},
		{&pgconn.PgError{Code: "57P01"}, ledgersql.ErrIO, false},
		{&pgconn.PgError{Code: "58030"}, ledgersql.ErrIO, false},
		{&pgconn.PgError{Code: "40001"}, ledgersql.ErrBusy, true},
		{&pgconn.PgError{Code: "53100"}, store.ErrFull, true},
		{pgx.ErrTxCommitRollback, ledgersql.ErrBusy, true},
	} {
		var e *ledgersql.Error
		if got := postgres.Committing(c.err); !errors.As(got, &e) || !errors.Is(got, c.want) || e.SafeToRetry() != c.safe {
			t.Errorf("a commit that ends with %v: got %v, want %v, safe to retry %t", c.err, got, c.want, c.safe)
		}
	}
}

// TestDeadConnectionsAreReplaced: the server ends every connection between two updates, and
// nobody notices.
func TestDeadConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t))
	for n := range 3 {
		err := s.View(t.Context(), func(outer store.Tx) error { // two connections of the pool
			return s.View(t.Context(), func(inner store.Tx) error {
				kill(t, outer)
				kill(t, inner)
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
		if err := save(t.Context(), s, store.Batch{Turn: numbered(fmt.Sprint(n))}); err != nil {
			t.Errorf("after the server has ended all connections: %v", err)
		}
	}
}

// TestTimeout: an update that waits for another one too long is given up, and says so.
func TestTimeout(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	patient, hasty := open(t, dsn), openWith(t, postgres.Options{DSN: dsn, Timeout: 200 * time.Millisecond})
	err := patient.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Save(store.Batch{Turn: numbered("a")}); err != nil {
			return err
		}
		if _, err := tx.Turn(store.TurnRef{Turn: "turn_a"}); err != nil { // what is read again was sent before
			return err
		}
		err := save(t.Context(), hasty, store.Batch{Turn: numbered("a")})
		var e *ledgersql.Error
		if !errors.As(err, &e) || !e.SafeToRetry() {
			t.Errorf("got %v, want one that is safe to retry", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWaitingIsCancelled: a context that ends while all connections are in use takes the
// update out: nothing of it is written.
func TestWaitingIsCancelled(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t)+"&pool_max_conns=2")
	for name, fn := range map[string]func(store.Tx) error{
		"a write that is put off": func(tx store.Tx) error { return tx.Save(store.Batch{Turn: numbered("a")}) },
		"a number":                func(tx store.Tx) error { _, err := tx.Count("n", 1); return err },
		"a read":                  func(tx store.Tx) error { _, err := tx.Count("n", 0); return err },
	} {
		err := s.View(t.Context(), func(store.Tx) error {
			return s.View(t.Context(), func(store.Tx) error {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				if err := s.Update(ctx, fn); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: got %v", name, err)
				}
				return nil
			})
		})
		if err != nil {
			t.Error(err)
		}
		untouched(t, s, name)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	needsServer(t)
	for name, c := range map[string]struct {
		dsn  string
		want error
	}{
		"nobody listens":       {"postgres://ann:hush@127.0.0.1:1/ledger", ledgersql.ErrUnreachable},
		"no socket":            {"postgres://ann:hush@/ledger?host=/nowhere", ledgersql.ErrUnreachable},
		"a wrong password":     {"postgres://earshot:hush@" + server.Address() + "/postgres", ledgersql.ErrAccess},
		"no such database":     {strings.Replace(nowhere(t), "/postgres?", "/none?", 1), ledgersql.ErrAccess},
		"no such schema":       {nowhere(t) + "0", ledgersql.ErrAccess},
		"not an address":       {"postgres://ann:hush@:x/", ledgersql.ErrAccess},
		"not even a port":      {"host=/nowhere port=x password=hush", ledgersql.ErrAccess},
		"a word that is alone": {"hush", ledgersql.ErrAccess},
	} {
		s, err := postgres.Open(t.Context(), postgres.Options{DSN: c.dsn})
		if err == nil {
			_ = s.Close()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hush") && name != "a word that is alone" {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}
