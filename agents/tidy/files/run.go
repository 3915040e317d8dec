package files

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
)

// run is one removal under way.
type run struct {
	s        *Service
	op       string
	options  CallOptions
	tree     *tree
	items    []item
	listed   map[string]struct{} // every path that the call removes
	journal  *journal
	private  *private // nil until the first effect
	ending   ending
	survivor keeper
	reader   *reader
	meter    *meter
	result   DeleteResult
	resolved int  // items in the result
	touched  bool // an item was about to be touched, and the journal says so
	middle   bool
}

// newRun checks the arguments and takes the journal. Nothing that it does is an effect.
func (s *Service) newRun(op string, args DeleteArgs, options CallOptions) (*run, error) {
	if err := checkCall(options.Call); err != nil {
		return nil, err
	}
	if err := checkSets(args.Sets); err != nil {
		return nil, err
	}
	t, err := s.openTree(args.Root)
	if err != nil {
		return nil, err
	}
	end, err := s.newEnding(op, t)
	if err != nil {
		t.close()
		return nil, err
	}
	items := itemsOf(args)
	j, err := s.createJournal(options.Call, op, args)
	if err != nil {
		end.close()
		t.close()
		return nil, err
	}
	r := &run{
		s: s, op: op, options: options, tree: t, items: items, listed: map[string]struct{}{}, journal: j, ending: end,
		reader: newReader(), result: DeleteResult{Refused: []Refusal{}, Unclear: []string{}},
	}
	var total int64
	for _, it := range items {
		r.listed[it.path] = struct{}{}
		total += 2 * it.set.Size
	}
	r.meter = newMeter(options.Progress, total)
	return r, nil
}

func checkCall(call string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	if call == "" || len(call) > 128 || strings.Trim(call, allowed) != "" {
		return &Error{Code: ErrBadArgs, Path: call, Found: "is not a call id that a file can be named after"}
	}
	return nil
}

func checkSets(sets []Set) error {
	for i := range sets {
		set := &sets[i]
		sum, err := hex.DecodeString(set.SHA256)
		if err != nil || len(sum) != 32 || set.SHA256 != strings.ToLower(set.SHA256) {
			return &Error{Code: ErrBadArgs, Path: set.Survivor, Found: "the set's sha256 is not 64 lower-case hexadecimal digits"}
		}
		if set.Size <= 0 {
			return &Error{Code: ErrBadArgs, Path: set.Survivor, Found: "the set's size is not more than 0"}
		}
	}
	return nil
}

func (r *run) close() {
	r.journal.close()
	if r.private != nil {
		r.private.close()
	}
	r.ending.close()
	r.tree.close()
}

func (r *run) all(ctx context.Context) error {
	base := int64(0)
	for i := range r.items {
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		if err := r.one(ctx, i); err != nil {
			return err
		}
		base += 2 * r.items[i].set.Size
		r.meter.to(base)
	}
	return nil
}

func stopped(ctx context.Context) error {
	return &Error{Code: ErrStopped, Found: "stopped on request", Err: context.Cause(ctx)}
}

// one settles an item, or leaves it untouched and returns why the call cannot go on.
func (r *run) one(ctx context.Context, i int) error {
	it := r.items[i]
	victim, code := r.check(ctx, it)
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if code != "" {
		r.resolve(i, entry{Code: code})
		return nil
	}
	r.s.step("checked", it.path)
	if err := r.begin(); err != nil {
		return err
	}
	if err := r.journal.before(i, it.path, victim); err != nil {
		return err
	}
	r.touched = true
	r.s.step("before", it.path)
	if err := r.private.bring(i, it.path); err != nil {
		return r.moveFailed(i, err)
	}
	r.s.step("moved", it.path)
	moved, code := r.private.check(ctx, r, i, it, victim)
	if ctx.Err() != nil {
		return r.abandonItem(i, it, stopped(ctx))
	}
	if code != "" {
		return r.putBack(i, it, code)
	}
	return r.finish(ctx, i, it, moved)
}

// finish takes the last look and removes the file for good.
func (r *run) finish(ctx context.Context, i int, it item, moved stamp) error {
	name, err := r.ending.reserve(it.path)
	if err != nil {
		return r.abandonItem(i, it, err)
	}
	if err := r.journal.leave(i, moved.links, name, r.ending.folder()); err != nil {
		r.ending.cancel(name)
		return r.abandonItem(i, it, err)
	}
	r.s.step("leaving", it.path)
	code := r.survivor.check(ctx, r, moved)
	if code == "" && !r.private.still(i, moved) {
		code = CodeChanged
	}
	if ctx.Err() != nil {
		r.ending.cancel(name)
		return r.abandonItem(i, it, stopped(ctx))
	}
	if code != "" {
		r.ending.cancel(name)
		return r.putBack(i, it, code)
	}
	bytes, err := r.ending.finish(r.private, i, name, moved)
	if err != nil {
		r.ending.cancel(name)
		return r.abandonItem(i, it, err)
	}
	r.s.step("gone", it.path)
	if !r.middle && i >= (len(r.items)-1)/2 {
		r.middle = true
		r.reached(r.op + ".middle")
	}
	r.resolve(i, entry{Bytes: bytes})
	return nil
}

func (r *run) reached(point string) {
	if r.options.Reached != nil {
		r.options.Reached(point)
	}
}

// resolve notes what became of an item; the note reaches the disk before anything else is touched.
func (r *run) resolve(i int, e entry) {
	e.Kind, e.Item = kindAfter, i
	r.journal.after(e)
	r.result.record(i, r.items[i].path, e)
	r.resolved++
}

// begin is passed once, right before the first effect.
func (r *run) begin() error {
	if r.private != nil {
		return nil
	}
	if r.options.Before != nil {
		if err := r.options.Before(); err != nil {
			return &Error{Code: ErrTooLate, Found: "nothing was done: the check before the first effect failed", Err: err}
		}
	}
	p, err := r.s.makePrivate(r.tree, r.options.Call)
	if err != nil {
		return err
	}
	r.private = p
	return nil
}

// check looks at the victim where it lies, and at its survivor.
func (r *run) check(ctx context.Context, it item) (stamp, Code) {
	r.tree.forget()
	f, st, err := r.tree.open(it.path)
	if err != nil {
		return stamp{}, codeOf(err)
	}
	defer func() { _ = f.Close() }()
	if st.dev != r.tree.stamp.dev {
		return stamp{}, CodeEscapesRoot
	}
	if st.size != it.set.Size {
		return stamp{}, CodeChanged
	}
	sum, _, err := r.reader.whole(ctx, f, st, r.meter)
	if err != nil {
		return stamp{}, codeOf(err)
	}
	if sum != it.set.SHA256 {
		return stamp{}, CodeChanged
	}
	r.survivor.turnTo(it.set)
	return st, r.survivor.check(ctx, r, st)
}

// moveFailed sorts the failures of the move: the file lies where it lay.
func (r *run) moveFailed(i int, err error) error {
	code, known := codeOfMove(err)
	if !known {
		r.resolve(i, entry{Code: codeNotReached})
		return failure(ErrBroken, r.items[i].path, "cannot be moved", "", err)
	}
	r.resolve(i, entry{Code: code})
	return nil
}

// abandonItem puts the file back because the call must stop here.
func (r *run) abandonItem(i int, it item, cause error) error {
	return errors.Join(cause, r.putBack(i, it, codeNotReached))
}

// putBack returns the file to its place and settles the item with the code. A place that is taken or gone keeps the file where it is.
func (r *run) putBack(i int, it item, code Code) error {
	// Even an unwritable journal must not keep the file from its place: without the line it is found by looking.
	journalErr := r.journal.restore(i)
	r.s.step("restoring", it.path)
	switch err := r.private.putBack(r.tree, i, it.path); {
	case err == nil:
		r.resolve(i, entry{Code: code})
	case errors.Is(err, errLost):
		r.resolve(i, entry{Code: codeUnclear})
		return &Error{
			Code: ErrPrivateFolder, Path: it.path, Found: "was taken out of the private folder " + r.private.name + " by somebody else",
			Err: journalErr,
		}
	default:
		r.resolve(i, entry{Code: CodeChanged, Kept: r.private.nameOf(i)})
	}
	return journalErr
}

// end closes the books of a call that went through its whole list.
func (r *run) end() error {
	if r.private != nil {
		r.private.removeIfEmpty()
	}
	return r.journal.end()
}

// abandon closes the books as far as they can be: what is written is exact, and Reconcile finds the same.
// A call that had no effect leaves nothing behind.
func (r *run) abandon() {
	if r.private != nil {
		r.private.removeIfEmpty()
	}
	if !r.touched {
		r.journal.remove()
		return
	}
	_ = r.journal.flush()
}

func asError(err error, target **Error) bool { return errors.As(err, target) }
