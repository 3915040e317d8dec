package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Verdict is what a run comes to.
type Verdict struct {
	Passed int // tests
	// Flaky tests failed and passed when they were run again. Unforgiven of them are failures, each
	// with the reason.
	Flaky      []Flaky
	Unforgiven []string
	// Skipped are the tests that were not tried, each with its reason, where that is a failure. Sampled counts those that
	// are left out of a sample on purpose: their reason begins with "sampled: ".
	Skipped []string
	Sampled int
	// Failed are the tests that never passed, the packages that could not be built among them.
	Failed []Failure
	// Undecided are the packages in which the race detector itself gave up (https://go.dev/issue/78156,
	// bubbles of virtual time), none where anything else failed.
	Undecided []string
}

// Flaky is a test that failed before it passed, with what it said then.
type Flaky struct{ Package, Test, Output string }

// OK reports whether there is nothing to complain of.
func (v Verdict) OK() bool {
	return v.Passed > 0 && len(v.Unforgiven) == 0 && len(v.Skipped) == 0
}

func (v Verdict) String() string {
	var b strings.Builder
	for _, line := range v.Skipped {
		fmt.Fprintf(&b, "SKIPPED %s\n", line)
	}
	for _, f := range v.Flaky {
		fmt.Fprintf(&b, "FLAKY %s %s\n", f.Package, f.Test)
	}
	for _, line := range v.Unforgiven {
		fmt.Fprintf(&b, "NOT FORGIVEN %s\n", line)
	}
	fmt.Fprintf(&b, "%d tests passed", v.Passed)
	if v.Sampled > 0 {
		fmt.Fprintf(&b, ", %d left out of this sample", v.Sampled)
	}
	b.WriteByte('\n')
	return b.String()
}

// event is one line of `go test -json`; `go doc test2json` tells the fields.
type event struct {
	Action  string `json:"Action"`     //nolint:tagliatelle // the names are test2json's
	Built   string `json:"ImportPath"` //nolint:tagliatelle // as above; of what the compiler says
	Package string `json:"Package"`    //nolint:tagliatelle // as above
	Test    string `json:"Test"`       //nolint:tagliatelle // as above
	Output  string `json:"Output"`     //nolint:tagliatelle // as above
	Key     string `json:"Key"`        //nolint:tagliatelle // as above; of an attribute
}

// name is a test of a package; the package itself where Test is "".
type name struct{ pkg, test string }

// record is what is known of a test, or of a package.
type record struct {
	output         string // of the run under way
	failed, passed bool
	failure        string // what it said when it failed first
	skipped        bool
	counts         bool // it counts consents, starts or effects
}

// testRun is a test run, and those of its tests that were run again.
type testRun struct {
	records map[name]*record
	order   []name
}

// Judge reads a run and what was run again of it. Strictly, a skipped test is a failure.
func Judge(r io.Reader, forgive *regexp.Regexp, strict bool) (Verdict, error) {
	t := testRun{records: map[name]*record{}}
	lines := json.NewDecoder(r)
	for {
		var e event
		err := lines.Decode(&e)
		if errors.Is(err, io.EOF) {
			return t.verdict(forgive, strict), nil
		}
		if err != nil {
			return Verdict{}, fmt.Errorf("reading what go test -json has written: %w", err)
		}
		t.add(e)
	}
}

func (t *testRun) add(e event) {
	n := name{e.Package, e.Test}
	if e.Action == "build-output" {
		n.pkg, _, _ = strings.Cut(e.Built, " ") // behind it stands what it is built for
	}
	rec := t.records[n]
	if rec == nil {
		rec = &record{}
		t.records[n] = rec
		t.order = append(t.order, n)
	}
	switch e.Action {
	case "run", "start":
		rec.output = ""
	case "output", "build-output":
		rec.output += e.Output
	case "attr":
		rec.counts = rec.counts || e.Key == "counts"
	case "pass":
		rec.passed = true
	case "skip":
		rec.skipped = true
	case "fail":
		if !rec.failed {
			rec.failed, rec.failure = true, rec.output
		}
	}
}

func (t *testRun) verdict(forgive *regexp.Regexp, strict bool) Verdict {
	var v Verdict
	failed := false
	for _, n := range t.order {
		rec := t.records[n]
		if rec.failed && !rec.passed && !t.failedBelow(n) && !t.gaveUp(n.pkg) {
			v.Failed = append(v.Failed, Failure{n.pkg, n.test, rec.failure + t.unfinished(n)})
		}
		if n.test == "" {
			if rec.failed && t.gaveUp(n.pkg) {
				v.Undecided = append(v.Undecided, n.pkg)
			}
			continue
		}
		failed = failed || rec.failed
		switch {
		case rec.failed && rec.passed && !t.below(n):
			f := Flaky{n.pkg, n.test, rec.failure}
			v.Flaky = append(v.Flaky, f)
			if why := t.unforgivable(f, forgive); why != "" {
				v.Unforgiven = append(v.Unforgiven, n.pkg+" "+n.test+": "+why)
			}
		case rec.skipped && strings.Contains(rec.output, ": sampled: "):
			v.Sampled++
		case rec.skipped && strict:
			v.Skipped = append(v.Skipped, n.pkg+" "+n.test+": "+reason(rec.output))
		case rec.passed:
			v.Passed++
		}
	}
	if failed {
		v.Undecided = nil
	}
	return v
}

// below reports whether a part of the test is flaky too: it is the one to name.
func (t *testRun) below(n name) bool {
	return slices.ContainsFunc(t.order, func(other name) bool {
		rec := t.records[other]
		return other.pkg == n.pkg && strings.HasPrefix(other.test, n.test+"/") && rec.failed && rec.passed
	})
}

// failedBelow reports whether a part of the test, or a test of the package, failed: it is the one to name.
func (t *testRun) failedBelow(n name) bool {
	return slices.ContainsFunc(t.order, func(other name) bool {
		within := n.test == "" && other.test != "" || n.test != "" && strings.HasPrefix(other.test, n.test+"/")
		return other.pkg == n.pkg && within && t.records[other].failed
	})
}

// unfinished returns what the tests had written that were running when their package broke off.
func (t *testRun) unfinished(pkg name) string {
	var b strings.Builder
	for _, n := range t.order {
		if rec := t.records[n]; pkg.test == "" && n.pkg == pkg.pkg && n.test != "" && !rec.passed && !rec.failed && !rec.skipped {
			b.WriteString(rec.output)
		}
	}
	return b.String()
}

// unforgivable says why a flaky test is a failure all the same.
func (t *testRun) unforgivable(f Flaky, forgive *regexp.Regexp) string {
	switch {
	case !forgive.MatchString(f.Package):
		return "nothing is forgiven in this package"
	case t.counts(f):
		return "it counts consents, starts or effects"
	case breaksOff(f.Output) != "":
		return breaksOff(f.Output)
	}
	return ""
}

// counts reports whether the test, one that it is a part of, or a part of it counts effects.
func (t *testRun) counts(f Flaky) bool {
	for n, rec := range t.records {
		related := n.test == f.Test || strings.HasPrefix(n.test, f.Test+"/") || strings.HasPrefix(f.Test, n.test+"/")
		if rec.counts && n.pkg == f.Package && related {
			return true
		}
	}
	return false
}

// gaveUpHere is how the race detector ends a process by itself: by a check of its own, or by a fault in its
// code while the runtime, and no goroutine, works on a bubble's timers. A fault in Go is a panic.
var gaveUpHere = regexp.MustCompile(`ThreadSanitizer: CHECK failed|SIGSEGV: segmentation violation\nPC=[^\n]*\n\s*goroutine 0 [^\n]*\[idle, synctest bubble`)

// gaveUp reports whether the race detector broke off a package, and nothing raced or panicked in it.
func (t *testRun) gaveUp(pkg string) bool {
	broke := false
	for n, rec := range t.records {
		if n.pkg != pkg {
			continue
		}
		broke = broke || gaveUpHere.MatchString(rec.output)
		if breaksOff(rec.output) != "" {
			return false
		}
	}
	return broke
}

// breaksOff is the line with which a process says that it is wrong in itself.
func breaksOff(output string) string {
	for line := range strings.Lines(output) {
		for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
			if strings.HasPrefix(strings.TrimSpace(line), sign) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// reason is the last line that a skipped test wrote itself.
func reason(output string) string {
	for _, line := range slices.Backward(strings.Split(output, "\n")) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			return line
		}
	}
	return "no reason given"
}
