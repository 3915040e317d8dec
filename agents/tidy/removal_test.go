package tidy_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// sixFiles are two sets of three equal files each.
func sixFiles() fake {
	return fake{
		paths: []string{"a/1", "a/2", "b/1", "b/2", "c/1", "c/2"}, size: func(string) int64 { return 10 }, perPage: 100,
		sum:    func(path string) string { return strings.Repeat(path[len(path)-1:], 64) },
		refuse: func(string) string { return "" }, fixed: func(string) bool { return false },
	}
}

// upToRemoval plays a turn until it asks for a removal, or ends.
func upToRemoval(t *testing.T, p *tidy.Planner, f fake) tidy.Move {
	t.Helper()
	for {
		move := p.Next()
		if move.Answer != nil || strings.HasPrefix(move.Calls[0].Key, "remove") {
			return move
		}
		p.Observe(move.Calls[0], f.carry(t, move.Calls[0]))
	}
}

// removed is the result of a removal.
func removed(t *testing.T, code string, result files.DeleteResult) tidy.Result {
	t.Helper()
	raw, err := json.Marshal(result)
	must(t, err)
	return tidy.Result{Code: code, Output: raw}
}

func listed(move tidy.Move) []string {
	var all []string
	for _, set := range move.Calls[0].Args.(files.DeleteArgs).Sets {
		all = append(all, set.Delete...)
	}
	return all
}

// TestInterruptedRemoval: what a removal did not come to, because its service ended or crashed, is offered with a question of its own,
// after it was said how far the first one came. All counts are of both.
func TestInterruptedRemoval(t *testing.T) {
	t.Parallel()
	for _, trash := range []bool{false, true} {
		for _, code := range []string{"", tidy.CodeStopped} {
			f := sixFiles()
			p := tidy.New(tidy.Args{Root: "/r", Trash: trash})
			first := upToRemoval(t, p, f)
			if got := listed(first); !slices.Equal(got, []string{"b/1", "c/1", "b/2", "c/2"}) || first.Message != "" {
				t.Fatalf("the first removal is of %q, after %q", got, first.Message)
			}
			p.Observe(first.Calls[0], removed(t, code, files.DeleteResult{
				Deleted: 1, Bytes: 10, Refused: []files.Refusal{{Path: "c/1", Code: files.CodeChanged}}, NotReached: 2, Rest: []files.Span{{From: 2, To: 4}},
			}))
			second := p.Next()
			if second.Answer != nil {
				t.Fatalf("it ended: %q", second.Answer.Lines)
			}
			want, end := "The deletion was interrupted. Deleted 1 file. Freed 10 bytes. 2 files are left, and nothing was done to them.", "Deleted 3 files. Freed 30 bytes."
			if trash {
				want, end = "The move to the trash was interrupted. Moved 1 file to the trash, 10 bytes. 2 files are left, and nothing was done to them.", "Moved 3 files to the trash, 30 bytes."
			}
			call := second.Calls[0]
			if got := listed(second); !slices.Equal(got, []string{"b/2", "c/2"}) || second.Message != want || call.Key != "remove-2" || call.Tool != first.Calls[0].Tool || call.From < first.Calls[0].To {
				t.Errorf("the second removal is %q of %q from %d%%, after %q", call.Key, got, call.From, second.Message)
			}
			if set := call.Args.(files.DeleteArgs).Sets[0]; set.Survivor != "a/2" || set.Size != 10 {
				t.Errorf("its set is %+v", set)
			}
			p.Observe(call, removed(t, "", files.DeleteResult{Deleted: 2, Bytes: 20}))
			answer := p.Next().Answer
			if answer == nil || answer.Outcome != tidy.Partly || answer.Lines[0] != end || answer.Counts.Deleted != 3 || answer.Counts.NotReached != 0 || answer.Counts.Refused["changed"] != 1 {
				t.Errorf("the answer is %+v", answer)
			}
		}
	}
}

// TestInterruptedRemovalRefused: a no to the rest leaves it, and tells what was done before.
func TestInterruptedRemovalRefused(t *testing.T) {
	t.Parallel()
	p := tidy.New(tidy.Args{Root: "/r"})
	first := upToRemoval(t, p, sixFiles())
	p.Observe(first.Calls[0], removed(t, "", files.DeleteResult{Deleted: 3, Bytes: 30, NotReached: 1, Rest: []files.Span{{From: 3, To: 4}}}))
	second := p.Next()
	if want := "The deletion was interrupted. Deleted 3 files. Freed 30 bytes. 1 file is left, and nothing was done to it."; second.Message != want {
		t.Errorf("it says %q", second.Message)
	}
	refusal := `{"error_code":"consent_declined","error":{"code":"consent_declined","message":"consent declined"}}`
	p.Observe(second.Calls[0], tidy.Result{Code: tidy.CodeDeclined, Output: json.RawMessage(refusal)})
	answer := p.Next().Answer
	want := []string{
		"You said no. Nothing more was deleted. Deleted 3 files. Freed 30 bytes.",
		"Not reached: 1 file, untouched. Run this again to be asked about what is left.",
		"Found 4 duplicate files in 2 sets, 40 bytes, among 6 files.",
	}
	if answer == nil || answer.Outcome != tidy.Declined || !slices.Equal(answer.Lines[:3], want) {
		t.Errorf("the answer is %+v", answer)
	}
}

// TestInterruptedForGood: a removal that failed, was stopped by the person or did nothing at all is not offered again.
func TestInterruptedForGood(t *testing.T) {
	t.Parallel()
	half := files.DeleteResult{Deleted: 2, Bytes: 20, NotReached: 2, Rest: []files.Span{{From: 2, To: 4}}}
	none := files.DeleteResult{NotReached: 4, Rest: []files.Span{{From: 0, To: 4}}}
	for name, result := range map[string]tidy.Result{
		"failed":       removed(t, "upstream_unavailable", half),
		"unknown":      removed(t, tidy.CodeUnknown, half),
		"nothing done": removed(t, tidy.CodeStopped, none),
		"undone":       {Code: tidy.CodeStopped},
		"no places":    removed(t, "", files.DeleteResult{Deleted: 2, Bytes: 20, NotReached: 2}),
	} {
		p := tidy.New(tidy.Args{Root: "/r"})
		p.Observe(upToRemoval(t, p, sixFiles()).Calls[0], result)
		if move := p.Next(); move.Answer == nil {
			t.Errorf("%s: it asks for %q", name, listed(move))
		}
	}
}

// TestHeldDuplicates: what lies in a folder that this user cannot write is said before the question, which is about the others.
func TestHeldDuplicates(t *testing.T) {
	t.Parallel()
	f := sixFiles()
	f.fixed = func(path string) bool { return strings.HasPrefix(path, "b/") }
	p := tidy.New(tidy.Args{Root: "/r"})
	move := upToRemoval(t, p, f)
	if want := "2 duplicate files cannot be removed, because this user cannot write to /r/b. The question is about the others."; move.Message != want {
		t.Errorf("it says %q", move.Message)
	}
	if got := listed(move); !slices.Equal(got, []string{"c/1", "c/2"}) || !strings.HasPrefix(move.Calls[0].Comment, "Deleting 2 duplicate files, 20 bytes.") {
		t.Errorf("the removal is of %q: %q", got, move.Calls[0].Comment)
	}
	p.Observe(move.Calls[0], removed(t, "", files.DeleteResult{Deleted: 2, Bytes: 20}))
	answer := p.Next().Answer
	want := []string{"Deleted 2 files. Freed 20 bytes.", "Left alone: 2 files where this user cannot write, in /r/b.", "Found 4 duplicate files in 2 sets, 40 bytes, among 6 files."}
	if answer == nil || answer.Outcome != tidy.Done || !slices.Equal(answer.Lines[:3], want) || answer.Counts.Unwritable != 2 {
		t.Errorf("the answer is %+v", answer)
	}
}

// TestUnwritable: where nothing can be removed nobody is asked, and it is said why and what to do.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	many := sixFiles()
	many.paths = nil
	for i := range 5 {
		many.paths = append(many.paths, fmt.Sprintf("f%d/1", i))
	}
	for _, row := range []struct {
		name string
		f    fake
		root bool
		want string
	}{
		{"the root", sixFiles(), true, "This user cannot write to /r, so no duplicate can be removed. Nothing was deleted."},
		{"each folder", sixFiles(), false, "This user cannot write to /r/b, /r/c, so no duplicate can be removed. Nothing was deleted."},
		{"many folders", many, false, "This user cannot write to /r/f1, /r/f2, /r/f3 and 1 other folder, so no duplicate can be removed. Nothing was deleted."},
	} {
		f := row.f
		f.root, f.fixed = row.root, func(string) bool { return !row.root }
		answer := upToRemoval(t, tidy.New(tidy.Args{Root: "/r"}), f).Answer
		if answer == nil {
			t.Errorf("%s: it asks", row.name)
			continue
		}
		if answer.Outcome != tidy.Unwritable || answer.Lines[0] != row.want || !strings.HasPrefix(answer.Lines[1], "Change the rights of the folder") || !strings.HasPrefix(answer.Lines[2], "Found ") {
			t.Errorf("%s: %q", row.name, answer.Lines)
		}
	}
}

// TestBatchesCount: each batch knows how many files were compared before it, and how many follow.
func TestBatchesCount(t *testing.T) {
	t.Parallel()
	f := sixFiles()
	f.paths = nil
	for i := range 2500 {
		f.paths = append(f.paths, fmt.Sprintf("%05d", i))
	}
	f.perPage = 1000
	f.refuse = func(path string) string {
		if path == "00007" {
			return "vanished"
		}
		return ""
	}
	p := tidy.New(tidy.Args{Root: "/r"})
	var got [][2]int
	var says []string
	for move := p.Next(); move.Answer == nil && !strings.HasPrefix(move.Calls[0].Key, "remove"); move = p.Next() {
		says = append(says, move.Calls[0].Comment)
		if args, is := move.Calls[0].Args.(files.HashArgs); is {
			got = append(got, [2]int{args.Before, args.After})
		}
		p.Observe(move.Calls[0], f.carry(t, move.Calls[0]))
	}
	if want := [][2]int{{0, 1500}, {999, 500}, {1999, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("before and after are %v, want %v", got, want)
	}
	want := []string{
		"Listing the files in /r.", "Listing more files in /r; 1,000 so far.", "Listing more files in /r; 2,000 so far.",
		"Comparing the content of 1,000 of 2,500 files of equal size, 10.0 kB (10,000 bytes).",
		"Comparing the content of 1,000 of 2,500 files of equal size, 10.0 kB (10,000 bytes).",
		"Comparing the content of 500 of 2,500 files of equal size, 5,000 bytes.",
	}
	if !slices.Equal(says, want) {
		t.Errorf("it says %q", says)
	}
}

// TestEmptyFolder: a folder without files has no duplicates "among 0 files".
func TestEmptyFolder(t *testing.T) {
	t.Parallel()
	_, answer := play(t, tidy.New(tidy.Args{Root: "/r"}), fake{perPage: 1})
	if want := "There is no file to compare in /r. Nothing was deleted."; answer.Lines[0] != want {
		t.Errorf("it says %q", answer.Lines[0])
	}
}
