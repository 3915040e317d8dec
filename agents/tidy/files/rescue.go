package files

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
)

// A call whose journal does not tell may have left a file in its private folder: the process died between the
// move and the removal. rescue puts it back.

// withoutJournal answers for a call that has no journal: it never began if that is proven, else nobody knows. What is not
// known now stays unknown: a line of its own keeps a later reconciliation, and a new start, from another view.
func (s *Service) withoutJournal(ctx context.Context, call string, args DeleteArgs) (Outcome, DeleteResult, error) {
	result := emptyResult(args)
	left, err := s.rescue(ctx, call, args, true)
	result.Unclear = left.unclear
	if err != nil && len(left.unclear) > 0 {
		err = errors.Join(err, s.noteLost(call, args))
	}
	if err != nil {
		return Unknown, result, err
	}
	defer left.close()
	missing := s.neverBegan(call)
	if left.folder != nil {
		missing = s.lost("has no journal of this call, which had begun: "+strconv.Quote(path.Join(args.Root, left.folder.name))+" is its folder", nil)
	}
	if missing == nil {
		return NotBegun, result, nil
	}
	if err := s.noteLost(call, args); err != nil {
		return Unknown, result, errors.Join(missing, err)
	}
	left.removeIfEmpty() // only now: until then it is the proof that the call had begun
	return Unknown, result, left.named(missing)
}

func (s *Service) noteLost(call string, args DeleteArgs) error {
	j, err := s.createJournal(call, "", args, entry{Kind: kindLost})
	if err != nil {
		return err
	}
	j.close()
	return nil
}

// unwritten answers for a journal without lines. The first one is on the disk before the private folder is made: if
// that is there, the lines were lost.
func (s *Service) unwritten(ctx context.Context, call string, args DeleteArgs, j *journal) (Outcome, DeleteResult, error) {
	t, err := s.openTree(args.Root)
	if err != nil {
		return Unknown, emptyResult(args), err
	}
	_, err = t.root.Lstat(privatePrefix + call)
	t.close()
	j.remove()
	if errors.Is(err, fs.ErrNotExist) {
		return NotBegun, emptyResult(args), nil
	}
	return s.withoutJournal(ctx, call, args)
}

// withoutBooks answers for a call whose journal is damaged, belongs to another call, or was missed before.
func (s *Service) withoutBooks(ctx context.Context, call string, args DeleteArgs, cause error) (Outcome, DeleteResult, error) {
	result := emptyResult(args)
	left, err := s.rescue(ctx, call, args, !errors.Is(cause, errOtherCall))
	result.Unclear = left.unclear
	if err != nil {
		return Unknown, result, errors.Join(cause, err)
	}
	defer left.close()
	left.removeIfEmpty()
	return Unknown, result, left.named(cause)
}

// left is what a call left in its root.
type left struct {
	tree    *tree
	folder  *private // nil when there is none
	unclear []string // what lies in it, relative to the root
}

func (l *left) close() {
	if l.folder != nil {
		l.folder.close()
	}
	if l.tree != nil {
		l.tree.close()
	}
}

func (l *left) removeIfEmpty() {
	if l.folder != nil {
		l.folder.removeIfEmpty()
	}
}

// named adds to the failure where files lie.
func (l *left) named(cause error) error {
	failure := &Error{}
	if len(l.unclear) == 0 || !asError(cause, &failure) {
		return cause
	}
	reported := *failure
	reported.Hint = strconv.Itoa(len(l.unclear)) + " left in " + strconv.Quote(path.Join(l.tree.path, l.folder.name)) + ": move back by hand what is yours"
	return &reported
}

// rescue puts the files in the call's private folder back where the list says they came from, if the list is the call's, their content
// says so too and the place is free. Whatever else is there stays, and is named.
func (s *Service) rescue(ctx context.Context, call string, args DeleteArgs, listed bool) (*left, error) {
	l := &left{unclear: []string{}}
	t, err := s.openTree(args.Root)
	if err != nil {
		return l, err
	}
	l.tree = t
	p, err := s.openPrivate(t, call)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if errors.Is(err, &Error{Code: ErrBusy}) {
		l.close()
		return l, err
	}
	if err != nil {
		l.close()
		l.unclear = append(l.unclear, privatePrefix+call)
		return l, notReadable(path.Join(t.path, privatePrefix+call), err)
	}
	l.folder = p
	items := itemsOf(args)
	held, strays, err := p.held(len(items))
	if err != nil {
		l.close()
		l.unclear = append(l.unclear, p.name)
		return l, err
	}
	l.unclear = append(l.unclear, strays...)
	r := newReader()
	for i := range items {
		if !held[i] {
			continue
		}
		if !listed || !p.equals(ctx, r, i, items[i].set) || p.putBack(t, i, items[i].path) != nil {
			l.unclear = append(l.unclear, p.nameOf(i))
		}
	}
	slices.Sort(l.unclear)
	return l, nil
}

// equals reports whether the file has the content of the set.
func (p *private) equals(ctx context.Context, r *reader, i int, set *Set) bool {
	f, st, err := openPlain(p.dir, strconv.Itoa(i))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	sum, _, err := r.whole(ctx, f, st, silent())
	return err == nil && st.size == set.Size && sum == set.SHA256
}
