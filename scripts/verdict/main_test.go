package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	main "github.com/earshot-dev/earshot/scripts/verdict"
)

// TestRecorded: what gotestsum has recorded of four packages, each with a test that passes and one that fails: always,
// once, once and it counts effects, or by a panic. The runner itself ends with 1 where a test failed to the last, and
// after a panic, which it does not run again (scripts/check).
func TestRecorded(t *testing.T) {
	t.Parallel()
	const flaky = "FLAKY example.org/hub TestFlaky\n"
	tests := []struct {
		file, forgive, says, last string
		code                      int
		noted                     bool
	}{
		{file: "failing.json", forgive: "hub", says: "1 tests passed\n", last: "FAILED example.org/hub TestFails\n"},
		{file: "flaky.json", forgive: "hub", says: flaky + "1 tests passed\n", noted: true},
		{
			file: "flaky.json", forgive: "listen", code: 1, noted: true,
			says: flaky + "NOT FORGIVEN example.org/hub TestFlaky: nothing is forgiven in this package\n1 tests passed\n",
		},
		{
			file: "counts.json", forgive: "hub", code: 1, noted: true,
			says: flaky + "NOT FORGIVEN example.org/hub TestFlaky: it counts consents, starts or effects\n1 tests passed\n",
		},
		{file: "panics.json", forgive: "hub", says: "1 tests passed\n", last: "FAILED"},
	}
	for _, tt := range tests {
		t.Run(tt.file+", forgiven in "+tt.forgive, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			list, undecided := filepath.Join(dir, "flaky.md"), filepath.Join(dir, "undecided")
			var out, complaints strings.Builder
			code := main.Run([]string{"-flaky", list, "-forgive", tt.forgive, "-undecided", undecided, filepath.Join("testdata", tt.file)},
				true, &out, &complaints)
			rest, fits := strings.CutPrefix(out.String(), tt.says)
			if code != tt.code || !fits || (rest == "") != (tt.last == "") || !strings.HasPrefix(rest, tt.last) || complaints.Len() > 0 {
				t.Errorf("exit code %d, %q, %q; want %d, %q, then %q", code, out.String(), complaints.String(), tt.code, tt.says, tt.last)
			}
			noted, err := os.ReadFile(list)
			if tt.noted != (err == nil) {
				t.Fatalf("the list of flaky tests: %v", err)
			}
			if tt.noted && (!strings.HasPrefix(string(noted), "## example.org/hub TestFlaky\n") || !strings.Contains(string(noted), "got 1, want 2")) {
				t.Errorf("the list of flaky tests has neither its name nor its output:\n%s", noted)
			}
			if again, err := os.ReadFile(undecided); err != nil || len(again) > 0 {
				t.Errorf("to be run again by the race detector: %q, %v", again, err)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"a", "b"}, {"-forgive", "(", "a"}, {"-unknown", "a"}, {filepath.Join(t.TempDir(), "none.json")}} {
		var out, complaints strings.Builder
		if code := main.Run(args, false, &out, &complaints); code != 2 || out.Len() > 0 || complaints.Len() == 0 {
			t.Errorf("%q: exit code %d, %q, %q; want 2 and a complaint", args, code, out.String(), complaints.String())
		}
	}
}

// TestReport: the last lines fit a terminal, and name the test, its last output and the command that repeats it.
func TestReport(t *testing.T) {
	t.Parallel()
	var failed []main.Failure
	for _, test := range []string{"TestA/a (b)", "TestB", "TestC", "TestD", "TestE", "TestF", "TestG", ""} {
		failed = append(failed, main.Failure{Package: "x/hub", Test: test, Output: strings.Repeat("before\n", 20) + "=== RUN\ngot 1, want 2\n--- FAIL: it\n"})
	}
	report := main.Report(failed, "SEED=7 go test -count=1")
	lines := strings.Split(strings.TrimSuffix(report, "\n"), "\n")
	const want = `repeat: SEED=7 go test -count=1 -run '^TestA$/^a \(b\)$' x/hub`
	if n := len(lines); n > 28 || lines[n-1] != want || lines[n-2] != "    got 1, want 2" || !strings.Contains(report, "FAILED x/hub TestA/a (b)\n") || !strings.Contains(report, "FAILED 2 more\n") {
		t.Errorf("%d lines:\n%s", n, report)
	}
	if empty := main.Report(nil, ""); empty != "" {
		t.Errorf("nothing failed: %q", empty)
	}
}
