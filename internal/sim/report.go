package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// counts are the faults that were injected, and what was done all the same.
type counts struct {
	dropped, doubled, delayed, lost, unsent, storeErrors, crashed int

	diedAfterCommit atomic.Int64
	mu              sync.Mutex
	occurrences     map[string]int
	weather         map[string]int
}

// Report is what was seen of one run.
type Report struct {
	Seed uint64
	// Trace sums up what happened: the same seed gives the same.
	Trace uint64
	// Lines is how long the trace is, Virtual how long the run was in its own time.
	Lines   int
	Virtual time.Duration
	// Violations are the invariants that did not hold.
	Violations []string
	// Faults that were injected, by kind.
	Faults map[string]int
	// Occurrences are what agents and tools did that not all of them do.
	Occurrences map[string]int
	// Turns that ended, Calls that were asked for, Effects that the tools had.
	Turns, Calls, Effects int
}

// The kinds of faults that befall single waits, beside those of the weather.
const (
	messageLost    = "a message is lost"
	messageDoubled = "a message comes twice"
	messageLate    = "a message comes late"
	publishFailed  = "a kernel cannot publish"
	storeFailed    = "a transaction fails"
	diedWaiting    = "a process dies in a wait"
	diedCommitted  = "a kernel dies between a commit and its answer"
)

// What not all agents and tools do.
const (
	textWhilePlanning = "a piece of text is told while an agent plans"
	letGo             = "a worker lets go of a turn that waits"
	answered          = "a question of an agent is answered"
	usedPermission    = "a call is started by a standing permission"
	revokedPermission = "a standing permission is revoked"
	refusedResult     = "an answer without a required field is given back"
	delivered         = "an answer has its required fields"
	handoff           = "a turn ends with a hand-off"
	terminated        = "a turn ends with the result of a call"
	overdue           = "a call has no result in its time"
	childBegun        = "an agent begins a task of another one"
	joinedBatch       = "an agent hears what others have done for it"
	stoppedByPerson   = "a person stops what they have begun"
	tooDeep           = "an agent is nested too deeply to ask another one"
	spawnedTurn       = "an agent begins a turn that nobody waits for"
	stoppedSpawned    = "a turn that nobody waits for is stopped with the one that has begun it"
)

// Occurrences are the names of all of them.
func Occurrences() []string {
	return []string{
		textWhilePlanning, letGo, answered, refusedResult, delivered, handoff, terminated, overdue, usedPermission, revokedPermission,
		childBegun, joinedBatch, stoppedByPerson, tooDeep, spawnedTurn, stoppedSpawned,
	}
}

// did counts an occurrence.
func (w *world) did(what string) {
	w.count.mu.Lock()
	defer w.count.mu.Unlock()
	w.count.occurrences[what]++
}

// Faults are the names of all kinds of faults.
func Faults() []string {
	return append(winds(), messageLost, messageDoubled, messageLate, publishFailed, storeFailed, diedWaiting, diedCommitted)
}

func (w *world) report() Report {
	r := Report{
		Seed: w.seed, Trace: w.trace.sum.Sum64(), Lines: w.trace.n, Virtual: time.Since(w.began), Violations: w.judge.violations(),
		Faults: maps.Clone(w.count.weather), Occurrences: w.count.occurrences, Turns: len(w.turnRows(store.TurnFilter{})), Calls: len(w.judge.calls),
	}
	maps.Copy(r.Faults, map[string]int{
		messageLost: w.count.dropped + w.count.lost, messageDoubled: w.count.doubled, messageLate: w.count.delayed,
		publishFailed: w.count.unsent, storeFailed: w.count.storeErrors, diedWaiting: w.count.crashed,
		diedCommitted: int(w.count.diedAfterCommit.Load()),
	})
	for _, c := range w.judge.calls {
		r.Effects += c.effects
	}
	return r
}

// Add sums two reports up; the seed and the trace of the first stay.
func (r *Report) Add(o Report) {
	if r.Faults == nil {
		r.Faults, r.Occurrences = map[string]int{}, map[string]int{}
	}
	for name, n := range o.Occurrences {
		r.Occurrences[name] += n
	}
	for name, n := range o.Faults {
		r.Faults[name] += n
	}
	r.Lines += o.Lines
	r.Virtual += o.Virtual
	r.Turns += o.Turns
	r.Calls += o.Calls
	r.Effects += o.Effects
	for _, v := range o.Violations {
		r.Violations = append(r.Violations, fmt.Sprintf("seed %d: %s", o.Seed, v))
	}
}

// String tells the sums in lines.
func (r *Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "turns %d, calls %d, effects %d, trace lines %d, virtual time %v\n", r.Turns, r.Calls, r.Effects, r.Lines, r.Virtual.Round(time.Second))
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		fmt.Fprintf(&out, "fault: %s: %d\n", name, r.Faults[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Occurrences)) {
		fmt.Fprintf(&out, "occurrence: %s: %d\n", name, r.Occurrences[name])
	}
	return out.String()
}
