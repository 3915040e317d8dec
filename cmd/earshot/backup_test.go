package main_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestRestoredFiresNothing (call protocol, "Crash and fault table"): copies are taken all
// the while a turn runs to its end, and the server is killed. Whichever of them is put back,
// nothing of it is done again, messages are put aside, and the person is told.
func TestRestoredFiresNothing(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	original := filepath.Join(t.TempDir(), "original")
	must(t, os.CopyFS(original, os.DirFS(s.folder)))
	server := s.upApart()
	copies := t.TempDir()
	run := s.run("--json")
	run.await(asked)
	n := 0
	copied := func() {
		s.does(0, "backup", filepath.Join(copies, fmt.Sprintf("%03d.db", n)))
		n++
	}
	copied()
	run.say("accept")
	for over := false; !over; {
		select {
		case <-run.ended:
			over = true
		default:
			copied()
		}
	}
	run.ends(0)
	copied()
	server.kill()
	server.wait()
	told := 0
	for _, i := range []int{0, n / 3, n / 2, n - 3, n - 2, n - 1} {
		s.putBack(original)
		said := s.does(0, "restore", filepath.Join(copies, fmt.Sprintf("%03d.db", max(0, i))))
		contains(t, said, "Ledger: it is older than when it was last used here")
		contains(t, said, "Put aside: ")
		again := s.up()
		for _, q := range s.pending() {
			told++
			if strings.Contains(q.Title, "not known") || q.Kind == "clarification" {
				s.does(0, "reply", fmt.Sprint(q.Number), "leave")
			} else {
				s.does(0, "reply", fmt.Sprint(q.Number), "reject")
			}
		}
		s.does(0, "dead", "list")
		s.does(0, "stop", "all")
		s.untouched(fmt.Sprintf("after copy %d of %d was put back", i, n))
		again.signal(os.Interrupt)
		again.ends(0)
	}
	if told == 0 {
		t.Error("nobody was asked about anything that was under way")
	}
}

// putBack makes the folder what it was.
func (s *scene) putBack(original string) {
	s.t.Helper()
	must(s.t, os.RemoveAll(s.folder))
	must(s.t, os.CopyFS(s.folder, os.DirFS(original)))
	s.before = content(s.t, s.folder)
}

// TestRestoreRefuses: what is not a ledger, damaged or of a newer program is refused, and so is a
// restore beside a server; each time the ledger stays as it is.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	turn := s.answered("reject", 3)
	copied := func(name string) string {
		file := filepath.Join(t.TempDir(), name)
		contains(t, s.does(0, "backup", file), "Backed up: "+file)
		return file
	}
	good := copied("good.db")
	contains(t, s.does(1, "backup", good), "there is something already")
	newer := copied("newer.db")
	db, err := sql.Open("sqlite", newer)
	must(t, err)
	_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (42, 1)`)
	must(t, err)
	must(t, db.Close())
	broken := copied("broken.db")
	raw, err := os.ReadFile(broken)
	must(t, err)
	for i := 8192; i < len(raw)-4096; i++ {
		raw[i] ^= 0x5a
	}
	must(t, os.WriteFile(broken, raw, 0o600))
	inUse := copied("in-use.db")
	must(t, os.WriteFile(inUse+"-wal", []byte("what was answered last"), 0o600))
	text := filepath.Join(t.TempDir(), "text.db")
	must(t, os.WriteFile(text, []byte("hello"), 0o600))
	for file, says := range map[string]string{
		newer: "has schema version 42; this program knows versions up to", broken: "is damaged or is not a ledger", text: "is damaged or is not a ledger",
		filepath.Join(t.TempDir(), "none.db"): "there is no backup in", inUse: "what was written last is in " + inUse + "-wal",
	} {
		contains(t, s.does(1, "restore", file), says)
		contains(t, s.does(0, "turns", "show", turn), "Status: ended")
		if left, err := filepath.Glob(filepath.Join(s.data, "ledger*restoring*")); err != nil || len(left) > 0 {
			t.Errorf("after %s there is %v, %v", file, left, err)
		}
	}
	server := s.up()
	contains(t, s.does(1, "restore", good), "another earshot works with the data")
	server.signal(os.Interrupt)
	server.ends(0)
	contains(t, s.does(0, "restore", good), "Kept: the ledger that was there, as ")
	contains(t, s.does(0, "turns", "show", turn), "Status: ended")
	var told struct {
		Ledger   string `json:"ledger"`
		From     string `json:"from"`
		Kept     string `json:"kept"`
		PutAside *int   `json:"put_aside"`
		UnderWay *int   `json:"under_way"`
	}
	s.reads(&told, "restore", good, "--json")
	if told.Ledger != filepath.Join(s.data, "ledger.db") || told.From != good || told.PutAside == nil || told.UnderWay == nil || *told.UnderWay != 0 {
		t.Errorf("restore --json tells %+v", told)
	}
	if _, err := os.Stat(told.Kept); err != nil {
		t.Errorf("restore --json names a ledger that is not kept: %v", err)
	}
}

// TestRestoreKeeps: whatever is put back, and however often, the ledger that was there is kept, and at
// no moment is there none.
func TestRestoreKeeps(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	turn := s.answered("reject", 3)
	good := filepath.Join(t.TempDir(), "good.db")
	contains(t, s.does(0, "backup", good), "Backed up: "+good)
	const times = 5
	for range times {
		contains(t, s.does(0, "restore", good), "Kept: the ledger that was there, as ")
	}
	if kept, err := filepath.Glob(filepath.Join(s.data, "ledger-before-*.db")); err != nil || len(kept) != times {
		t.Errorf("%d restores have kept %d ledgers: %v, %v", times, len(kept), kept, err)
	}
	contains(t, s.does(0, "turns", "show", turn), "Status: ended")
}
