package main_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// answerEntries are the numbers of the entries of a scene's answers.
func (s *scene) answerEntries() []string {
	s.t.Helper()
	var all []api.AuditEntry
	s.reads(&all, "audit", "list", "--json")
	var numbers []string
	for _, e := range all {
		if e.Receipt != nil {
			numbers = append(numbers, strconv.FormatInt(e.N, 10))
		}
	}
	return numbers
}

// TestAuditVerify: the audit chain is whole, here and at a server, and whatever is done to the ledger behind its
// back is reported, with exit code 1.
func TestAuditVerify(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	server := s.up()
	contains(t, s.does(0, "audit", "verify"), "Answers: 0.", "The chain is whole.")
	server.signal(os.Interrupt)
	server.ends(0)
	for range 3 {
		s.answered("reject", 3)
	}
	head := strings.TrimSpace(s.does(0, "audit", "head"))
	entries := s.answerEntries()
	if len(entries) != 3 || !strings.HasPrefix(head, entries[2]+":") {
		t.Fatalf("the answers are %q, and the head is %q", entries, head)
	}
	first, second, third := entries[0], entries[1], entries[2]
	start := []string{
		`INSERT INTO grants (call_id, fence, owner, at) SELECT call_id, 1, 'eve', 5 FROM receipts WHERE entry = ` + third,
	}
	for name, tt := range map[string]struct {
		statements []string
		alter      func(t *testing.T, data string)
		args       []string
		code       int
		says       []string
	}{
		"untouched":      {args: []string{"--head", head}, says: []string{"Answers: 3. Starts, outcomes and changes by operators: ", "questions, consents and results: 3.", "Head: " + head, "the head that was noted is in it."}},
		"a receipt":      {statements: []string{`UPDATE receipts SET decision = 'accept' WHERE entry = ` + second}, code: 1, says: []string{"Entry " + second + ": a receipt of the call tc_", "error: the audit chain is not whole: 1 finding"}},
		"a receipt less": {statements: []string{`DELETE FROM receipts WHERE entry = ` + second}, code: 1, says: []string{"Entry " + second + ": nothing is kept of this answer or act"}},
		"a receipt more": {
			statements: []string{`INSERT INTO receipts (session_id, call_id, question, decision, given_by, surface, at, shown, language) SELECT session_id, call_id, question, 'accept', 'eve', surface, 5, shown, language FROM receipts WHERE entry = ` + second},
			code:       1, says: []string{"Beside the chain: receipts that no entry stands for"},
		},
		"an entry":             {statements: []string{`UPDATE audit SET at = at + 1 WHERE n = ` + second}, code: 1, says: []string{"Entry " + second + ": the link"}},
		"an entry less":        {statements: []string{`DELETE FROM audit WHERE n = ` + second}, code: 1, says: []string{"Entry " + third + ": entry " + third + " behind entry " + first + "."}},
		"the last entry less":  {statements: []string{`DELETE FROM audit WHERE n = ` + third}, args: []string{"--head", head}, code: 1, says: []string{"Entry " + third + ": a chain that ends with entry " + second + ", where " + third + " was noted", "Beside the chain: receipts that no entry"}},
		"the last answer less": {statements: []string{`DELETE FROM audit WHERE n = ` + third, `DELETE FROM receipts WHERE entry = ` + third}, args: []string{"--head", head}, code: 1, says: []string{"a chain that ends with entry " + second + ", where " + third + " was noted", "no receipt stands for that", "not whole: 2 findings"}},
		"… and its question, which nobody noted": {statements: []string{`UPDATE questions SET state = 'expired' WHERE number = (SELECT question FROM receipts WHERE entry = ` + third + `)`, `DELETE FROM audit WHERE n = ` + third, `DELETE FROM receipts WHERE entry = ` + third}, says: []string{"The chain is whole."}},
		"the arguments of a call": {
			statements: []string{`UPDATE cards SET content = replace(content, 'arguments', 'argument5') WHERE type = 'tool.call' AND tool_call_id = (SELECT call_id FROM receipts WHERE entry = ` + second + `)`},
			code:       1, says: []string{"Entry " + second + ": question 2, call tc_", "the arguments cannot be read", "not whole: 1 finding"},
		},
		"a question less": {statements: []string{`DELETE FROM tokens WHERE number = 1`, `DELETE FROM questions WHERE number = 1`}, code: 1, says: []string{"Entry " + first + ": question 1, call tc_", "the question is not in the ledger", "not whole: 1 finding"}},
		"a start without a yes": {
			statements: start, code: 1, says: []string{"Beside the chain: the call tc_", "no receipt stands for that", "no entry of the chain says that it was started", "not whole: 2 findings"},
		},
		"a start of another class": {
			statements: append(start, `UPDATE calls SET class = 'idempotent', fence = 1 WHERE call_id = (SELECT call_id FROM receipts WHERE entry = `+third+`)`), code: 1,
			says: []string{"Beside the chain: the call tc_", "has an effect, and no entry of the chain says that it was started", "not whole: 1 finding"},
		},
		"a review": {
			statements: []string{`UPDATE audit SET doc = replace(doc, 'irreversible', 'read') WHERE doc LIKE '%irreversible%'`}, code: 1,
			says: []string{"Entry ", ": an act (review) that is not the one that was recorded."},
		},
		"made again":               {alter: anew, args: []string{"--head", head}, code: 1, says: []string{"where " + strings.Split(head, ":")[1][:16] + "… was noted", "was made again since", "not whole: 1 finding"}},
		"made again, nobody noted": {alter: anew, says: []string{"The chain is whole."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copied := &scene{t: t, data: filepath.Join(t.TempDir(), "data")}
			must(t, os.CopyFS(copied.data, os.DirFS(s.data)))
			alter(t, copied.data, tt.statements...)
			if tt.alter != nil {
				tt.alter(t, copied.data)
			}
			contains(t, copied.does(tt.code, "audit", append([]string{"verify"}, tt.args...)...), tt.says...)
		})
	}
	var report struct {
		audit.Report

		Listed []audit.Finding `json:"listed"`
	}
	s.reads(&report, "audit", "verify", "--json")
	if strconv.FormatInt(report.Head.N, 10) != third || report.Findings != 0 || report.Listed != nil {
		t.Errorf("%+v", report)
	}
	s.signed(head)
	var noted audit.Head
	s.reads(&noted, "audit", "head", "--json")
	if noted != report.Head {
		t.Errorf("%+v, want %+v", noted, report.Head)
	}
	server = s.up() // which notes the tokens that are in force
	contains(t, s.does(0, "audit", "verify", "--head", head), "Answers: 3.", "the head that was noted is in it.")
	server.signal(os.Interrupt)
	server.ends(0)
}

// anew makes the first answer another person's, and all of the chain with it, as somebody can
// who may write to the database.
func anew(t *testing.T, data string) {
	db, err := sql.Open("sqlite", filepath.Join(data, "ledger.db"))
	must(t, err)
	defer db.Close() //nolint:errcheck // each statement has been committed
	var r api.AuditReceipt
	var at, first, last int64
	var terms string
	must(t, db.QueryRow(`SELECT entry, session_id, call_id, question, decision, surface, at, shown, language, salt, terms FROM receipts ORDER BY entry`).
		Scan(&first, &r.Session, &r.Call, &r.Question, &r.Decision, &r.Surface, &at, &r.Shown, &r.Language, &r.Salt, &terms))
	must(t, json.Unmarshal([]byte(terms), &r.Terms))
	must(t, db.QueryRow(`SELECT max(n) FROM audit`).Scan(&last))
	r.At, r.By = time.UnixMicro(at), "eve"
	link := ""
	for n := int64(1); n <= last; n++ {
		e := api.AuditEntry{N: n}
		must(t, db.QueryRow(`SELECT kind, at, of, commitment FROM audit WHERE n = ?`, n).Scan(&e.Kind, &at, &e.Of, &e.Commitment))
		if e.At = time.UnixMicro(at); n == first {
			e.Commitment = audit.Commitment(r)
		}
		link = audit.Link(link, e)
		_, err := db.Exec(`UPDATE audit SET commitment = ?, link = ? WHERE n = ?`, e.Commitment, link, n)
		must(t, err)
	}
	_, err = db.Exec(`UPDATE receipts SET given_by = 'eve' WHERE entry = ?`, first)
	must(t, err)
}

// TestAuditHeadGiven: what is not a head is refused before anything is read, so that an empty file
// does not pass for a head.
func TestAuditHeadGiven(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, head := range []string{"", "3", "0:" + strings.Repeat("a", 64), "x:" + strings.Repeat("a", 64), "3:" + strings.Repeat("A", 64), "3:" + strings.Repeat("a", 62), "3:zz"} {
		contains(t, s.does(2, "audit", "verify", "--head", head), "is not the head of a chain", "hint: give one line as `earshot audit head` tells it")
	}
}

// signed signs the head at the server, and verifies it with the public key alone.
func (s *scene) signed(head string) {
	s.t.Helper()
	t := s.t
	key := filepath.Join(t.TempDir(), "heads.pem")
	contains(t, s.does(0, "audit", "key", key), "its public half in "+key+".pub")
	info, err := os.Stat(key)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key has the mode %v", info.Mode())
	}
	contains(t, s.does(1, "audit", "key", key), "the key was not written")
	line := strings.TrimSpace(s.does(0, "audit", "head", "--sign", key))
	if parts := strings.Fields(line); len(parts) != 4 || parts[0] != head {
		t.Fatalf("the signed head is %q", line)
	}
	must(t, os.Rename(key, key+".elsewhere"))
	contains(t, s.does(0, "audit", "verify", "--head", line, "--public", key+".pub"), "the head that was noted is in it.")
	contains(t, s.does(1, "audit", "verify", "--head", "9"+line, "--public", key+".pub"), "was not signed with that key")
	contains(t, s.does(2, "audit", "verify", "--head", line), "name the public half of the key with --public")
	contains(t, s.does(2, "audit", "verify", "--head", head, "--public", key+".pub"), "the head is not signed")
	contains(t, s.does(1, "audit", "verify", "--head", line, "--public", key+".elsewhere"), "holds no PUBLIC KEY")
	var signed audit.SignedHead
	s.reads(&signed, "audit", "head", "--json", "--sign", key+".elsewhere")
	if signed.Head.String() != head || signed.Chain == "" || signed.Signature == "" || signed.At.IsZero() {
		t.Errorf("%+v", signed)
	}
	must(t, os.Chmod(key+".elsewhere", 0o644))
	contains(t, s.does(1, "audit", "head", "--sign", key+".elsewhere"), "is open to others")
}

// TestAuditKeyOutside: the key of the heads is neither made nor used in the data directory, by whatever
// name that is given.
func TestAuditKeyOutside(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	must(t, os.MkdirAll(filepath.Join(s.data, "keys"), 0o700))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(s.data, link))
	for _, file := range []string{filepath.Join(s.data, "key"), filepath.Join(s.data, "keys", "key"), filepath.Join(s.folder, "..", filepath.Base(s.data), "key"), filepath.Join(link, "key")} {
		contains(t, s.does(2, "audit", "key", file), "is inside the data directory", "hint: keep the key where nobody who may write to the ledger")
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s was made", file)
		}
	}
}

// TestAuditList: the chain is listed in sentences: what was answered and done, what operators changed, and what was
// in force, noted at each start and while the server runs.
func TestAuditList(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	must(t, os.WriteFile(rules, []byte("rules:\n  - {tool: \"files.*\", decide: ask}\n"), 0o600))
	server := s.up("--policy", rules)
	s.does(0, "token", "add", "phone", "--role", "approver", "--person", "anna")
	s.lists("token phone: approver for anna, answers on phone.")
	must(t, os.WriteFile(rules, []byte("rules:\n  - {tool: \"files.*\", decide: deny}\n"), 0o600))
	s.does(0, "tools", "review", "files.hash", "--class", "reversible", "--risk", "high")
	contains(t, s.lists("the tool files.hash was reviewed by "), "the tool files.delete was reviewed by ", "reversible, high risk.")
	for strings.Count(s.lists("the policy in force: "+rules), "the policy in force: ") < 2 {
		if t.Context().Err() != nil {
			t.Fatal("the changed policy is not in the chain")
		}
	}
	server.signal(os.Interrupt)
	server.ends(0)
	s.does(0, "token", "revoke", "phone") // while nothing runs
	server = s.up()
	contains(t, s.does(0, "audit", "list", "--operators"), "token phone: ended.", "no policy file is in force any more.")
	server.signal(os.Interrupt)
	server.ends(0)
	turn := s.answered("accept", 0)
	all := s.does(0, "audit", "list")
	contains(t, all, " answered question 1: accept, on ", " was started by files", "class irreversible.", " ended: success.")
	contains(t, s.does(0, "turns", "show", turn, "--json"), `"covered": "/sets"`, `"seen": "shown"`)
	if operators := s.does(0, "audit", "list", "--operators"); strings.Contains(operators, "tc_") {
		t.Errorf("more than what operators changed:\n%s", operators)
	}
	s.does(0, "erase", turn)
	contains(t, s.does(0, "audit", "list", "--operators"), "the content of "+turn+" was erased by ")
	contains(t, s.does(0, "audit", "verify"), "The chain is whole.")
}

// lists waits until the chain has an entry with these words, and returns what is listed then.
func (s *scene) lists(words string) string {
	s.t.Helper()
	for {
		all := s.does(0, "audit", "list")
		if strings.Contains(all, words) {
			return all
		}
		if s.t.Context().Err() != nil {
			s.t.Fatalf("%q is not in the chain:\n%s", words, all)
		}
	}
}
