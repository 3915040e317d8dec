package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"
)

// The reasons for which a path is not followed.
var (
	errLinkInPath = errors.New("a folder on the way is a link")
	errBarred     = errors.New("not a path for work inside the root")
	errNotRegular = errors.New("not a regular file")
	errOtherNow   = errors.New("replaced while it was opened")
)

// privatePrefix starts the name of each private folder.
const privatePrefix = ".earshot-"

// tree is an opened root. It is not for use by several goroutines.
type tree struct {
	root   *os.Root
	path   string // absolute, resolved
	stamp  stamp  // of the root folder
	barred map[identity]bool

	// The folder used last stays open: lists are sorted, so the next file mostly lies in it as well.
	folder     *os.Root
	folderPath string
}

// openTree opens an allowed root. The caller closes it.
func (s *Service) openTree(path string) (*tree, error) {
	root, err := s.allowed.open(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		_ = root.Close()
		return nil, rootError(path, err)
	}
	t := &tree{root: root, path: path, stamp: stampOf(info), barred: s.serviceFolders()}
	s.opened(t)
	return t, nil
}

func (t *tree) close() {
	t.forget()
	_ = t.root.Close()
}

// forget closes the remembered folder, so that the next path is walked afresh.
func (t *tree) forget() {
	if t.folder != nil && t.folder != t.root {
		_ = t.folder.Close()
	}
	t.folder, t.folderPath = nil, ""
}

// parent opens the folder that holds the file, never through a link. It belongs to the tree.
func (t *tree) parent(file string) (*os.Root, string, error) {
	if err := checkPath(file); err != nil {
		return nil, "", err
	}
	dir, base := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	if t.folder != nil && t.folderPath == dir {
		return t.folder, base, nil
	}
	t.forget()
	if dir == "" {
		t.folder = t.root
		return t.root, base, nil
	}
	folder, err := openBelow(t.root, dir, t.barred)
	if err != nil {
		return nil, "", err
	}
	t.folder, t.folderPath = folder, dir
	return folder, base, nil
}

// stat says what lies at the path, without following a link anywhere in it.
func (t *tree) stat(file string) (stamp, error) {
	folder, base, err := t.parent(file)
	if err != nil {
		return stamp{}, err
	}
	info, err := folder.Lstat(base)
	if err != nil {
		return stamp{}, err //nolint:wrapcheck // codeOf reads it.
	}
	return stampOf(info), nil
}

// open opens a regular file for reading and says what it is. The caller closes it.
func (t *tree) open(file string) (*os.File, stamp, error) {
	folder, base, err := t.parent(file)
	if err != nil {
		return nil, stamp{}, err
	}
	return openPlain(folder, base)
}

// openPlain opens a regular file that lies directly in the folder: what was looked at and what was opened are one.
func openPlain(folder *os.Root, base string) (*os.File, stamp, error) {
	info, err := folder.Lstat(base)
	if err != nil {
		return nil, stamp{}, err //nolint:wrapcheck // codeOf reads it.
	}
	if !info.Mode().IsRegular() {
		return nil, stamp{}, errNotRegular
	}
	f, err := folder.OpenFile(base, openPlainFlags, 0)
	if err != nil {
		return nil, stamp{}, err //nolint:wrapcheck // codeOf reads it.
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = errOtherNow
	}
	if err != nil {
		_ = f.Close()
		return nil, stamp{}, err
	}
	return f, stampOf(opened), nil
}

// openBelow opens a folder beneath another, one name at a time: a name that is a link, or that was exchanged while it
// was opened, is refused. The caller closes the folder.
func openBelow(top *os.Root, rel string, barred map[identity]bool) (*os.Root, error) {
	at, rest := top, rel
	for {
		name, more, deeper := strings.Cut(rest, "/")
		next, err := openNext(at, name, barred)
		if at != top {
			_ = at.Close()
		}
		if err != nil || !deeper {
			return next, err
		}
		at, rest = next, more
	}
}

func openNext(at *os.Root, name string, barred map[identity]bool) (*os.Root, error) {
	looked, err := at.Lstat(name)
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // codeOf reads it.
	case looked.Mode()&fs.ModeSymlink != 0:
		return nil, errLinkInPath
	case !looked.IsDir():
		return nil, syscall.ENOTDIR
	case barred[stampOf(looked).identity]:
		return nil, errBarred
	}
	// The dot makes the system demand a folder: a pipe put here meanwhile would keep the open waiting for ever.
	next, err := at.OpenRoot(name + "/.")
	if err != nil {
		return nil, err //nolint:wrapcheck // codeOf reads it.
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(looked, opened) {
		err = errLinkInPath
	}
	if err != nil {
		_ = next.Close()
		return nil, err
	}
	return next, nil
}

// checkPath demands the one plain spelling of a path beneath the root, outside the private folders.
func checkPath(file string) error {
	if file == "" || file == "." || path.Clean(file) != file || path.IsAbs(file) || !utf8.ValidString(file) {
		return errBarred
	}
	if file == ".." || strings.HasPrefix(file, "../") || strings.ContainsRune(file, 0) {
		return errBarred
	}
	for part := range strings.SplitSeq(file, "/") {
		if strings.HasPrefix(part, privatePrefix) {
			return errBarred
		}
	}
	return nil
}

func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
