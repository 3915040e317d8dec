// Package main_test starts the real program: it types, reads, kills and starts again.
package main_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait. It is long because a loaded machine is not a failure.
const patience = 10 * time.Minute

// parallel is how many runs are under way at once unless -parallel says otherwise: they
// mostly wait for the time in which a yes can be taken back.
const parallel = "12"

// The binaries are built when a test first needs a process: the one that ships, and the one with fault points, which the
// runs with a fault start. Each function returns the path.
var buildProgram, buildFaulty func() (string, error)

func program(t testing.TB) string {
	t.Helper()
	path, err := buildProgram()
	must(t, err)
	return path
}

func faulty(t testing.TB) string {
	t.Helper()
	path, err := buildFaulty()
	must(t, err)
	return path
}

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if place := os.Getenv(mcpPlace); place != "" {
		return beMCPServer(place)
	}
	if kind := os.Getenv(acpKind); kind != "" {
		return beACPAgent(kind)
	}
	// Anyone who started the tests may have turned hangups off (nohup). A signal that is
	// listened to is not inherited as ignored, so the programs under test hear theirs.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if signal.Ignored(os.Interrupt) { // as in the background of a script
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	time.Local = time.UTC // the programs that run here have TZ=UTC, as those in processes
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", parallel); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "earshot-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { // another user runs it too
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	buildProgram = sync.OnceValues(func() (string, error) { return build(filepath.Join(dir, "earshot")) })
	buildFaulty = sync.OnceValues(func() (string, error) { return build(filepath.Join(dir, "faulty", "earshot"), "-tags", "faults") })
	return m.Run()
}

// build builds the program at a path, and returns that.
func build(path string, flags ...string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", path} // what debuggers need takes a third of the time
	said, err := exec.Command("go", append(args, flags...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w: %s", err, said)
	}
	return path, nil
}

// heard is what a program has written so far. It is safe for concurrent use.
type heard struct {
	mu   sync.Mutex
	text []byte
	news chan struct{} // closed at the next write
}

func newHeard() *heard { return &heard{news: make(chan struct{})} }

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p...)
	close(h.news)
	h.news = make(chan struct{})
	return len(p), nil
}

func (h *heard) now() (string, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text), h.news
}

func (h *heard) String() string {
	text, _ := h.now()
	return text
}

// process is one run of the program: a process of its own, or a run in this one ([startHere]).
type process struct {
	t      *testing.T
	home   string    // its home and working folder; a run in this process has no working folder of its own
	cmd    *exec.Cmd // nil: it runs in this process
	here   *hereRun  // nil: it has a process of its own
	input  io.WriteCloser
	out    *heard // standard output
	prompt *heard // where questions are put
	from   int    // how much of prompt, in its squeezed form, has been waited for
	ended  chan struct{}
}

// options of a run.
type options struct {
	data  string   // the data directory
	verb  string   // the command; `run` when empty
	args  []string // after the command
	env   []string // more of the environment
	fault string   // where to die or to be held
	// nobody gives the program an empty input from the start.
	nobody bool
	// as runs it as another user.
	as *syscall.Credential
	// limit is the size of files in blocks of `ulimit -f`, when not empty.
	limit string
	// nohup has it ignore that the terminal goes away.
	nohup bool
	// into is the file that standard output goes to, when not empty: of a run on a terminal, or in this process.
	into string
	// ahead is what has been typed at the terminal before the program starts.
	ahead string
	// shell is a script of sh to run instead, which calls the program as e.
	shell string
	// exact are all arguments, in place of verb, args and data.
	exact []string
	// process gives the program a process of its own where nothing else here demands one: the test kills it, looks at its
	// id, or is about what only the binary does.
	process bool
}

// apart reports whether the program needs a process of its own.
func (o options) apart() bool {
	return o.process || o.fault != "" || o.as != nil || o.limit != "" || o.nohup || o.shell != ""
}

// words are the arguments of the program.
func (o options) words() []string {
	if o.exact != nil {
		return o.exact
	}
	words := append([]string{cmp.Or(o.verb, "run")}, o.args...)
	if o.data != "" {
		words = append(words, "--data", o.data)
	}
	return words
}

// environment is what the program gets of one, and nothing of whoever started the tests.
func (o options) environment(home string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "TZ=UTC", "LANG=C.UTF-8", "EARSHOT_FAULT=" + o.fault,
		"GOGC=" + os.Getenv("GOGC"), // a fifth of a start is collecting what its packages have allocated
	}, o.env...)
}

// command prepares a process with an environment of its own.
func command(t *testing.T, o options) *exec.Cmd {
	t.Helper()
	args := o.words()
	build := program
	if o.fault != "" {
		build = faulty
	}
	binary := build(t)
	cmd := exec.Command(binary, args...)
	if o.limit != "" {
		cmd = exec.Command("sh", append([]string{"-c", "ulimit -f " + o.limit + ` && exec "$@"`, "sh", binary}, args...)...)
	}
	if o.nohup {
		cmd = exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh", binary}, args...)...)
	}
	if o.shell != "" {
		cmd = exec.Command("sh", "-c", `e() { "$0" "$@"; }; `+o.shell, binary)
		o.env = append(o.env, "EARSHOT_DATA="+o.data)
	}
	home := t.TempDir()
	cmd.Dir = home
	cmd.Env = o.environment(home)
	if o.as != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: o.as}
	}
	return cmd
}

// start starts a run with pipes, in this process where that makes no difference. It is ended with the test.
func start(t *testing.T, o options) *process {
	t.Helper()
	if !o.apart() {
		return startHere(t, o)
	}
	p := &process{t: t, cmd: command(t, o), out: newHeard(), prompt: newHeard(), ended: make(chan struct{})}
	p.home = p.cmd.Dir
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.prompt
	if !o.nobody {
		input, err := p.cmd.StdinPipe()
		must(t, err)
		p.input = input
	}
	must(t, p.cmd.Start())
	p.own()
	return p
}

// own waits for the program's end, and brings it about when the test ends first.
func (p *process) own() {
	go func() {
		_ = p.cmd.Wait() // the state says how it ended
		close(p.ended)
	}()
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
	})
}

// squeeze makes text independent of how it was wrapped.
func squeeze(text string) string {
	text = strings.NewReplacer("\u2068", "", "\u2069", "").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}

// await waits until the program has asked or said text, after what was awaited before.
func (p *process) await(texts ...string) {
	p.t.Helper()
	if !p.says(texts...) {
		p.t.Fatalf("waited for %q in vain; standard output:\n%s\nprompts:\n%s", texts, p.out, p.prompt)
	}
}

// says is await that reports whether the text came before the program ended.
func (p *process) says(texts ...string) bool {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for over := false; ; {
		all, news := p.prompt.now()
		all = squeeze(all)
		if n, found := firstAfter(all[min(p.from, len(all)):], texts); found {
			p.from += n
			return true
		}
		if over {
			return false
		}
		select {
		case <-news:
		case <-p.ended:
			over = true // once more: it may have been the last word
		case <-ctx.Done():
			return false
		}
	}
}

// firstAfter returns where the one of the texts ends that comes first.
func firstAfter(all string, texts []string) (end int, found bool) {
	first := len(all)
	for _, text := range texts {
		if i := strings.Index(all, text); i >= 0 && i < first {
			first, end, found = i, i+len(text), true
		}
	}
	return end, found
}

// say types a line.
func (p *process) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.input, line+"\n"); err != nil {
		p.t.Fatalf("typing %q: %v\nprompts:\n%s", line, err, p.prompt)
	}
}

func (p *process) closeInput() { must(p.t, p.input.Close()) }

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	must(p.t, p.send(s))
}

func (p *process) send(s os.Signal) error {
	p.t.Helper()
	if p.here != nil {
		return p.here.signal(p.t, s)
	}
	return p.cmd.Process.Signal(s)
}

// kill ends the program as a crash does. It needs a process of its own.
func (p *process) kill() {
	p.t.Helper()
	p.signal(os.Kill)
}

// pid is the id of the process in which the program runs.
func (p *process) pid() int {
	if p.here != nil {
		return os.Getpid()
	}
	return p.cmd.Process.Pid
}

// insists sends a signal until the program has ended, as an impatient person would: one that follows another at once counts
// as the same.
func (p *process) insists(s os.Signal) {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		if err := p.send(s); errors.Is(err, os.ErrProcessDone) {
			return
		}
		select {
		case <-p.ended:
			return
		case <-p.t.Context().Done():
			return
		case <-again.C:
		}
	}
}

// wait waits for the end and returns the exit code, or minus the signal that killed it.
func (p *process) wait() int {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.t.Fatalf("the program does not end; standard output:\n%s\nprompts:\n%s", p.out, p.prompt)
	}
	if p.here != nil {
		return p.here.code
	}
	state, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && state.Signaled() {
		return -int(state.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// ends waits for the end and demands the exit code.
func (p *process) ends(code int) {
	p.t.Helper()
	if got := p.wait(); got != code {
		p.t.Errorf("the exit code is %d, want %d; standard output:\n%s\nprompts:\n%s", got, code, p.out, p.prompt)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
