package main_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	main "github.com/earshot-dev/earshot/scripts/verdict"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	const failed = `{"Action":"run","Package":"x/hub","Test":"TestX"}
{"Action":"output","Package":"x/hub","Test":"TestX","Output":"got 1, want 2\n"}
{"Action":"fail","Package":"x/hub","Test":"TestX"}
{"Action":"fail","Package":"x/hub"}
`
	const again = `{"Action":"run","Package":"x/hub","Test":"TestX"}
{"Action":"output","Package":"x/hub","Test":"TestX","Output":"fine\n"}
{"Action":"pass","Package":"x/hub","Test":"TestX"}
{"Action":"pass","Package":"x/hub"}
`
	const other = `{"Action":"pass","Package":"x/hub","Test":"TestY"}
`
	flaky := []main.Flaky{{Package: "x/hub", Test: "TestX", Output: "got 1, want 2\n"}}
	tests := []struct {
		name   string
		in     string
		strict bool
		want   main.Verdict
		ok     bool
	}{
		{name: "passed", in: other + again, want: main.Verdict{Passed: 2}, ok: true},
		{name: "nothing was tried", in: ``},
		{name: "failed", in: failed + other, want: main.Verdict{Passed: 1, Failed: []main.Failure{{Package: "x/hub", Test: "TestX", Output: "got 1, want 2\n"}}}, ok: true}, // the runner says so
		{
			name: "a part failed", in: failed + strings.ReplaceAll(failed, "TestX", "TestX/a") + other,
			want: main.Verdict{Passed: 1, Failed: []main.Failure{{Package: "x/hub", Test: "TestX/a", Output: "got 1, want 2\n"}}}, ok: true,
		},
		{
			name: "not built", in: other + `{"Action":"build-output","ImportPath":"x/hub [x/hub.test]","Output":"hub.go:3: undefined: y\n"}
{"Action":"fail","Package":"x/hub"}`,
			want: main.Verdict{Passed: 1, Failed: []main.Failure{{Package: "x/hub", Output: "hub.go:3: undefined: y\n"}}}, ok: true,
		},
		{
			name: "left out of a sample", strict: true,
			in: other + `{"Action":"output","Package":"x/hub","Test":"TestX","Output":"    x_test.go:3: sampled: only codex takes part\n"}
{"Action":"skip","Package":"x/hub","Test":"TestX"}`,
			want: main.Verdict{Passed: 1, Sampled: 1}, ok: true,
		},
		{name: "flaky", in: failed + other + again, want: main.Verdict{Passed: 1, Flaky: flaky}, ok: true},
		{
			name: "flaky in another package", in: strings.ReplaceAll(failed+other+again, "x/hub", "x/kernel"),
			want: main.Verdict{
				Passed: 1, Flaky: []main.Flaky{{Package: "x/kernel", Test: "TestX", Output: "got 1, want 2\n"}},
				Unforgiven: []string{"x/kernel TestX: nothing is forgiven in this package"},
			},
		},
		{
			name: "flaky, and it counts", in: `{"Action":"attr","Package":"x/hub","Test":"TestX/a","Key":"counts","Value":"effects"}` + failed + other + again,
			want: main.Verdict{Passed: 1, Flaky: flaky, Unforgiven: []string{"x/hub TestX: it counts consents, starts or effects"}},
		},
		{
			name: "flaky by a panic", in: strings.ReplaceAll(failed, "got 1, want 2", "panic: boom") + other + again,
			want: main.Verdict{
				Passed: 1, Flaky: []main.Flaky{{Package: "x/hub", Test: "TestX", Output: "panic: boom\n"}},
				Unforgiven: []string{"x/hub TestX: panic: boom"},
			},
		},
		{
			name: "flaky by a race", in: strings.ReplaceAll(failed, "got 1, want 2", "WARNING: DATA RACE") + other + again,
			want: main.Verdict{
				Passed: 1, Flaky: []main.Flaky{{Package: "x/hub", Test: "TestX", Output: "WARNING: DATA RACE\n"}},
				Unforgiven: []string{"x/hub TestX: WARNING: DATA RACE"},
			},
		},
		{
			name: "a part is flaky", in: failed + strings.ReplaceAll(failed, "TestX", "TestX/a") + other + again + strings.ReplaceAll(again, "TestX", "TestX/a"),
			want: main.Verdict{Passed: 2, Flaky: []main.Flaky{{Package: "x/hub", Test: "TestX/a", Output: "got 1, want 2\n"}}}, ok: true,
		},
		{
			name: "skipped", strict: true,
			in: other + `{"Action":"output","Package":"x/hub","Test":"TestX","Output":"    x_test.go:3: no speech here\n"}
{"Action":"output","Package":"x/hub","Test":"TestX","Output":"--- SKIP: TestX (0.00s)\n"}
{"Action":"skip","Package":"x/hub","Test":"TestX"}`,
			want: main.Verdict{Passed: 1, Skipped: []string{"x/hub TestX: x_test.go:3: no speech here"}},
		},
		{name: "skipped, and that is fine", in: other + `{"Action":"skip","Package":"x/hub","Test":"TestX"}`, want: main.Verdict{Passed: 1}, ok: true},
		{
			name: "the race detector gave up",
			in: other + `{"Action":"output","Package":"x/hub","Test":"TestX","Output":"ThreadSanitizer: CHECK failed: tsan_rtl.cpp:282\n"}
{"Action":"fail","Package":"x/hub"}`,
			want: main.Verdict{Passed: 1, Undecided: []string{"x/hub"}}, ok: true,
		},
		{
			name: "the race detector broke in a bubble",
			in: other + `{"Action":"output","Package":"x/hub","Test":"TestX","Output":"SIGSEGV: segmentation violation\n"}
{"Action":"output","Package":"x/hub","Test":"TestX","Output":"PC=0x437b50 m=4 sigcode=1 addr=0x7f8c62b00000\n"}
{"Action":"output","Package":"x/hub","Test":"TestX","Output":"\n"}
{"Action":"output","Package":"x/hub","Test":"TestX","Output":"goroutine 0 gp=0xc000009860 m=4 mp=0xc000063808 [idle, synctest bubble 138]:\n"}
{"Action":"fail","Package":"x/hub"}`,
			want: main.Verdict{Passed: 1, Undecided: []string{"x/hub"}}, ok: true,
		},
		{
			name: "something else broke",
			in: other + `{"Action":"output","Package":"x/hub","Test":"TestX","Output":"SIGSEGV: segmentation violation\nPC=0x437b50 m=4 sigcode=1 addr=0x7f8c62b00000\n\ngoroutine 7 [running]:\n"}
{"Action":"fail","Package":"x/hub"}`,
			want: main.Verdict{Passed: 1, Failed: []main.Failure{{Package: "x/hub", Output: "SIGSEGV: segmentation violation\nPC=0x437b50 m=4 sigcode=1 addr=0x7f8c62b00000\n\ngoroutine 7 [running]:\n"}}}, ok: true,
		},
		{
			name: "the race detector gave up, and a test failed",
			in: failed + other + `{"Action":"output","Package":"x/hub","Test":"TestZ","Output":"ThreadSanitizer: CHECK failed: tsan_rtl.cpp:282\n"}
{"Action":"fail","Package":"x/hub"}`,
			want: main.Verdict{Passed: 1}, ok: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := main.Judge(strings.NewReader(tt.in), regexp.MustCompile(`/(hub)$`), tt.strict)
			if err != nil || !reflect.DeepEqual(got, tt.want) || got.OK() != tt.ok {
				t.Errorf("got %+v, %v, %v; want %+v, %v", got, err, got.OK(), tt.want, tt.ok)
			}
		})
	}
}

// TestJudgeTells: the last lines of a run name what a reader looks for.
func TestJudgeTells(t *testing.T) {
	t.Parallel()
	v := main.Verdict{
		Passed: 3, Flaky: []main.Flaky{{Package: "x/hub", Test: "TestX"}},
		Unforgiven: []string{"x/hub TestX: it counts"}, Skipped: []string{"x/hub TestZ: why"},
	}
	const want = "SKIPPED x/hub TestZ: why\nFLAKY x/hub TestX\nNOT FORGIVEN x/hub TestX: it counts\n3 tests passed\n"
	if got := v.String(); got != want {
		t.Errorf("it tells %q, want %q", got, want)
	}
}

func TestJudgeRefuses(t *testing.T) {
	t.Parallel()
	if _, err := main.Judge(strings.NewReader(`{"Action":"pass"} no json`), regexp.MustCompile(`x`), false); err == nil {
		t.Error("what is not JSON is taken")
	}
}
