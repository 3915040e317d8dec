package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeTranscript: what README shows of an accepted run of the sample is what one sees
// (TestTerminalAccept holds the same transcript against the program).
func TestReadmeTranscript(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	must(t, err)
	shown := regexp.MustCompile("(?s)\n```\n(Sample: (\\S+)\n.*?)```\n").FindStringSubmatch(string(readme))
	if shown == nil {
		t.Fatal("README has no transcript that begins with the sample's folder")
	}
	seen, err := os.ReadFile(filepath.Join("testdata", "transcript", "accept.txt"))
	must(t, err)
	if got := steady(shown[1], shown[2]); got != string(seen) {
		t.Errorf("README shows\n%s\nand one sees\n%s", got, seen)
	}
	for line := range strings.Lines(shown[1]) {
		if n := columnsOf(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line has %d columns, and a terminal 80: %q", n, line)
		}
	}
}
