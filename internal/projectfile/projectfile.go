// Package projectfile stores which projects a server has besides its own: below its data directory, a folder for each, which is a whole data
// directory, with a file that names the project.
package projectfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/tool/settings"
)

const (
	// Default is the project of the data directory itself.
	Default = "default"
	// Folder holds the projects of a data directory, and file is in each of them.
	Folder = "projects"
	file   = "project.json"
)

// form is what a name can be: one label of a host name, and so also one token of a subject.
var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
}) //nolint:gochecknoglobals // it is constant

// Project is a project of a server.
type Project struct {
	Name string `json:"name"`
	// Config is the path of its configuration, a file such as `earshot up --config` reads; "" is none.
	Config string `json:"config,omitzero"`
	// By added it, and when.
	By    string    `json:"by,omitzero"`
	Added time.Time `json:"added,omitzero"`
	// Removed means that it is served no more. Its data stays until it is erased.
	Removed bool `json:"removed,omitzero"`

	Path    string `json:"-"` // its data directory
	Trouble error  `json:"-"` // why its file cannot be used; only in a list
}

// Check refuses what is not a name of a project.
func Check(name string) error {
	const hint = "it is 1 to 63 of a-z, 0-9 and -, with no - at an end, because it is part of a host name; for example billing"
	switch {
	case !form().MatchString(name):
		return cause.Misuse(fmt.Sprintf("%.80q is not a name of a project", name), hint)
	case name == Default:
		return cause.Misuse("the project "+Default+" is the server's own, which is always there", "choose another name")
	}
	return nil
}

// Of returns the project of a data directory: the default one where no file names another.
func Of(path string) (Project, error) {
	p := Project{Name: Default, Path: path}
	at := filepath.Join(path, file)
	raw, err := os.ReadFile(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err == nil:
		err = json.Unmarshal(raw, &p, json.RejectUnknownMembers(true))
	}
	if err == nil {
		err = Check(p.Name)
	}
	if err != nil {
		return p, cause.Fail(err, "the file that names the project cannot be read: "+at, "make it readable for yourself, or restore it from a backup")
	}
	return p, nil
}

// inside returns the data directory of a project.
func inside(data, name string) string { return filepath.Join(data, Folder, name) }

// List returns the projects of a data directory, by name, without its own and without those that were removed.
func List(data string) ([]Project, error) {
	entries, err := os.ReadDir(filepath.Join(data, Folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cause.Fail(err, "the projects cannot be listed", "make "+filepath.Join(data, Folder)+" readable for yourself")
	}
	var all []Project
	for _, entry := range entries { // sorted by their names
		if !entry.IsDir() {
			continue
		}
		p, err := read(data, entry.Name())
		switch {
		case err != nil:
			all = append(all, Project{Name: entry.Name(), Path: p.Path, Trouble: err})
		case !p.Removed && p.Name != Default:
			all = append(all, p)
		}
	}
	return all, nil
}

// read returns the project in a folder; one of the default name if there is none in it.
func read(data, name string) (Project, error) {
	p, err := Of(inside(data, name))
	if err == nil && p.Name != Default && p.Name != name {
		err = cause.Fail(nil, fmt.Sprintf("the folder %s holds the project %s", p.Path, p.Name), "give the folder the name of its project")
	}
	return p, err
}

// Find returns a project of a data directory.
func Find(data, name string) (Project, error) {
	if err := Check(name); err != nil {
		return Project{}, err
	}
	p, err := read(data, name)
	if err != nil {
		return p, err
	}
	if p.Name != Default && !p.Removed {
		return p, nil
	}
	all, err := List(data)
	if err != nil {
		return p, err
	}
	names := make([]string, 0, len(all))
	for _, one := range all {
		names = append(names, one.Name)
	}
	return p, cause.Misuse("there is no project "+name, settings.Suggest(name, names, "see `earshot projects list`"))
}

// Add adds a project. One that was removed before is there again with all its data, which again reports.
func Add(data string, p Project) (added Project, again bool, err error) {
	if err := Check(p.Name); err != nil {
		return p, false, err
	}
	own, err := Of(data)
	if err != nil {
		return p, false, err
	}
	if own.Name != Default {
		return p, false, cause.Misuse(data+" is the data directory of the project "+own.Name+", and a project has none of its own", "name that of the server with --data DIR")
	}
	before, err := read(data, p.Name)
	switch {
	case err != nil:
		return p, false, err
	case before.Name == p.Name && !before.Removed:
		return before, false, cause.Misuse("there is a project "+p.Name+" already", "choose another name; `earshot projects list` lists them")
	}
	p.Path = inside(data, p.Name)
	if err := datadir.Make(filepath.Join(data, Folder)); err != nil {
		return p, false, err
	}
	if err := datadir.Make(p.Path); err != nil {
		return p, false, err
	}
	return p, before.Removed, write(p)
}

func write(p Project) error {
	raw, err := json.Marshal(p, jsontext.Multiline(true))
	if err == nil {
		err = datadir.WriteFile(filepath.Join(p.Path, file), append(raw, '\n'))
	}
	if err != nil {
		return cause.Fail(err, "the project "+p.Name+" cannot be noted", "make room in "+p.Path)
	}
	return nil
}

// Remove takes a project out of the list, and leaves its data where it is.
func Remove(data, name string) (Project, error) {
	p, err := Find(data, name)
	if err != nil {
		return p, err
	}
	p.Removed = true
	return p, write(p)
}

// Left returns a project that was removed, and whose data is still there.
func Left(data, name string) (Project, error) {
	if err := Check(name); err != nil {
		return Project{}, err
	}
	p, err := read(data, name)
	if err == nil && !p.Removed {
		err = cause.Misuse("no data is left of a project "+name, "see `earshot projects list`")
	}
	return p, err
}

// Erase deletes all data of a project that was removed. It must not be in use: its lock is taken first.
func Erase(p Project) error {
	if !p.Removed {
		return cause.Fail(nil, "the project "+p.Name+" is still listed", "remove it first")
	}
	d, err := datadir.Open(p.Path)
	if err != nil {
		return err
	}
	defer d.Close()
	// The file that says what it was goes last: what a break leaves behind is found again.
	entries, err := os.ReadDir(p.Path)
	for _, entry := range slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == file }) {
		err = errors.Join(err, os.RemoveAll(filepath.Join(p.Path, entry.Name())))
	}
	if err == nil {
		err = os.RemoveAll(p.Path)
	}
	if err != nil {
		return cause.Fail(err, "the data of the project "+p.Name+" cannot be erased", "remove "+p.Path+" yourself")
	}
	return nil
}
