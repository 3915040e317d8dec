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
	// DefaultUndo is the undo time where the person has no preference. It is enough to listen to a
	// sentence of ten words and to answer it.
	DefaultUndo = 8 * time.Second
	MinUndo     = 3 * time.Second
	MaxUndo     = 5 * time.Minute
	// NoticeWithin is how soon the surface of a yes must be notified of it.
	NoticeWithin     = 60 * time.Second
	DefaultReconcile = 10 * time.Second
	// DefaultResult is how long after its dispatch a call must have a result.
	DefaultResult = 24 * time.Hour
	// MaxDepth is the first depth of nested agents at which a turn may take no steps (UTP, "Depth").
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

// AnswerTime returns how long the question of such a call stays open.
func (l Limits) AnswerTime() time.Duration {
	if l.Answer <= 0 {
		return DefaultAnswer
	}
	return min(l.Answer, 24*time.Hour)
}

// UndoTime returns how long an accept can be undone once its surface has been notified of it: the
// person's preference or the default, and never less than tool and policy say.
func (l Limits) UndoTime() time.Duration {
	return min(max(cmp.Or(l.PreferredUndo, DefaultUndo), l.leastUndo()), MaxUndo)
}

// leastUndo returns the shortest undo time, whatever the person prefers.
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

// wakeupPause returns the pause after n wakeups: 1, 2, 4, 8, 8, … seconds.
func wakeupPause(n int) time.Duration {
	return min(firstWakeupPause<<min(n, 3), maxWakeupPause)
}

// Seconds converts to a duration of at most a day, so that no number can overflow.
func Seconds(n int) time.Duration {
	const day = 24 * 60 * 60
	return time.Duration(max(0, min(n, day))) * time.Second
}
