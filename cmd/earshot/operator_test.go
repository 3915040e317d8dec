package main_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// turned runs one turn of the scene to its end, with a yes, and returns its id.
func (s *scene) turned() string {
	s.t.Helper()
	return s.answered("accept", 0)
}

func (s *scene) answered(word string, code int) string {
	s.t.Helper()
	run := s.run("--json")
	run.await(asked)
	run.say(word)
	run.ends(code)
	return s.newest()
}

// newest is the id of the newest turn.
func (s *scene) newest() string {
	s.t.Helper()
	var turns []struct {
		ID string `json:"turn_id"`
	}
	s.reads(&turns, "turns", "list", "--json")
	if len(turns) == 0 {
		s.t.Fatal("there are no turns")
	}
	return turns[0].ID
}

// reads runs a command on the scene's data, and reads its JSON.
func (s *scene) reads(into any, verb string, args ...string) {
	s.t.Helper()
	said, _ := s.here(0, verb, args...)
	if err := json.Unmarshal([]byte(said), into); err != nil || !strings.HasSuffix(said, "\n") {
		s.t.Fatalf("%s %v: %v; or its last line does not end\n%s", verb, args, err, said)
	}
}

// TestOperatorLooks: turns, cards and tools can be looked at, in the data directory and at a
// server alike, and say the same.
func TestOperatorLooks(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	turn := s.turned()
	look := func() string {
		var all strings.Builder
		for _, c := range []string{"turns list", "turns list --json", "turns tree --all", "turns tree --all --json", "turns show " + turn, "turns show --json " + turn, "cards list " + turn, "tools list", "tools show files.delete", "dead list", "dead list --json"} {
			words := strings.Fields(c)
			all.WriteString(s.does(0, words[0], words[1:]...))
		}
		var cards []struct {
			ID string `json:"card_id"`
		}
		s.reads(&cards, "cards", "list", "--json", turn)
		all.WriteString(s.does(0, "cards", "list", strings.Replace(turn, "turn_", "sess_", 1)))
		for _, c := range cards {
			all.WriteString(s.does(0, "cards", "show", c.ID))
		}
		return all.String()
	}
	here := look()
	for _, want := range []string{
		"files.delete, irreversible, high risk, finished: done", "Receipt: question 1, accept by", "The agent says: Deleting", "tool_name: files.delete",
		"files.scan: read, low risk, reviewed, enforced; the policy says allow", "Enforcement: enforced, its service starts a call only when Earshot grants the start.", "No message was put aside.", "type: tool.result",
	} {
		contains(t, here, want)
	}
	s.up()
	if there := look(); there != here {
		t.Errorf("the server says:\n%s\nand the data directory said:\n%s", there, here)
	}
	var tools []struct {
		Enforcement string `json:"enforcement"`
	}
	s.reads(&tools, "tools", "list", "--json")
	if len(tools) == 0 || tools[0].Enforcement != "enforced" {
		t.Errorf("the tools are held %+v", tools)
	}
	contains(t, s.does(1, "tools", "show", "nothing"), `error: no tool is called "nothing"`)
	contains(t, s.does(1, "dead", "show", "9"), "error: no message was put aside under the number 9")
	contains(t, s.does(1, "turns", "show", "turn_0"), "error: there is no turn or session called turn_0 hint: see `earshot turns list`")
	contains(t, s.does(1, "erase", "turn_0"), "error: there is no turn or session called turn_0")
	for _, c := range []string{"turns show turn_0", "cards list turn_0", "cards show nothing", "tools show nothing", "dead show 9", "dead retry 9"} {
		words := strings.Fields(c)
		contains(t, s.does(1, words[0], words[1:]...), "hint: see `earshot")
	}
}

// TestOperatorErases: content is gone from every file of the data directory, also beside a
// server; the receipts stay, and what is open is left alone.
func TestOperatorErases(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	turn := s.answered("reject", 3)
	mark := filepath.Base(s.folder) + "/" // each path that was said has it in it
	if marks(t, s.data, s.folder) == 0 {
		t.Fatalf("nothing in %s says %s before: the test shows nothing", s.data, mark)
	}
	server := s.up()
	run := s.run("--json")
	run.await(asked)
	open := s.newest()
	contains(t, s.does(1, "erase", turn, open), "not erased, because they have not ended, or a message of theirs is about to leave: "+open)
	contains(t, s.does(0, "turns", "show", open), "Arguments:")
	contains(t, s.does(0, "turns", "show", turn), "Content: erased; the digests and receipts are kept.")
	contains(t, s.does(0, "turns", "show", turn), "Receipt: question 1, reject by")
	contains(t, s.does(0, "erase", "--project", "default"), "Erased: the content of 0 turns.", "Left alone, because they have not ended, or a message of theirs is about to leave: "+open+".")
	s.does(0, "stop", "all")
	run.wait()
	contains(t, s.does(0, "erase", "--project", "default"), "Erased: the content of 1 turn.")
	server.signal(os.Interrupt)
	server.ends(0)
	if n := marks(t, s.data, s.folder); n != 0 {
		t.Errorf("the folder's name is still in the data, %d times", n)
	}
	contains(t, s.does(2, "erase"), "nothing to erase is named")
	contains(t, s.does(0, "erase", "--project", "payrol"), "Nothing was erased: of the project payrol there is nothing that could be.")
}

// marks counts a text in all files below a folder.
func marks(t *testing.T, dir, text string) int {
	t.Helper()
	n := 0
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		n += bytes.Count(raw, []byte(text))
		return err
	}))
	return n
}

// TestJournalsGo: a journal of the files service goes by its age when the ledger keeps nothing
// of its call: not before, and not while the ledger does.
func TestJournalsGo(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	turn := s.turned()
	journals := filepath.Join(s.data, "journal")
	mine, err := filepath.Glob(filepath.Join(journals, "tc_*.jsonl"))
	if err != nil || len(mine) != 1 {
		t.Fatal(mine, err)
	}
	young, old := filepath.Join(journals, "tc_young.jsonl"), filepath.Join(journals, "tc_old.jsonl")
	ago := time.Now().Add(-3 * time.Hour)
	sweeps := func() {
		t.Helper()
		must(t, os.WriteFile(old, nil, 0o600))
		must(t, os.WriteFile(young, nil, 0o600))
		must(t, os.Chtimes(old, ago, ago))
		must(t, os.Chtimes(mine[0], ago, ago))
		server := s.up("--retention-content", "2h")
		gone(t, old) // those that go, go at once
		server.signal(os.Interrupt)
		server.ends(0)
	}
	sweeps()
	for _, path := range []string{young, mine[0]} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	raw, err := os.ReadFile(mine[0])
	must(t, err)
	contains(t, s.does(0, "erase", turn), "Erased: the content of 1 turn.")
	must(t, os.WriteFile(mine[0], raw, 0o600)) // as if it had died before it removed it
	sweeps()
	if _, err := os.Stat(mine[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal of a call whose content is erased: %v", err)
	}
}

// gone waits until a file is not there any more.
func gone(t *testing.T, path string) {
	t.Helper()
	over := time.After(patience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return
		}
		select {
		case <-over:
			t.Fatalf("%s stays", path)
		case <-look.C:
		}
	}
}

// TestExportImport: what was exported comes in elsewhere as a record of what was, once, and
// nothing of a file that is not whole does.
func TestExportImport(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, other := newScene(t), newScene(t)
	turn := s.turned()
	file := filepath.Join(t.TempDir(), "turns.jsonl")
	s.does(1, "export", file, "turn_0") // what it has begun to write stands in nobody's way
	contains(t, s.does(0, "export", file), "Exported: 1 turn,")
	contains(t, s.does(1, "export", file), "name a file that is not there yet")
	contains(t, s.does(2, "export", turn), turn+" stands where the file is named", "hint: write `earshot export - "+turn+"`")
	other.turned()
	raw, err := os.ReadFile(file)
	must(t, err)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	broken := filepath.Join(t.TempDir(), "broken.jsonl")
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"cut off":          {raw[:len(raw)/2], "it is cut off"},
		"without its end":  {bytes.Join(lines[:len(lines)-2], nil), "the end is missing"},
		"of a newer form":  {bytes.Replace(raw, []byte(`"version":2`), []byte(`"version":7`), 1), "is of form 7; this program knows forms up to 2"},
		"with a wrong one": {bytes.Replace(raw, []byte(`"agent":"tidy"`), []byte(`"agent":"tidi"`), 1), "it says "},
		"with a new name":  {bytes.Replace(raw, []byte(`"tool_call_id"`), []byte(`"toll_call_id"`), 1), "damaged in line 3: it has the member /call/toll_call_id, which is not known"},
		"no export":        {[]byte("hello\n"), "damaged in line 1"},
		"empty":            {nil, "the end is missing"},
		"a line left out":  {bytes.Join(append(lines[:9:9], lines[10:]...), nil), "line "},
	} {
		must(t, os.WriteFile(broken, c.content, 0o600))
		said := other.does(1, "import", broken)
		contains(t, said, c.says)
		contains(t, said, "Nothing was imported")
		if n := strings.Count(other.does(0, "turns", "list"), "turn_"); n != 1 {
			t.Errorf("%s: %d turns after it; want the one that was there", name, n)
		}
	}
	server := other.up()
	older := filepath.Join(t.TempDir(), "older.jsonl")
	must(t, os.WriteFile(older, inFormOne(raw), 0o600))
	contains(t, other.does(0, "import", older), "Imported: 1 turn; 0 were here already.")
	contains(t, other.does(0, "import", file), "Imported: 0 turns; 1 were here already.")
	contains(t, other.does(0, "turns", "show", turn), "from another ledger; nothing of it runs here")
	server.signal(os.Interrupt)
	server.ends(0)
	contains(t, other.does(0, "import", file), "Imported: 0 turns; 1 were here already.")
	contains(t, s.does(0, "import", file), "Imported: 0 turns; 1 were here already.")
	again := filepath.Join(t.TempDir(), "again.jsonl")
	other.does(0, "export", again, turn)
	copied, err := os.ReadFile(again)
	must(t, err)
	if a, b := recordsOf(raw), recordsOf(copied); a != b {
		t.Errorf("exported again it is:\n%s\nand was:\n%s", b, a)
	}
	l := readLedger(t, other.data)
	if n := l.one(`SELECT count(*) FROM consents WHERE call_id IN (SELECT call_id FROM calls WHERE turn_id = '` + turn + `')`); n != "0" {
		t.Errorf("%s consents came with it", n)
	}
}

// inFormOne is the export as programs wrote it that knew no boxes.
func inFormOne(export []byte) []byte {
	lines := bytes.SplitAfter(bytes.Replace(export, []byte(`"version":2`), []byte(`"version":1`), 1), []byte("\n"))
	records := bytes.Join(lines[:len(lines)-2], nil)
	was, is := sha256.Sum256(bytes.Join(bytes.SplitAfter(export, []byte("\n"))[:len(lines)-2], nil)), sha256.Sum256(records)
	end := bytes.Replace(lines[len(lines)-2], []byte(hex.EncodeToString(was[:])), []byte(hex.EncodeToString(is[:])), 1)
	return append(records, end...)
}

// TestImportRefused: a ledger that refuses in the middle keeps what came before, says from which
// line on nothing was taken, and goes on with the same file when it is mended.
func TestImportRefused(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, other := newScene(t), newScene(t)
	s.answered("reject", 3)
	last := s.answered("reject", 3)
	file := filepath.Join(t.TempDir(), "turns.jsonl")
	contains(t, s.does(0, "export", file), "Exported: 2 turns,")
	mine := other.answered("reject", 3)
	alter(t, other.data, `CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.session_id = (SELECT session_id FROM turns WHERE turn_id = '`+last+`')
		AND NEW.seq = 4 BEGIN SELECT RAISE(ABORT, 'no more'); END`)
	said := other.does(1, "import", file)
	contains(t, said, "the records from line ")
	contains(t, said, " on were not taken")
	contains(t, said, "hint: what came before is imported; import the file again when this is mended")
	raw, err := os.ReadFile(file)
	must(t, err)
	_, after, _ := strings.Cut(said, "the records from line ")
	number, _, _ := strings.Cut(after, " ")
	line, err := strconv.Atoi(number)
	must(t, err)
	if lines := bytes.Split(raw, []byte("\n")); !bytes.HasPrefix(lines[line-1], []byte(`{"turn":{"turn_id":"`+last+`"`)) {
		t.Errorf("line %d, which is named, is %.80s", line, lines[line-1])
	}
	list := other.does(0, "turns", "list")
	if strings.Contains(list, last) || strings.Count(list, "turn_") != 2 || !strings.Contains(list, mine) {
		t.Errorf("after it the turns are\n%s", list)
	}
	alter(t, other.data, `DROP TRIGGER refuse`)
	contains(t, other.does(0, "import", file), "Imported: 1 turn; 1 were here already.")
	readLedger(t, other.data).ended()
}

// alter changes the ledger beside the program, which must not be running.
func alter(t *testing.T, data string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(data, "ledger.db"))
	must(t, err)
	defer db.Close() //nolint:errcheck // each statement has been committed
	for _, statement := range statements {
		_, err := db.Exec(statement)
		must(t, err)
	}
}

// TestManyTurns: a list of many turns is read page by page: it needs hardly more memory than a list of
// twenty. With EARSHOT_SOAK=1 (make soak) they are a hundred thousand.
func TestManyTurns(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	const most = 16 // MiB
	many := 4_000   // held all at once they would take 24 MiB
	if testkit.Full() {
		many = 10_000
	}
	if os.Getenv("EARSHOT_SOAK") != "" {
		many = 100_000
	}
	s := newScene(t)
	s.answered("reject", 3)
	numbers := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, many)
	alter(t, s.data, numbers+`INSERT INTO turns (turn_id, session_id, project, agent, owner, status, created, version, doc, summary)
		SELECT printf('turn_%032x', i), printf('sess_%032x', i), 'default', 'tidy', 'ann', 'ended', 1700000000000000 + i / 7, 1, '{}', printf('%.*c', 3000, 'z') FROM n`,
		numbers+`INSERT INTO turn_inputs (turn_id, request) SELECT printf('turn_%032x', i), printf('%.*c', 3000, 'q') FROM n`)
	lists := func(args ...string) (turns, peak int) {
		t.Helper()
		p := start(t, options{verb: "turns", data: s.data, args: append([]string{"list"}, args...), nobody: true, env: []string{"GODEBUG=gctrace=1", "GOGC=25"}, process: true}) // often, so that little counts that nothing holds
		p.ends(0)
		for _, heap := range liveHeap.FindAllStringSubmatch(p.prompt.String(), -1) {
			mib, err := strconv.Atoi(heap[1])
			must(t, err)
			peak = max(peak, mib)
		}
		return strings.Count(p.out.String(), "turn_0"), peak // not the names of members
	}
	_, small := lists("--limit", "20")
	for _, args := range [][]string{{"--all"}, {"--all", "--json"}} {
		all, large := lists(args...)
		if all != many+1 {
			t.Errorf("%v lists %d turns", args, all)
		}
		if small == 0 || large > small+most {
			t.Errorf("%v holds %d MiB, and a list of twenty %d", args, large, small)
		}
	}
}

// liveHeap is what a program that tells of its collections still holds after each, in MiB.
var liveHeap = regexp.MustCompile(`[0-9]+->[0-9]+->([0-9]+) MB`)

// recordsOf are the lines of an export that tell of calls, cards, events and receipts.
func recordsOf(raw []byte) string {
	var kept []string
	for line := range strings.Lines(string(raw)) {
		for _, kind := range []string{`{"card"`, `{"event"`, `{"receipt"`} {
			if strings.HasPrefix(line, kind) {
				kept = append(kept, line)
			}
		}
	}
	return strings.Join(kept, "")
}

// TestToolsCall: an operator's call goes through the same gate: a read runs, an irreversible
// one is asked for, and a no is a no.
func TestToolsCall(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	contains(t, s.does(1, "tools", "call", "files.scan", `{"root":"/"}`), "no `earshot up` works with the data")
	s.up()
	args, err := json.Marshal(map[string]string{"root": s.folder})
	must(t, err)
	p := start(t, options{verb: "tools", data: s.data, args: []string{"call", "files.scan", string(args)}, nobody: true})
	p.ends(0)
	if !strings.Contains(p.out.String(), `"status":"success"`) || !json.Valid([]byte(p.out.String())) {
		t.Errorf("the result is:\n%s\n%s", p.out, p.prompt)
	}
	removal := `{"root":` + strings.TrimSuffix(string(args[len(`{"root":`):]), "}") + `,"sets":[{"sha256":"` + strings.Repeat("0", 64) + `","size":1,"keep":"a","delete":["b"]}]}`
	gone := start(t, options{verb: "tools", data: s.data, args: []string{"call", "files.delete", removal}})
	gone.await("Question 1, operator, Call files.delete: Delete")
	gone.say("reject")
	gone.ends(3)
	s.untouched("after a no")
	contains(t, s.does(2, "tools", "call", "files.scan", "[]"), "are not a JSON object")
}

// TestToolsReview: a review is of the definition that was looked at, and of no other.
func TestToolsReview(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.turned()
	said := s.does(0, "tools", "review", "files.trash")
	contains(t, said, "To record that you have looked at this very definition:")
	var tool struct {
		Digest string `json:"digest"`
		Class  string `json:"effective_class"`
	}
	s.reads(&tool, "tools", "show", "files.trash", "--json")
	contains(t, s.does(1, "tools", "review", "files.trash", "--digest", strings.Repeat("0", 64)), "another digest than the one that was looked at")
	s.reads(&tool, "tools", "review", "files.trash", "--digest", tool.Digest, "--class", "irreversible", "--json")
	if tool.Class != "irreversible" {
		t.Errorf("the class that counts is %s", tool.Class)
	}
	contains(t, s.does(2, "tools", "review", "files.trash", "--digest", tool.Digest, "--class", "harmless"), "a class is read, idempotent")
	s.run("--no-input").ends(0) // the program vouches for its tools at each start
	if s.reads(&tool, "tools", "show", "files.trash", "--json"); tool.Class != "irreversible" {
		t.Errorf("after another start the class that counts is %s", tool.Class)
	}
	contains(t, s.does(0, "tools", "rm", "files.trash"), "Recorded: files.trash is removed.")
}
