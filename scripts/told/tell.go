package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Verdict counts what came to an end: packages, those of them that failed, and tests.
type Verdict struct {
	Packages, Failed int
	Passed, Skipped  int // tests
	// Undecided are the failed packages in which nothing of ours failed: the race detector
	// itself gave up (https://go.dev/issue/78156, bubbles of virtual time).
	Undecided []string
}

// OK reports whether the run proves something: packages were tried and none failed. Strictly, a skipped test is
// a part that was not tried, and that is a failure too.
func (v Verdict) OK(strict bool) bool {
	return v.Packages > 0 && v.Failed == 0 && (v.Skipped == 0 || !strict)
}

// event is one line of `go test -json`; `go doc test2json` tells the fields.
type event struct {
	Action  string  `json:"Action"`  //nolint:tagliatelle // the names are test2json's
	Package string  `json:"Package"` //nolint:tagliatelle // as above
	Test    string  `json:"Test"`    //nolint:tagliatelle // as above
	Output  string  `json:"Output"`  //nolint:tagliatelle // as above
	Elapsed float64 `json:"Elapsed"` //nolint:tagliatelle // as above; seconds
}

// Tell copies the essence of a test run from r to w; at the end it names again, a line each, what failed: that is
// where a reader of a long output begins. The error says that r or w failed, not that a test did.
func Tell(r io.Reader, w io.Writer) (Verdict, error) {
	t := teller{w: w, output: map[string][]string{}, failed: map[string]bool{}}
	lines := json.NewDecoder(r)
	for {
		var e event
		err := lines.Decode(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return t.verdict, fmt.Errorf("reading the output of go test -json: %w", err)
		}
		t.hear(e)
	}
	v := t.verdict
	for _, f := range t.failures {
		t.sayf("failed: %s\n", f)
	}
	t.sayf("%d tests passed, %d skipped; %d of %d packages failed\n", v.Passed, v.Skipped, v.Failed, v.Packages)
	return t.verdict, t.err
}

type teller struct {
	w       io.Writer
	err     error // the first of writing
	verdict Verdict
	output  map[string][]string // of tests that still run, by package and test
	failed  map[string]bool     // packages in which a test has failed
	// failures are what failed, each in a line.
	failures []string
}

func (t *teller) sayf(format string, args ...any) {
	if t.err == nil {
		_, err := fmt.Fprintf(t.w, format, args...)
		if err != nil {
			t.err = fmt.Errorf("writing the verdict: %w", err)
		}
	}
}

func (t *teller) hear(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		t.sayf("%s", e.Output)
	case "output":
		if strings.HasPrefix(e.Output, "=== ") {
			return // which test runs, pauses, goes on
		}
		t.output[key] = append(t.output[key], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(e)
		} else {
			t.endTest(e)
		}
		delete(t.output, key)
	}
}

func (t *teller) endTest(e event) {
	output := t.output[e.Package+" "+e.Test]
	switch e.Action {
	case "pass":
		t.verdict.Passed++
	case "fail":
		t.failed[e.Package] = true
		t.failures = append(t.failures, e.Package+" "+e.Test)
		t.sayf("%s", strings.Join(output, ""))
	case "skip":
		t.verdict.Skipped++
		t.sayf("skipped: %s %s: %s\n", e.Package, e.Test, reason(output))
	}
}

func (t *teller) endPackage(e event) {
	t.verdict.Packages++
	switch e.Action {
	case "pass":
		t.sayf("ok      %s %.1fs\n", e.Package, e.Elapsed)
	case "skip": // nothing to test
	case "fail":
		t.verdict.Failed++
		if t.gaveUp(e.Package) {
			t.verdict.Undecided = append(t.verdict.Undecided, e.Package)
		}
		if cause := t.cause(e.Package); cause != "" || !t.failed[e.Package] {
			t.failures = append(t.failures, fmt.Sprintf("%s broke off: %s", e.Package, cmp.Or(cause, "it does not say why")))
		}
		t.tellUnfinished(e.Package)
		t.sayf("FAIL    %s %.1fs\n", e.Package, e.Elapsed)
	}
}

// gaveUp reports whether the race detector broke off a package, and no test had failed, panicked or raced in it.
func (t *teller) gaveUp(pkg string) bool {
	broke := false
	for key, output := range t.output {
		if !strings.HasPrefix(key, pkg+" ") {
			continue
		}
		for _, line := range output {
			broke = broke || strings.Contains(line, "ThreadSanitizer: CHECK failed")
			if strings.HasPrefix(line, "WARNING: DATA RACE") || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
				return false
			}
		}
	}
	return broke && !t.failed[pkg]
}

// cause is the line with which a package broke off, after the test that it stands under, if there is one.
func (t *teller) cause(pkg string) string {
	for _, key := range t.unfinished(pkg) {
		for _, line := range t.output[key] {
			if !breaksOff(line) {
				continue
			}
			line = strings.TrimSpace(line)
			if test := strings.TrimPrefix(key, pkg+" "); test != "" {
				return test + ": " + line
			}
			return line
		}
	}
	return ""
}

// breaksOff reports whether a line is the last word of a process rather than of a test.
func breaksOff(line string) bool {
	return slices.ContainsFunc([]string{"panic: ", "fatal error: ", "signal: ", "ThreadSanitizer", "race: limit"}, func(sign string) bool {
		return strings.Contains(line, sign)
	})
}

// tellUnfinished tells what a package and its tests that never ended have said: a panic, a time limit.
func (t *teller) tellUnfinished(pkg string) {
	for _, key := range t.unfinished(pkg) {
		t.sayf("%s", strings.Join(t.output[key], ""))
		delete(t.output, key)
	}
}

// unfinished are the keys of what has spoken of a package and has not ended.
func (t *teller) unfinished(pkg string) []string {
	var keys []string
	for key := range t.output {
		if strings.HasPrefix(key, pkg+" ") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// reason is the last line that a skipped test wrote itself.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}
