package sim

import (
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// delegationStep is the machine's step with a mistake about turns of other agents in it; nil if the bug is another one.
func delegationStep(b Bug) stepping {
	switch b {
	case OrphanChild:
		return effectsBy(func(all []turn.Effect) []turn.Effect {
			return slices.DeleteFunc(all, func(e turn.Effect) bool { _, is := e.(turn.StopChild); return is })
		})
	case DoubledChild:
		return unbegun(effectsBy(func(all []turn.Effect) (twice []turn.Effect) {
			for _, e := range all {
				if twice = append(twice, e); isBegin(e) {
					twice = append(twice, e)
				}
			}
			return twice
		}))
	case LostBatchResult:
		return deaf(func(in turn.Input) bool {
			ended, is := in.(turn.ChildEnded)
			return is && ended.Child.Turn != "" && chosen(ended.Call)
		})
	case LostSpawn:
		return deaf(func(in turn.Input) bool {
			begun, is := in.(turn.ChildBegun)
			return is && begun.Call == "" && chosen(begun.Turn)
		})
	case InheritedConsent:
		return before(anyChild)
	default:
		return nil
	}
}

func isBegin(e turn.Effect) bool {
	begin, is := e.(turn.BeginChild)
	return is && chosen(begin.Call)
}

// effectsBy changes what the machine wants to be done.
func effectsBy(change func([]turn.Effect) []turn.Effect) stepping {
	return func(s turn.State, now turn.Timestamp, in turn.Input) (turn.State, []turn.Effect, error) {
		next, effects, err := turn.Step(s, now, in)
		return next, change(effects), err
	}
}

// unbegun forgets that a child is begun when it is again.
func unbegun(next stepping) stepping {
	return func(s turn.State, now turn.Timestamp, in turn.Input) (turn.State, []turn.Effect, error) {
		begun, is := in.(turn.ChildBegun)
		if !is {
			return next(s, now, in)
		}
		given := stateOf(s)
		if c := callOf(&given, begun.Call); c != nil {
			c.Batch.Children[begun.Index].Turn = ""
		}
		return next(given, now, in)
	}
}

// anyChild takes what the turns within another one want for allowed, because their owner has allowed that one.
func anyChild(s *turn.State, in turn.Input) turn.Input {
	if s.Parent == "" {
		return in
	}
	switch in := in.(type) {
	case turn.Request:
		in.Calls = slices.Clone(in.Calls)
		for i := range in.Calls {
			if c := &in.Calls[i]; c.Kind == turn.ToolCall && c.Decision == turn.Ask {
				c.Decision = turn.Allow
			}
		}
		return in
	case turn.Ruled:
		in.Terms.Decision = turn.Allow
		return in
	default:
		return checks(anyCheck)(s, in)
	}
}

// forgetful does not know which turns were begun within others: those of calls, or those beside them.
type forgetful struct {
	store.Tx

	principal string // how those begin that it forgets
}

// RequestKey implements [store.Tx].
func (f forgetful) RequestKey(principal, key string) (store.RequestKey, error) {
	if strings.HasPrefix(principal, f.principal) {
		return store.RequestKey{}, nil
	}
	return f.Tx.RequestKey(principal, key)
}

// Save implements [store.Tx].
func (f forgetful) Save(b store.Batch) error {
	b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(k store.RequestKey) bool { return strings.HasPrefix(k.Principal, f.principal) })
	return f.Tx.Save(b)
}

// shallow takes every turn for one that is not nested deeply.
type shallow struct{ store.Tx }

// Turn implements [store.Tx].
func (d shallow) Turn(ref store.TurnRef) (store.Record, error) {
	const most = 5
	rec, err := d.Tx.Turn(ref)
	rec.State.Depth = min(rec.State.Depth, most)
	return rec, err
}
