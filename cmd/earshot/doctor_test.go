//go:build !faults

package main_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/oidctest"
)

// examined is a data directory in which a run has left a ledger.
func examined(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	p := s.run("--no-input")
	p.ends(3)
	return s
}

// TestDoctorOpens: doctor reads the ledger, the key and the counter, and writes to the data directory; it changes nothing.
func TestDoctorOpens(t *testing.T) {
	t.Parallel()
	s := examined(t)
	before := content(t, s.data)
	contains(t, s.does(0, "doctor"),
		"ok: data directory: "+s.data+" is yours, and can be written to.", "ok: ledger: "+s.data+"/ledger.db is whole,", "schema version",
		"ok: key: "+s.data+"/key can be read and is complete, 32 bytes.", "ok: incarnation: "+s.data+"/incarnation can be read; its count is 2.", " Nothing stands in the way; ")
	if after := content(t, s.data); !maps.Equal(before, after) {
		t.Errorf("there were %v, and are %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

// TestDoctorBesideAServer: the same beside a server that works with the data, which goes on.
func TestDoctorBesideAServer(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	server := s.up()
	run := s.run("--json")
	run.await(asked)
	for range 3 {
		contains(t, s.does(0, "doctor"), "ok: data directory:", "can be written to.", "ledger.db is whole,", "is complete, 32 bytes.",
			"ok: server: The process", "note: questions: 1 question open.")
	}
	run.say("accept")
	run.ends(0)
	server.signal(os.Interrupt)
	server.ends(0)
}

// goWords are what only who reads the source understands.
var goWords = regexp.MustCompile(`(?i)\b(open|stat|lstat|mkdir|mkdirat|unlinkat|read|write|rename|fork/exec) [/.]\S*: |dial tcp|lookup \S+:|no such file or directory|permission denied|` +
	`not a directory|connection refused|context (canceled|deadline)|\bEOF\b|strconv|jsontext|(?-i:(^| )json: )|(^| )yaml: |errno|result code|error code \d|SQLSTATE|goose|` +
	`cannot unmarshal|!!\w+|time\.Duration|accepts at most|unknown (flag|command)|invalid argument|syscall|x509:|tls:|nats:|client: |terminal: (?-i:[a-z])|kernel: |files: |ledger: (opening|reading|looking|committing|connecting)`)

// inPlainWords demands that a message names no function, type or number of the program's insides.
func inPlainWords(t *testing.T, name, text string) {
	t.Helper()
	if found := goWords.FindString(squeeze(text)); found != "" {
		t.Errorf("%s: %q is in:\n%s", name, found, text)
	}
}

// TestDoctorFinds: what is wrong with the data directory is said in words, with what to do, by doctor and by a run alike.
func TestDoctorFinds(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, row := range []struct {
		name   string
		damage func(s *scene, file func(string) string)
		doctor []string
		run    string // "" is not started
	}{
		{"pages of rubbish", func(s *scene, _ func(string) string) { tear(s) }, []string{"problem: ledger: the ledger ", "is damaged or is not a ledger: found pages that contradict each other", "hint: restore it from a backup"}, "found pages that contradict each other"},
		{"no database", func(s *scene, file func(string) string) {
			must(s.t, os.WriteFile(file("ledger.db"), []byte(strings.Repeat("no ledger ", 100)), 0o600))
		}, []string{"problem: ledger: the ledger ", "expected an SQLite database"}, "is damaged or is not a ledger"},
		{"cut off", func(s *scene, file func(string) string) { must(s.t, os.Truncate(file("ledger.db"), 8192)) }, []string{"problem: ledger: ", "found 8192 bytes, expected "}, "found 8192 bytes, expected "},
		{"emptied", func(s *scene, file func(string) string) { must(s.t, os.Truncate(file("ledger.db"), 0)) }, []string{"problem: ledger: ", "ledger.db is empty. hint: restore it from a backup"}, ""},
		{"a newer one", func(s *scene, _ func(string) string) {
			s.sql("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
		}, []string{"problem: ledger: the ledger ", "has schema version 9999", "hint: use the newer earshot"}, "has schema version 9999"},
		{"a folder", func(s *scene, file func(string) string) {
			must(s.t, os.Remove(file("ledger.db")))
			must(s.t, os.Mkdir(file("ledger.db"), 0o700))
		}, []string{"problem: ledger: ", "ledger.db is not a file."}, "there is a folder where the ledger should be"},
		{"a short key", func(s *scene, file func(string) string) { must(s.t, os.Truncate(file("key"), 5)) }, []string{"problem: key: ", "key has 5 bytes; it should have 32."}, "has 5 bytes; it should have 32"},
		{"no key", func(s *scene, file func(string) string) { must(s.t, os.Remove(file("key"))) }, []string{"problem: key: ", "is missing beside a ledger that is in use", "restore it from your backup"}, "is missing beside a ledger"},
		{"an open key", func(s *scene, file func(string) string) { must(s.t, os.Chmod(file("key"), 0o644)) }, []string{"problem: key: ", "key can be read by others. hint: run `chmod 600"}, ""},
		{"a strange counter", func(s *scene, file func(string) string) {
			must(s.t, os.WriteFile(file("incarnation"), []byte("seven\n"), 0o600))
		}, []string{"problem: incarnation: ", "incarnation should hold a number: \"seven\" is not a number."}, "should hold a number"},
		{"a lock that is a folder", func(s *scene, file func(string) string) {
			must(s.t, os.Remove(file("lock")))
			must(s.t, os.Mkdir(file("lock"), 0o700))
		}, []string{"problem: server: ", "lock is a folder"}, "lock is a folder"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := examined(t)
			row.damage(s, func(name string) string { return filepath.Join(s.data, name) })
			said := s.does(1, "doctor")
			contains(t, said, row.doctor...)
			last := said[strings.LastIndex(strings.TrimSuffix(said, "\n"), "\n")+1:]
			if name, _, _ := strings.Cut(row.doctor[0][len("problem: "):], ":"); !regexp.MustCompile(`^[1-9]\d* things? to mend(, in this order)?: `).MatchString(last) ||
				!strings.Contains(last, name) {
				t.Errorf("its last line is %q", last)
			}
			inPlainWords(t, "doctor", said)
			if row.run == "" {
				return
			}
			p := s.run("--no-input")
			if code := p.wait(); code == 0 {
				t.Error("a run goes on all the same")
			}
			contains(t, p.prompt.String(), row.run)
			inPlainWords(t, "run", p.prompt.String())
		})
	}
}

// TestDoctorCannotWrite: a data directory that this user cannot write is found by writing.
func TestDoctorCannotWrite(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.reachable()
	who := stranger(t, s.data)
	must(t, os.Chmod(s.data, 0o500))
	p := start(t, options{verb: "doctor", data: s.data, as: who, nobody: true})
	p.ends(1)
	contains(t, p.out.String(), "problem: data directory: "+s.data+" cannot be written to: this user may not use "+s.data+"/.doctor-")
	inPlainWords(t, "doctor", p.out.String())
}

// TestMessagesArePlain: what goes wrong with a command is said in words for a person, and what is misspelt is recognised.
func TestMessagesArePlain(t *testing.T) {
	t.Parallel()
	s := emptyScene(t)
	at := func(name, text string) string {
		path := filepath.Join(filepath.Dir(s.data), name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	wrong := at("wrong.json", `{"a":`)
	for _, row := range []struct {
		args string
		want string
	}{
		{"rnu", "there is no command \"rnu\" hint: did you mean run?"},
		{"tools lsit", "did you mean list?"},
		{"conform prodcer http://127.0.0.1:1", "there is no command \"conform prodcer\" hint: did you mean producer?"},
		{"help rnu", "did you mean run?"},
		{"help tools lsit", "did you mean list?"},
		{"completion bsh", "there is no command \"bsh\" hint: did you mean bash?"},
		{"completion bash x", "`earshot completion bash` takes no argument; \"x\" is one"},
		{"run tidi /x", "there is no agent \"tidi\" here, and no server that could know it hint: did you mean tidy?"},
		{"run tidy", "tidy works in one folder, and none is named"},
		{"run tidy a b", "tidy works in one folder; 2 are named"},
		{"run tidy /nowhere/x", "there is no folder \"/nowhere/x\""},
		{"run tidy . --policy /nowhere/x", "the policy cannot be read: /nowhere/x is not there"},
		{"run tidy . --policy " + at("time.yaml", "rules: [{tool: a, decide: ask, timeout: soon}]\n"), "line 1: rules[0].timeout: it is \"soon\"; expected a time such as 30s or 2m"},
		{"run tidy . --policy " + at("list.yaml", "rules: many\n"), "line 1: rules: it is \"many\"; expected a list"},
		{"run tidy . --policy " + at("name.yaml", "rules: [{tol: a}]\n"), "line 1: rules[0].tol: unknown name"},
		{"run tidy . --policy " + at("open.yaml", "rules: [x\n"), "line 1: a list or names in brackets do not end"},
		{"run tidy . --answer-within soon", "--answer-within is \"soon\"; it takes a time such as 30s or 5m"},
		{"run tidy . --answer-within", "--answer-within has no value; it takes a time"},
		{"run tidy . --jsn", "there is no flag --jsn hint: did you mean --json?"},
		{"run tidy . -x", "there is no flag -x"},
		{"run tidy . --url http://127.0.0.1:9 --token-file /nowhere/x", "the token file cannot be read: /nowhere/x is not there"},
		{"sessions --limit 1 --all", "--all and --limit do not go together hint: leave one of them out"},
		{"recap 1 2", "`earshot recap` takes one argument at most; \"2\" is one more"},
		{"pending 1 2", "`earshot pending` takes one argument at most; \"2\" is one more"},
		{"serve /nowhere/x", "the file of tools cannot be read: /nowhere/x is not there"},
		{"serve " + at("tabs.yaml", "command:\n\ttarget: x\n"), "line 2: a text begins with a character that cannot begin one, such as a tab"},
		{"up --config /nowhere/x", "the configuration cannot be read: /nowhere/x is not there"},
		{"up --config " + at("config.yaml", "root: [\n"), "config.yaml: line 1: a value is missing, or a list does not end"},
		{"up --root . --https 127.0.0.1:0 --page-url https://a.b --tls-cert /nowhere/c --tls-key /nowhere/k", "the certificate /nowhere/c cannot be read: it is not there"},
		{"validate /nowhere/x", "/nowhere/x cannot be read: it is not there"},
		{"replay /nowhere/x", "/nowhere/x cannot be read: it is not there"},
		{"import /nowhere/x", "the export cannot be read: /nowhere/x is not there"},
		{"import " + wrong, "wrong.json is damaged in line 1: it is cut off. Nothing was imported"},
		{"import " + at("kind.json", "{\"export\":{\"version\":\"one\"}}\n"), "kind.json is damaged in line 1: the value of /export/version is not of the kind that it should be"},
		{"restore /nowhere/x", "there is no backup in /nowhere/x: /nowhere/x is not there"},
		{"tools add /nowhere/x", "/nowhere/x cannot be read: /nowhere/x is not there"},
		{"tools add " + wrong, "wrong.json: line 1: a value is missing, or a list does not end"},
		{"man /proc/x/y", "the folder cannot be made: /proc/x is not there"},
		{"credential add x --role zz", "the role is \"zz\"; expected tool, agent, operator or foreign"},
	} {
		t.Run(row.args, func(t *testing.T) {
			t.Parallel()
			words, data := strings.Fields(row.args), s.data
			if words[0] == "import" || words[0] == "tools" {
				data = examined(t).data // they hold it while they work
			}
			p := start(t, options{verb: words[0], args: words[1:], env: []string{"EARSHOT_DATA=" + data}, nobody: true})
			if code := p.wait(); code == 0 {
				t.Error("it goes well")
			}
			said := p.prompt.String() + p.out.String()
			contains(t, said, row.want)
			inPlainWords(t, row.args, said)
		})
	}
}

// TestAgentIsSuggested: a server knows its agents, and says which one a misspelt name may be meant for.
func TestAgentIsSuggested(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.does(0, "credential", "add", "counter", "--role", "agent")
	server := s.up("--nats-listen", "127.0.0.1:0")
	contains(t, s.does(1, "run", "conuter", "{}"), "there is no agent \"conuter\" hint: did you mean counter? The agents are: tidy, operator, counter")
	contains(t, s.does(1, "run", "tidi", "{}"), "did you mean tidy?")
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestDoctorProvider: of an identity provider it is told what of it counts, that it cannot be asked, and what is wrong with its settings.
func TestDoctorProvider(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := oidctest.New(t)
	file := filepath.Join(t.TempDir(), "up.yaml")
	for _, row := range []struct {
		code           int
		issuer, rest   string
		expected, none string
	}{
		{0, p.URL, "oidc-audience: earshot\noidc-role: ears=listener\n", "ok: identity provider: It answers, and its keys are known. These count: tokens of " + p.URL + " for earshot; groups: ears=listener;", "problem"},
		{1, p.URL + "/nowhere", "oidc-audience: earshot\noidc-role: ears=listener\n", "problem: identity provider: It cannot be asked for its keys: ", "ok: identity"},
		{1, p.URL, "oidc-audience: earshot\n", "--oidc-issuer needs --oidc-role", "ok: identity"},
	} {
		must(t, os.WriteFile(file, []byte("oidc-issuer: "+row.issuer+"\n"+row.rest), 0o600))
		got := s.does(row.code, "doctor", "--config", file)
		if contains(t, got, row.expected); strings.Contains(got, row.none) {
			t.Errorf("it says %s", got)
		}
	}
	if got := s.does(0, "doctor"); strings.Contains(got, "identity provider") {
		t.Errorf("without a provider it says %s", got)
	}
}
