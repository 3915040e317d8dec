package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestValidateProgress: long work is told on standard error, at most every five seconds, and
// not at all where that is not wanted.
func TestValidateProgress(t *testing.T) {
	t.Parallel()
	slow(t)
	name := filepath.Join(t.TempDir(), "messages.jsonl")
	if err := os.WriteFile(name, []byte(strings.Repeat("{}\n", 10*progressLook)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args []string
		want int
	}{
		{[]string{"validate", name}, 5}, // ten looks at the clock, two and a half seconds apart
		{[]string{"validate", "--quiet", name}, 0},
	} {
		var told strings.Builder
		now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
		m := Main{Args: row.args, Stdout: new(strings.Builder), Stderr: &told, Getenv: func(string) string { return "" }, Now: func() time.Time {
			now = now.Add(2500 * time.Millisecond)
			return now
		}}
		if code := m.Run(); code != exitFailed {
			t.Errorf("%v: exit code %d", row.args, code)
		}
		lines := regexp.MustCompile(`(?m)^\S+messages\.jsonl: [0-9,]+ messages judged, .+ of .+, \d+ % read$`).FindAllString(told.String(), -1)
		if len(lines) != row.want {
			t.Errorf("%v told %d lines, want %d: %s", row.args, len(lines), row.want, &told)
		}
	}
}
