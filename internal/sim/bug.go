package sim

import (
	"math"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// A Bug is a seeded mistake: it shows that the simulation sees what it is there to see.
type Bug string

// The seeded bugs.
const (
	NoBug             Bug = ""
	StaleConsent      Bug = "stale consent accepted"
	SwappedDefinition Bug = "swapped definition"
	ReflectedCommand  Bug = "reflected command started"
	ZombieFinish      Bug = "zombie owner finishing"
	RestoredFires     Bug = "restored ledger re-firing"
	AppliedTwice      Bug = "result applied twice"
	LostOutboxRow     Bug = "lost outbox row"
	EpochIgnored      Bug = "epoch ignored"
	DeadlineShrunk    Bug = "deadline shrunk"
	OrphanedQueue     Bug = "orphaned queue"
	StopLost          Bug = "stop lost"
	SecondStart       Bug = "second start"
	LostFuture        Bug = "word of a lost future taken"
	NoCountsAsYes     Bug = "no taken for yes"
	UnnotifiedYes     Bug = "surface of a yes not told"
	OutlivedYes       Bug = "yes of another generation"
	UnspentUse        Bug = "use of a permission not taken"
	UndeadPermission  Bug = "ended permission used"
	OrphanChild       Bug = "orphan child"
	DoubledChild      Bug = "doubled child"
	LostBatchResult   Bug = "lost batch result"
	InheritedConsent  Bug = "inherited consent"
	DepthOverrun      Bug = "depth overrun"
	DoubledSpawn      Bug = "doubled spawn"
	LostSpawn         Bug = "lost spawn"
)

// Bugs are all of them.
func Bugs() []Bug {
	return []Bug{
		StaleConsent, SwappedDefinition, ReflectedCommand, ZombieFinish, RestoredFires, AppliedTwice,
		LostOutboxRow, EpochIgnored, DeadlineShrunk, OrphanedQueue, StopLost, SecondStart, LostFuture, NoCountsAsYes,
		UnnotifiedYes, OutlivedYes, UnspentUse, UndeadPermission, OrphanChild, DoubledChild, LostBatchResult, InheritedConsent, DepthOverrun,
		DoubledSpawn, LostSpawn,
	}
}

// stepping is the turn machine's step.
type stepping = func(turn.State, turn.Timestamp, turn.Input) (turn.State, []turn.Effect, error)

// stepOf is the machine's step with the bug in it.
func (w *world) stepOf() stepping {
	switch w.bug {
	case StaleConsent:
		return after(func(s *turn.State, in turn.Input) {
			if in, is := in.(turn.Answered); is {
				shift(s, func(c turn.Call) bool { return c.Question == in.Question }, 10*time.Minute)
			}
		})
	case DeadlineShrunk:
		return after(func(s *turn.State, in turn.Input) {
			if in, is := in.(turn.Answered); is {
				shift(s, func(c turn.Call) bool { return c.Question != in.Question }, -20*time.Second)
			}
		})
	case UnnotifiedYes:
		return after(func(s *turn.State, in turn.Input) {
			if in, is := in.(turn.Answered); is {
				noticed(s, in.Question)
			}
		})
	case OutlivedYes:
		return before(checks(anyGeneration))
	case RestoredFires:
		return deaf(func(in turn.Input) bool { _, is := in.(turn.Restored); return is })
	case StopLost:
		return deaf(func(in turn.Input) bool { _, is := in.(turn.StopTurn); return is })
	case SwappedDefinition:
		return before(checks(anyCheck))
	case ReflectedCommand:
		return before(anyStart)
	case ZombieFinish:
		return before(anyOwner)
	case EpochIgnored:
		return before(anyClaim(anyEpoch))
	case LostFuture:
		return before(anyClaim(anyNonce))
	case SecondStart:
		return before(anySecond)
	case NoCountsAsYes:
		return before(anyAnswer)
	default:
		if step := delegationStep(w.bug); step != nil {
			return step
		}
		return turn.Step
	}
}

// before changes what the machine is given.
func before(change func(*turn.State, turn.Input) turn.Input) stepping {
	return func(s turn.State, now turn.Timestamp, in turn.Input) (turn.State, []turn.Effect, error) {
		given := stateOf(s)
		next, effects, err := turn.Step(given, now, change(&given, in))
		if err != nil {
			return s, nil, err
		}
		return next, effects, nil
	}
}

// after changes what the machine has made.
func after(change func(*turn.State, turn.Input)) stepping {
	return func(s turn.State, now turn.Timestamp, in turn.Input) (turn.State, []turn.Effect, error) {
		next, effects, err := turn.Step(s, now, in)
		if err == nil {
			change(&next, in)
		}
		return next, effects, err
	}
}

// deaf does nothing with some inputs.
func deaf(ignored func(turn.Input) bool) stepping {
	return func(s turn.State, now turn.Timestamp, in turn.Input) (turn.State, []turn.Effect, error) {
		if ignored(in) {
			return s, nil, nil
		}
		return turn.Step(s, now, in)
	}
}

// shift moves the times of calls.
func shift(s *turn.State, which func(turn.Call) bool, d time.Duration) {
	for i := range s.Calls {
		c := &s.Calls[i]
		if which(*c) && !c.StartBy.IsZero() {
			c.StartBy = c.StartBy.Add(d)
		}
		if which(*c) && !c.EndBy.IsZero() {
			c.EndBy = c.EndBy.Add(d)
		}
	}
}

// checks changes what the machine is told of calls that may leave or start.
func checks(fits func(*turn.State, turn.Check) turn.Check) func(*turn.State, turn.Input) turn.Input {
	return func(s *turn.State, in turn.Input) turn.Input {
		switch in := in.(type) {
		case turn.Start:
			in.Check = fits(s, in.Check)
			return in
		case turn.Tick:
			in.Checks = slices.Clone(in.Checks)
			for i := range in.Checks {
				in.Checks[i] = fits(s, in.Checks[i])
			}
			return in
		default:
			return in
		}
	}
}

func anyCheck(s *turn.State, check turn.Check) turn.Check {
	c, _ := s.Find(check.Call)
	return turn.Check{Call: check.Call, Digest: c.Digest}
}

// anyGeneration takes a consent for one of the generation that asks.
func anyGeneration(s *turn.State, check turn.Check) turn.Check {
	if check.Reason == turn.StaleRestarted {
		return anyCheck(s, check)
	}
	return check
}

// noticed begins the time to take a yes back, told or not.
func noticed(s *turn.State, question int) {
	for i := range s.Calls {
		if c := &s.Calls[i]; c.Question == question && c.State == turn.Accepted && !c.Noticed() {
			c.DispatchAt = c.Consent.At
		}
	}
}

func callOf(s *turn.State, id string) *turn.Call {
	for i := range s.Calls {
		if s.Calls[i].ID == id {
			return &s.Calls[i]
		}
	}
	return nil
}

func anyStart(s *turn.State, in turn.Input) turn.Input {
	start, is := in.(turn.Start)
	if c := callOf(s, start.Call); is && c != nil && (c.State == turn.Asked || c.State == turn.Accepted) {
		c.State, c.StartBy = turn.Dispatched, turn.Timestamp{}
		start.Check = turn.Check{Call: c.ID, Digest: c.Digest}
		return start
	}
	return in
}

func anyOwner(s *turn.State, in turn.Input) turn.Input {
	finish, is := in.(turn.Finish)
	if c := callOf(s, finish.Call); is && c != nil {
		finish.Owner, finish.Fence = c.Owner, c.Fence
		return finish
	}
	return in
}

// anyClaim changes what a worker's word goes by.
func anyClaim(change func(*turn.State, *turn.WorkerClaim)) func(*turn.State, turn.Input) turn.Input {
	return func(s *turn.State, in turn.Input) turn.Input {
		switch in := in.(type) {
		case turn.Request:
			change(s, &in.WorkerClaim)
			return in
		case turn.Renew:
			change(s, &in.WorkerClaim)
			return in
		case turn.Deliver:
			change(s, &in.WorkerClaim)
			return in
		default:
			return in
		}
	}
}

func anyEpoch(s *turn.State, h *turn.WorkerClaim) { *h = s.WorkerClaim() }

func anyNonce(s *turn.State, h *turn.WorkerClaim) {
	switch h.Epoch {
	case s.Epoch:
		h.Nonce = s.Nonce
	case s.Epoch - 1:
		h.Nonce = s.PreviousNonce
	}
}

func anySecond(s *turn.State, in turn.Input) turn.Input {
	start, is := in.(turn.Start)
	if c := callOf(s, start.Call); is && c != nil && c.State == turn.Started && c.Owner != start.Owner {
		c.State = turn.Dispatched
	}
	return in
}

func anyAnswer(_ *turn.State, in turn.Input) turn.Input {
	if answer, is := in.(turn.Answered); is {
		answer.Accept = true
		return answer
	}
	return in
}

// txOf is a transaction with the bug in it.
func (w *world) txOf(inner store.Tx) store.Tx {
	switch w.bug {
	case AppliedTwice:
		return doubling{inner}
	case LostOutboxRow:
		return losing{inner}
	case OrphanedQueue:
		return hiding{inner}
	case UnspentUse:
		return unspent{inner}
	case UndeadPermission:
		return undead{inner}
	case DoubledChild:
		return forgetful{inner, "delegation "}
	case DoubledSpawn:
		return forgetful{inner, "spawn "}
	case DepthOverrun:
		return shallow{inner}
	default:
		return inner
	}
}

// doubling has some results twice.
type doubling struct{ store.Tx }

// Results implements [store.Tx].
func (d doubling) Results(id string, after, limit int) ([]store.ResultRow, error) {
	rows, err := d.Tx.Results(id, 0, math.MaxInt)
	var all []store.ResultRow
	for _, r := range rows {
		r.N = len(all) + 1
		all = append(all, r)
		if chosen(r.Call) {
			r.N++
			all = append(all, r)
		}
	}
	all = all[min(after, len(all)):]
	return all[:min(limit, len(all))], err
}

// chosen picks one in four by the end of its id.
func chosen(id string) bool { return id != "" && id[len(id)-1]%4 == 0 }

// losing forgets some messages.
type losing struct{ store.Tx }

// Save implements [store.Tx].
func (l losing) Save(b store.Batch) error {
	kept := slices.DeleteFunc(slices.Clone(b.Outbox), func(o store.Outgoing) bool { return chosen(o.Call) })
	b.Outbox = kept
	return l.Tx.Save(b)
}

// hiding leaves some turns that wait out of what a worker may claim.
type hiding struct{ store.Tx }

// Turns implements [store.Tx].
func (h hiding) Turns(f store.TurnFilter) ([]store.TurnRow, error) {
	rows, err := h.Tx.Turns(f)
	if f.Free.IsZero() {
		return rows, err
	}
	return slices.DeleteFunc(rows, func(r store.TurnRow) bool { return r.Status == turn.Queued && chosen(r.Turn) }), err
}
