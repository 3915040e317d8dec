// Package active knows which turns of a ledger a kernel works on: lets workers claim, ticks, and sends the messages of.
//
// A kernel works on every open turn, except those that wait until they are resumed; or on those alone that were begun or resumed
// with it, where several programs share a ledger and each has its own.
package active

import (
	"maps"
	"slices"
	"sync"
)

// Turns are the turns that a kernel works on. Make them with [New]. The methods may be called concurrently.
type Turns struct {
	ownOnly bool

	mu     sync.Mutex
	own    map[string]string // turns that were begun or resumed here, with their sessions; only with ownOnly
	parked map[string]string // turns that wait until they are resumed, with their sessions
}

// New returns the turns of a kernel that works on every turn, or on its own only.
func New(ownOnly bool) *Turns {
	return &Turns{ownOnly: ownOnly, own: map[string]string{}, parked: map[string]string{}}
}

// Has reports whether the kernel works on a turn.
func (t *Turns) Has(turn string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ownOnly {
		_, own := t.own[turn]
		return own
	}
	_, parked := t.parked[turn]
	return !parked
}

// HasSession reports whether the kernel works on the turn of a session.
func (t *Turns) HasSession(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ownOnly {
		return slices.Contains(slices.Collect(maps.Values(t.own)), session)
	}
	return !slices.Contains(slices.Collect(maps.Values(t.parked)), session)
}

// Owned returns the turns that were begun or resumed here, and whether the kernel works on those only.
func (t *Turns) Owned() (turns []string, only bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.own)), t.ownOnly
}

// Begin makes the kernel work on a turn that begins, or is resumed.
func (t *Turns) Begin(turn, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.parked, turn)
	if t.ownOnly {
		t.own[turn] = session
	}
}

// Park leaves a turn alone until it is resumed.
func (t *Turns) Park(turn, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parked[turn] = session
}

// End forgets a turn that has ended.
func (t *Turns) End(turn string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.own, turn)
	delete(t.parked, turn)
}
