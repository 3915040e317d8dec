package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
)

// Outcome says what a reconciliation found.
type Outcome int

// The outcomes of [Service.Reconcile].
const (
	// Unknown: it cannot be told; somebody must look.
	Unknown Outcome = iota
	// NotBegun: nothing was done, and the call may be started while its consent is fresh.
	NotBegun
	// Done: the result beside it is all that was done and will be done.
	Done
)

// String names the outcome.
func (o Outcome) String() string {
	switch o {
	case NotBegun:
		return "not begun"
	case Done:
		return "done"
	case Unknown:
		return "unknown"
	default:
		return "outcome " + strconv.Itoa(int(o))
	}
}

// Reconcile finds out, after a crash, what became of a call to [Service.Delete] or [Service.Trash] with these arguments, and puts back
// the file that was in hand. It never removes a listed file. Asked again, it gives the same outcome.
// NotBegun is said only if the journal shows it, or if there is no journal, no private folder of the call, and the folder of the journals
// is older than the call by its id, which must end in a UUIDv7.
// With Unknown comes an *[Error] that says why: busy while the call's process still lives, journal_failed for a journal
// that is damaged, may be lost, or belongs to other arguments, or the root's codes. Even then a file in the private folder
// goes back to its free place, or else is named in Unclear; the other fields of the result mean nothing then.
func (s *Service) Reconcile(ctx context.Context, call string, args DeleteArgs) (Outcome, DeleteResult, error) {
	none := emptyResult(args)
	if err := checkCall(call); err != nil {
		return Unknown, none, err
	}
	j, lines, err := s.openJournal(call)
	if errors.Is(err, fs.ErrNotExist) {
		return s.withoutJournal(ctx, call, args)
	}
	if errors.Is(err, &Error{Code: ErrBusy}) {
		return Unknown, emptyResult(args), err
	}
	if err != nil {
		return s.withoutBooks(ctx, call, args, err)
	}
	defer j.close()
	b, err := readBooks(call, args, lines)
	if err != nil {
		return s.withoutBooks(ctx, call, args, journalError(j.path, "does not tell what was done", err))
	}
	if b.lost {
		return s.withoutBooks(ctx, call, args, s.lost("had no journal of this call when it was asked for", nil))
	}
	if !b.begun {
		return s.unwritten(ctx, call, args, j)
	}
	t, err := s.openTree(args.Root)
	if err != nil && b.ended {
		return Done, b.result(), nil
	}
	if err != nil {
		return Unknown, b.result(), err
	}
	defer t.close()
	return s.resolveOpen(ctx, call, t, j, b)
}

// resolveOpen looks for the items in hand and closes the journal. A closed one is looked at again only for what a power cut
// brought back into the private folder.
func (s *Service) resolveOpen(ctx context.Context, call string, t *tree, j *journal, b *books) (Outcome, DeleteResult, error) {
	p, err := s.openPrivate(t, call)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(t.path, call, b, err)
	}
	if p != nil {
		defer p.close()
	}
	if b.ended && p == nil {
		return Done, b.result(), nil
	}
	if b.empty() && !b.ended && (p == nil || p.isEmpty()) {
		// Nothing was ever about to be touched: a new start finds the place clean.
		if p != nil {
			p.removeIfEmpty()
		}
		j.remove()
		return NotBegun, b.result(), nil
	}
	l := &looker{ctx: ctx, s: s, tree: t, private: p, books: b, reader: newReader()}
	if err := l.all(j); err != nil {
		return Unknown, b.result(), err
	}
	if p != nil {
		p.removeIfEmpty()
	}
	if b.ended && len(j.waiting) == 0 {
		return Done, b.result(), nil
	}
	if err := j.end(); err != nil {
		return Unknown, b.result(), err
	}
	return Done, b.result(), nil
}

// unreadable names a private folder that cannot be looked into. What a closed journal says stays true.
func unreadable(root, call string, b *books, err error) (Outcome, DeleteResult, error) {
	b.strays = []string{privatePrefix + call}
	if b.ended {
		return Done, b.result(), nil
	}
	return Unknown, b.result(), notReadable(path.Join(root, privatePrefix+call), err)
}

// looker finds out where the items in hand are.
type looker struct {
	ctx     context.Context //nolint:containedctx // lives as long as one Reconcile.
	s       *Service
	tree    *tree
	private *private
	books   *books
	reader  *reader
}

func (l *looker) all(j *journal) error {
	held := map[int]bool{}
	if l.private != nil {
		var err error
		if held, l.books.strays, err = l.private.held(len(l.books.items)); err != nil {
			l.books.strays = []string{l.private.name}
			return err
		}
	}
	for i := range l.books.items {
		state := &l.books.states[i]
		// An item that counts as gone but lies in the private folder came back with a power cut.
		returned := held[i] && state.after != nil && state.after.Kept == ""
		// One that was never about to be touched cannot lie there, unless a line was lost with the power.
		if state.before == nil && !held[i] || state.after != nil && !returned {
			continue
		}
		e, err := l.resolve(i, state, held[i])
		if err != nil {
			return err
		}
		e.Kind, e.Item = kindAfter, i
		state.after = &e
		j.after(e)
	}
	return nil
}

// resolve settles one item. What lies in the private folder goes back; what is gone from everywhere was removed by
// this call only if nothing but the removal was left to do.
func (l *looker) resolve(i int, state *state, held bool) (entry, error) {
	path := l.books.items[i].path
	if held {
		if err := l.clearTrash(state); err != nil {
			return entry{}, err
		}
		if l.private.putBack(l.tree, i, path) == nil {
			return entry{Code: codeNotReached}, nil
		}
		return entry{Code: CodeChanged, Kept: l.private.nameOf(i)}, nil
	}
	id := identity{state.before.Dev, state.before.Ino}
	l.tree.forget()
	now, err := l.tree.stat(path)
	here := err == nil && now.identity == id
	same := here && now.size == state.before.Size && now.mtime == state.before.MTime
	switch {
	case same, here && state.leave == nil:
		return l.whole(i)
	case state.restoring:
		// Its private name goes only after it had its own again: it was put back, and changed since.
		return entry{Code: CodeChanged}, nil
	case state.leave != nil:
		return entry{Bytes: l.freed(state)}, nil
	default:
		return entry{Code: codeUnclear}, nil
	}
}

// whole tells an untouched file from one that somebody else changed meanwhile.
func (l *looker) whole(i int) (entry, error) {
	it := l.books.items[i]
	l.tree.forget()
	sum, _, err := l.reader.hash(l.ctx, l.tree, it.path, silent())
	switch {
	case l.ctx.Err() != nil:
		return entry{}, stopped(l.ctx)
	case err != nil:
		return entry{Code: codeOf(err)}, nil
	case sum != it.set.SHA256:
		return entry{Code: CodeChanged}, nil
	default:
		return entry{Code: codeNotReached}, nil
	}
}

// freed counts no bytes for a file that had a further name at the last look before its removal.
func (l *looker) freed(state *state) int64 {
	if l.books.op == "delete" && state.leave.Links > 1 {
		return 0
	}
	return state.before.Size
}

// clearTrash removes the file's entry in the trash before it goes back to its place.
func (l *looker) clearTrash(state *state) error {
	if state.before == nil || state.leave == nil || state.leave.Trash == "" {
		return nil
	}
	root, err := os.OpenRoot(state.leave.Trash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &Error{Code: ErrTrash, Path: state.leave.Trash, Found: "cannot be opened", Err: err}
	}
	b := &trash{s: l.s, top: root, dir: ".", abs: state.leave.Trash}
	defer b.close()
	b.releaseName(state.leave.Name, identity{state.before.Dev, state.before.Ino})
	return nil
}

// isEmpty reports whether no file lies in the folder.
func (p *private) isEmpty() bool {
	held, strays, err := p.held(0)
	return err == nil && len(held)+len(strays) == 0
}
