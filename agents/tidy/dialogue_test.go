package tidy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
)

var update = flag.Bool("update", false, "write the golden dialogues again")

// Each dialogue is a turn on the sample folder with the real operations, or with a removal that ends as the row says.
// The files under testdata hold what was asked, what was answered and what was reported.
func TestDialogues(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		trash   bool
		empty   bool // the folder has no duplicates
		end     *tidy.Result
		outcome tidy.Outcome
	}{
		{name: "delete", outcome: tidy.Done},
		{name: "trash", trash: true, outcome: tidy.Done},
		{name: "nothing", empty: true, outcome: tidy.Nothing},
		{name: "declined", end: &tidy.Result{Code: tidy.CodeDeclined}, outcome: tidy.Declined},
		{name: "declined-trash", trash: true, end: &tidy.Result{Code: tidy.CodeDeclined}, outcome: tidy.Declined},
		{name: "expired", end: &tidy.Result{Code: tidy.CodeExpired}, outcome: tidy.Expired},
		{name: "withdrawn", end: &tidy.Result{Code: tidy.CodeWithdrawn}, outcome: tidy.Withdrawn},
		{name: "denied", end: &tidy.Result{Code: tidy.CodeDenied}, outcome: tidy.Denied},
		{name: "stale", end: &tidy.Result{Code: tidy.CodeStale}, outcome: tidy.Stale},
		{name: "stopped-before", end: &tidy.Result{Code: tidy.CodeStopped}, outcome: tidy.Stopped},
		{name: "stopped-midway", end: &tidy.Result{
			Code:   tidy.CodeStopped,
			Output: json.RawMessage(`{"deleted":5,"bytes":12000,"refused":[],"unclear":[],"not_reached":12}`),
		}, outcome: tidy.Stopped},
		{name: "unknown", end: &tidy.Result{Code: tidy.CodeUnknown}, outcome: tidy.Unknown},
		{name: "unknown-midway", end: &tidy.Result{
			Code:   tidy.CodeUnknown,
			Output: json.RawMessage(`{"deleted":3,"bytes":9000,"refused":[],"unclear":["a\nb"],"not_reached":13}`),
		}, outcome: tidy.Unknown},
		{name: "failed", end: &tidy.Result{Code: "journal_failed", Message: "no space\nleft."}, outcome: tidy.Failed},
		{name: "partly", end: &tidy.Result{Output: json.RawMessage(`{"deleted":11,"bytes":12345678,"refused":[
			{"path":"a","code":"changed","kept":".earshot-tc_1/0"},{"path":"b","code":"changed"},{"path":"c","code":"keep_missing"},
			{"path":"d","code":"new_code"}],"unclear":["e\u001b[2J"],"not_reached":1}`)}, outcome: tidy.Partly},
		{name: "bad-result", end: &tidy.Result{Output: json.RawMessage(`{"deleted":"many"}`)}, outcome: tidy.Failed},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, !row.empty)
			answer, text := w.dialogue(tidy.Args{Root: w.root, Trash: row.trash}, row.end)
			if answer.Outcome != row.outcome {
				t.Errorf("outcome is %s, want %s", answer.Outcome, row.outcome)
			}
			golden(t, filepath.Join("testdata", row.name+".golden"), text)
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if got != string(want) {
		t.Errorf("dialogue differs from %s (go test -update writes it again):\n%s", path, got)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a folder with the real operations on it.
type world struct {
	t       testing.TB
	root    string
	service *files.Service
	sample  tidy.Sample
}

func newWorld(t testing.TB, sample bool) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{t: t, root: filepath.Join(dir, "sample")}
	if sample {
		w.sample, err = tidy.MakeSample(w.root)
		must(t, err)
	} else {
		must(t, os.MkdirAll(w.root, 0o750))
		must(t, os.WriteFile(filepath.Join(w.root, "a"), []byte("one"), 0o600))
		must(t, os.WriteFile(filepath.Join(w.root, "b"), []byte("two"), 0o600))
		must(t, os.WriteFile(filepath.Join(w.root, "c"), nil, 0o600))
	}
	allowed, err := files.Allow(w.root)
	must(t, err)
	w.service, err = files.New(files.Options{
		Allowed: allowed, Journal: filepath.Join(dir, "journal"), HomeTrash: filepath.Join(dir, "Trash"),
		Now: func() time.Time { return time.Unix(1_700_000_000, 0) },
	})
	must(t, err)
	return w
}

// carry does what a call asks for.
func (w *world) carry(call tidy.Call) tidy.Result {
	w.t.Helper()
	ctx := context.Background()
	switch args := call.Args.(type) {
	case files.ScanArgs:
		got, err := w.service.Scan(ctx, args)
		return resultOf(w.t, got, err)
	case files.HashArgs:
		got, err := w.service.Hash(ctx, args, nil)
		return resultOf(w.t, got, err)
	case files.DeleteArgs:
		if call.Tool == tidy.ToolTrash {
			got, err := w.service.Trash(ctx, args, files.CallOptions{Call: "tc_" + call.Key})
			return resultOf(w.t, got, err)
		}
		got, err := w.service.Delete(ctx, args, files.CallOptions{Call: "tc_" + call.Key})
		return resultOf(w.t, got, err)
	default:
		w.t.Fatalf("call %s has arguments of type %T", call.Key, args)
		return tidy.Result{}
	}
}

func resultOf(t testing.TB, output any, err error) tidy.Result {
	t.Helper()
	result := tidy.Result{}
	data, encodeErr := json.Marshal(output)
	must(t, encodeErr)
	failure := &files.Error{}
	if errors.As(err, &failure) {
		return tidy.Result{Code: string(failure.Code), Message: failure.Found, Output: data}
	}
	must(t, err)
	result.Output = data
	return result
}

// dialogue plays a whole turn and writes it down. The removal ends as told, or for real.
func (w *world) dialogue(args tidy.Args, end *tidy.Result) (*tidy.Answer, string) {
	w.t.Helper()
	var text bytes.Buffer
	p := tidy.New(args)
	for {
		move := p.Next()
		if move.Answer != nil {
			fmt.Fprintf(&text, "answer %s\n", indented(w.t, move.Answer))
			return move.Answer, strings.ReplaceAll(text.String(), w.root, "/ROOT")
		}
		for _, call := range move.Calls {
			fmt.Fprintf(&text, "%s %s %d%%-%d%% %s\n%s\n", call.Key, call.Tool, call.From, call.To, call.Comment, indented(w.t, call.Args))
			var result tidy.Result
			if call.Key == "remove" && end != nil {
				result = *end
			} else {
				result = w.carry(call)
			}
			fmt.Fprintf(&text, "result %s\n\n", indented(w.t, result))
			p.Observe(call, result)
		}
	}
}

func indented(t testing.TB, value any) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must(t, encoder.Encode(value))
	return strings.TrimSpace(text.String())
}
