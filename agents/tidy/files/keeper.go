package files

import (
	"context"
	"errors"
	"io/fs"
)

// keeper watches the survivor of one set: it reads it once, and again whenever its stamp has changed.
type keeper struct {
	set   *Set
	whole stamp // of the survivor when its content was last read and right
	known bool
}

// turnTo starts to watch the set's survivor.
func (k *keeper) turnTo(set *Set) {
	if k.set != set {
		*k = keeper{set: set}
	}
}

// check returns the empty code if the survivor is an intact, separate file that the call does not remove.
func (k *keeper) check(ctx context.Context, r *run, victim stamp) Code {
	if _, listed := r.listed[k.set.Survivor]; listed {
		return CodeSurvivorChanged
	}
	r.tree.forget()
	now, err := r.tree.stat(k.set.Survivor)
	if err != nil {
		return survivorCode(err)
	}
	if !now.regular() || now.size != k.set.Size || now.identity == victim.identity {
		return CodeSurvivorChanged
	}
	if k.known && now == k.whole {
		return ""
	}
	k.known = false
	f, opened, err := r.tree.open(k.set.Survivor)
	if err != nil {
		return survivorCode(err)
	}
	defer func() { _ = f.Close() }()
	if opened.identity == victim.identity {
		return CodeSurvivorChanged
	}
	sum, after, err := r.reader.whole(ctx, f, opened, silent())
	if err != nil || sum != k.set.SHA256 {
		return CodeSurvivorChanged
	}
	k.whole, k.known = after, true
	return ""
}

// survivorCode translates a failure to reach the survivor.
func survivorCode(err error) Code {
	switch {
	case errors.Is(err, errBarred), errors.Is(err, errLinkInPath):
		return CodeEscapesRoot
	case errors.Is(err, fs.ErrNotExist), isNotFolder(err):
		return CodeSurvivorMissing
	default:
		return CodeSurvivorChanged
	}
}

// silent is a meter that reports nothing.
func silent() *meter { return newMeter(nil, 0) }
