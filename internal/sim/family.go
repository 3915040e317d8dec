package sim

import (
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// childLog is what the world knows of a turn that another one has begun, by a call or beside its calls.
type childLog struct {
	within turn.Within
	parent string
	waits  bool // the call ends with it
}

func taskOf(call string, index int) string { return fmt.Sprint(call, "/", index) }

// taskOfTurn is what a turn within another one was begun for.
func taskOfTurn(s turn.State) string {
	if s.Within.Call == "" {
		return s.Parent + "/" + s.Correlation
	}
	return taskOf(s.Within.Call, s.Within.Index)
}

// plans: a worker reads what a turn is to do.
func (j *judge) plans(turn, tag string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tags[turn] = tag
	j.promise(turn)
}

// family forgets what it knew of turns within others, as the ledger did, and takes in those that are there.
func (j *judge) family() {
	clear(j.children)
	clear(j.begun)
	clear(j.below)
	clear(j.told)
	clear(j.promised)
	for _, rec := range j.last {
		j.childBegan(rec.State)
	}
}

// childBegan: no task is begun twice, neither of a call nor beside the calls, and no turn is nested too deeply.
func (j *judge) childBegan(s turn.State) {
	if _, known := j.children[s.Turn]; known || s.Parent == "" {
		return
	}
	task := taskOfTurn(s)
	if other := j.begun[task]; other != "" {
		j.brokenf("%s and %s are both task %s", other, s.Turn, task)
	}
	c, _ := j.last[s.Parent].State.Find(s.Within.Call)
	j.begun[task], j.below[s.Parent] = s.Turn, append(j.below[s.Parent], s.Turn)
	j.children[s.Turn] = childLog{within: s.Within, parent: s.Parent, waits: c.Batch != nil && c.Batch.Waits}
	j.w.did(childBegun)
	depth := 0
	for id := s.Turn; j.children[id].parent != ""; id = j.children[id].parent {
		depth++
	}
	if depth >= turn.MaxDepth {
		j.brokenf("%s is nested %d deep", s.Turn, depth)
	}
}

// together looks at the turns that one transaction has written, once it has written all of them.
func (j *judge) together(batches []store.Batch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	batches = slices.DeleteFunc(slices.Clone(batches), func(b store.Batch) bool { return b.Turn == nil })
	for _, b := range batches {
		j.childBegan(j.last[b.Turn.State.Turn].State)
	}
	for _, b := range batches {
		id := b.Turn.State.Turn
		for _, child := range j.below[id] {
			j.orphan(child)
		}
		if _, is := j.children[id]; is {
			j.orphan(id)
			j.lost(id)
		}
		j.tasks(j.last[id].State)
	}
}

// orphan: a turn goes on only for as long as somebody wants it. A stop of the turn above reaches it, and so does the end of
// a call that waits for it.
func (j *judge) orphan(id string) {
	log, s := j.children[id], j.last[id].State
	above, known := j.last[log.parent]
	switch {
	case !known || s.Status == turn.Ended || s.Stop != nil:
	case above.State.Stop != nil:
		j.brokenf("%s goes on, and %s, which asked for it, is stopped", id, log.parent)
	case log.waits && !above.State.Awaits(log.within):
		j.brokenf("%s goes on, and %s does not wait for it any more", id, log.parent)
	}
}

// lost: the call that waits for a turn knows that it has ended.
func (j *judge) lost(id string) {
	log, s := j.children[id], j.last[id].State
	above := j.last[log.parent].State
	c, _ := above.Find(log.within.Call)
	if s.Status != turn.Ended || !above.Awaits(log.within) {
		return
	}
	if c.Batch.Children[log.within.Index].Status == "" {
		j.brokenf("%s has ended %s, and %s still waits for it", id, s.End.Status, log.parent)
	}
}

// tasks: what a call knows of its turns is how they have ended, unless the call has ended first.
func (j *judge) tasks(s turn.State) {
	for _, c := range s.Calls {
		if c.Batch == nil {
			continue
		}
		for _, child := range c.Batch.Children {
			below, known := j.last[child.Turn]
			called := child.Status == utp.StatusCanceled || child.Status == utp.StatusTimeout
			switch {
			case child.Status == "" || !known || !c.Batch.Waits:
			case below.State.Status == turn.Ended && below.State.End.Status == child.Status:
			case !called:
				j.brokenf("%s knows task %d as %s; %s is %s %+v", c.ID, child.Index, child.Status, child.Turn, below.State.Status, below.State.End)
			}
			j.tooDeep(child)
		}
	}
}

func (j *judge) tooDeep(child turn.Child) {
	if child.Code == utp.CodeRecursionDepthExceeded {
		j.w.did(tooDeep)
	}
}
