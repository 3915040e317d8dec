//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"os"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// Bytes counts what the disk gets back: with the last name of an inode, and not before, whatever was seen when it was checked.
func TestDeleteCountsTheBytesThatItFrees(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		prepare func(f *fixture)
		point   string // at b
		act     func(f *fixture)
		bytes   int64
		remove  []string
	}{
		{"one name", nil, "", nil, 4, []string{"b"}},
		{"a further name stays", func(f *fixture) { must(f.t, os.Link(f.path("b"), f.path("z"))) }, "", nil, 0, []string{"b"}},
		{"both names go", func(f *fixture) { must(f.t, os.Link(f.path("b"), f.path("c"))) }, "", nil, 4, []string{"b", "c"}},
		{
			"three names, two go",
			func(f *fixture) {
				must(f.t, os.Link(f.path("b"), f.path("c")))
				must(f.t, os.Link(f.path("b"), f.path("z")))
			},
			"", nil, 0,
			[]string{"b", "c"},
		},
		{
			"the further name goes before", func(f *fixture) { must(f.t, os.Link(f.path("b"), f.path("z"))) },
			"before", func(f *fixture) { must(f.t, os.Remove(f.path("z"))) },
			4,
			[]string{"b"},
		},
		{
			"a further name comes before", nil,
			"before", func(f *fixture) { must(f.t, os.Link(f.path("b"), f.path("z"))) },
			0,
			[]string{"b"},
		},
		{
			"the further name is in a private folder's reach", nil,
			"moved", func(f *fixture) { must(f.t, os.Link(f.path(".earshot-tc_1/0"), f.path("z"))) },
			0,
			[]string{"b"},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("a", "same")
			f.write("b", "same")
			if row.prepare != nil {
				row.prepare(f)
			}
			if row.act != nil {
				f.at(row.point, "b", func() { row.act(f) })
			}
			args := f.args(set("same", "a", row.remove...))
			got := f.remove(args.Sets...)
			if got.Deleted != len(row.remove) || got.Bytes != row.bytes {
				t.Errorf("result is %+v, want %d bytes of %d files", got, row.bytes, len(row.remove))
			}
			if _, again, err := f.Reconcile(context.Background(), "tc_1", args); again.Bytes != row.bytes || err != nil {
				t.Errorf("reconciled as %+v, %v", again, err)
			}
		})
	}
}

// After a crash right behind the unlink, bytes are counted by the names that the inode had just before it.
func TestReconcileCountsTheBytesThatWereFreed(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		prepare func(f *fixture)
		point   string
		act     func(f *fixture)
		bytes   int64
	}{
		{"one name", nil, "", nil, 4},
		{"a further name stays", func(f *fixture) { must(f.t, os.Link(f.path("b"), f.path("z"))) }, "", nil, 0},
		{
			"a further name comes after the check", nil,
			"before", func(f *fixture) { must(f.t, os.Link(f.path("b"), f.path("z"))) }, 0,
		},
		{
			"the further name goes after the check", func(f *fixture) { must(f.t, os.Link(f.path("b"), f.path("z"))) },
			"before", func(f *fixture) { must(f.t, os.Remove(f.path("z"))) }, 4,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("a", "same")
			f.write("b", "same")
			if row.prepare != nil {
				row.prepare(f)
			}
			f.OnStep(func(point, path string) {
				if path == "b" && point == row.point {
					row.act(f)
				}
				if point == "gone" {
					panic("crash")
				}
			})
			args := f.args(set("same", "a", "b"))
			f.dies(args)
			outcome, got, err := f.Reconcile(context.Background(), "tc_1", args)
			if outcome != files.Done || got.Deleted != 1 || got.Bytes != row.bytes || err != nil {
				t.Errorf("reconciled as %v %+v, want %d bytes: %v", outcome, got, row.bytes, err)
			}
		})
	}
}
