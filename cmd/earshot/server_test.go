package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
)

// TestServerRunAttached: a run that finds the data held by a server runs its turn
// there, and somebody else answers.
func TestServerRunAttached(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, row := range []struct {
		name, word, told string
		code             int
	}{
		{"accept", "accept", "You accepted question 1 in the terminal.", 0},
		{"reject", "reject", "You rejected question 1 in the terminal.", 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			server := s.up()
			run := s.run("--json")
			run.await("Attached:")
			run.await(asked)
			if open := s.pending(); len(open) != 1 || open[0].Number != 1 || open[0].Kind != "confirmation" {
				t.Errorf("pending lists %+v", open)
			}
			contains(t, s.does(0, "reply", "1", row.word), "Recorded: question 1 is "+row.word+"ed.")
			run.await(row.told)
			run.ends(row.code)
			contains(t, s.does(3, "reply", "1", "accept"), "question 1 was "+row.word+"ed by ")
			if row.code == 0 {
				if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
					t.Errorf("gone are %v", gone)
				}
			} else {
				s.untouched("after a no")
			}
			for line := range strings.Lines(run.out.String()) {
				var e map[string]any
				if err := json.Unmarshal([]byte(line), &e); err != nil || e["event_id"] == nil {
					t.Errorf("standard output holds %q", line)
				}
			}
			server.signal(os.Interrupt)
			server.ends(0)
		})
	}
}

// TestServerAttachedTerminalAnswers: the attached run's own words count as any others.
func TestServerAttachedTerminalAnswers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.up()
	run := s.run("--json")
	run.say("list")
	run.say("more time")
	run.say("reject")
	run.ends(3)
	contains(t, run.out.String()+run.prompt.String(), "of 15")
	s.untouched("after a no")
	again := s.run("--json")
	again.say("stop")
	again.ends(3)
	s.untouched("after a stop")
}

// TestServerKilledWithAQuestionOpen (call protocol, "Crash and fault table"): the question has the
// same number and deadline after it, the attached run reconnects and hears the rest.
func TestServerKilledWithAQuestionOpen(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	first := s.upApart()
	run := s.run("--json", "--answer-within", "10m")
	run.await(asked)
	before := s.pending()
	first.kill()
	first.wait()
	second := s.up()
	second.await("Resumed: sess_")
	after := s.pending()
	if len(before) != 1 || len(after) != 1 || before[0].Number != after[0].Number || !before[0].Deadline.Equal(after[0].Deadline) || before[0].Token != after[0].Token {
		t.Errorf("the question was %+v and is %+v", before, after)
	}
	s.does(0, "reply", "1", "accept")
	run.ends(0)
	if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
		t.Errorf("gone are %v", gone)
	}
	if n := strings.Count(squeeze(run.prompt.String()), "Question 1, tidy, 001/photos: Delete"); n != 1 {
		t.Errorf("the question was told %d times:\n%s", n, run.prompt)
	}
}

// TestServerEndsGracefully: what has not ended is parked, and goes on at the next start.
func TestServerEndsGracefully(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			first := s.upApart()
			run := s.run("--json")
			run.await(asked)
			before := s.pending()
			began := time.Now()
			first.signal(signal)
			first.ends(0)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the end took %s", took)
			}
			contains(t, first.prompt.String(), "Ended.")
			if _, err := os.Stat(filepath.Join(s.data, "server.json")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("server.json: %v", err)
			}
			contains(t, s.does(1, "pending"), "no `earshot up` works with the data")
			second := s.up()
			second.await("Resumed: sess_")
			if after := s.pending(); len(after) != 1 || after[0].Number != before[0].Number || !after[0].Deadline.Equal(before[0].Deadline) {
				t.Errorf("the question was %+v and is %+v", before, after)
			}
			s.does(0, "reply", "reject")
			run.ends(3)
			s.untouched("after a no")
		})
	}
}

// TestServerStart: what keeps a server from starting is said, with what to do.
func TestServerStart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.up()
	place := s.place()
	other := emptyScene(t)
	for _, row := range []struct {
		name string
		data string
		args []string
		code int
		want string
	}{
		{"missing folder", other.data, []string{"--root", filepath.Join(s.folder, "absent")}, 2, "there is no folder"},
		{"its own folder", s.data, []string{"--root", s.data}, 2, "belongs to the data directory"},
		{"second start", s.data, []string{"--root", s.folder}, 1, "another earshot works with the data in " + s.data + " (process " + strconv.Itoa(first.pid()) + ")"},
		{"port taken", other.data, []string{"--root", s.folder, "--http", strings.TrimPrefix(place.URL, "http://")}, 1, "is taken by another program hint: end that, or use another port"},
		{"not the loopback", other.data, []string{"--root", s.folder, "--http", "0.0.0.0:0"}, 2, "is not on the loopback"},
		{"a port that is not a number", other.data, []string{"--root", s.folder, "--http", "localhost:x"}, 2, `--http "localhost:x" has the port "x"; expected a number from 0 to 65535`},
		{"no port", other.data, []string{"--root", s.folder, "--http", "127.0.0.1"}, 2, "is not an address with a port"},
		{"its twin taken", other.data, []string{"--root", s.folder, "--http", strings.Replace(strings.TrimPrefix(place.URL, "http://"), "127.0.0.1", "[::1]", 1)}, 1, "is taken by another program"},
		{"where no browser looks", other.data, []string{"--root", s.folder, "--http", "127.0.0.2:0"}, 2, "would not find it at 127.0.0.2:0"},
		{"a page on another machine", other.data, []string{"--root", s.folder, "--page-url", "http://earshot.example.org"}, 2, "plain HTTP can be read and changed on its way hint: put a proxy with TLS before it"},
		{"a page below a path", other.data, []string{"--root", s.folder, "--page-url", "https://example.org/earshot"}, 2, "is not the address of a page hint: it has the form https://earshot.example.org"},
		{"a page without a scheme", other.data, []string{"--root", s.folder, "--page-url", "earshot.example.org"}, 2, "is not the address of a page"},
		{"every origin", other.data, []string{"--root", s.folder, "--allow-origin", "*"}, 2, "every origin (*) cannot be allowed"},
		{"an origin with a path", other.data, []string{"--root", s.folder, "--allow-origin", "https://a.example/"}, 2, "is not an origin"},
		{"an argument", other.data, []string{"tidy"}, 2, "takes no argument"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := start(t, options{verb: "up", data: row.data, args: row.args, nobody: true})
			p.ends(row.code)
			contains(t, p.prompt.String(), row.want)
			if strings.Contains(p.out.String(), "Code for the page") {
				t.Error("it gave a code")
			}
		})
	}
}

// TestServerOfAnother: a data directory that belongs to another user is not worked with.
func TestServerOfAnother(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		lacks(t, "not root, and only root can make a folder that belongs to somebody else")
	}
	s := newScene(t)
	must(t, os.Chown(s.data, nobody, nobody))
	p := start(t, options{verb: "up", data: s.data, args: []string{"--root", s.folder, "--http", "127.0.0.1:0"}, nobody: true})
	s.complains(p, 1, "belongs to user 65534", "a folder of your own")
}

// TestServerOffersToTry: what a server says that one could try works as it stands there.
func TestServerOffersToTry(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.up()
	_, offer, _ := strings.Cut(server.out.String(), "\nTry:\n")
	offer, _, _ = strings.Cut(offer, "\n\n")
	lines := strings.Split(offer, "\n")
	if len(lines) != 5 || lines[0] != "  open the page and type the code" {
		t.Fatalf("it offers\n%s", offer)
	}
	typed := func(line string) *process {
		p := &process{t: t, cmd: command(t, options{}), out: newHeard(), prompt: newHeard(), ended: make(chan struct{})}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = p.cmd.Dir, slices.Concat(p.cmd.Env, []string{"PATH=" + filepath.Dir(program(t)) + ":" + os.Getenv("PATH")})
		cmd.Stdout, cmd.Stderr = p.out, p.prompt
		p.cmd = cmd
		must(t, cmd.Start())
		p.own()
		return p
	}
	run := typed(lines[1])
	await(run.out, run, "Question 1, tidy, 001/photos: Delete 15 duplicate files")
	pending := typed(lines[2])
	pending.ends(0)
	contains(t, pending.out.String(), "Question 1, tidy, 001/photos: Delete 15 duplicate files")
	for line, want := range map[string]string{lines[3]: "no terminal can be logged in from here", lines[4]: "nothing is accepted or answered from here"} {
		p := typed(line) // at a terminal it works, see TestLogin
		p.ends(1)
		contains(t, p.prompt.String(), want, "hint: ")
	}
	contains(t, s.does(0, "stop"), "is stopped")
	run.ends(3)
}

// TestServerOffersPasskey: where accepting takes a passkey, no command that would be refused is offered.
func TestServerOffersPasskey(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	server := s.up("--require-presence", "high")
	_, offer, _ := strings.Cut(server.out.String(), "\nTry:\n")
	offer, _, _ = strings.Cut(offer, "\n\n")
	contains(t, offer, "on the page, accept question 1 with your passkey earshot reply --data "+s.data+" 1 reject")
	if strings.Contains(offer, "1 accept") {
		t.Errorf("it offers\n%s", offer)
	}
}

// TestServerStaleFiles: what a killed server leaves behind keeps nobody from starting,
// and is not believed.
func TestServerStaleFiles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.upApart()
	first.kill()
	first.wait()
	if s.place().PID != first.pid() {
		t.Fatal("nothing was left behind")
	}
	contains(t, s.does(1, "pending"), "no `earshot up` works with the data")
	run := s.run("--json") // by itself
	run.await(asked)
	if strings.Contains(run.prompt.String(), "Attached") {
		t.Error("it attached to a server that is gone")
	}
	contains(t, refusedRun(s), "another earshot works with the data in") // a run serves nobody else
	run.say("reject")
	run.ends(3)
	s.up()
}

func refusedRun(s *scene) string {
	p := s.run("--no-input")
	p.ends(1)
	return p.prompt.String()
}

// TestServerTwoSurfacesAtOnce: the first one decides, and the other is told so. Many
// questions, two who answer each at the same moment, one resolution each.
func TestServerTwoSurfacesAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.up()
	remote, err := client.Dial(t.Context(), client.Options{
		ServerFile: filepath.Join(s.data, "server.json"), TokenFile: filepath.Join(s.data, "person.token"),
	})
	must(t, err)
	for range 20 {
		run := s.run("--json", "--trash")
		run.await(asked)
		open := s.pending()
		if len(open) != 1 {
			t.Fatalf("open are %+v", open)
		}
		n, token := open[0].Number, open[0].Token
		results := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := remote.Reply(t.Context(), n, api.Reply{Token: token, Decision: "reject"})
				results <- err
			}()
		}
		one, other := <-results, <-results
		if (one == nil) == (other == nil) {
			t.Fatalf("question %d: the answers got %v and %v", n, one, other)
		}
		if lost := errors.Join(one, other); !errors.Is(lost, client.ErrConflict) {
			t.Errorf("who came second was told %v", lost)
		}
		run.ends(3)
		if ends := strings.Count(run.out.String(), `"resolution":"rejected"`); ends != 1 {
			t.Fatalf("question %d has %d resolutions", n, ends)
		}
	}
	s.untouched("after many a no")
}

// TestServerTwoQuestions: a bare word is refused while two questions are open.
func TestServerTwoQuestions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.up()
	first, second := s.run("--json"), s.run("--json")
	first.await(asked)
	second.await(asked)
	for len(s.pending()) < 2 {
		t.Log("waiting for the second question")
	}
	session := ""
	for _, q := range s.pending() {
		if q.Number == 2 {
			session = q.Session
		}
	}
	contains(t, s.does(2, "reply", "accept"), "2 questions are open")
	contains(t, s.does(2, "stop"), "2 sessions are under way")
	contains(t, s.does(0, "reply", "2", "reject"), "question 2 is rejected")
	contains(t, s.does(0, "extend"), "Recorded: question 1 has more time. Answer by")
	contains(t, s.does(2, "reply", "1", "yes"), "takes accept or reject")
	contains(t, s.does(0, "stop", "all"), "is stopped")
	contains(t, s.does(3, "reply", "accept"), "no question waits")
	first.wait()
	second.wait()
	s.untouched("after a no and a stop")
	contains(t, s.does(0, "recap", "--session", session), "You said no")
}

// TestServerUndo takes an accept back from elsewhere. The tool gives it five minutes: the
// usual three seconds are too few for a loaded machine to start two programs in.
func TestServerUndo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.does(0, "credential", "add", "oven", "--role", "tool")
	s.up("--nats-listen", "127.0.0.1:0", "--policy", s.policy("rules: [{tool: oven.burn, decide: ask, start_within: 10m}]\n"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- service.Run(ctx, service.Options{Credentials: filepath.Join(s.data, "credentials", "tool.oven.json")}, tool.Tool{
			Definition: utp.Definition{Tool: "oven.burn", Description: "Burn.", Class: utp.Irreversible, Options: jsontext.Value(`{"undo_seconds":300}`)},
			Run: func(context.Context, *tool.Call) (tool.Result, error) {
				t.Error("it was started after an undo")
				return tool.Result{}, nil
			},
		})
	}()
	s.reviewed("oven.burn")
	call := start(t, options{verb: "tools", data: s.data, args: []string{"call", "oven.burn"}})
	call.await(asked)
	s.does(0, "reply", "1", "accept")
	contains(t, s.does(0, "undo"), "Recorded: the yes to question 1 is taken back.")
	call.ends(3)
	contains(t, s.does(3, "undo"), "nothing was accepted in what is under way")
	stop()
	must(t, <-ended)
}

// reviewed waits for a tool of a service elsewhere, and takes it as it is.
func (s *scene) reviewed(name string) {
	s.t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(s.does(0, "tools", "list"), name); {
		if time.Now().After(end) {
			s.t.Fatal("the tool has not come")
		}
	}
	var found struct {
		Digest string `json:"digest"`
	}
	s.reads(&found, "tools", "show", name, "--json")
	s.does(0, "tools", "review", name, "--digest", found.Digest)
}

// TestServerFolders: only what is allowed is worked in, no matter who asks.
func TestServerFolders(t *testing.T) {
	t.Parallel()
	s, other := newScene(t), newScene(t)
	s.up()
	p := start(t, options{data: s.data, args: []string{"tidy", other.folder}, nobody: true})
	p.ends(1)
	contains(t, p.prompt.String(), "not allowed on this server hint: the allowed folders, and what lies in them, are: "+s.folder)
	other.untouched("without a right")
	policy := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--policy", s.policy("rules: []\n")}, nobody: true})
	policy.ends(2)
	contains(t, policy.prompt.String(), "--policy does not go with a server")
}

// TestServerParkedElsewhere: a turn in a folder that is not allowed any more stays where it is.
func TestServerParkedElsewhere(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	first := s.up()
	run := s.run("--json")
	run.await(asked)
	first.signal(os.Interrupt)
	first.ends(0)
	other := newScene(t)
	second := start(t, options{verb: "up", data: s.data, args: []string{"--root", other.folder, "--http", "127.0.0.1:0"}})
	second.hears("Control C ends it")
	second.await("Parked: sess_")
	second.signal(os.Interrupt)
	second.ends(0)
	third := s.up()
	third.await("Resumed: sess_")
	s.does(0, "reply", "reject")
	run.ends(3)
}

// TestServerTokens: a token counts while it is there, with the server running or not,
// and no longer; its streams end with it.
func TestServerTokens(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	contains(t, s.does(0, "token", "list"), "There are no tokens.")
	secrets := map[string]string{}
	add := func(name string, args ...string) {
		p := start(t, options{verb: "token", data: s.data, args: append([]string{"add", name}, args...), nobody: true})
		p.ends(0)
		secrets[name] = filepath.Join(filepath.Dir(s.data), name+".token")
		must(t, os.WriteFile(secrets[name], []byte(p.out.String()), 0o600))
	}
	add("phone", "--role", "approver") // before the server
	server := s.up()
	add("ear", "--role", "listener") // and while it runs
	contains(t, s.does(2, "token", "add", "phone", "--role", "approver"), "a token named phone exists")
	contains(t, s.does(2, "token", "add", "x", "--role", "king"), "there is no role")
	url := s.place().URL
	with := func(name string, code int, verb string, args ...string) string {
		p := start(t, options{verb: verb, args: append([]string{"--url", url, "--token-file", secrets[name]}, args...), nobody: true})
		p.ends(code)
		return p.out.String() + p.prompt.String()
	}
	run := start(t, options{args: []string{"tidy", s.folder, "--json", "--url", url, "--token-file", secrets["phone"]}})
	run.await(asked)
	contains(t, with("ear", 0, "pending"), "Question 1")
	contains(t, with("ear", 1, "reply", "1", "accept"), "hint:")
	contains(t, s.does(0, "token", "list"), "Token phone: approver for")
	s.does(0, "token", "revoke", "phone")
	run.ends(1) // its stream has ended, and cannot be taken up again
	contains(t, with("phone", 1, "pending"), "not valid")
	contains(t, s.does(1, "token", "revoke", "phone"), "there is no token named phone")
	s.does(0, "stop")
	s.untouched("after a stop")
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestServerUnsafeTokens: a token file that others can change lets nobody in.
func TestServerUnsafeTokens(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	must(t, os.WriteFile(filepath.Join(s.data, "tokens.json"), []byte(`{"version":1,"tokens":[]}`), 0o666))
	must(t, os.Chmod(filepath.Join(s.data, "tokens.json"), 0o666))
	p := start(t, options{verb: "up", data: s.data, args: []string{"--root", s.folder}, nobody: true})
	p.ends(1)
	contains(t, p.prompt.String(), "is open to others")
}

// TestServerDoctor: what is there and what is missing, one line each.
func TestServerDoctor(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	contains(t, s.does(0, "doctor"), "note: server: None has run here yet.")
	s.up()
	text := s.does(0, "doctor", "--root", s.folder)
	for _, want := range []string{"ok: data directory:", "ok: ledger:", "ok: key:", "ok: server: The process", "ok: page: It is at " + s.place().Page, "ok: page's name:", "ok: folder:"} {
		contains(t, text, want)
	}
	contains(t, s.does(1, "doctor", "--root", s.folder+"/absent"), "problem: folder: there is no folder")
	must(t, os.Chmod(s.data, 0o777))
	contains(t, s.does(1, "doctor"), "problem: data directory: others may write")
}

// TestServerCompletion: a shell is offered what is open, and nothing where no server answers.
func TestServerCompletion(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	offered := func(args ...string) []string {
		args = append(args, "")
		p := start(t, options{verb: "__complete", args: args, env: []string{"EARSHOT_DATA=" + s.data}, nobody: true})
		p.ends(0)
		lines := strings.Split(strings.TrimSpace(p.out.String()), "\n")
		return lines[:len(lines)-1]
	}
	for _, args := range [][]string{{"reply"}, {"turns", "show"}, {"tools", "show"}, {"dead", "retry"}, {"erase"}} {
		if words := offered(args...); len(words) != 0 {
			t.Errorf("%v without a server: %q", args, words)
		}
	}
	s.up()
	run := s.run("--json")
	run.await(asked)
	session := s.pending()[0].Session
	turn := "turn_" + strings.TrimPrefix(session, "sess_")
	tools := []string{"files.delete\t", "files.hash\t", "files.scan\t", "files.trash\t"}
	for _, row := range []struct{ args, want []string }{
		{[]string{"reply"}, []string{"1\tDelete 15 duplicate files"}},
		{[]string{"reply", "1"}, []string{"accept", "reject"}},
		{[]string{"reply", "2"}, nil},
		{[]string{"reply", "1", "accept"}, nil},
		{[]string{"extend"}, []string{"1\tDelete"}},
		{[]string{"extend", "1"}, nil},
		{[]string{"stop"}, []string{"all\t", "1\tDelete", session + "\t"}},
		{[]string{"pending"}, nil},
		{[]string{"undo"}, nil},
		{[]string{"turns", "show"}, []string{turn + "\t"}},
		{[]string{"turns", "show", turn}, nil},
		{[]string{"cards", "list"}, []string{turn + "\t"}},
		{[]string{"erase"}, []string{turn + "\t"}},
		{[]string{"erase", turn}, nil},
		{[]string{"export"}, nil},
		{[]string{"export", "-"}, []string{turn + "\t"}},
		{[]string{"tools", "show"}, tools},
		{[]string{"tools", "review"}, tools},
		{[]string{"tools", "rm"}, tools},
		{[]string{"tools", "call"}, tools},
		{[]string{"tools", "call", "files.scan"}, nil},
		{[]string{"dead", "show"}, nil},
		{[]string{"dead", "retry"}, nil},
	} {
		words := offered(row.args...)
		if !slices.EqualFunc(words, row.want, strings.HasPrefix) {
			t.Errorf("%v offers %q, want %q", row.args, words, row.want)
		}
	}
	run.say("reject")
	run.ends(3)
}

// TestServerManual: there is a page for each command, and none acts on the formatter.
func TestServerManual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, options{verb: "man", args: []string{dir}, nobody: true})
	p.ends(0)
	for _, name := range []string{"earshot.1", "earshot-up.1", "earshot-run.1", "earshot-reply.1", "earshot-token-add.1", "earshot-logins.1", "earshot-logins-end.1", "earshot-doctor.1"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		for _, part := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n"} {
			if !strings.Contains(string(raw), part) {
				t.Errorf("%s has no %q", name, part)
			}
		}
	}
	text := start(t, options{verb: "completion", args: []string{"bash"}, nobody: true})
	text.ends(0)
	if !strings.Contains(text.out.String(), "earshot") {
		t.Error("no completion")
	}
}
