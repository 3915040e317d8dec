package files

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	trashFiles   = "files"
	trashInfo    = "info"
	infoSuffix   = ".trashinfo"
	maxTrashName = 200 // bytes of the file's own name, so that a number and the suffix still fit
	maxTrashTry  = 10000
)

// trash is a trash folder on the file system of a tree (freedesktop.org trash specification 1.0). All work in it goes
// through a root opened at the top of that file system, so that files are moved and never copied.
type trash struct {
	s    *Service
	tree *tree
	top  *os.Root
	dir  string // of the trash, relative to top, with slashes
	abs  string
	base string // what Path in an info file is relative to; empty when it is absolute
	from string // the tree, relative to top
}

// openTrash finds, and where needed makes, the trash for the tree: the user's own when it lies on the same file system, else
// the one of the disk, $topdir/.Trash/$uid or $topdir/.Trash-$uid.
func (s *Service) openTrash(t *tree) (*trash, error) {
	topdir, err := s.topOf(t.path, t.stamp.dev)
	if err != nil {
		return nil, noTrash(t.path, err)
	}
	top, err := os.OpenRoot(topdir)
	if err != nil {
		return nil, noTrash(t.path, err)
	}
	b := &trash{s: s, tree: t, top: top}
	if err = b.home(topdir); err != nil {
		err = errors.Join(err, b.ofDisk(topdir))
		if b.dir == "" {
			b.close()
			return nil, noTrash(t.path, err)
		}
	}
	if b.from, err = slashRel(topdir, t.path); err == nil {
		err = b.fill()
	}
	if err != nil {
		b.close()
		return nil, noTrash(t.path, err)
	}
	return b, nil
}

func noTrash(root string, err error) error {
	return failure(ErrTrash, root, "there is no usable trash on the same disk; nothing was done",
		"choose deletion, or a folder on the disk of your home", err)
}

// topOf walks up to the highest folder of the same device.
func topOf(path string, dev uint64) (string, error) {
	for {
		up := filepath.Dir(path)
		info, err := os.Lstat(up)
		if err != nil {
			return "", err //nolint:wrapcheck // openTrash wraps it.
		}
		if up == path || stampOf(info).dev != dev {
			return path, nil
		}
		path = up
	}
}

func slashRel(top, path string) (string, error) {
	rel, err := filepath.Rel(top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q does not lie below %q: %w", path, top, errors.Join(err, errBarred))
	}
	return filepath.ToSlash(rel), nil
}

// home takes the user's own trash, if it lies on the tree's device.
func (b *trash) home(topdir string) error {
	if !filepath.IsAbs(b.s.homeTrash) {
		return fmt.Errorf("no home trash is known: %w", fs.ErrNotExist)
	}
	dev, err := deviceOf(b.s.homeTrash)
	if err != nil {
		return err
	}
	if dev != b.tree.stamp.dev {
		return fmt.Errorf("the home trash is on another file system: %w", syscall.EXDEV)
	}
	if err := os.MkdirAll(b.s.homeTrash, 0o700); err != nil {
		return err //nolint:wrapcheck // openTrash wraps it.
	}
	abs, err := filepath.EvalSymlinks(b.s.homeTrash)
	if err != nil {
		return err //nolint:wrapcheck // openTrash wraps it.
	}
	dir, err := slashRel(topdir, abs)
	if err != nil {
		return err
	}
	b.dir, b.abs = dir, abs
	return nil
}

// deviceOf gives the device of the path, or of its nearest folder that exists.
func deviceOf(path string) (uint64, error) {
	for {
		info, err := os.Stat(path)
		if err == nil {
			return stampOf(info).dev, nil
		}
		up := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || up == path {
			return 0, err //nolint:wrapcheck // openTrash wraps it.
		}
		path = up
	}
}

// ofDisk takes a trash at the top of the disk. The shared one counts only if it is not a link and sticky.
func (b *trash) ofDisk(topdir string) error {
	uid := strconv.Itoa(b.s.uid)
	candidates := []string{".Trash-" + uid}
	if info, err := b.top.Lstat(".Trash"); err == nil && info.IsDir() && info.Mode()&fs.ModeSticky != 0 {
		candidates = []string{".Trash/" + uid, ".Trash-" + uid}
	}
	var failures error
	for _, dir := range candidates {
		if err := b.ensureFolder(dir); err != nil {
			failures = errors.Join(failures, err)
			continue
		}
		b.dir, b.abs, b.base = dir, filepath.Join(topdir, filepath.FromSlash(dir)), topdir
		return nil
	}
	return failures
}

// ensureFolder makes the folder, or demands that it is one, no link, ours and on the same device.
func (b *trash) ensureFolder(dir string) error {
	if err := b.top.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err //nolint:wrapcheck // openTrash wraps it.
	}
	info, err := b.top.Lstat(dir)
	if err != nil {
		return err //nolint:wrapcheck // openTrash wraps it.
	}
	st := stampOf(info)
	if !info.IsDir() || int64(st.uid) != int64(b.s.uid) || st.dev != b.tree.stamp.dev {
		return fmt.Errorf("%q is not a folder of this user on this disk: %w", dir, fs.ErrPermission)
	}
	return nil
}

func (b *trash) fill() error {
	for _, sub := range []string{trashFiles, trashInfo} {
		if err := b.ensureFolder(path.Join(b.dir, sub)); err != nil {
			return err
		}
	}
	return nil
}

func (b *trash) folder() string { return b.abs }
func (b *trash) close()         { _ = b.top.Close() }

func (b *trash) fileOf(name string) string { return path.Join(b.dir, trashFiles, name) }
func (b *trash) infoOf(name string) string { return path.Join(b.dir, trashInfo, name+infoSuffix) }

// reserve writes the info file first, as the specification demands: making it is what takes the name.
func (b *trash) reserve(file string) (string, error) {
	own := shorten(path.Base(file))
	for try := 1; try <= maxTrashTry; try++ {
		name := own
		if try > 1 {
			name = own + "." + strconv.Itoa(try)
		}
		taken, err := b.reserveName(name, file)
		if err != nil {
			return "", failure(ErrBroken, b.abs, "the trash cannot be written", "make the trash writable", err)
		}
		if taken {
			return name, nil
		}
	}
	return "", &Error{Code: ErrBroken, Path: b.abs, Found: "has no free name for " + own, Hint: "empty the trash"}
}

// reserveName reports whether the name could be had.
func (b *trash) reserveName(name, file string) (bool, error) {
	// A file without its info is somebody's leftover, and not to be overwritten.
	if _, err := b.top.Lstat(b.fileOf(name)); err == nil {
		return false, nil
	}
	f, err := b.top.OpenFile(b.infoOf(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err //nolint:wrapcheck // reserve wraps it.
	}
	_, err = f.WriteString(b.info(file))
	if err = errors.Join(err, f.Close()); err != nil {
		b.cancel(name)
		return false, err
	}
	return true, nil
}

// info is the text that lets a desktop restore the file.
func (b *trash) info(file string) string {
	where := path.Join(filepath.ToSlash(b.tree.path), file)
	if b.base != "" {
		where = path.Join(b.from, file)
	}
	return "[Trash Info]\nPath=" + (&url.URL{Path: where}).EscapedPath() +
		"\nDeletionDate=" + b.s.now().Local().Format("2006-01-02T15:04:05") + "\n"
}

func (b *trash) cancel(name string) { _ = b.top.Remove(b.infoOf(name)) }

// finish gives the file its second name, in the trash, which never overwrites; then the private one goes.
func (b *trash) finish(p *private, i int, name string, st stamp) (int64, error) {
	source := path.Join(b.from, p.nameOf(i))
	err := b.s.link(b.top, source, b.fileOf(name))
	if noLinks(err) {
		// The name was free a moment ago and is ours by its info file.
		err = b.top.Rename(source, b.fileOf(name))
	}
	if err != nil {
		return 0, failure(ErrBroken, b.abs, "the file cannot be moved to the trash", "", err)
	}
	if !b.holds(name, st.identity) {
		return 0, &Error{Code: ErrBroken, Path: b.abs, Found: "another file arrived in the trash than was sent"}
	}
	if err := p.dir.Remove(strconv.Itoa(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = b.top.Remove(b.fileOf(name))
		return 0, err //nolint:wrapcheck // the run stops with it.
	}
	return st.size, nil
}

// holds reports whether that very file lies in the trash under the name.
func (b *trash) holds(name string, id identity) bool {
	info, err := b.top.Lstat(b.fileOf(name))
	return err == nil && stampOf(info).identity == id
}

// releaseName undoes what a crash left half done: the file still lies in the private folder, so its trash entry goes.
func (b *trash) releaseName(name string, id identity) {
	if b.holds(name, id) {
		_ = b.top.Remove(b.fileOf(name))
	}
	if _, err := b.top.Lstat(b.fileOf(name)); errors.Is(err, fs.ErrNotExist) {
		b.cancel(name)
	}
}

func shorten(name string) string {
	if len(name) <= maxTrashName {
		return name
	}
	cut := maxTrashName
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return strings.TrimRight(name[:cut], " ")
}
