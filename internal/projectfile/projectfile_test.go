package projectfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/projectfile"
)

// TestNames: a name is one label of a host name.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "billing", "team-2", "0", strings.Repeat("a", 63)} {
		if err := projectfile.Check(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "Billing", "-a", "a-", "a.b", "a_b", "a/b", "..", "a b", "é", "a\n", "default", strings.Repeat("a", 64)} {
		if e, is := errors.AsType[*cause.Error](projectfile.Check(name)); !is || e.Kind != cause.Usage || e.Hint == "" {
			t.Errorf("%q is a name", name)
		}
	}
}

// TestProjects: a project is added, listed, removed with its data kept, added again with it, and erased.
func TestProjects(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	listed := func(want string) {
		t.Helper()
		all, err := projectfile.List(data)
		names := make([]string, 0, len(all))
		for _, one := range all {
			names = append(names, one.Name)
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("listed %q, %v; expected %q", got, err, want)
		}
	}
	listed("")
	for _, name := range []string{"sales", "billing"} {
		if _, again, err := projectfile.Add(data, projectfile.Project{Name: name, By: "anna"}); err != nil || again {
			t.Fatal(again, err)
		}
	}
	listed("billing sales")
	if _, _, err := projectfile.Add(data, projectfile.Project{Name: "billing"}); err == nil {
		t.Error("it is added twice")
	}
	billing, err := projectfile.Find(data, "billing")
	if err != nil || billing.By != "anna" {
		t.Errorf("found %+v, %v", billing, err)
	}
	if own, err := projectfile.Of(billing.Path); err != nil || own.Name != "billing" {
		t.Errorf("its folder is of %+v, %v", own, err)
	}
	if _, _, err := projectfile.Add(billing.Path, projectfile.Project{Name: "below"}); err == nil {
		t.Error("a project has a project of its own")
	}
	kept := filepath.Join(billing.Path, "ledger.db")
	if err := os.WriteFile(kept, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := projectfile.Erase(billing); err == nil {
		t.Error("one that is listed is erased")
	}
	if _, err := projectfile.Remove(data, "billing"); err != nil {
		t.Fatal(err)
	}
	listed("sales")
	if own, err := projectfile.Of(billing.Path); err != nil || own.Name != "billing" || !own.Removed {
		t.Errorf("a removed one is %+v, %v", own, err)
	}
	if _, err := projectfile.Find(data, "billng"); err == nil {
		t.Error("there is a project billng")
	}
	if _, again, err := projectfile.Add(data, projectfile.Project{Name: "billing"}); err != nil || !again {
		t.Errorf("added again: %v, %v", again, err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
	if _, err := projectfile.Left(data, "billing"); err == nil {
		t.Error("one that is listed is left over")
	}
	if _, err := projectfile.Remove(data, "billing"); err != nil {
		t.Fatal(err)
	}
	gone, err := projectfile.Left(data, "billing")
	if err == nil {
		err = projectfile.Erase(gone)
	}
	if _, there := os.Stat(billing.Path); err != nil || there == nil {
		t.Errorf("after it is erased: %v, %v", err, there)
	}
	listed("sales")
}

// TestProjectTrouble: a folder whose file cannot be read, or names another project, is told apart, and hides no other.
func TestProjectTrouble(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.Chmod(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"odd": "{", "moved": `{"name":"billing"}`, "fine": `{"name":"fine"}`, "empty": ""} {
		folder := filepath.Join(data, projectfile.Folder, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, "project.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := projectfile.List(data)
	if err != nil || len(all) != 3 || all[0].Name != "fine" || all[0].Trouble != nil || all[1].Trouble == nil || all[2].Trouble == nil {
		t.Errorf("listed %v, %v", all, err)
	}
}
