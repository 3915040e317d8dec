package main

import (
	"fmt"
	"regexp"
	"strings"
)

// Failure is a test that never passed, with what it wrote. Test is "" for a package that could not be built, or that broke off.
type Failure struct{ Package, Test, Output string }

// A report fits the last lines of a terminal: so many lines of the first failure, and so many names of others.
const (
	reportLines = 18
	reportNames = 5
)

// Report describes the first failure and names the others. rerun is the command that repeats a test. It returns "" if nothing
// failed.
func Report(failed []Failure, rerun string) string {
	if len(failed) == 0 {
		return ""
	}
	var b strings.Builder
	first := failed[0]
	for i, f := range failed[1:] {
		if i == reportNames {
			fmt.Fprintf(&b, "FAILED %d more\n", len(failed)-1-i)
			break
		}
		fmt.Fprintf(&b, "FAILED %s\n", strings.TrimSpace(f.Package+" "+f.Test))
	}
	fmt.Fprintf(&b, "FAILED %s\n", strings.TrimSpace(first.Package+" "+first.Test))
	lines := written(first.Output)
	if more := len(lines) - reportLines; more > 0 {
		fmt.Fprintf(&b, "    (%d lines before)\n", more)
		lines = lines[more:]
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	fmt.Fprintf(&b, "repeat: %s%s %s\n", rerun, pattern(first.Test), first.Package)
	return b.String()
}

// written returns the lines that a test wrote itself. A line that is too long for a terminal is cut.
func written(output string) []string {
	const longest = 400
	var lines []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \n")
		if text := strings.TrimSpace(line); text == "" || strings.HasPrefix(text, "=== ") || strings.HasPrefix(text, "--- ") {
			continue
		}
		if len(line) > longest {
			line = strings.ToValidUTF8(line[:longest], "") + "…"
		}
		lines = append(lines, line)
	}
	return lines
}

// pattern returns the flag of go test that chooses one test.
func pattern(test string) string {
	if test == "" {
		return ""
	}
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return " -run '" + strings.Join(parts, "/") + "'"
}
