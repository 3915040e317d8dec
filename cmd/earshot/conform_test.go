package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// says runs the program and returns what it wrote and its exit code.
func says(t *testing.T, args ...string) (out, problems string, code int) {
	t.Helper()
	p := plain(t, args...)
	code = p.wait()
	return p.out.String(), p.prompt.String(), code
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
	if code != 0 || !strings.HasPrefix(out, "MUST: ") || !strings.Contains(out, "\nnot covered: SEQ-12, a call is told before it acts: when a call acts in the world is not on the wire\n") {
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

// TestConformJudge: another program judges; what it cannot do, what is known and what it does wrong are told apart.
func TestConformJudge(t *testing.T) {
	t.Parallel()
	known := filepath.Join(t.TempDir(), "known.json")
	all := map[string]string{}
	out, _, _ := says(t, "conform", "vectors", "start", "--json", "--judge", `while read -r line; do echo '{"findings":[]}'; done`)
	for line := range strings.Lines(out) {
		var one struct {
			ID   string `json:"id"`
			Held bool   `json:"held"`
		}
		if must(t, json.Unmarshal([]byte(line), &one)); one.ID != "" && !one.Held {
			all[one.ID] = "it finds nothing"
		}
	}
	raw, err := json.Marshal(all)
	must(t, err)
	must(t, os.WriteFile(known, raw, 0o600))
	for name, row := range map[string]struct {
		args     []string
		code     int
		out, err string
	}{
		"finds nothing": {[]string{"--judge", `while read -r line; do echo '{"findings":[]}'; done`}, 1, "failed: START-", ""},
		"known":         {[]string{"--judge", `while read -r line; do echo '{"findings":[]}'; done`, "--known", known}, 0, "failed: 0, pending: ", ""},
		"unsupported":   {[]string{"--judge", `while read -r line; do echo '{"unsupported":"no events"}'; done`}, 0, "held: 0, failed: 0, pending: 0, not supported: ", ""},
		"ends":          {[]string{"--judge", "exit 3"}, 1, "", "error: the judge has failed"},
		"no answer":     {[]string{"--judge", "echo yes; cat >/dev/null"}, 1, "", "is not one line of JSON"},
		"slow":          {[]string{"--judge", "exec sleep 100", "--wait", "100ms"}, 1, "", "error: the judge did not answer within 100ms"},
		"bad list":      {[]string{"--judge", "cat", "--known", "conform_test.go"}, 2, "", "error: the file of --known is not one JSON object of ids and reasons"},
		"alone":         {[]string{"--known", known}, 2, "", "error: --known is given without --judge"},
	} {
		out, problems, code := says(t, append([]string{"conform", "vectors", "start"}, row.args...)...)
		if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(squeeze(problems), row.err) || row.err == "" && problems != "" {
			t.Errorf("%s: exit %d, expected %d\n%s%s", name, code, row.code, out, problems)
		}
	}
}
