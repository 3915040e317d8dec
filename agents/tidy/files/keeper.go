package files

import (
	"context"
	"errors"
	"io/fs"
)

// keeper watches the survivor of one set: it is read once, and again whenever a look at it shows a change.
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

// check returns the empty code if the survivor is a whole file of its own that the call leaves alone.
func (k *keeper) check(ctx context.Context, r *run, victim stamp) Code {
	if _, listed := r.listed[k.set.Keep]; listed {
		return CodeKeepChanged
	}
	r.tree.forget()
	now, err := r.tree.look(k.set.Keep)
	if err != nil {
		return keepCode(err)
	}
	if !now.regular() || now.size != k.set.Size || now.identity == victim.identity {
		return CodeKeepChanged
	}
	if k.known && now == k.whole {
		return ""
	}
	k.known = false
	f, opened, err := r.tree.open(k.set.Keep)
	if err != nil {
		return keepCode(err)
	}
	defer func() { _ = f.Close() }()
	if opened.identity == victim.identity {
		return CodeKeepChanged
	}
	sum, after, err := r.reader.whole(ctx, f, opened, silent())
	if err != nil || sum != k.set.SHA256 {
		return CodeKeepChanged
	}
	k.whole, k.known = after, true
	return ""
}

// keepCode translates a failure to reach the survivor.
func keepCode(err error) Code {
	switch {
	case errors.Is(err, errBarred), errors.Is(err, errLinkInPath):
		return CodeEscapesRoot
	case errors.Is(err, fs.ErrNotExist), isNotFolder(err):
		return CodeKeepMissing
	default:
		return CodeKeepChanged
	}
}

// silent is a meter that nobody reads.
func silent() *meter { return newMeter(nil, 0) }
