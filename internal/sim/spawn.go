package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// spawned is a turn that a planner begins, and that nobody waits for.
type spawned struct {
	// Before is the step that it is begun before; behind the last one, it is begun before the answer.
	Before  int  `json:"before,omitzero"`
	Seconds int  `json:"seconds,omitzero"`
	Task    task `json:"task"`
}

// spawns adds to a plan turns that it begins beside its calls, and to the plans of these, so many levels deep.
func (p *plan) spawns(r *rand.Rand, levels int) {
	if levels == 0 || r.IntN(2) == 0 {
		return
	}
	for i := range 1 + r.IntN(2) {
		below := drawn(r, fmt.Sprintf("%s.s%d", p.Tag, i))
		below.Steps = below.Steps[:1]
		below.spawns(r, levels-1)
		one := spawned{Before: r.IntN(len(p.Steps) + 1), Task: task{Agent: []string{agent, agent, clerk, clerk, clerk, stranger}[r.IntN(6)], Plan: below}}
		if r.IntN(4) == 0 {
			one.Seconds = 1 + r.IntN(60)
		}
		p.Spawns = append(p.Spawns, one)
	}
}

// begin begins the turns that are to be begun before a step. A planner that is started again begins them again.
func (l *planner) begin(n int) error {
	for _, one := range l.plan.Spawns {
		if one.Before != n {
			continue
		}
		if err := l.spawn(one); err != nil {
			return err
		}
	}
	return nil
}

func (l *planner) spawn(one spawned) error {
	args, err := json.Marshal(one.Task.Plan)
	if err != nil {
		return fmt.Errorf("sim: a plan: %w", err)
	}
	tag := one.Task.Plan.Tag
	a, err := worker.Enqueue(l.ctx, worker.Child{
		Agent: one.Task.Agent, Args: args, Correlation: "spawn-" + tag, Request: "help", Deadline: one.Seconds,
	})
	refused, is := errors.AsType[*api.Fault](err)
	switch {
	case is:
		l.w.judge.unspawned(l.p.name, one, refused)
		return nil // it goes on without it
	case err != nil:
		return err
	}
	l.w.judge.spawned(l.turn.ID, tag, a.Turn)
	return nil
}

// unspawned: a turn is not begun for a reason that there may be: it is of nobody whom the agent may ask, too deep, one too
// many, the worker has lost its own turn, or the ledger has failed for longer than a lease.
func (j *judge) unspawned(who string, one spawned, refused *api.Fault) {
	may := []utp.Code{
		utp.CodeRecursionDepthExceeded, utp.CodeTooManyTurns, utp.CodeStale, utp.CodeStopped, utp.CodeTurnEnded, utp.CodeNotFound,
		utp.CodeDeadlineExceeded, utp.CodeStorageError,
	}
	if slices.Contains(may, refused.Code) || refused.Code == utp.CodeAuthFailed && one.Task.Agent == stranger {
		return
	}
	j.wrongf("%s may not begin %s of %s: %s", who, one.Task.Plan.Tag, one.Task.Agent, refused)
}

// spawned: an agent is told which turn it has begun: the same one whenever it begins it again, and one that is there.
func (j *judge) spawned(parent, tag, id string) {
	j.turnBegan(id)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.w.did(spawnedTurn)
	task := parent + " " + tag
	if before := j.told[task]; before != "" && before != id && j.backs == 0 {
		j.brokenf("%s is told that %s is %s, and was told that it is %s", parent, tag, id, before)
	}
	j.told[task], j.promised[id] = id, tag
	j.promise(id)
}

// promise: a turn does what it was begun for.
func (j *judge) promise(id string) {
	if does, wanted := j.tags[id], j.promised[id]; does != "" && wanted != "" && does != wanted {
		j.brokenf("%s was begun for %s, and does %s", id, wanted, does)
	}
}

// stoppedWith counts turns beside the calls that are stopped with the turn above.
func (j *judge) stoppedWith(was, s turn.State) {
	if was.Stop == nil && s.Stop != nil && s.Parent != "" && s.Within.Call == "" && j.last[s.Parent].State.Stop != nil {
		j.w.did(stoppedSpawned)
	}
}
