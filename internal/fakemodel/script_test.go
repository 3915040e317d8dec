package fakemodel_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/fakemodel"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(`
turns:
  - aside: title
    say: A title
  - think: {text: Hm., signature: c2ln}
    call:
      - tool: files/write
        args: {path: "${FOLDER}/note.txt", mode: 420, deep: {list: [1, two]}}
      - tool: files/read
        raw: '{"a":1'
    usage: {input: 3, output: 4, cache_read: 5, cache_write: 6, reasoning: 2}
  - either:
      - when: Wrote
        say: Done.
      - say: Not done.
        truncated: true
  - wait: gate
    pause: half
    cut: true
  - fail: {status: 529, kind: odd, message: Later., retry_after: "1"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := fakemodel.ReadFile(path, map[string]string{"FOLDER": "/data"})
	if err != nil {
		t.Fatal(err)
	}
	want := fakemodel.Script{
		{Aside: "title", Say: "A title"},
		{
			Think: fakemodel.Thought{Text: "Hm.", Signature: "c2ln"},
			Call: []fakemodel.Call{
				{Tool: "files/write", Args: map[string]any{"path": "/data/note.txt", "mode": 420, "deep": map[string]any{"list": []any{1, "two"}}}},
				{Tool: "files/read", Raw: `{"a":1`},
			},
			Usage: fakemodel.Usage{Input: 3, Output: 4, CacheRead: 5, CacheWrite: 6, Reasoning: 2},
		},
		{Either: []fakemodel.Turn{{When: "Wrote", Say: "Done."}, {Say: "Not done.", Truncated: true}}},
		{Wait: "gate", Pause: "half", Cut: true},
		{Fail: fakemodel.Failure{Status: 529, Kind: "odd", Message: "Later.", RetryAfter: "1"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found    %+v\nexpected %+v", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"empty":         {"", "found no turns"},
		"no turns":      {"turns: []", "found no turns"},
		"unknown field": {"turns: [{speak: Hello.}]", "speak"},
		"no tool":       {"turns: [{call: [{args: {}}]}]", "turn 1: call 1: found no tool"},
		"deep either":   {"turns: [{either: [{either: [{say: a}]}]}]", "turn 1: choice 1: found either within either"},
		"no value":      {"turns: [{say: '${NAME}'}]", "found ${NAME}, expected one of the names"},
		"not YAML":      {"turns: [", "parse script"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := fakemodel.Parse([]byte(tt.text), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found %v, expected %q", err, tt.want)
			}
		})
	}
	if _, err := fakemodel.ReadFile("missing.yaml", nil); err == nil || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("found %v, expected the file's name", err)
	}
}
