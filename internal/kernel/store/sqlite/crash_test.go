package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// childDir is the variable that makes the test binary the program that is killed.
const childDir = "EARSHOT_TEST_LEDGER"

func record(n int) *store.Record {
	return &store.Record{
		State:   turn.State{Turn: "turn_" + strconv.Itoa(n), Session: "sess_" + strconv.Itoa(n), Status: turn.Queued},
		Created: time.UnixMicro(int64(n)).UTC(),
	}
}

// twoEvents is a step of which one half would show.
func twoEvents(n int) store.Batch {
	r := record(n)
	e := store.Event{Session: r.State.Session, ID: r.State.Turn + "a"}
	f := e
	f.ID = r.State.Turn + "b"
	return store.Batch{Turn: r, Events: []store.Event{e, f}}
}

func save(ctx context.Context, s *sqlite.Store, b store.Batch) error {
	return s.Update(ctx, func(tx store.Tx) error { return tx.Save(b) })
}

// holds reports whether the whole of twoEvents(n) is there; a half of it is an error.
func holds(t *testing.T, s *sqlite.Store, n int) bool {
	t.Helper()
	return whole(t, s, n)[n]
}

// whole tells which of many steps are there, as holds does of one.
func whole(t *testing.T, s *sqlite.Store, steps ...int) map[int]bool {
	t.Helper()
	there := map[int]bool{}
	err := s.View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{})
		if err != nil {
			return err
		}
		turns := map[string]bool{}
		for _, r := range rows {
			turns[r.Turn] = true
		}
		for _, n := range steps {
			there[n] = turns["turn_"+strconv.Itoa(n)]
			events, err := tx.Events(store.EventFilter{Session: "sess_" + strconv.Itoa(n), Limit: 9})
			if there[n] != (len(events) == 2) || (!there[n] && len(events) > 0) {
				t.Errorf("step %d: turn %t, %d events", n, there[n], len(events))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return there
}

// liveUntilKilled writes from many goroutines and prints what has been answered.
func liveUntilKilled(dir string) int {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	first, err := strconv.Atoi(os.Getenv(childDir + "_FIRST"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := first + i; ; n += 8 {
				if err := save(ctx, s, twoEvents(n)); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				mu.Lock()
				_, err := os.Stdout.WriteString(strconv.Itoa(n) + "\n")
				mu.Unlock()
				if err != nil {
					return // nobody listens any more
				}
			}
		})
	}
	all.Wait()
	return 0
}

// TestKilled kills a process that writes, several times over the same ledger, the last
// times after the log has been brought into the file.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	answered := []int{}
	for _, enough := range []int{1, 40, 600} {
		first := 1_000_000 * (len(answered) + 1)
		more := killAfter(t, dir, first, enough)
		answered = append(answered, more...)
		s := open(t, dir)
		allThere(t, s, more)
		var tried []int
		for n := range len(more) + 8 {
			tried = append(tried, first+n)
		}
		whole(t, s, tried...) // or not at all
		shut(t, s)
	}
	allThere(t, open(t, dir), answered)
}

// allThere checks steps that were answered: thousands, where the process that is to be killed is
// let run for a moment longer.
func allThere(t *testing.T, s *sqlite.Store, answered []int) {
	t.Helper()
	there := whole(t, s, answered...)
	for _, n := range answered {
		if !there[n] {
			t.Errorf("step %d was answered and is gone", n)
		}
	}
}

func killAfter(t *testing.T, dir string, first, enough int) (answered []int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir, childDir+"_FIRST="+strconv.Itoa(first))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() { // to the end: what it could print before it died was answered
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		answered = append(answered, n)
		if len(answered) == enough {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil {
		t.Error("the child was not killed")
	}
	return answered
}

// TestTornLog cuts the log at many places, as a loss of power may: every step whose
// answer came when the log was no longer than the cut is there, later ones are whole or
// not at all.
func TestTornLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	const steps = 12
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "ledger.db-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	answered := make([]int64, steps)
	for n := range steps {
		if err := save(t.Context(), s, twoEvents(n)); err != nil {
			t.Fatal(err)
		}
		answered[n] = size()
	}
	whole, err := os.ReadFile(filepath.Join(dir, "ledger.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	for cut := before; cut <= int64(len(whole)); cut += 4111 {
		torn := t.TempDir()
		copyFile(t, filepath.Join(dir, "ledger.db"), filepath.Join(torn, "ledger.db"))
		if err := os.WriteFile(filepath.Join(torn, "ledger.db-wal"), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		after := open(t, torn)
		for n := range steps {
			if there := holds(t, after, n); there != (answered[n] <= cut) {
				t.Errorf("a log of %d bytes, answered at %d: step %d there: %t", cut, answered[n], n, there)
			}
		}
		shut(t, after)
	}
}

// commits counts the frames of a log that end a commit: those that name the size of the
// database. The salts of the header mark the frames that are valid.
func commits(t *testing.T, dir string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, "ledger.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	if len(log) < 32 {
		return 0
	}
	page := int(binary.BigEndian.Uint32(log[8:]))
	n := 0
	for at := 32; at+24+page <= len(log); at += 24 + page {
		if binary.BigEndian.Uint32(log[at+4:]) != 0 && bytes.Equal(log[at+8:at+16], log[16:24]) {
			n++
		}
	}
	return n
}
