package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// errLost: the file is not where it was put; somebody works inside the private folder.
var errLost = errors.New("not in the private folder any more")

// private is the folder that holds the file in hand, at the root of the tree. Its files are named by their number in the list.
type private struct {
	s    *Service
	tree *tree
	name string
	dir  *os.Root
	lock *os.File // nil where folders cannot be locked
}

// makePrivate makes the call's own folder; one that exists already belongs to somebody else.
func (s *Service) makePrivate(t *tree, call string) (*private, error) {
	name := privatePrefix + call
	if err := t.root.Mkdir(name, 0o700); err != nil {
		return nil, failure(ErrPrivateFolder, path.Join(t.path, name), "the private folder cannot be made",
			"the folder must be writable, and nothing may have this name", err)
	}
	p, err := s.openPrivate(t, call)
	if err != nil {
		_ = t.root.Remove(name)
		return nil, wrapped(ErrPrivateFolder, "the private folder cannot be used", err)
	}
	return p, nil
}

// openPrivate opens the folder that the call made, and locks it: anyone who works in it is alive, whether or not its journal
// can still be found. It must be on the root's file system and closed to others.
func (s *Service) openPrivate(t *tree, call string) (*private, error) {
	name := privatePrefix + call
	dir, err := openNext(t.root, name, nil)
	if err != nil {
		return nil, err
	}
	info, err := dir.Stat(".")
	if err == nil {
		st := stampOf(info)
		if st.dev != t.stamp.dev || int64(st.uid) != int64(s.uid) || st.mode.Perm()&0o022 != 0 {
			err = &Error{Code: ErrPrivateFolder, Path: path.Join(t.path, name), Found: "is not the folder that was made"}
		}
	}
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	p := &private{s: s, tree: t, name: name, dir: dir}
	if err := p.lockFolder(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// lockFolder locks the folder. A file system that locks no folders is not an obstacle: the journal's lock says the same.
func (p *private) lockFolder() error {
	f, err := p.dir.Open(".")
	if err != nil {
		return err //nolint:wrapcheck // the callers say which folder.
	}
	taken, err := lock(f)
	if err == nil && !taken {
		_ = f.Close()
		return &Error{
			Code: ErrBusy, Path: path.Join(p.tree.path, p.name), Found: "the process that runs this call is still alive", Hint: "wait for its result",
		}
	}
	p.lock = f
	return nil
}

func (p *private) close() {
	if p.lock != nil {
		unlock(p.lock)
		_ = p.lock.Close()
	}
	_ = p.dir.Close()
}

func (p *private) nameOf(i int) string { return p.name + "/" + strconv.Itoa(i) }

// bring moves a file in. The number must be free; only this process writes here.
func (p *private) bring(i int, file string) error {
	return p.tree.root.Rename(file, p.nameOf(i)) //nolint:wrapcheck // codeOfMove reads it.
}

// codeOfMove sorts the failures of a move; an unknown one should stop the call.
func codeOfMove(err error) (Code, bool) {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return CodeVanished, true
	case errors.Is(err, syscall.EXDEV):
		return CodeEscapesRoot, true
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.ETXTBSY):
		return CodeNotPermitted, true
	default:
		return "", false
	}
}

// check reads the moved file again: it must be the one that was checked, with the content of its set.
func (p *private) check(ctx context.Context, r *run, i int, it item, victim stamp) (stamp, Code) {
	f, st, err := openPlain(p.dir, strconv.Itoa(i))
	if err != nil {
		return stamp{}, CodeChanged
	}
	defer func() { _ = f.Close() }()
	if st.identity != victim.identity || st.size != victim.size {
		return stamp{}, CodeChanged
	}
	sum, after, err := r.reader.whole(ctx, f, st, r.meter)
	if err != nil || sum != it.set.SHA256 {
		return stamp{}, CodeChanged
	}
	r.s.step("read", it.path)
	return after, ""
}

// still reports whether nothing was written to the moved file since it was read.
func (p *private) still(i int, read stamp) bool {
	info, err := p.dir.Lstat(strconv.Itoa(i))
	return err == nil && stampOf(info) == read
}

// unlink removes the file for good and says how many bytes that set free.
func (p *private) unlink(i int) (int64, error) {
	f, st, err := openPlain(p.dir, strconv.Itoa(i))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	if err := p.dir.Remove(strconv.Itoa(i)); err != nil {
		return 0, err //nolint:wrapcheck // the run stops with it.
	}
	info, err := f.Stat()
	if err != nil || stampOf(info).links > 0 {
		return 0, nil
	}
	return st.size, nil
}

// putBack returns a file to its place, never over another, and never through a link.
func (p *private) putBack(t *tree, i int, file string) error {
	info, err := p.dir.Lstat(strconv.Itoa(i))
	if err != nil {
		return errLost
	}
	t.forget()
	if _, _, err := t.parent(file); err != nil {
		return err
	}
	err = p.s.link(t.root, p.nameOf(i), file)
	if noLinks(err) {
		err = p.moveBack(t, i, file)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Whatever lies there now, by the way without links, must be this very file before its other name goes.
	t.forget()
	now, err := t.stat(file)
	if err != nil {
		return err
	}
	if now.identity != stampOf(info).identity {
		return fs.ErrExist
	}
	if err := p.dir.Remove(strconv.Itoa(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err //nolint:wrapcheck // the file is reported as kept.
	}
	return nil
}

// noLinks reports whether the file or its file system takes no further name: FAT, some network disks, folders, foreign files.
func noLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EOPNOTSUPP) ||
		errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EMLINK)
}

// moveBack stands in for a link: it takes the place with an empty file, which fails if something is there, and moves over that.
func (p *private) moveBack(t *tree, i int, file string) error {
	info, err := p.dir.Lstat(strconv.Itoa(i))
	if err != nil {
		return errLost
	}
	if info.IsDir() {
		// A folder that got here by an exchange at the last moment: a move over anything but an empty folder fails by itself.
		return t.root.Rename(p.nameOf(i), file) //nolint:wrapcheck // the file is reported as kept.
	}
	holder, err := t.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err //nolint:wrapcheck // the file is reported as kept.
	}
	defer func() { _ = holder.Close() }()
	mine, err := holder.Stat()
	if err != nil {
		return err //nolint:wrapcheck // the file is reported as kept.
	}
	now, err := t.root.Lstat(file)
	if err != nil || !os.SameFile(mine, now) || now.Size() != 0 {
		return fs.ErrExist
	}
	if err := t.root.Rename(p.nameOf(i), file); err != nil {
		_ = t.root.Remove(file)
		return err //nolint:wrapcheck // the file is reported as kept.
	}
	return nil
}

// removeIfEmpty takes the folder away unless a file had to stay in it.
func (p *private) removeIfEmpty() { _ = p.tree.root.Remove(p.name) }

// notReadable says which private folder cannot be looked into, unless the failure says more already.
func notReadable(folder string, err error) error {
	if already := (*Error)(nil); errors.As(err, &already) {
		return err
	}
	return &Error{Code: ErrPrivateFolder, Path: folder, Found: "the private folder cannot be read", Err: err}
}

// held lists what lies in the folder: the numbers of items of the list, and the paths of everything else.
func (p *private) held(items int) (numbers map[int]bool, strays []string, err error) {
	names, _, err := readNames(p.dir)
	if err != nil {
		return nil, nil, &Error{Code: ErrPrivateFolder, Path: path.Join(p.tree.path, p.name), Found: "cannot be listed", Err: err}
	}
	numbers = map[int]bool{}
	for _, name := range names {
		name = strings.TrimSuffix(name, "/")
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= items || strconv.Itoa(i) != name {
			strays = append(strays, p.name+"/"+strings.ToValidUTF8(name, "\uFFFD"))
			continue
		}
		numbers[i] = true
	}
	return numbers, strays, nil
}
