// Package clients_test runs the clients of other languages against the real program: their own tests, their adapters with the real
// packages that they are for, and the examples of docs/agents.md as they stand there.
//
// Without Python, Node or the packages of npm the tests that need them are left out by name. `make clients` installs them where
// it can.
package clients_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// patience bounds every wait. It is long because a loaded machine is not a failure.
const patience = 2 * time.Minute

// program is the built binary, in a folder that TestMain owns.
var program = filepath.Join(os.TempDir(), fmt.Sprintf("earshot-clients-%d", os.Getpid()), "earshot")

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if flag.Parse(); testing.Short() {
		return m.Run() // what needs the program is left out
	}
	dir := filepath.Dir(program)
	if err := os.Mkdir(dir, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, "a folder for the program:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", program, "../cmd/earshot")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return m.Run()
}

// TestPython runs the tests of the Python client.
func TestPython(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	s := newStage(t)
	s.runs(s.command("python", "python3", "-W", "error", "-m", "unittest", "discover", "-v", "-s", "tests"))
}

// TestTypeScript compiles the TypeScript client, its adapters and its tests, and runs the tests.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	folder := compiled(t, "")
	s := newStage(t)
	s.runs(s.command(folder, "node", "--test", "--test-concurrency=1", "dist/test"))
}

// TestPythonExample runs the example of docs/agents.md: the files are deleted once a person has said yes, and not before.
func TestPythonExample(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	s := newStage(t)
	s.tidies(s.command("python", "python3", "-c", example(t, "python"), s.folder))
}

// TestTypeScriptExample does the same with that in TypeScript.
func TestTypeScriptExample(t *testing.T) {
	t.Parallel()
	folder := compiled(t, example(t, "ts"))
	s := newStage(t)
	s.tidies(s.command(folder, "node", "dist/examples/agent.js", s.folder))
}

// TestCurlExample runs the example for a shell, and answers its question.
func TestCurlExample(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "curl")
	s := newStage(t)
	cmd := s.command(s.home, "bash", "-euo", "pipefail", "-c", example(t, "sh"))
	cmd.Env = append(cmd.Env, "FOLDER="+s.folder)
	done := s.starts(cmd)
	s.asked("1", done)
	s.terminal("reply", "1", "true")
	said := done()
	for _, part := range []string{`"name":"helper, curl"`, `"files":[`, `"state":"ended"`, `"answer":true`} {
		if !strings.Contains(said, part) {
			t.Errorf("it lacks %s; it said:\n%s", part, said)
		}
	}
}

// TestPermissionExamples runs the examples of a permission: the agent does it by itself once a person has said yes, not before, and
// not after a no. What it tells afterwards is told as its own word.
func TestPermissionExamples(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "ts"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			needs(t, "python3", "node", "mkdir")
			s, program := newStage(t), []string{"python3", "-c", block(t, language, 1)}
			if language == "ts" {
				program = []string{"node", filepath.Join(compiled(t, block(t, language, 1)), "dist", "examples", "agent.js")}
			}
			for i, end := range []struct{ reply, says string }{
				{"reject", "I made no folder."},
				{"accept", "Ran mkdir build. It ended with 0."},
			} {
				number, folder := strconv.Itoa(i+1), t.TempDir()
				made := func() bool { _, err := os.Stat(filepath.Join(folder, "build")); return err == nil }
				done := s.starts(s.command(folder, program[0], program[1:]...))
				s.asked(number, done)
				if made() {
					t.Error("it was done before anybody had answered")
				}
				s.terminal("reply", number, end.reply)
				done()
				if made() != (end.reply == "accept") {
					t.Errorf("after %s it is %t that it was done", end.reply, made())
				}
				if said := s.terminal("recap", "20"); !strings.Contains(said, end.says) {
					t.Errorf("%q is not told:\n%s", end.says, said)
				}
			}
		})
	}
}

// TestPythonExamples compiles the examples for packages that cannot be had everywhere. It does not run them.
func TestPythonExamples(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	files, err := filepath.Glob("python/examples/*.py")
	must(t, err)
	if len(files) < 2 {
		t.Fatalf("found only %v", files)
	}
	out, err := exec.CommandContext(t.Context(), "python3", append([]string{"-c", "import ast, sys\nfor f in sys.argv[1:]: compile(ast.parse(open(f).read(), f, feature_version=(3, 9)), f, 'exec')"}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSizes: each client has fewer than 400 lines that are not blank, so that it can be read before it is trusted.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"python/earshot/*.py", "typescript/src/*.ts"} {
		files, err := filepath.Glob(pattern)
		must(t, err)
		count := 0
		for _, name := range files {
			raw, err := os.ReadFile(name)
			must(t, err)
			for line := range bytes.Lines(raw) {
				if len(bytes.TrimSpace(line)) > 0 {
					count++
				}
			}
		}
		if count == 0 || count >= 400 {
			t.Errorf("%s: %d lines; want fewer than 400", pattern, count)
		}
	}
}

// TestExamplesAreShort: an agent is 15 lines, in either language.
func TestExamplesAreShort(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "ts"} {
		if n := len(regexp.MustCompile(`(?m)^.*\S`).FindAllString(example(t, language), -1)); n > 15 {
			t.Errorf("the example in %s has %d lines", language, n)
		}
	}
}

// example is the first block of code in that language in docs/agents.md.
func example(t *testing.T, language string) string { return block(t, language, 0) }

// block is a block of code in that language in docs/agents.md, counted from 0.
func block(t *testing.T, language string, n int) string {
	t.Helper()
	text, err := os.ReadFile("../docs/agents.md")
	must(t, err)
	blocks := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllSubmatch(text, -1)
	if len(blocks) <= n {
		t.Fatalf("docs/agents.md has %d blocks in %s", len(blocks), language)
	}
	return string(blocks[n][1])
}

// compiled copies the TypeScript client, with an example if there is one, and compiles it against the packages of its lock file.
func compiled(t *testing.T, text string) (folder string) {
	t.Helper()
	needs(t, "node")
	packages := nodeModules(t)
	folder = t.TempDir()
	for _, part := range []string{"src", "adapters", "test"} {
		must(t, os.CopyFS(filepath.Join(folder, part), os.DirFS(filepath.Join("typescript", part))))
	}
	for _, name := range []string{"package.json", "tsconfig.json"} {
		raw, err := os.ReadFile(filepath.Join("typescript", name))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(folder, name), raw, 0o600))
	}
	if text != "" {
		must(t, os.Mkdir(filepath.Join(folder, "examples"), 0o700))
		must(t, os.WriteFile(filepath.Join(folder, "examples", "agent.ts"), []byte(text), 0o600))
	}
	must(t, os.Symlink(packages, filepath.Join(folder, "node_modules")))
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	return folder
}

// nodeModules is where scripts/need has put the packages of the lock file.
func nodeModules(t *testing.T) string {
	t.Helper()
	folder, err := testkit.Packages("clients", "typescript/package-lock.json")
	if err != nil {
		lacks(t, err.Error())
	}
	return folder
}

// needs leaves a test out where a program is missing. With CI=true in the environment that is a failure.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	testkit.Slow(t)
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			lacks(t, name+" is not here; `scripts/need clients` installs it")
		}
	}
}

func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("left out: " + what)
	}
	t.Skip("left out: " + what)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
