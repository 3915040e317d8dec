package program

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// copiesPrefix begins the name of each folder of private copies.
const copiesPrefix = "earshot-programs-"

// Copies are private copies of programs, in a folder of this process that nobody else may enter. A copy lies there under the
// whole path of its program, and everything that lies beside the program, and beside each folder above it, is there as a link:
// a script finds its neighbours by $0, and a binary its libraries by its own path, as if they had been run where they are.
type Copies struct {
	parent   string // of the folder
	programs []*Program

	mu   sync.Mutex
	root string   // the folder; "" until the first copy is needed
	lock *os.File // the folder, held for as long as it is in use
	// names are those that are there, by the folder that they are an image of.
	names map[string]map[string]bool
}

// NewCopies keeps copies below a folder, which is made when the first is needed.
func NewCopies(parent string) *Copies { return &Copies{parent: parent} }

// Add says that a program will be run from here. All are added before the first is.
func (c *Copies) Add(b *Program) { c.programs = append(c.programs, b) }

// Ready makes sure that the private copy of a program is there and whole, and returns its path. The error is a [*LocationError],
// ErrChanged, or says why there can be no copy.
func (c *Copies) Ready(b *Program) (string, error) {
	file, err := b.open()
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	if b.inPlace {
		return b.file, nil
	}
	at, err := c.around(b)
	if err != nil {
		return "", err
	}
	// Twice: the copy that is there is looked at, and one that was just made is too.
	for range 2 {
		if matches(at+b.file, b) {
			return at + b.entry, nil
		}
		if err := c.write(at, b, file); err != nil {
			return "", err
		}
	}
	if matches(at+b.file, b) {
		return at + b.entry, nil
	}
	return "", ErrChanged
}

// matches reports whether a copy is what was bound.
func matches(path string, b *Program) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	sum, err := digest(file)
	return err == nil && sum == b.sum
}

// around makes the folder, and brings what lies around a program up to date. It returns the folder's image of /.
func (c *Copies) around(b *Program) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root != "" && !exists(c.root) {
		c.release() // somebody has cleaned up
	}
	if c.root == "" {
		if err := c.make(); err != nil {
			return "", err
		}
	}
	for _, path := range []string{b.file, b.entry} {
		for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
			if err := c.link(folder); err != nil {
				return "", err
			}
			if folder == "/" {
				break
			}
		}
	}
	return c.root, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// make makes the folder with an image of every folder that leads to a program.
func (c *Copies) make() error {
	parent, err := c.safeParent()
	if err != nil {
		return err
	}
	sweep(parent)
	root, lock, err := lockedFolder(parent)
	if err != nil {
		return err
	}
	c.root, c.lock, c.names = root, lock, map[string]map[string]bool{}
	if err = c.lay(); err != nil {
		c.remove()
	}
	return err
}

// safeParent is the folder of the folder without links, which others must not be able to put another one in place of.
func (c *Copies) safeParent() (string, error) {
	if err := os.MkdirAll(c.parent, 0o700); err != nil {
		return "", err //nolint:wrapcheck // the caller says what cannot be
	}
	parent, err := filepath.Abs(c.parent)
	if err == nil {
		parent, err = follow(parent)
	}
	if err == nil {
		err = checkWay(parent)
	}
	if err != nil {
		return "", errors.New(err.Error()) // it is not about the program
	}
	return parent, nil
}

// lay makes the images of folders. In the place of each copy there is a link to the program until the copy is made: another
// program may start it as its neighbour. A program that is named by a link has one here too.
func (c *Copies) lay() error {
	for _, b := range c.programs {
		c.reserve(b.file)
		c.reserve(b.entry)
	}
	for _, folder := range slices.Sorted(maps.Keys(c.names)) {
		if folder == "/" {
			continue
		}
		if err := os.Mkdir(c.root+folder, 0o700); err != nil {
			return err //nolint:wrapcheck // the caller says what cannot be
		}
	}
	for _, b := range c.programs {
		if err := errors.Join(c.point(b.file, b.file), c.point(b.entry, c.root+b.file)); err != nil {
			return err
		}
	}
	for folder := range c.names {
		if err := c.within(folder, func() error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// point makes a link in the place of a path, where there is none yet.
func (c *Copies) point(path, target string) error {
	if exists(c.root + path) {
		return nil
	}
	return os.Symlink(target, c.root+path) //nolint:wrapcheck // the caller says what cannot be
}

// reserve keeps the names on the way to a path for images and copies.
func (c *Copies) reserve(path string) {
	for path != "/" {
		folder := filepath.Dir(path)
		if c.names[folder] == nil {
			c.names[folder] = map[string]bool{}
		}
		c.names[folder][filepath.Base(path)] = true
		path = folder
	}
}

// link adds links to whatever has come to lie in a folder. One that may not be listed stays without.
func (c *Copies) link(folder string) error {
	there, err := namesIn(folder)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	there = slices.DeleteFunc(there, func(name string) bool { return c.names[folder][name] })
	if len(there) == 0 {
		return nil
	}
	return c.within(folder, func() error {
		for _, name := range there {
			if err := os.Symlink(filepath.Join(folder, name), filepath.Join(c.root+folder, name)); err != nil {
				return err //nolint:wrapcheck // the caller says what cannot be
			}
			c.names[folder][name] = true
		}
		return nil
	})
}

func namesIn(folder string) ([]string, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller looks at it
	}
	defer func() { _ = dir.Close() }()
	return dir.Readdirnames(-1) //nolint:wrapcheck // the caller looks at it
}

// within does something in the image of a folder, which is closed to all writing else: what a program wrote there would be lost.
func (c *Copies) within(folder string, do func() error) error {
	image := c.root + folder
	if err := os.Chmod(image, 0o700); err != nil { //nolint:gosec // A folder needs the right to be entered.
		return err //nolint:wrapcheck // the caller says what cannot be
	}
	err := do()
	if folder == "/" {
		return err // the copies that are being written lie there
	}
	return errors.Join(err, os.Chmod(image, 0o500)) //nolint:gosec // A folder needs the right to be entered.
}

// write puts the bytes of a file in the place of a program's copy, at once.
func (c *Copies) write(at string, b *Program, from *os.File) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err //nolint:wrapcheck // the caller says what cannot be
	}
	made, err := duplicate(from, at)
	if err == nil {
		err = c.within(filepath.Dir(b.file), func() error { return os.Rename(made, at+b.file) })
	}
	if err != nil {
		_ = os.Remove(made)
	}
	return err
}

// duplicate puts the bytes of a file in a new one of a folder, and returns its path. Meanwhile this process starts no program: one
// that is just being started has all open files of this process for a moment, and what is open for writing cannot be run. To hold
// the lock for the closing alone is not enough, because a program that counts as started still closes them.
func duplicate(from io.Reader, folder string) (string, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	to, err := os.CreateTemp(folder, copiesPrefix)
	if err != nil {
		return "", err //nolint:wrapcheck // the caller says what cannot be
	}
	_, err = io.Copy(to, from)
	return to.Name(), errors.Join(err, to.Chmod(0o500), to.Close())
}

// Close removes the copies.
func (c *Copies) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.root != "" {
		c.remove()
	}
}

func (c *Copies) remove() {
	removeCopies(c.root)
	c.release()
}

func (c *Copies) release() {
	_ = c.lock.Close()
	c.root, c.lock, c.names = "", nil, nil
}

// lockedFolder makes a folder and takes its lock, by which others see that it is in use; so do programs that clean up /tmp.
func lockedFolder(parent string) (string, *os.File, error) {
	for {
		root, err := os.MkdirTemp(parent, copiesPrefix)
		if err != nil {
			return "", nil, err //nolint:wrapcheck // the caller says what cannot be
		}
		lock, err := lockFolder(root)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK), errors.Is(err, fs.ErrNotExist):
			continue // another process took it for left behind before it was held
		case err != nil:
			return "", nil, errors.Join(err, os.Remove(root))
		case exists(root):
			return root, lock, nil
		}
		_ = lock.Close() // the same
	}
}

// lockFolder takes the lock of a folder of our own.
func lockFolder(root string) (*os.File, error) {
	dir, err := os.OpenFile(root, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what cannot be
	}
	info, err := dir.Stat()
	if err == nil {
		err = checkOwner(root, info)
	}
	if err == nil {
		err = unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		_ = dir.Close()
		return nil, err //nolint:wrapcheck // the caller says what cannot be
	}
	return dir, nil
}

// sweep removes the copies of processes that were killed.
func sweep(parent string) {
	names, err := namesIn(parent)
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name, copiesPrefix) {
			continue
		}
		root := filepath.Join(parent, name)
		if lock, err := lockFolder(root); err == nil {
			removeCopies(root)
			_ = lock.Close()
		}
	}
}

// removeCopies removes a folder whose folders are closed to writing.
func removeCopies(root string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // A folder needs the right to be entered.
		}
		return nil
	})
	_ = os.RemoveAll(root)
}
