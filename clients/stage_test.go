package clients_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/client"
)

// stage is a real `earshot up` on a data directory of its own, with an agent's token and an approver's. Programs under test can
// have it killed and started again.
type stage struct {
	t      *testing.T
	home   string
	data   string
	folder string // the sample of the product: a few dozen files with duplicates
	lines  string // the file that box.add adds a line to

	approver, agent string // tokens
	url             string // stays the same over restarts
	control         string // where the program under test has the server killed

	mu     sync.Mutex
	server *exec.Cmd
	said   *spoken
}

// spoken is what a process has written so far. It is safe for concurrent use.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

const boxTools = `command:
  target: box
  operations:
    - {tool: box.add, description: Add a line., class: irreversible, program: WRITER, argv: ["{line}", LINES], parameters: PARAMETERS}
    - {tool: box.add_soon, description: Add a line soon., class: irreversible, program: WRITER, argv: ["{line}", LINES], parameters: PARAMETERS}
    - {tool: box.read, description: Read the lines., class: read, program: /bin/cat, argv: [LINES], parameters: {type: object, properties: {}}}
    - {tool: box.clear, description: Remove the lines., class: irreversible, program: /bin/true, argv: [], parameters: {type: object, properties: {}}}
`

const boxPolicy = `rules:
  - {tool: box.add_soon, decide: ask, start_within: 2s}
  - {tool: box.clear, decide: deny}
  - {tool: helper.Read, decide: allow}
`

func newStage(t *testing.T) *stage {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	s := &stage{t: t, home: home, data: filepath.Join(home, "data"), folder: filepath.Join(home, "photos"), lines: filepath.Join(home, "lines")}
	must(t, os.Mkdir(s.data, 0o700))
	_, err = tidy.MakeSample(s.folder)
	must(t, err)
	s.write("lines", "")
	s.write("policy.yaml", boxPolicy)
	s.write("add.sh", "#!/bin/sh\necho \"$1\" >> \"$2\"\n")
	must(t, os.Chmod(filepath.Join(home, "add.sh"), 0o700))
	s.write("box.yaml", strings.NewReplacer("WRITER", filepath.Join(home, "add.sh"), "LINES", s.lines,
		"PARAMETERS", `{type: object, properties: {line: {type: string, pattern: "^[a-z0-9 ]+$"}}, required: [line]}`).Replace(boxTools))
	s.terminal("set", "undo-time", "3s") // what is waited for here is not the point
	s.agent, s.approver = s.token("helper", "agent"), s.token("phone", "approver")
	s.url = "http://127.0.0.1:0"
	must(t, s.start())
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := s.restart(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	s.control = control.URL
	t.Cleanup(func() {
		control.Close()
		s.kill()
		if t.Failed() {
			t.Logf("the server said:\n%s", s.said)
		}
	})
	return s
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.home, name), []byte(text), 0o600))
}

func (s *stage) token(name, role string) string {
	s.t.Helper()
	return regexp.MustCompile(`earshot_[A-Za-z0-9_-]+`).FindString(s.terminal("token", "add", name, "--role", role))
}

// terminal runs a command of the program, as somebody at a terminal does.
func (s *stage) terminal(args ...string) string {
	s.t.Helper()
	if args[0] == "reply" { // the tests answer as a script does, on purpose
		file := filepath.Join(s.home, "approver.token")
		if err := os.WriteFile(file, []byte(s.approver), 0o600); err != nil {
			s.t.Fatal(err)
		}
		args = append(args, "--token-file", file)
	}
	cmd := s.earshot(args...)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("earshot %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *stage) earshot(args ...string) *exec.Cmd {
	cmd := exec.Command(program, append(args, "--data", s.data)...)
	cmd.Dir, cmd.Env = s.home, s.environment()
	return cmd
}

func (s *stage) environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.home, "TZ=UTC", "LANG=C.UTF-8"}
}

// start starts the program, and waits until it serves.
func (s *stage) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = new(spoken)
	s.server = s.earshot("up", "--root", s.folder, "--tools", filepath.Join(s.home, "box.yaml"), "--policy", filepath.Join(s.home, "policy.yaml"),
		"--http", strings.TrimPrefix(s.url, "http://"))
	s.server.Stdout, s.server.Stderr = s.said, s.said
	if err := s.server.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(patience); !strings.Contains(s.said.String(), "Control C ends it"); {
		if time.Now().After(end) {
			return fmt.Errorf("the server does not serve:\n%s", s.said)
		}
		<-time.After(20 * time.Millisecond) // the program has its own clock
	}
	place, err := client.ReadServerFile(filepath.Join(s.data, "server.json"))
	s.url = place.URL
	return err
}

// kill ends the server as a crash does.
func (s *stage) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.server.Process.Kill() // it may have ended
	_ = s.server.Wait()         // killed
}

func (s *stage) restart() error {
	s.kill()
	return s.start()
}

// command prepares a program under test, in a folder.
func (s *stage) command(folder, name string, args ...string) *exec.Cmd {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	s.t.Cleanup(cancel)
	python, err := filepath.Abs("python")
	must(s.t, err)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	cmd.Env = append(s.environment(), "EARSHOT_URL="+s.url, "EARSHOT_TOKEN="+s.agent, "PYTHONPATH="+python, "PYTHONDONTWRITEBYTECODE=1",
		"STAGE_URL="+s.control, "STAGE_APPROVER="+s.approver, "STAGE_LINES="+s.lines)
	return cmd
}

// runs demands that a program ends well.
func (s *stage) runs(cmd *exec.Cmd) {
	s.t.Helper()
	s.t.Attr("counts", "effects") // scripts/verdict
	out, err := cmd.CombinedOutput()
	s.t.Logf("%s", out)
	must(s.t, err)
}

// starts starts a program. What it returns waits for its end, demands a good one, and returns what was written.
func (s *stage) starts(cmd *exec.Cmd) (done func() string) {
	s.t.Helper()
	said, ended := new(spoken), make(chan error, 1)
	cmd.Stdout, cmd.Stderr = said, said
	must(s.t, cmd.Start())
	go func() { ended <- cmd.Wait() }()
	return sync.OnceValue(func() string {
		if err := <-ended; err != nil {
			s.t.Errorf("%v\n%s", err, said)
		}
		return said.String()
	})
}

// asked waits for a question, and looks at it.
func (s *stage) asked(number string, done func() string) {
	s.t.Helper()
	for end := time.Now().Add(patience); s.earshot("pending", number).Run() != nil; {
		if time.Now().After(end) {
			s.t.Fatalf("question %s was never asked; the program said:\n%s", number, done())
		}
		<-time.After(50 * time.Millisecond) // the program has its own clock
	}
}

// tidies demands that an agent has the duplicates deleted once a person has said yes, and not before.
func (s *stage) tidies(cmd *exec.Cmd) {
	s.t.Helper()
	s.t.Attr("counts", "effects") // scripts/verdict
	before := s.files()
	done := s.starts(cmd)
	s.asked("1", done)
	if now := s.files(); now != before {
		s.t.Errorf("%d of %d files are there before anybody has answered", now, before)
	}
	s.terminal("reply", "1", "accept")
	done()
	if gone := before - s.files(); gone != 15 {
		s.t.Errorf("%d files are gone; want the 15 duplicates", gone)
	}
	if said := s.terminal("recap", "20"); !strings.Contains(said, "15 files were deleted.") {
		s.t.Errorf("the last word is not there:\n%s", said)
	}
}

func (s *stage) files() (count int) {
	s.t.Helper()
	must(s.t, filepath.WalkDir(s.folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			count++
		}
		return err
	}))
	return count
}
