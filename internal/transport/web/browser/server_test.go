package browser_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/client"
)

// server is the real program, `earshot up`, on a data directory and a folder of its own.
type server struct {
	t      *testing.T
	data   string
	folder string
	args   []string // more of the command line
	home   string

	url   string // of the API; stays the same over restarts
	page  string // of the page, as the program has printed it
	token string
	cmd   *exec.Cmd
	gone  chan struct{} // closed when the command has ended
	said  *written
}

// written is what a process has written so far.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{} // closed at the next write; nil where nobody waits
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news != nil {
		close(w.news)
		w.news = nil
	}
	return w.text.Write(p)
}

// now is what has been written, and a signal that there is more.
func (w *written) now() (string, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news == nil {
		w.news = make(chan struct{})
	}
	return w.text.String(), w.news
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// serve starts the program on a folder that holds so many folders, "1", "2" and on, each
// with one duplicate.
func serve(t *testing.T, folders int) *server {
	t.Helper()
	s := prepare(t, folders)
	s.start()
	return s
}

// prepare is serve before the program is started.
func prepare(t *testing.T, folders int) *server {
	t.Helper()
	needsChromium(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	s := &server{t: t, data: filepath.Join(dir, "data"), folder: filepath.Join(dir, "photos"), home: dir, url: "http://127.0.0.1:0"}
	must(t, os.Mkdir(s.data, 0o700))
	must(t, os.Mkdir(s.folder, 0o700))
	for i := range folders {
		s.duplicate(i + 1)
	}
	must(t, s.command("set", "undo-time", "3s").Run()) // what is waited for here is not the point
	return s
}

// duplicate makes a folder with one duplicate and returns its path.
func (s *server) duplicate(n int) string {
	s.t.Helper()
	folder := filepath.Join(s.folder, fmt.Sprint(n))
	must(s.t, os.MkdirAll(folder, 0o755))
	for _, name := range []string{"kept.txt", "second.txt"} {
		must(s.t, os.WriteFile(filepath.Join(folder, name), fmt.Appendf(nil, "the words of folder %d\n", n), 0o600))
	}
	return folder
}

// left answers whether the duplicate of a folder is still there.
func (s *server) left(n int) bool {
	s.t.Helper()
	s.t.Attr("counts", "effects") // scripts/verdict
	kept, err := os.ReadDir(filepath.Join(s.folder, fmt.Sprint(n)))
	must(s.t, err)
	if len(kept) == 0 {
		s.t.Errorf("folder %d is empty", n)
	}
	return len(kept) == 2
}

func (s *server) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), program, append(args, "--data", s.data)...)
	cmd.Dir = s.home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.home, "TZ=UTC", "LANG=C.UTF-8", "GOGC=" + os.Getenv("GOGC")}
	return cmd
}

// start starts the program, and waits until it serves.
func (s *server) start() {
	s.t.Helper()
	s.cmd = s.command(append([]string{"up", "--root", s.folder, "--http", strings.TrimPrefix(s.url, "http://")}, s.args...)...)
	s.said = new(written)
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(s.t, s.cmd.Start())
	cmd, ended := s.cmd, make(chan struct{})
	s.gone = ended
	go func() {
		_ = cmd.Wait() // the state says how it ended
		close(ended)
	}()
	kill := s.cmd.Process.Kill
	s.t.Cleanup(func() {
		_ = kill() // it may have ended
		<-ended
		if s.t.Failed() {
			s.t.Logf("the server said:\n%s", s.said)
		}
	})
	within(s.t, "the server serves", func() (bool, error) {
		select {
		case <-ended:
			return false, fmt.Errorf("it has ended:\n%s", s.said)
		default:
			return strings.Contains(s.said.String(), "Control C ends it"), nil
		}
	})
	place, err := client.ReadServerFile(filepath.Join(s.data, "server.json"))
	must(s.t, err)
	s.url, s.token = place.URL, place.Token
	printed := regexp.MustCompile(`(?m)^Page: (http://(?:[0-9a-f]{32}\.)?localhost:\d+)/$`).FindStringSubmatch(s.said.String())
	if printed == nil {
		s.t.Fatalf("there is no address of the page in:\n%s", s.said)
	}
	if s.page != "" && s.page != printed[1] {
		s.t.Errorf("the page was at %s and is at %s", s.page, printed[1])
	}
	s.page = printed[1]
}

// newCode makes a login code, as somebody at a terminal does.
func (s *server) newCode() string {
	s.t.Helper()
	text, _ := s.terminal("code")
	code := regexp.MustCompile(`\b\d{4}(-\d{4}){4}\b`).FindString(text)
	if code == "" {
		s.t.Fatalf("there is no code in:\n%s", text)
	}
	return code
}

// kill ends the program as a crash does, and waits until it has gone: its port is free before its data are.
func (s *server) kill() {
	s.t.Helper()
	must(s.t, s.cmd.Process.Kill())
	<-s.gone
}

// tokenFile is a file with a token that answers.
func (s *server) tokenFile() string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "token")
	must(s.t, os.WriteFile(file, []byte(s.person()), 0o600))
	return file
}

// terminal runs a command of the program, as somebody at a terminal does.
func (s *server) terminal(args ...string) (said string, code int) {
	if args[0] == "reply" && args[len(args)-1] != "reject" { // the tests answer as a script does, on purpose
		args = append(args, "--token-file", s.tokenFile())
	}
	cmd := s.command(args...)
	out, _ := cmd.CombinedOutput() // the exit code says it
	return string(out), cmd.ProcessState.ExitCode()
}

// api asks the API as a program of the local user, which may not answer questions.
func (s *server) api(method, path string, body, answer any) int {
	s.t.Helper()
	return s.apiAs(s.token, method, path, body, answer)
}

// person makes a token with which the local user answers.
func (s *server) person() string {
	s.t.Helper()
	token, err := s.command("token", "add", "tests-"+strings.ToLower(rand.Text()), "--role", "approver", "--surface", "terminal").Output()
	must(s.t, err)
	return strings.TrimSpace(string(token))
}

func (s *server) apiAs(token, method, path string, body, answer any) int {
	s.t.Helper()
	raw, err := json.Marshal(body)
	must(s.t, err)
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(raw))
	must(s.t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err = io.ReadAll(response.Body)
	must(s.t, err)
	if answer != nil {
		if response.StatusCode/100 != 2 {
			s.t.Fatalf("%s %s: %s: %s", method, path, response.Status, raw)
		}
		must(s.t, json.Unmarshal(raw, answer))
	}
	return response.StatusCode
}

// turn starts the agent on a folder and returns its session.
func (s *server) turn(n int) string {
	s.t.Helper()
	return s.begin("tidy", fmt.Sprintf("tidy folder %d", n), map[string]any{"root": filepath.Join(s.folder, fmt.Sprint(n))})
}

// begin starts a turn of any agent and returns its session.
func (s *server) begin(agent, request string, args map[string]any) string {
	s.t.Helper()
	var started struct {
		Session string `json:"session_id"`
	}
	if args == nil {
		args = map[string]any{}
	}
	s.api(http.MethodPost, "/api/v1/turns", map[string]any{"agent": agent, "request": request, "args": args}, &started)
	return started.Session
}

// question is an open question as the API lists it.
type question struct {
	Number   int    `json:"number"`
	Session  string `json:"session_id"`
	Title    string `json:"title"`
	Deadline string `json:"deadline"`
}

func (s *server) questions() []question {
	s.t.Helper()
	var list struct {
		Questions []question `json:"questions"`
	}
	s.api(http.MethodGet, "/api/v1/questions", nil, &list)
	return list.Questions
}

// events reads the record of a session: its lines.
func (s *server) events(session string) []string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/v1/sessions/"+session+"/events", http.NoBody)
	must(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(request)
	must(s.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	must(s.t, err)
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// ended waits until a session has ended.
func (s *server) ended(session string) {
	s.t.Helper()
	within(s.t, "session "+session+" has ended", func() (bool, error) {
		var list struct {
			Sessions []struct {
				ID    string `json:"session_id"`
				Ended bool   `json:"ended"`
			} `json:"sessions"`
		}
		s.api(http.MethodGet, "/api/v1/sessions", nil, &list)
		for _, one := range list.Sessions {
			if one.ID == session {
				return one.Ended, nil
			}
		}
		return false, nil
	})
}
