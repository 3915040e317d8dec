package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Allowed is the set of folders that an operator opened for work, absolute and with links resolved.
// Whatever lies beneath one of them is allowed too.
type Allowed struct{ roots []string }

// Allow resolves the folders. Each must exist and be a folder; codes root_missing, root_unreadable, root_not_folder.
func Allow(folders ...string) (*Allowed, error) {
	allowed := &Allowed{}
	for _, folder := range folders {
		path, err := Resolve(folder)
		if err != nil {
			return nil, err
		}
		allowed.roots = append(allowed.roots, path)
	}
	return allowed, nil
}

// Resolve gives the form of a folder's path in which [Allowed] and all arguments take it: absolute, no links, no dots.
func Resolve(folder string) (string, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return "", rootError(folder, err)
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", rootError(folder, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", rootError(folder, err)
	}
	if !info.IsDir() {
		return "", &Error{Code: ErrRootNotFolder, Path: folder, Found: "is not a folder", Hint: "name the folder that holds it"}
	}
	return path, nil
}

// Roots lists the allowed folders.
func (a *Allowed) Roots() []string { return append([]string(nil), a.roots...) }

// open opens the folder without following a link on the way down from the allowed root.
func (a *Allowed) open(path string) (*os.Root, error) {
	top, rel, ok := a.find(path)
	if !ok {
		return nil, &Error{
			Code: ErrEscapesRoot, Path: path, Found: "is not inside a folder that the operator allowed",
			Hint: "give the full path, without links, of an allowed folder: " + strings.Join(a.roots, ", "),
		}
	}
	// The operator's folder itself may have become a link since it was allowed.
	if now, err := filepath.EvalSymlinks(top); err != nil || now != top {
		return nil, rootMoved(top, err)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, rootError(path, err)
	}
	if rel == "." {
		return root, nil
	}
	defer func() { _ = root.Close() }()
	below, err := openBelow(root, rel, nil)
	if errors.Is(err, errLinkInPath) {
		return nil, &Error{Code: ErrEscapesRoot, Path: path, Found: "leads through a link", Hint: "give the path without links"}
	}
	if err != nil {
		return nil, rootError(path, err)
	}
	return below, nil
}

func (a *Allowed) find(path string) (top, rel string, ok bool) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return "", "", false
	}
	for _, root := range a.roots {
		rel, err := filepath.Rel(root, path)
		if err == nil && filepath.IsLocal(rel) {
			return root, rel, true
		}
	}
	return "", "", false
}

func rootMoved(path string, err error) error {
	if err != nil {
		return rootError(path, err)
	}
	return &Error{Code: ErrEscapesRoot, Path: path, Found: "has become a link since it was allowed"}
}

func rootError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: ErrRootMissing, Path: path, Found: "there is no such folder", Err: err}
	case isNotFolder(err):
		return &Error{Code: ErrRootNotFolder, Path: path, Found: "is not a folder", Err: err}
	default:
		return &Error{Code: ErrRootUnreadable, Path: path, Found: "cannot be opened", Err: err}
	}
}
