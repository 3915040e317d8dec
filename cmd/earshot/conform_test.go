package main_test

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// says runs the program and returns what it wrote and its exit code.
func says(t *testing.T, args ...string) (out, problems string, code int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return stdout.String(), stderr.String(), ended.ExitCode()
	}
	must(t, err)
	return stdout.String(), stderr.String(), 0
}

func TestConformVectors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		code int
		out  string // the end of standard output
		err  string
	}{
		{[]string{"hand"}, 0, ", failed: 0, pending: 0\n", ""},
		{[]string{"ENV-18"}, 0, ", failed: 0, pending: 0\n", ""},
		{[]string{"env-18-HYPHEN"}, 0, "vectors: 1, held: 1, failed: 0, pending: 0\n", ""},
		{[]string{"ENV-18-hyphen", "--json"}, 0, `{"summary":{"vectors":1,"held":1,"failed":0,"pending":0}}` + "\n", ""},
		{[]string{"nowhere"}, 2, "", "error: found no vector for \"nowhere\""},
		{[]string{"env", "seq"}, 2, "", "error: expected at most one argument"},
	} {
		out, problems, code := says(t, append([]string{"conform", "vectors"}, row.args...)...)
		if code != row.code || !strings.HasSuffix(out, row.out) || !strings.HasPrefix(problems, row.err) {
			t.Errorf("%v: exit %d, expected %d\n%s%s", row.args, code, row.code, out, problems)
		}
	}
	out, _, _ := says(t, "conform", "vectors", "start", "--json")
	for line := range strings.Lines(out) {
		var one struct {
			ID   string `json:"id"`
			Held *bool  `json:"held"`
			Sum  *struct {
				Vectors int `json:"vectors"`
			} `json:"summary"`
		}
		must(t, json.Unmarshal([]byte(line), &one))
		if one.Sum == nil && (one.Held == nil || !strings.HasPrefix(one.ID, "START-")) {
			t.Errorf("found %s", line)
		}
		if one.Sum != nil && one.Sum.Vectors+1 != strings.Count(out, "\n") {
			t.Errorf("%d vectors in %d lines", one.Sum.Vectors, strings.Count(out, "\n"))
		}
	}
}

func TestConformCoverage(t *testing.T) {
	t.Parallel()
	out, _, code := says(t, "conform", "coverage")
	if code != 0 || !strings.HasPrefix(out, "MUST: ") {
		t.Errorf("exit %d\n%s", code, out)
	}
	out, _, code = says(t, "conform", "coverage", "--json")
	if lines := strings.Count(out, "\n"); code != 0 || lines != 640 || !strings.HasPrefix(out, `{"rule":{"id":"ENV-01"`) {
		t.Errorf("exit %d, %d lines", code, lines)
	}
	out, _, _ = says(t, "__complete", "conform", "vectors", "")
	if !strings.HasPrefix(out, "bp\n") || !strings.Contains(out, "\nseq\n") {
		t.Errorf("completion offers\n%s", out)
	}
}
