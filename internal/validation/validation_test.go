package validation_test

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/validation"
)

// options write findings to out, of a clock that goes on by step with each look at it.
func options(out io.Writer, step time.Duration) validation.Options {
	now := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	return validation.Options{
		Out: out, Progress: func(string) {}, Report: func(*cause.Error) {},
		Now: func() time.Time {
			now = now.Add(step)
			return now
		},
	}
}

// TestProgress: long work is told, at most every five seconds, and not at all where that is not wanted.
func TestProgress(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	const messages = 10 * 4096 // ten looks at the clock
	file := strings.Repeat("{}\n", messages)
	for _, row := range []struct {
		quiet bool
		want  int
	}{
		{false, 5}, // two and a half seconds apart
		{true, 0},
	} {
		var told []string
		o := options(io.Discard, 2500*time.Millisecond)
		o.Quiet, o.Progress = row.quiet, func(line string) { told = append(told, line) }
		run, err := validation.New(o)
		if err != nil {
			t.Fatal(err)
		}
		run.File("messages.jsonl", strings.NewReader(file), int64(len(file)))
		if outcome, err := run.End(); err != nil || outcome != validation.Broken {
			t.Errorf("quiet %t: %d, %v", row.quiet, outcome, err)
		}
		if len(told) != row.want {
			t.Errorf("quiet %t: told %d lines, want %d: %q", row.quiet, len(told), row.want, told)
		}
		for _, line := range told {
			if !regexp.MustCompile(`^messages\.jsonl: [0-9,]+ messages judged, .+ of .+, \d+ % read$`).MatchString(line) {
				t.Errorf("told %q", line)
			}
		}
	}
}

// TestOutcome: the worst of what was found counts.
func TestOutcome(t *testing.T) {
	t.Parallel()
	broken := cause.Misuse("a.jsonl is not there", "check the name")
	for _, row := range []struct {
		name, file string
		fails      bool
		want       validation.Outcome
	}{
		{"nothing at all", "", false, validation.Broken},
		{"a broken message", "{}", false, validation.Broken},
		{"a file that is not there", "{}", true, validation.Unread},
	} {
		var out strings.Builder
		reported := 0
		o := options(&out, 0)
		o.Report = func(*cause.Error) { reported++ }
		run, err := validation.New(o)
		if err != nil {
			t.Fatal(err)
		}
		run.File("b.jsonl", strings.NewReader(row.file), 0)
		if row.fails {
			run.Fail(broken)
		}
		if outcome, err := run.End(); err != nil || outcome != row.want || (reported == 1) != row.fails {
			t.Errorf("%s: %d, %v, reported %d; want %d", row.name, outcome, err, reported, row.want)
		}
		if !strings.Contains(out.String(), "b.jsonl:1: ") {
			t.Errorf("%s: %s", row.name, &out)
		}
	}
}
