package command_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

func writeScript(path, lines string) error {
	// A program that another test starts meanwhile would have this file open for writing until it
	// is itself, and the kernel would say that the text file is busy.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte("#!/bin/sh\n"+lines+"\n"), 0o755)
}

func chmod(path string, mode os.FileMode) error { return os.Chmod(path, mode) }

// TestExit: an exit code means what the table says; else 0 is success and the rest failed.
func TestExit(t *testing.T) {
	t.Parallel()
	program := script(t, `echo out; echo "no paper" >&2; exit "$1"`)
	table := `exit:
  2: {status: failed, code: not_found, message: there is no such page, untouched: true}
  3: {status: partial}
  4: {status: unknown}
  5: {status: failed, code: upstream_unavailable, retryable: true}
  6: {status: timeout}
  7: {status: success}
`
	for _, tt := range []struct {
		exit, class string
		status      utp.Status
		code        utp.Code
		untouched   bool
		retryable   bool
	}{
		{"0", "irreversible", utp.StatusSuccess, "", false, false},
		{"1", "irreversible", utp.StatusFailed, utp.CodeInternalError, false, false},
		{"2", "irreversible", utp.StatusFailed, utp.CodeNotFound, true, false},
		{"3", "irreversible", utp.StatusPartial, utp.CodeInternalError, false, false},
		{"4", "irreversible", utp.StatusFailed, utp.CodeOutcomeUnknown, false, false},
		{"5", "irreversible", utp.StatusFailed, utp.CodeUpstreamUnavailable, false, false},
		{"5", "idempotent", utp.StatusFailed, utp.CodeUpstreamUnavailable, false, true},
		{"6", "read", utp.StatusTimeout, utp.CodeToolTimeout, false, false},
		{"7", "read", utp.StatusSuccess, "", false, false},
	} {
		made := service(t, parts{program: program, argv: `["{a}"]`, parameters: `{type: object, properties: {a: {type: string}}}`, class: tt.class, more: table}, nil)
		got := call(within(t), t, made, `{"a":"`+tt.exit+`"}`)
		if got.status != tt.status || strconv.Itoa(got.ExitCode) != tt.exit || got.text != "out\n" || got.Errors != "no paper\n" {
			t.Errorf("%s: %s, %+v", tt.exit, got.status, got.Result)
		}
		if (got.err == nil) != (tt.code == "") || got.err != nil && (got.err.Code != tt.code || got.err.IsUntouched() != tt.untouched || got.err.Retryable != tt.retryable) {
			t.Errorf("%s: the error is %+v", tt.exit, got.err)
		}
		if tt.exit == "1" && !strings.Contains(got.err.Message, "exit code 1: no paper") {
			t.Errorf("the error says %q", got.err.Message)
		}
	}
}

// TestOutput: over its limit it is cut and says so; the program is not held up.
func TestOutput(t *testing.T) {
	t.Parallel()
	long := script(t, `head -c 300000 /dev/zero | tr '\0' x; echo end; head -c 300000 /dev/zero | tr '\0' y >&2; echo last words >&2; exit 1`)
	got := call(within(t), t, service(t, parts{program: long, more: "limits: {output: 1KiB}"}, nil), `{}`)
	if got.text != strings.Repeat("x", 1024) || !got.OutputCut || got.OutputBytes != 300004 {
		t.Errorf("the output is %d bytes, cut %v of %d", len(got.text), got.OutputCut, got.OutputBytes)
	}
	if len(got.Errors) > 4096 || !strings.HasSuffix(got.Errors, "ylast words\n") || !got.ErrorsCut {
		t.Errorf("the errors are %d bytes, cut %v", len(got.Errors), got.ErrorsCut)
	}
	raw := call(within(t), t, service(t, parts{program: script(t, `printf 'a\377b\303'`)}, nil), `{}`)
	if raw.text != "a\uFFFDb\uFFFD" {
		t.Errorf("what is not text is %q", raw.text)
	}
	// A NUL is text, and no store keeps it: the result of what has been done must not be
	// refused for it.
	nul := call(within(t), t, service(t, parts{program: script(t, `printf 'a\0b'; printf 'c\0d' >&2; exit 1`)}, nil), `{}`)
	if nul.text != "a\uFFFDb" || nul.Errors != "c\uFFFDd" || strings.Contains(nul.err.Message, "\x00") {
		t.Errorf("with NUL: %q, %q, %q", nul.text, nul.Errors, nul.err.Message)
	}
}

// TestJSON: the output is a value, or the error says what it is instead.
func TestJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prints, more string
		want         string
		code         utp.Code
	}{
		{`echo '{"a":[1,2]}'`, "", `{"a":[1,2]}` + "\n", ""},
		{`echo nonsense`, "", "", utp.CodeResultNotSerializable},
		{`echo '{"a":1,"a":2}'`, "", "", utp.CodeResultNotSerializable},
		{`printf '{"a":"%su0000"}' '\'`, "", "", utp.CodeResultNotSerializable},
		{`true`, "", "", utp.CodeResultNotSerializable},
		{`echo '["aaaaaaaaaaaaaaaaaaaaaaaa"]'`, "limits: {output: 8}", "", utp.CodeTooLarge},
	} {
		got := call(within(t), t, service(t, parts{program: script(t, tt.prints), more: "output: json\n" + tt.more}, nil), `{}`)
		value, _ := got.Output.(jsontext.Value)
		if string(value) != tt.want || (got.err == nil) != (tt.code == "") || got.err != nil && got.err.Code != tt.code {
			t.Errorf("%s: %s, %v", tt.prints, value, got.err)
		}
		if got.err != nil && got.err.IsUntouched() {
			t.Errorf("%s: the command has run, and the error says that it has not", tt.prints)
		}
	}
}

// TestInput: the program reads a text, or JSON, or nothing at all.
func TestInput(t *testing.T) {
	t.Parallel()
	p := parts{program: script(t, "cat"), more: "stdin: '{a}'", parameters: `{type: object, properties: {a: {}}}`}
	big := strings.Repeat("z", 1<<20)
	for args, want := range map[string]string{
		`{"a":"x\ny$(id)"}`: "x\ny$(id)", `{"a":{"b":[1]}}`: `{"b":[1]}`, `{}`: "", `{"a":"` + big + `"}`: big[:65536],
	} {
		if got := call(within(t), t, service(t, p, nil), args); got.text != want || got.err != nil {
			t.Errorf("%.40s gave %.40q, %v", args, got.text, got.err)
		}
	}
	// One that reads nothing is not waited for.
	p.program = script(t, "exec <&-; echo done")
	if got := call(within(t), t, service(t, p, nil), `{"a":"`+big+`"}`); got.text != "done\n" {
		t.Errorf("got %q, %v", got.text, got.err)
	}
}

// TestEnvironment: a program finds what its operator gave it, and the call's id.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HOME": "/home/anna", "AWS_SECRET": "do not pass on", "KEY": "sesame-sesame"}
	got := call(within(t), t, service(t, parts{
		program: "/usr/bin/env", section: "environment: {A: '1', B: '1'}\nsecrets: {key: {env: KEY}}",
		more: "environment: {B: '$A'}\ninherit: [HOME, ABSENT]\nsecrets: [{name: key, env: PRINTER_KEY}]",
	}, env), `{}`)
	want := "A=1\nB=$A\nEARSHOT_CALL=tc_1\nEARSHOT_PROGRAM=/usr/bin/env\nHOME=/home/anna\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nPRINTER_KEY=[secret key]\n"
	if got.text != want {
		t.Errorf("the environment is\n%s, want\n%s", got.text, want)
	}
}

// TestSecrets: a secret reaches the program, never its arguments, and not the result, in
// whatever form and wherever the output is cut.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const secret = `s3cr"et/with space`
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := script(t, `v=$(cat <&3); [ "$v" = 's3cr"et/with space' ] && echo right; tr '\0' ' ' </proc/$$/cmdline | grep -c s3cr
printf '%s|%s|' "$v" "$v" | base64 -w0; printf '%s' "$v" | base64 -w0; echo; echo "$v"; echo "$v" >&2; echo '"s3cr\"et/with space"'; echo s3cr%22et%2Fwith+space`)
	p := parts{program: program, section: "secrets: {key: {file: " + file + "}}", more: "secrets: [{name: key, fd: 3}]\nexit: {0: {status: failed}}"}
	got := call(within(t), t, service(t, p, nil), `{}`)
	if !strings.HasPrefix(got.text, "right\n0\n") {
		t.Errorf("the program did not get it: %q", got.text)
	}
	everything := got.text + got.Errors + got.err.Message
	for _, form := range []string{secret, "s3cr", base64.StdEncoding.EncodeToString([]byte(secret))} {
		if strings.Contains(everything, form) {
			t.Errorf("%q is in %q", form, everything)
		}
	}
	if strings.Count(everything, "[secret key]") < 5 {
		t.Errorf("it is not said where the secret was: %q", everything)
	}
	// Where the output is cut in the middle of one, no part of it stays.
	p.program = script(t, `v=$(cat <&3); printf 'ab%s%s' "$v" "$v"; printf '%s' "$v" >&2`)
	for n := 1; n <= 2*len(secret)+2; n++ {
		p.more = "secrets: [{name: key, fd: 3}]\nlimits: {output: " + strconv.Itoa(n) + "}"
		if got := call(within(t), t, service(t, p, nil), `{}`); strings.Contains(got.text, "s3") || len(got.text) > n {
			t.Errorf("cut to %d bytes it is %q", n, got.text)
		}
	}
	for _, row := range []struct {
		name   string
		change func() error
	}{
		{"readable by anybody", func() error { return os.Chmod(file, 0o604) }},
		{"too short", func() error { return errors.Join(os.Chmod(file, 0o600), os.WriteFile(file, []byte("abc"), 0o600)) }},
		{"absent", func() error { return os.Remove(file) }},
	} {
		if err := row.change(); err != nil {
			t.Fatal(err)
		}
		if got := call(within(t), t, service(t, p, nil), `{}`); got.err == nil || got.err.Code != utp.CodeAuthFailed || !got.err.IsUntouched() {
			t.Errorf("%s: %v", row.name, got.err)
		}
	}
}

// TestFolder: a place leads below its root and nowhere else.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "in", "deep"), 0o755), os.Mkdir(filepath.Join(dir, "out"), 0o755),
		os.Symlink("../out", filepath.Join(root, "link")), os.Symlink("/etc", filepath.Join(root, "etc")), os.Symlink("in", filepath.Join(root, "same")),
		os.WriteFile(filepath.Join(root, "file"), nil, 0o600), syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	fixed := call(within(t), t, service(t, parts{program: script(t, "pwd -P"), more: "folder: " + root}, nil), `{}`)
	if fixed.text != root+"\n" {
		t.Errorf("a fixed folder is %q", fixed.text)
	}
	made := service(t, parts{
		program: script(t, "pwd -P"), parameters: `{type: object, properties: {a: {type: string}}}`, more: "folder: '{a}'\nwithin: " + root,
	}, nil)
	for name, want := range map[string]string{
		"in": "in", "in/deep": "in/deep", "same/deep": "in/deep", "in/../in": "in", ".": "",
		"..": "-", "../out": "-", "/etc": "-", "link": "-", "etc": "-", "in/../../out": "-", "file": "-", "fifo": "-", "absent": "-", "": "-", `in\u0000`: "-",
	} {
		got := call(within(t), t, made, `{"a":"`+name+`"}`)
		if want == "-" {
			if got.err == nil || !got.err.IsUntouched() || got.text != "" {
				t.Errorf("%q led to %q, %v", name, got.text, got.err)
			}
			continue
		}
		if got.text != filepath.Join(root, want)+"\n" || got.err != nil {
			t.Errorf("%q led to %q, %v", name, got.text, got.err)
		}
	}
	if got := call(within(t), t, made, `{}`); got.err == nil || got.err.Code != utp.CodeBadRequest {
		t.Errorf("no folder: %v", got.err)
	}
}

// gone waits until a process has ended.
func gone(ctx context.Context, t *testing.T, pidFile string) {
	t.Helper()
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !zombie(pid) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// zombie reports whether a process has ended, and nobody has waited for it.
func zombie(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(raw), ") Z ")
}

// TestTime: what takes too long is ended, in words and then by force, with all that it
// has started; of one with an effect nobody can tell what it did.
func TestTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, lines, class string
		grace              string
		status             utp.Status
		code               utp.Code
		text               string
	}{
		{"read", `echo begun; sleep 1000`, "read", "4s", utp.StatusTimeout, utp.CodeToolTimeout, "begun\n"},
		{"idempotent", `echo begun; sleep 1000`, "idempotent", "4s", utp.StatusTimeout, utp.CodeToolTimeout, "begun\n"},
		{"irreversible", `echo begun; sleep 1000`, "irreversible", "4s", utp.StatusFailed, utp.CodeOutcomeUnknown, "begun\n"},
		{"ends when told", `trap 'echo told; exit 0' TERM; echo begun; sleep 1000 & wait`, "reversible", "4s", utp.StatusFailed, utp.CodeOutcomeUnknown, "begun\ntold\n"},
		{"does not listen", `trap '' TERM; echo begun; while :; do sleep 1000; done`, "reversible", "1s", utp.StatusFailed, utp.CodeOutcomeUnknown, "begun\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			p := parts{program: script(t, `sleep 1000 & echo $! >`+pid+"\n"+tt.lines), class: tt.class, more: "limits: {time: 6s, grace: " + tt.grace + "}"}
			got := call(within(t), t, service(t, p, nil), `{}`)
			if got.status != tt.status || got.err == nil || got.err.Code != tt.code || got.text != tt.text || got.err.Retryable != (tt.status == utp.StatusTimeout) {
				t.Errorf("%s, %v, output %q", got.status, got.err, got.text)
			}
			gone(within(t), t, pid)
		})
	}
}

// TestStop: a stop ends the whole group, and says what is not known.
func TestStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	pid := filepath.Join(dir, "pid")
	made := service(t, parts{program: script(t, `sleep 1000 & echo $! >`+pid+`; echo begun; echo >`+ready+`; wait`), class: "irreversible"}, nil)
	ctx, stop := context.WithCancel(within(t))
	go func() {
		_, _ = os.ReadFile(ready) // it has begun
		stop()
	}()
	got := call(ctx, t, made, `{}`)
	if got.status != utp.StatusCanceled || got.err == nil || got.err.Code != utp.CodeStopped || got.err.IsUntouched() || got.text != "begun\n" {
		t.Errorf("%s, %v, %q", got.status, got.err, got.text)
	}
	gone(within(t), t, pid)
	stopped := call(ctx, t, made, `{}`)
	if stopped.status != utp.StatusCanceled || stopped.err == nil || !stopped.err.IsUntouched() {
		t.Errorf("what was stopped before it started: %s, %v", stopped.status, stopped.err)
	}
}

// TestEnding: a service that ends, or has lost its call, cuts its program short, and nobody has asked
// for that. What cannot be repeated is of unknown fate then, and a person is asked; told as
// stopped, it would be taken for something that they wanted and know of.
func TestEnding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		class  string
		cause  error
		status utp.Status
		code   utp.Code
	}{
		{"irreversible", tool.ErrEnding, utp.StatusFailed, utp.CodeOutcomeUnknown},
		{"reversible", tool.ErrLost, utp.StatusFailed, utp.CodeOutcomeUnknown},
		{"irreversible", tool.ErrStopped, utp.StatusCanceled, utp.CodeStopped},
		{"idempotent", tool.ErrEnding, utp.StatusCanceled, utp.CodeStopped},
	} {
		t.Run(tt.class+" "+tt.cause.Error(), func(t *testing.T) {
			t.Parallel()
			ready := filepath.Join(t.TempDir(), "ready")
			if err := syscall.Mkfifo(ready, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithCancelCause(within(t))
			go func() {
				_, _ = os.ReadFile(ready) // it has begun
				end(tt.cause)
			}()
			got := call(ctx, t, service(t, parts{program: script(t, `echo begun; echo >`+ready+`; exec sleep 1000`), class: tt.class}, nil), `{}`)
			if got.status != tt.status || got.err == nil || got.err.Code != tt.code || got.err.IsUntouched() || got.text != "begun\n" {
				t.Errorf("%s, %v, %q", got.status, got.err, got.text)
			}
		})
	}
}

// TestLeftBehind: what a program leaves in its group ends with it, and a pipe that is
// held open from outside the group holds nothing up.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	got := call(within(t), t, service(t, parts{program: script(t, `sleep 1000 & echo $! >`+pid+`; echo done`)}, nil), `{}`)
	if got.text != "done\n" || got.err != nil {
		t.Errorf("got %q, %v", got.text, got.err)
	}
	gone(within(t), t, pid)
	if _, err := os.Stat("/usr/bin/setsid"); err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(t.TempDir(), "pid")
	got = call(within(t), t, service(t, parts{program: script(t, `setsid sh -c 'echo $$ >`+away+`; exec sleep 30' & while [ ! -s `+away+` ]; do :; done; echo done`)}, nil), `{}`)
	if got.text != "done\n" {
		t.Errorf("got %q, %v", got.text, got.err)
	}
	if raw, err := os.ReadFile(away); err == nil {
		n, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
		_ = syscall.Kill(n, syscall.SIGKILL) // the test's own
	}
}

// TestKilled: a service that is killed takes its program with it.
func TestKilled(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	if path := os.Getenv("EARSHOT_TEST_PROGRAM"); path != "" {
		call(t.Context(), t, service(t, parts{program: path}, nil), `{}`)
		return
	}
	begun := filepath.Join(t.TempDir(), "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	program := script(t, `echo $$ >`+pid+`; echo >`+begun+`; exec sleep 1000`)
	own := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	own.Env = append(os.Environ(), "EARSHOT_TEST_PROGRAM="+program)
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(begun); err != nil {
		t.Fatal(err)
	}
	if err := own.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = own.Wait() // it was killed
	gone(within(t), t, pid)
}
