package main_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/audit"
)

// TestAuditVerify: the chain of answers is whole, here and at a server, and whatever is done to
// the ledger behind its back is told, with exit code 1.
func TestAuditVerify(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.up()
	contains(t, s.does(0, "audit", "verify"), "Answers: 0;", "The chain is whole.")
	contains(t, s.does(0, "audit", "head"), "nobody has answered anything")
	server.signal(os.Interrupt)
	server.ends(0)
	for range 3 {
		s.answered("reject", 3)
	}
	head := strings.TrimSpace(s.does(0, "audit", "head"))
	if !strings.HasPrefix(head, "3:") {
		t.Fatalf("the head is %q", head)
	}
	for name, tt := range map[string]struct {
		statements []string
		alter      func(t *testing.T, data string)
		args       []string
		code       int
		says       []string
	}{
		"untouched":      {args: []string{"--head", head}, says: []string{"Answers: 3; receipts still kept: 3, forgotten after their time: 0.", "questions and consents that the ledger keeps: 3 receipts.", "Head: " + head, "the head that was noted is in it."}},
		"a receipt":      {statements: []string{`UPDATE receipts SET decision = 'accept' WHERE entry = 2`}, code: 1, says: []string{"Entry 2: a receipt of the call tc_", "error: the chain of all answers is not whole: 1 finding"}},
		"a receipt less": {statements: []string{`DELETE FROM receipts WHERE entry = 2`}, code: 1, says: []string{"Entry 2: no receipt of this answer"}},
		"a receipt more": {
			statements: []string{`INSERT INTO receipts (session_id, call_id, question, decision, given_by, surface, at, shown, language) SELECT session_id, call_id, question, 'accept', 'eve', surface, 5, shown, language FROM receipts WHERE entry = 2`},
			code:       1, says: []string{"Beside the chain: receipts that no entry stands for"},
		},
		"an entry":             {statements: []string{`UPDATE audit SET at = at + 1 WHERE n = 2`}, code: 1, says: []string{"Entry 2: the link"}},
		"an entry less":        {statements: []string{`DELETE FROM audit WHERE n = 2`}, code: 1, says: []string{"Entry 3: entry 3 behind entry 1."}},
		"the last entry less":  {statements: []string{`DELETE FROM audit WHERE n = 3`}, args: []string{"--head", head}, code: 1, says: []string{"Entry 3: a chain that ends with entry 2, where 3 was noted", "Beside the chain: receipts that no entry"}},
		"the last answer less": {statements: []string{`DELETE FROM audit WHERE n = 3`, `DELETE FROM receipts WHERE entry = 3`}, args: []string{"--head", head}, code: 1, says: []string{"a chain that ends with entry 2, where 3 was noted", "not whole: 1 finding"}},
		"… which nobody noted": {statements: []string{`DELETE FROM audit WHERE n = 3`, `DELETE FROM receipts WHERE entry = 3`}, says: []string{"The chain is whole."}},
		"the arguments of a call": {
			statements: []string{`UPDATE cards SET content = replace(content, 'arguments', 'argument5') WHERE type = 'tool.call' AND tool_call_id = (SELECT call_id FROM receipts WHERE entry = 2)`},
			code:       1, says: []string{"Entry 2: question 2, call tc_", "the arguments cannot be read", "not whole: 1 finding"},
		},
		"a question less": {statements: []string{`DELETE FROM tokens WHERE number = 1`, `DELETE FROM questions WHERE number = 1`}, code: 1, says: []string{"Entry 1: question 1, call tc_", "the question is not in the ledger", "not whole: 1 finding"}},
		"a start without a yes": {
			statements: []string{`INSERT INTO grants SELECT call_id, 1, 'eve', 5 FROM receipts WHERE entry = 3`},
			code:       1, says: []string{"Beside the chain: the call tc_", "no receipt of a yes stands for it", "not whole: 1 finding"},
		},
		"made anew":               {alter: anew, args: []string{"--head", head}, code: 1, says: []string{"where " + head[2:18] + "… was noted", "was made anew since", "not whole: 1 finding"}},
		"made anew, nobody noted": {alter: anew, says: []string{"The chain is whole."}},
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
	here := s.does(0, "audit", "verify")
	server = s.up()
	if there := s.does(0, "audit", "verify"); there != here {
		t.Errorf("the server says\n%s\nand the data directory said\n%s", there, here)
	}
	var report struct {
		audit.Report

		Listed []audit.Finding `json:"listed"`
	}
	s.reads(&report, "audit", "verify", "--json")
	if report.Entries != 3 || report.Head.N != 3 || report.Findings != 0 || report.Listed != nil {
		t.Errorf("%+v", report)
	}
	s.signed(head)
	var noted audit.Head
	s.reads(&noted, "audit", "head", "--json")
	if noted != report.Head {
		t.Errorf("%+v, want %+v", noted, report.Head)
	}
	server.signal(os.Interrupt)
	server.ends(0)
}

// anew makes the first answer another person's, and all of the chain with it, as somebody can
// who may write to the database.
func anew(t *testing.T, data string) {
	db, err := sql.Open("sqlite", filepath.Join(data, "ledger.db"))
	must(t, err)
	defer db.Close() //nolint:errcheck // each statement has been committed
	var r utp.AuditReceipt
	var at int64
	var terms string
	must(t, db.QueryRow(`SELECT session_id, call_id, question, decision, surface, at, shown, language, salt, terms FROM receipts WHERE entry = 1`).
		Scan(&r.Session, &r.Call, &r.Question, &r.Decision, &r.Surface, &at, &r.Shown, &r.Language, &r.Salt, &terms))
	must(t, json.Unmarshal([]byte(terms), &r.Terms))
	r.At, r.By = time.UnixMicro(at), "eve"
	link := ""
	for n := int64(1); n <= 3; n++ {
		e := utp.AuditEntry{N: n}
		must(t, db.QueryRow(`SELECT kind, at, of, commitment FROM audit WHERE n = ?`, n).Scan(&e.Kind, &at, &e.Of, &e.Commitment))
		if e.At = time.UnixMicro(at); n == 1 {
			e.Commitment = audit.Commitment(r)
		}
		link = audit.Link(link, e)
		_, err := db.Exec(`UPDATE audit SET commitment = ?, link = ? WHERE n = ?`, e.Commitment, link, n)
		must(t, err)
	}
	_, err = db.Exec(`UPDATE receipts SET given_by = 'eve' WHERE entry = 1`)
	must(t, err)
}

// TestAuditHeadGiven: what is no head is refused before anything is read, so that an empty file
// does not pass for a head.
func TestAuditHeadGiven(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, head := range []string{"", "3", "0:" + strings.Repeat("a", 64), "x:" + strings.Repeat("a", 64), "3:" + strings.Repeat("A", 64), "3:" + strings.Repeat("a", 62), "3:zz"} {
		contains(t, s.does(2, "audit", "verify", "--head", head), "is no head of a chain", "hint: give one line as `earshot audit head` tells it")
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
	contains(t, s.does(1, "audit", "verify", "--head", strings.Replace(line, "3:", "2:", 1), "--public", key+".pub"), "was not signed with that key")
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
