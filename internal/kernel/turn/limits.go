package turn

import (
	"cmp"
	"time"
)

// Defaults and bounds of [Limits].
const (
	DefaultAnswer      = 5 * time.Minute
	DefaultStartWithin = 60 * time.Second
	MaxStartWithin     = 10 * time.Minute
	// DefaultUndo is how long a yes can be taken back where nobody wishes for another time: a
	// sentence of ten words is heard in it, and answered.
	DefaultUndo = 8 * time.Second
	MinUndo     = 3 * time.Second
	MaxUndo     = 5 * time.Minute
	// NoticeWithin is how soon the surface of a yes has to be told of it.
	NoticeWithin     = 60 * time.Second
	DefaultReconcile = 10 * time.Second
	// DefaultResult is how long after its dispatch a call is to have a result.
	DefaultResult = 24 * time.Hour
	// MaxDepth is how many agents deep a turn may not be any more (UTP, "Depth").
	MaxDepth = 20

	firstWakeupPause = time.Second
	maxWakeupPause   = 8 * time.Second
)

func (l Limits) startWithin() time.Duration {
	if l.StartWithin <= 0 {
		return DefaultStartWithin
	}
	return min(l.StartWithin, MaxStartWithin)
}

// AnswerTime is how long the question of such a call stays open.
func (l Limits) AnswerTime() time.Duration {
	if l.Answer <= 0 {
		return DefaultAnswer
	}
	return min(l.Answer, 24*time.Hour)
}

// UndoTime is how long an accept can be taken back once its surface has been told of it: as the
// person wishes or the default, and never less than tool and policy say.
func (l Limits) UndoTime() time.Duration {
	return min(max(cmp.Or(l.PreferredUndo, DefaultUndo), l.leastUndo()), MaxUndo)
}

// leastUndo is how long an accept can be taken back at least, whatever the person wishes.
func (l Limits) leastUndo() time.Duration { return max(l.Undo, MinUndo) }

func (l Limits) resultTime() time.Duration {
	if l.Result <= 0 {
		return DefaultResult
	}
	return l.Result
}

func (l Limits) reconcileWithin() time.Duration {
	if l.ReconcileWithin <= 0 {
		return DefaultReconcile
	}
	return l.ReconcileWithin
}

// wakeupPause is the pause after the n-th ring: 1, 2, 4, 8, 8, … seconds.
func wakeupPause(n int) time.Duration {
	return min(firstWakeupPause<<min(n, 3), maxWakeupPause)
}
