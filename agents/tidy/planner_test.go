package tidy_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// fake is a tree that exists only as results: paths with sizes and contents.
type fake struct {
	paths   []string
	size    func(path string) int64
	sum     func(path string) string
	refuse  func(path string) string // a code, or nothing
	fixed   func(path string) bool   // its folder cannot be written; nil means none
	root    bool                     // nor the root
	perPage int
}

func (f fake) carry(t testing.TB, call tidy.Call) tidy.Result {
	t.Helper()
	var output any
	switch args := call.Args.(type) {
	case files.ScanArgs:
		at, _ := slices.BinarySearch(f.paths, args.Cursor)
		if args.Cursor != "" {
			at++
		}
		end := min(at+f.perPage, len(f.paths))
		page := files.ScanResult{Skipped: map[string]int{"symlink": 1}, Total: end, Fixed: f.root}
		for _, path := range f.paths[at:end] {
			page.Files = append(page.Files, files.File{Path: path, Size: f.size(path), Fixed: f.fixed != nil && f.fixed(path)})
		}
		if end < len(f.paths) {
			page.Next = f.paths[end-1]
		}
		output = page
	case files.HashArgs:
		result := files.HashResult{}
		for _, path := range args.Paths {
			if code := f.refuse(path); code != "" {
				result.Refused = append(result.Refused, files.Refusal{Path: path, Code: files.Code(code)})
				continue
			}
			result.Hashes = append(result.Hashes, files.Hash{Path: path, SHA256: f.sum(path), Size: f.size(path)})
		}
		output = result
	case files.DeleteArgs:
		result := files.DeleteResult{}
		for _, set := range args.Sets {
			result.Deleted += len(set.Delete)
		}
		output = result
	}
	data, err := json.Marshal(output)
	must(t, err)
	return tidy.Result{Output: data}
}

func draw(r *rapid.T) fake {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-cA-Z.]{1,3}(/[a-c]{1,3}){0,2}`), 0, 60, rapid.ID[string]).Draw(r, "paths")
	slices.Sort(names)
	content := map[string]int{}
	code := map[string]string{}
	for _, name := range names {
		content[name] = rapid.IntRange(0, 12).Draw(r, "content of "+name)
		code[name] = rapid.SampledFrom([]string{"", "", "", "", "vanished", "unreadable"}).Draw(r, "refusal of "+name)
	}
	return fake{
		paths:   names,
		size:    func(path string) int64 { return int64(1 + content[path]/4) },
		sum:     func(path string) string { return fmt.Sprintf("%064x", content[path]) },
		refuse:  func(path string) string { return code[path] },
		perPage: rapid.IntRange(1, 20).Draw(r, "files per page"),
	}
}

type exchange struct {
	call   tidy.Call
	result tidy.Result
}

func play(t testing.TB, p *tidy.Planner, f fake) ([]exchange, *tidy.Answer) {
	t.Helper()
	var said []exchange
	for range 10000 {
		move := p.Next()
		if move.Answer != nil {
			return said, move.Answer
		}
		for _, call := range move.Calls {
			result := f.carry(t, call)
			said = append(said, exchange{call, result})
			p.Observe(call, result)
		}
	}
	t.Fatal("the turn does not end")
	return nil, nil
}

// The list is that of a naive search; each call is bounded; percents only rise; there is one removal.
func TestPlannerFindsWhatANaiveSearchFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := draw(r)
		said, answer := play(t, tidy.New(tidy.Args{Root: "/r"}), f)
		want := naive(f)
		var got []files.Set
		last, removals := 0, 0
		for _, e := range said {
			if e.call.From < last || e.call.To < e.call.From || e.call.To > 100 {
				r.Fatalf("%s covers %d%% to %d%%, after %d%%", e.call.Key, e.call.From, e.call.To, last)
			}
			last = e.call.To
			if args, ok := e.call.Args.(files.DeleteArgs); ok {
				got = args.Sets
				removals++
			}
		}
		if !reflect.DeepEqual(got, want) || removals != min(len(want), 1) {
			r.Fatalf("%d removals of %+v, want %+v", removals, got, want)
		}
		if (answer.Outcome == tidy.Nothing) != (len(want) == 0) {
			r.Fatalf("outcome is %s", answer.Outcome)
		}
	})
}

func naive(f fake) []files.Set {
	var sets []files.Set
	at := map[string]int{}
	for _, path := range f.paths {
		if f.refuse(path) != "" {
			continue
		}
		key := f.sum(path)
		i, known := at[key]
		if !known {
			at[key] = len(sets)
			sets = append(sets, files.Set{SHA256: key, Size: f.size(path), Survivor: path})
			continue
		}
		sets[i].Delete = append(sets[i].Delete, path)
	}
	sets = slices.DeleteFunc(sets, func(set files.Set) bool { return len(set.Delete) == 0 })
	if len(sets) == 0 {
		return nil
	}
	return sets
}

// After any prefix of the results a new planner, fed with them once or twice, is where the first one was.
func TestPlannerReplays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := draw(r)
		args := tidy.Args{Root: "/r", Trash: rapid.Bool().Draw(r, "trash")}
		said, answer := play(t, tidy.New(args), f)
		known := rapid.IntRange(0, len(said)).Draw(r, "results that were kept")
		p := tidy.New(args)
		for _, e := range said[:known] {
			p.Observe(e.call, e.result)
			p.Observe(tidy.Call{Key: e.call.Key}, e.result)
		}
		if known < len(said) && !reflect.DeepEqual(p.Next().Calls, []tidy.Call{said[known].call}) {
			r.Fatalf("next is %+v, want %+v", p.Next().Calls, said[known].call)
		}
		rest, again := play(t, p, f)
		if len(rest) != len(said)-known || !reflect.DeepEqual(answer, again) {
			r.Fatalf("answer is %+v, want %+v", again, answer)
		}
	})
}

func TestPlannerBoundsItsBatches(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	rows := []struct {
		name  string
		count int
		size  int64
		path  string // what each path starts with
		calls int
		most  int
	}{
		{"many", 2500, 1, "", 3, 1000},
		{"large", 9, 400 << 20, "", 5, 2},
		{"huge", 3, 5 << 30, "", 3, 1},
		{"long", 300, 1, long, 3, 130},
	}
	for _, row := range rows {
		f := fake{
			size: func(string) int64 { return row.size }, sum: func(string) string { return strings.Repeat("ab", 32) },
			refuse: func(string) string { return "" }, perPage: 1000,
		}
		for n := range row.count {
			f.paths = append(f.paths, fmt.Sprintf("%s%05d", row.path, n))
		}
		said, _ := play(t, tidy.New(tidy.Args{Root: "/r"}), f)
		calls, most := 0, 0
		for _, e := range said {
			if args, ok := e.call.Args.(files.HashArgs); ok {
				calls++
				most = max(most, len(args.Paths))
			}
			if e.call.Key == "remove" {
				continue // as long as it must be
			}
			if data, err := json.Marshal(e.call.Args); err != nil || len(data) > 400<<10 {
				t.Errorf("%s: %s has %d bytes, %v", row.name, e.call.Key, len(data), err)
			}
		}
		if calls != row.calls || most != row.most {
			t.Errorf("%s: %d calls of at most %d paths, want %d of %d", row.name, calls, most, row.calls, row.most)
		}
	}
}

// A tool that contradicts its contract ends the turn, and removes nothing.
func TestPlannerDistrustsResults(t *testing.T) {
	t.Parallel()
	page := `{"files":[{"path":"a","size":1},{"path":"b","size":1}],"next":"","skipped":{}}`
	sum := strings.Repeat("ab", 32)
	rows := map[string][]string{
		"no JSON":                  {`files`},
		"no output":                {``},
		"paths out of order":       {`{"files":[{"path":"b","size":1},{"path":"a","size":1}]}`},
		"a path twice":             {`{"files":[{"path":"a","size":1},{"path":"a","size":1}]}`},
		"a path on two pages":      {`{"files":[{"path":"a","size":1}],"next":"a"}`, `{"files":[{"path":"a","size":1}]}`},
		"no size":                  {`{"files":[{"path":"a","size":0}]}`},
		"a cursor that stays":      {`{"files":[],"next":"a"}`, `{"files":[],"next":"a"}`},
		"a hash nobody asked for":  {page, `{"hashes":[{"path":"c","sha256":"` + sum + `","size":1}]}`},
		"a hash twice":             {page, `{"hashes":[{"path":"a","sha256":"` + sum + `","size":1},{"path":"a","sha256":"` + sum + `","size":1}]}`},
		"no SHA-256":               {page, `{"hashes":[{"path":"a","sha256":"abcd","size":1}]}`},
		"hashes that are not JSON": {page, `[]`},
	}
	for name, outputs := range rows {
		p := tidy.New(tidy.Args{Root: "/r"})
		for _, output := range outputs {
			move := p.Next()
			if move.Answer != nil {
				t.Fatalf("%s: ended early: %+v", name, move.Answer)
			}
			p.Observe(move.Calls[0], tidy.Result{Output: json.RawMessage(output)})
		}
		answer := p.Next().Answer
		if answer == nil || answer.Outcome != tidy.Failed || !strings.Contains(strings.Join(answer.Lines, " "), "Nothing was deleted.") {
			t.Errorf("%s: answer is %+v", name, answer)
		}
	}
}

// A file whose size is another one by the time it is read is not a duplicate of anything.
func TestPlannerLeavesGrownFiles(t *testing.T) {
	t.Parallel()
	p := tidy.New(tidy.Args{Root: "/r"})
	sum := strings.Repeat("ab", 32)
	for _, output := range []string{
		`{"files":[{"path":"a","size":1},{"path":"b","size":1}],"next":""}`,
		`{"hashes":[{"path":"a","sha256":"` + sum + `","size":1},{"path":"b","sha256":"` + sum + `","size":2}]}`,
	} {
		p.Observe(p.Next().Calls[0], tidy.Result{Output: json.RawMessage(output)})
	}
	if answer := p.Next().Answer; answer == nil || answer.Outcome != tidy.Nothing {
		t.Errorf("answer is %+v", answer)
	}
}

func TestPlannerFailsInAnyCall(t *testing.T) {
	t.Parallel()
	page := tidy.Result{Output: json.RawMessage(`{"files":[{"path":"a","size":1},{"path":"b","size":1}],"next":""}`)}
	rows := []struct {
		code    string
		outcome tidy.Outcome
	}{
		{"root_missing", tidy.Failed}, {tidy.CodeStopped, tidy.Stopped}, {tidy.CodeDenied, tidy.Denied}, {tidy.CodeDeclined, tidy.Declined},
	}
	for _, row := range rows {
		for _, before := range [][]tidy.Result{nil, {page}} {
			p := tidy.New(tidy.Args{Root: "/r"})
			for _, result := range append(before, tidy.Result{Code: row.code}) {
				p.Observe(p.Next().Calls[0], result)
			}
			answer := p.Next().Answer
			if answer == nil || answer.Outcome != row.outcome || !strings.Contains(answer.Lines[0], "Nothing was deleted.") {
				t.Errorf("%s: answer is %+v", row.code, answer)
			}
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	complete := map[tidy.Outcome]bool{tidy.Nothing: true, tidy.Done: true}
	unanswered := map[tidy.Outcome]bool{tidy.Declined: true, tidy.Expired: true, tidy.Withdrawn: true}
	for _, outcome := range []tidy.Outcome{
		tidy.Unwritable,
		tidy.Nothing, tidy.Done, tidy.Partly, tidy.Declined, tidy.Expired, tidy.Withdrawn, tidy.Denied, tidy.Stale, tidy.Stopped, tidy.Failed, tidy.Unknown,
	} {
		if outcome.Complete() != complete[outcome] || outcome.Unanswered() != unanswered[outcome] {
			t.Errorf("%s: complete %v, unanswered %v", outcome, outcome.Complete(), outcome.Unanswered())
		}
	}
}

// The counts are encoded in full, so that --json readers find every figure.
func TestCountsEncode(t *testing.T) {
	t.Parallel()
	_, answer := play(t, tidy.New(tidy.Args{Root: "/r"}), fake{perPage: 1})
	data, err := json.Marshal(answer)
	must(t, err)
	var got struct {
		Outcome string         `json:"outcome"`
		Counts  map[string]any `json:"counts"`
	}
	must(t, json.Unmarshal(data, &got))
	want := []string{"bytes", "deleted", "duplicate_bytes", "duplicates", "files", "refused", "sets", "skipped"}
	if keys := slices.Sorted(maps.Keys(got.Counts)); got.Outcome != "nothing" || !slices.Equal(keys, want) {
		t.Errorf("answer is %s", data)
	}
}
