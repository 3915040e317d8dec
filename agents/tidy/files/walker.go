package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxOpenFolders = 32   // of one walk; deeper trees reopen on the way up
	readBatch      = 1024 // names read at once
	checkEvery     = 256  // entries between two looks at the context
)

// walker goes through a tree in bytewise order of whole paths. Between pages it holds names but no open folder.
type walker struct {
	top    identity
	dev    uint64
	barred map[identity]bool
	trash  identity
	uid    int
	groups map[uint32]bool

	after  string // nothing up to here is listed or counted
	listed int    // files, those of earlier pages too
	seen   map[identity]struct{}
	stack  []*frame
}

// frame is one folder on the way down.
type frame struct {
	path  string // relative to the root, ending in a slash; empty for the root
	names []string
	next  int
	stamp stamp
	fixed bool // the folder cannot be written
	open  *os.Root
}

// holds reports whether the file can only be read: its folder cannot be written, or lets everybody remove their own only.
func (f *frame) holds(file stamp, uid int) bool {
	if f.fixed || f.stamp.mode&fs.ModeSticky == 0 || uid == 0 {
		return f.fixed
	}
	return file.uid != uint32(uid) && f.stamp.uid != uint32(uid)
}

func (s *Service) newWalker(t *tree, after string) (*walker, error) {
	names, fixed, err := readNames(t.root)
	if err != nil {
		return nil, err
	}
	return &walker{
		top: t.stamp.identity, dev: t.stamp.dev, barred: t.barred, trash: s.trashFolder(),
		uid: s.uid, groups: ownGroups(), after: after, seen: map[identity]struct{}{},
		stack: []*frame{{names: names, stamp: t.stamp, fixed: fixed}},
	}, nil
}

func ownGroups() map[uint32]bool {
	groups := map[uint32]bool{uint32(os.Getgid()): true}
	list, err := os.Getgroups()
	if err != nil {
		return groups
	}
	for _, g := range list {
		groups[uint32(g)] = true
	}
	return groups
}

// page lists until the page is full or the tree is done.
func (w *walker) page(ctx context.Context, t *tree) (ScanResult, error) {
	defer w.pause()
	p := &page{result: ScanResult{Files: []File{}, Skipped: map[string]int{}, Fixed: w.fixed()}}
	w.stack[0].open = t.root
	for steps := 0; len(w.stack) > 0; steps++ {
		if steps%checkEvery == 0 && ctx.Err() != nil {
			return ScanResult{}, context.Cause(ctx) //nolint:wrapcheck // Scan wraps it.
		}
		top := w.stack[len(w.stack)-1]
		if top.next == len(top.names) {
			w.pop()
			continue
		}
		name := top.names[top.next]
		top.next++
		w.visit(t, top, name, p)
		if p.full {
			w.after = p.result.Next
			break
		}
	}
	p.result.Total = w.listed
	return p.result, nil
}

// fixed reports whether the root cannot be written.
func (w *walker) fixed() bool { return len(w.stack) > 0 && w.stack[0].fixed }

// page collects one result.
type page struct {
	result ScanResult
	size   int
	full   bool
}

func (p *page) add(path string, size int64, fixed bool) {
	p.result.Files = append(p.result.Files, File{path, size, fixed})
	p.size += jsonSize(path)
	if p.size > maxPage {
		p.full, p.result.Next = true, path
	}
}

// skip counts a reason, unless an earlier page did.
func (w *walker) skip(p *page, path, reason string) {
	if path > w.after {
		p.result.Skipped[reason]++
	}
}

func (w *walker) visit(t *tree, top *frame, name string, p *page) {
	path := top.path + name
	if !utf8.ValidString(name) {
		w.skip(p, path, SkipNotUTF8)
		return
	}
	if len(strings.TrimSuffix(path, "/")) > MaxPath {
		w.skip(p, path, SkipLongPath)
		return
	}
	if reason := skippedName(name); reason != "" {
		w.skip(p, path, reason)
		return
	}
	folder, err := w.folder(t, top)
	if err != nil {
		w.skip(p, path, SkipVanished)
		return
	}
	info, err := folder.Lstat(strings.TrimSuffix(name, "/"))
	if err != nil {
		w.skip(p, path, reasonFor(err))
		return
	}
	st := stampOf(info)
	if info.IsDir() != strings.HasSuffix(name, "/") {
		w.skip(p, path, SkipVanished) // something else is there now, out of order
		return
	}
	if reason := w.reasonAgainst(folder, name, st); reason != "" {
		w.skip(p, path, reason)
		return
	}
	if info.IsDir() {
		w.enter(folder, path, name, p)
		return
	}
	if w.again(st) {
		w.skip(p, path, SkipHardLink)
		return
	}
	w.listed++
	if path > w.after {
		p.add(path, st.size, top.holds(st, w.uid))
	}
}

func skippedName(name string) string {
	plain := strings.TrimSuffix(name, "/")
	switch {
	case plain == ".git":
		return SkipGit
	case strings.HasPrefix(plain, privatePrefix) && plain == name:
		return SkipPrivate
	case plain == name:
		return ""
	case plain == ".Trash", strings.HasPrefix(plain, ".Trash-"):
		return SkipTrash
	default:
		return ""
	}
}

func reasonFor(err error) string {
	if errors.Is(err, fs.ErrNotExist) || isNotFolder(err) {
		return SkipVanished
	}
	return SkipUnreadable
}

func (w *walker) reasonAgainst(folder *os.Root, name string, st stamp) string {
	switch {
	case st.mode&fs.ModeSymlink != 0:
		return SkipSymlink
	case !st.regular() && !st.mode.IsDir():
		return SkipSpecial
	case st.dev != w.dev:
		return SkipOtherFilesystem
	case w.barred[st.identity]:
		return SkipPrivate
	case strings.HasPrefix(name, privatePrefix):
		return SkipUnfinished
	case st.mode.IsDir() && st.identity == w.trash:
		return SkipTrash
	case st.mode.IsDir():
		return ""
	case st.size == 0:
		return SkipEmpty
	case !st.readableBy(w.uid, w.groups) && !opens(folder, name):
		return SkipUnreadable
	default:
		return ""
	}
}

// opens asks the system where the mode bits say no: an access list may still say yes.
func opens(folder *os.Root, name string) bool {
	f, _, err := openPlain(folder, name)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// again remembers the inode and reports whether it was met before. Files with one name need no remembering.
func (w *walker) again(st stamp) bool {
	if st.links < 2 {
		return false
	}
	if _, met := w.seen[st.identity]; met {
		return true
	}
	w.seen[st.identity] = struct{}{}
	return false
}

func (w *walker) enter(folder *os.Root, path, name string, p *page) {
	opened, err := openNext(folder, strings.TrimSuffix(name, "/"), nil)
	if err != nil {
		w.skip(p, path, reasonFor(err))
		return
	}
	names, fixed, err := readNames(opened)
	if err != nil {
		_ = opened.Close()
		w.skip(p, path, reasonFor(err))
		return
	}
	info, err := opened.Stat(".")
	if err != nil {
		_ = opened.Close()
		w.skip(p, path, reasonFor(err))
		return
	}
	w.stack = append(w.stack, &frame{path: path, names: names, stamp: stampOf(info), fixed: fixed, open: opened})
	if deep := len(w.stack) - maxOpenFolders; deep > 0 {
		w.shut(deep)
	}
}

// folder opens the frame's folder again when it was shut; it must still be the same one.
func (w *walker) folder(t *tree, f *frame) (*os.Root, error) {
	if f.open != nil {
		return f.open, nil
	}
	opened, err := openBelow(t.root, strings.TrimSuffix(f.path, "/"), nil)
	if err != nil {
		return nil, err
	}
	info, err := opened.Stat(".")
	if err == nil && stampOf(info).identity != f.stamp.identity {
		err = errOtherNow
	}
	if err != nil {
		_ = opened.Close()
		return nil, err
	}
	f.open = opened
	return opened, nil
}

func (w *walker) pop() {
	last := len(w.stack) - 1
	w.shut(last)
	w.stack[last] = nil
	w.stack = w.stack[:last]
}

// shut closes one folder. The root is the tree's.
func (w *walker) shut(i int) {
	f := w.stack[i]
	if i > 0 && f.open != nil {
		_ = f.open.Close()
	}
	f.open = nil
}

func (w *walker) pause() {
	for i := range w.stack {
		w.shut(i)
	}
}

// readNames reads a folder once and sorts it; folders carry a slash, because that is how their paths compare. Fixed says that the
// system lets this user change nothing in it.
func readNames(folder *os.Root) (names []string, fixed bool, err error) {
	dir, err := folder.Open(".")
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller gives it a reason.
	}
	defer func() { _ = dir.Close() }()
	for {
		batch, err := dir.ReadDir(readBatch)
		for _, entry := range batch {
			name := entry.Name()
			if entry.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err //nolint:wrapcheck // the caller gives it a reason.
		}
	}
	slices.Sort(names)
	return names, !writable(dir), nil
}
