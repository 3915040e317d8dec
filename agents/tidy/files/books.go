package files

import (
	"errors"
	"fmt"
)

// books is what a journal tells, item by item.
type books struct {
	op     string
	items  []item
	states []state
	begun  bool     // the first line is there
	ended  bool     // settled; what is found in the private folder later may still correct it
	lost   bool     // an earlier reconciliation missed the journal
	strays []string // paths in the private folder that belong to no item
}

// state is how far one item came. A nil line was not written, or was lost.
type state struct {
	before, leave, after *entry
	restoring            bool
}

var errOtherCall = errors.New("the journal belongs to another call or other arguments")

// readBooks folds the lines, which must belong to the call and its arguments.
func readBooks(call string, args DeleteArgs, lines []entry) (*books, error) {
	b := &books{items: itemsOf(args)}
	b.states = make([]state, len(b.items))
	if len(lines) == 0 {
		return b, nil // made, and never written
	}
	head := lines[0]
	if head.Kind != kindBegin || head.Version != journalVersion {
		return nil, fmt.Errorf("first line of kind %q, version %d: %w", head.Kind, head.Version, errTorn)
	}
	if head.Call != call || head.Args != digest(args) || head.Items != len(b.items) {
		return nil, errOtherCall
	}
	b.op, b.begun = head.Op, true
	for i := range lines[1:] {
		if err := b.fold(&lines[1+i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *books) fold(e *entry) error {
	whole := e.Kind == kindEnd || e.Kind == kindLost
	if e.Item < 0 || e.Item >= len(b.items) && !whole || b.ended && e.Kind != kindAfter && e.Kind != kindEnd {
		return fmt.Errorf("line %q of item %d of %d: %w", e.Kind, e.Item, len(b.items), errTorn)
	}
	if whole {
		b.ended, b.lost = e.Kind == kindEnd, e.Kind == kindLost
		return nil
	}
	at := &b.states[e.Item]
	switch e.Kind {
	case kindBefore:
		at.before = e
	case kindLeave:
		at.leave = e
	case kindRestore:
		at.restoring = true
	case kindAfter:
		at.after = e
	default:
		return fmt.Errorf("line of kind %q: %w", e.Kind, errTorn)
	}
	return nil
}

// empty reports whether no item was ever about to be touched.
func (b *books) empty() bool {
	for i := range b.states {
		if b.states[i].before != nil {
			return false
		}
	}
	return true
}

// result counts what is settled; the rest was not reached.
func (b *books) result() DeleteResult {
	r := DeleteResult{Refused: []Refusal{}, Unclear: append([]string{}, b.strays...)}
	for i := range b.states {
		if b.states[i].after == nil {
			r.leave(i)
			continue
		}
		r.record(i, b.items[i].path, *b.states[i].after)
	}
	return r
}
