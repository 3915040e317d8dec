package main_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	main "github.com/earshot-dev/earshot/scripts/told"
)

func TestTell(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   []string
		want main.Verdict
		says []string
		not  []string
	}{
		{
			name: "passed",
			in: []string{
				`{"Action":"run","Package":"a","Test":"TestX"}`,
				`{"Action":"output","Package":"a","Test":"TestX","Output":"noise\n"}`,
				`{"Action":"pass","Package":"a","Test":"TestX","Elapsed":0.1}`,
				`{"Action":"pass","Package":"a","Elapsed":1.26}`,
			},
			want: main.Verdict{Packages: 1, Passed: 1},
			says: []string{"ok      a 1.3s", "1 tests passed, 0 skipped; 0 of 1 packages failed"},
			not:  []string{"noise"},
		},
		{
			name: "failed",
			in: []string{
				`{"Action":"output","Package":"a","Test":"TestX","Output":"    x_test.go:3: got 1, want 2\n"}`,
				`{"Action":"fail","Package":"a","Test":"TestX"}`,
				`{"Action":"fail","Package":"a","Elapsed":1}`,
			},
			want: main.Verdict{Packages: 1, Failed: 1},
			says: []string{"got 1, want 2", "FAIL    a 1.0s\nfailed: a TestX\n0 tests passed"},
			not:  []string{"broke off"},
		},
		{
			name: "skipped with its reason",
			in: []string{
				`{"Action":"output","Package":"a","Test":"TestX","Output":"=== RUN   TestX\n"}`,
				`{"Action":"output","Package":"a","Test":"TestX","Output":"    x_test.go:3: no speech here\n"}`,
				`{"Action":"output","Package":"a","Test":"TestX","Output":"--- SKIP: TestX (0.00s)\n"}`,
				`{"Action":"skip","Package":"a","Test":"TestX"}`,
				`{"Action":"pass","Package":"a"}`,
			},
			want: main.Verdict{Packages: 1, Skipped: 1},
			says: []string{"skipped: a TestX: x_test.go:3: no speech here"},
		},
		{
			name: "the race detector gave up",
			in: []string{
				`{"Action":"output","Package":"a","Test":"TestX","Output":"ThreadSanitizer: CHECK failed: tsan_rtl.cpp:282\n"}`,
				`{"Action":"fail","Package":"a"}`,
				`{"Action":"output","Package":"b","Test":"TestX","Output":"WARNING: DATA RACE\n"}`,
				`{"Action":"output","Package":"b","Output":"ThreadSanitizer: CHECK failed: tsan_rtl.cpp:282\n"}`,
				`{"Action":"fail","Package":"b"}`,
				`{"Action":"fail","Package":"c","Test":"TestX"}`,
				`{"Action":"output","Package":"c","Output":"ThreadSanitizer: CHECK failed: tsan_rtl.cpp:282\n"}`,
				`{"Action":"fail","Package":"c"}`,
			},
			want: main.Verdict{Packages: 3, Failed: 3, Undecided: []string{"a"}},
			says: []string{"ThreadSanitizer: CHECK failed", "FAIL    a"},
		},
		{
			name: "killed, and without a word",
			in: []string{
				`{"Action":"output","Package":"a","Output":"signal: killed\n"}`,
				`{"Action":"fail","Package":"a"}`,
				`{"Action":"fail","Package":"b"}`,
			},
			want: main.Verdict{Packages: 2, Failed: 2},
			says: []string{"failed: a broke off: signal: killed\n", "failed: b broke off: it does not say why\n"},
		},
		{
			name: "died before the end",
			in: []string{
				`{"Action":"output","Package":"a","Test":"TestX","Output":"panic: out of range\n"}`,
				`{"Action":"output","Package":"b","Test":"TestY","Output":"still running\n"}`,
				`{"Action":"fail","Package":"a"}`,
			},
			want: main.Verdict{Packages: 1, Failed: 1},
			says: []string{"panic: out of range", "failed: a broke off: TestX: panic: out of range\n"},
			not:  []string{"still running"},
		},
		{
			name: "did not compile",
			in: []string{
				`{"ImportPath":"a","Action":"build-output","Output":"a.go:1: undefined: x\n"}`,
				`{"ImportPath":"a","Action":"build-fail"}`,
				`{"Action":"fail","Package":"a","FailedBuild":"a"}`,
			},
			want: main.Verdict{Packages: 1, Failed: 1},
			says: []string{"undefined: x"},
		},
		{
			name: "without tests",
			in:   []string{`{"Action":"skip","Package":"a"}`},
			want: main.Verdict{Packages: 1},
			not:  []string{" a"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			got, err := main.Tell(strings.NewReader(strings.Join(tt.in, "\n")), &out)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Tell: %+v, %v, want %+v", got, err, tt.want)
			}
			for _, want := range tt.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, &out)
				}
			}
			for _, unwanted := range tt.not {
				if strings.Contains(out.String(), unwanted) {
					t.Errorf("%q is in:\n%s", unwanted, &out)
				}
			}
		})
	}
}

func TestVerdictOK(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		verdict         main.Verdict
		lenient, strict bool
	}{
		{"all passed", main.Verdict{Packages: 2, Passed: 3}, true, true},
		{"one failed", main.Verdict{Packages: 2, Failed: 1}, false, false},
		{"one skipped", main.Verdict{Packages: 2, Passed: 3, Skipped: 1}, true, false},
		{"nothing ran", main.Verdict{}, false, false},
	}
	for _, tt := range tests {
		if got := tt.verdict.OK(false); got != tt.lenient {
			t.Errorf("%s: OK is %v", tt.name, got)
		}
		if got := tt.verdict.OK(true); got != tt.strict {
			t.Errorf("%s: strictly OK is %v", tt.name, got)
		}
	}
}

func TestTellErrors(t *testing.T) {
	t.Parallel()
	if _, err := main.Tell(strings.NewReader("FAIL\n"), &strings.Builder{}); err == nil {
		t.Error("text that is not JSON is accepted")
	}
	broken := errors.New("broken")
	if _, err := main.Tell(iotest.ErrReader(broken), &strings.Builder{}); !errors.Is(err, broken) {
		t.Errorf("a broken reader gives %v", err)
	}
	if _, err := main.Tell(strings.NewReader(""), failingWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("a broken writer gives %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
