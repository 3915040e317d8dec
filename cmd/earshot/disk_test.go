package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lacks skips a test that this machine has not got what it needs for, and says what.
// With CI=true in the environment that is a failure.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("left out: " + what)
	}
	t.Skip("left out: " + what)
}

// mount puts the data directory on a file system of its own, of so many KiB.
func (s *scene) mount(size int64) {
	s.t.Helper()
	mount(s.t, "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk,mode=700", size), "earshot", s.data)
	s.t.Cleanup(func() {
		if out, err := exec.Command("umount", s.data).CombinedOutput(); err != nil {
			s.t.Errorf("umount: %v: %s", err, out)
		}
	})
}

func mount(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("mount", args...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "permission denied") {
		lacks(t, fmt.Sprintf("mounting a small file system is not allowed here (%s); TestNoRoom tries the same by a limit of the process", bytes.TrimSpace(out)))
	}
	if err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
}

// fill takes all the room that is left.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	_ = f.Close() // the last write has failed already
}

// empty makes the room again that fill has taken.
func empty(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(dir, "ballast")))
}

func oneComplaint(t *testing.T, text, says, hint string) {
	t.Helper()
	for label, want := range map[string]string{"error: ": says, "hint: ": hint} {
		lines := regexp.MustCompile(`(?m)^`+label+`(.*)$`).FindAllString(text, -1)
		if len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("want one line %q with %q, found %q in\n%s", label, want, lines, text)
		}
	}
	for _, r := range text {
		if r < ' ' && r != '\n' {
			t.Errorf("%U is in %q", r, text)
		}
	}
}
