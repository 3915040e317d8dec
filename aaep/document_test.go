package aaep_test

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

// TestDocument: names are exact, what is ambiguous has no value, and neither has what
// is of another type.
func TestDocument(t *testing.T) {
	t.Parallel()
	d := aaep.Read([]byte(`{"a":{"b":"x","n":3e2,"yes":true,"list":["p",5,"q"],"none":null},"twice":"x","twice":"y","Case":"x","big":9007199254740994,"half":0.5}`))
	if text, ok := d.Text("a", "b"); !ok || text != "x" {
		t.Errorf("a.b = %q, %t", text, ok)
	}
	if n, ok := d.Whole("a", "n"); !ok || n != 300 {
		t.Errorf("a.n = %d, %t", n, ok)
	}
	if yes, ok := d.Flag("a", "yes"); !ok || !yes {
		t.Errorf("a.yes = %t, %t", yes, ok)
	}
	if list := d.Texts("a", "list"); !slices.Equal(list, []string{"p", "q"}) {
		t.Errorf("a.list = %v", list)
	}
	for _, path := range [][]string{{"twice"}, {"case"}, {"a", "n"}, {"a", "b", "c"}, {"none"}, {"a", "none"}, {"a"}} {
		if text, ok := d.Text(path...); ok {
			t.Errorf("%v reads as %q", path, text)
		}
	}
	for _, name := range []string{"big", "half", "twice", "absent"} {
		if n, ok := d.Whole(name); ok {
			t.Errorf("%s reads as %d", name, n)
		}
	}
	if _, ok := d.Flag("Case"); ok {
		t.Error("a text reads as a flag")
	}
	if d.Has("twice") || d.Has("absent") || !d.Has("a", "none") || d.Texts("absent") != nil {
		t.Error("what is there and what is not is mixed up")
	}
	var nothing aaep.Document
	if _, ok := nothing.Text("a"); ok || nothing.Readable() || aaep.Read(nil).Readable() {
		t.Error("nothing reads as something")
	}
}
