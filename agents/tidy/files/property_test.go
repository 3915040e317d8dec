//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// Whatever lists are sent, no matter who works in the tree meanwhile, and wherever the call dies: a content that only the call
// could have removed is still somewhere, nothing outside the root changes, and every path is answered for once.
func TestNoSetLosesItsLastCopy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "property") //nolint:usetesting // one for each drawn case, and gone with it.
		must(t, err)
		defer func() { _ = os.RemoveAll(dir) }()
		dir, err = filepath.EvalSymlinks(dir)
		must(t, err)
		f := openFixture(t, dir)
		outside := filepath.Join(dir, "outside")
		must(t, os.MkdirAll(outside, 0o755))
		must(t, os.WriteFile(filepath.Join(outside, "x"), []byte("one"), 0o600))
		names := []string{"a", "b", "c", "d/e", "d/f", "g/h", "g/i", "j"}
		contents := []string{"one", "two", "six"} // of one size, so that only the hash tells
		for _, name := range names {
			f.write(name, rapid.SampledFrom(contents).Draw(r, "content of "+name))
		}
		began := map[string]bool{}
		for _, name := range names {
			began[f.content(name)] = true
		}
		args, call := f.drawArgs(r, names, contents), callMade(time.Now())
		removed := map[string]bool{} // contents of which somebody else removed a copy
		points := []string{"journal", "checked", "before", "moved", "read", "leaving", "gone", "restoring"}
		op := rapid.SampledFrom([]string{"delete", "trash"}).Draw(r, "op")
		steps, act, dieAt := 0, rapid.IntRange(0, 40).Draw(r, "act at"), rapid.IntRange(0, 80).Draw(r, "die at")
		f.OnStep(func(point, _ string) {
			if !slices.Contains(points, point) {
				t.Errorf("unknown point %q", point)
			}
			if steps++; steps == act {
				f.meddle(r, names, contents, outside, removed)
			}
			if steps == dieAt {
				panic("crash")
			}
		})
		result, died := f.try(op, call, args)
		f.OnStep(func(string, string) {})
		if died {
			outcome, got, err := f.Reconcile(context.Background(), call, args)
			must(t, err)
			if outcome == files.Unknown {
				r.Fatalf("nobody knows: %+v", got)
			}
			_, again, err := f.Reconcile(context.Background(), call, args)
			must(t, err)
			if fmt.Sprint(got) != fmt.Sprint(again) {
				r.Fatalf("first %+v, then %+v", got, again)
			}
			result = got
		}
		f.wantAllAnswered(r, args, result)
		f.wantCopies(r, began, removed)
		if got := tree(t, outside); !slices.Equal(got, []string{". d---------", "x ---------- one"}) {
			r.Fatalf("outside is %q", got)
		}
	})
}

func (f *fixture) drawArgs(r *rapid.T, names, contents []string) files.DeleteArgs {
	every := append([]string{"../outside/x", "g/../a", "none", "d"}, names...)
	var sets []files.Set
	for range rapid.IntRange(1, 4).Draw(r, "sets") {
		content := rapid.SampledFrom(contents).Draw(r, "set of")
		keep := rapid.SampledFrom(every).Draw(r, "keep")
		remove := rapid.SliceOfN(rapid.SampledFrom(every), 1, 4).Draw(r, "delete")
		sets = append(sets, set(content, keep, remove...))
	}
	return f.args(sets...)
}

// meddle does once what another program may do.
func (f *fixture) meddle(r *rapid.T, names, contents []string, outside string, removed map[string]bool) {
	name := rapid.SampledFrom(names).Draw(r, "meddle with")
	lose := func() { // the copy that lies there is on the other program's account
		if now := f.content(name); now != "(none)" {
			removed[now] = true
		}
	}
	switch rapid.SampledFrom([]string{"remove", "write", "replace", "link", "folder", "hard link"}).Draw(r, "meddle how") {
	case "remove":
		lose()
		_ = os.Remove(f.path(name))
	case "write":
		lose()
		f.write(name, rapid.SampledFrom(contents).Draw(r, "new content"))
	case "replace":
		lose()
		f.write("new", rapid.SampledFrom(contents).Draw(r, "new content"))
		must(f.t, os.Rename(f.path("new"), f.path(name)))
	case "link":
		lose()
		_ = os.Remove(f.path(name))
		must(f.t, os.Symlink(filepath.Join(outside, "x"), f.path(name)))
	case "folder":
		must(f.t, os.Rename(f.path("d"), f.path("moved")))
		must(f.t, os.Symlink(outside, f.path("d")))
	case "hard link":
		other := rapid.SampledFrom(names).Draw(r, "hard link to")
		if other == name || f.content(other) == "(none)" {
			return
		}
		lose()
		_ = os.Remove(f.path(name))
		must(f.t, os.Link(f.path(other), f.path(name)))
	}
}

// try runs the removal and reports whether it died.
func (f *fixture) try(op, call string, args files.DeleteArgs) (result files.DeleteResult, died bool) {
	defer func() { died = recover() == "crash" }()
	run := f.Delete
	if op == "trash" {
		run = f.Trash
	}
	result, _ = run(context.Background(), args, files.CallOptions{Call: call})
	return result, false
}

func (f *fixture) wantAllAnswered(r *rapid.T, args files.DeleteArgs, got files.DeleteResult) {
	listed := 0
	for _, s := range args.Sets {
		listed += len(s.Delete)
	}
	if answered := got.Deleted + len(got.Refused) + len(got.Unclear) + got.NotReached; answered != listed {
		r.Fatalf("%d of %d paths are answered for: %+v", answered, listed, got)
	}
}

// wantCopies demands a copy, in the root, of each content that nobody else removed. The trash is no such place.
func (f *fixture) wantCopies(r *rapid.T, began, removed map[string]bool) {
	lines := tree(f.t, f.root)
	for content := range began {
		has := slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, " "+content) })
		if !has && !removed[content] {
			r.Fatalf("no copy of %q is left: %q", content, lines)
		}
	}
}
