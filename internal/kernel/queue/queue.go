// Package queue decides in which order the turns of one agent begin, and says what a turn waits for.
//
// It is pure. The ledger is the queue: a turn waits in it until a worker claims it, in the order of the turns' ids, which
// is the order in which they were asked for. An agent may have a limit of turns that are under way at once; once a turn
// is under way it counts until it ends, also while it waits for a person or a tool, and whoever's worker is gone: it has
// begun to change things, and goes on as soon as it is answered, when another turn in its place could not be put aside.
// A turn of a program outside occupies no worker and is in no queue: it does not count, and none waits for it. Nor does one
// that waits only for turns of other agents: it leaves its place to them, and goes on at once when they have ended, so that
// for a while there may be more turns under way than the limit says.
package queue

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Entry is an open turn of the agent that holds a place, or will.
type Entry struct {
	Turn   string
	Status turn.Status
}

// UnderWay are the statuses of a turn that has begun and not ended.
func UnderWay() []turn.Status { return []turn.Status{turn.Running, turn.Suspended} }

// Claimable returns the statuses of the turns that a worker may claim, with so many under way. At the limit these are
// only the turns that are under way already, such as one whose worker is gone. A limit of 0 is none; nil is any status.
func Claimable(limit, underWay int) []turn.Status {
	if limit > 0 && underWay >= limit {
		return UnderWay()
	}
	return nil
}

// Behind returns the turn after which a queued one is next: the one that was asked for right before it, or, if it is
// the first in the queue, the one that has been under way the longest. It is "" for a turn that waits for no other: its
// agent has room for it and for those before it. Entries are the agent's open turns, oldest first.
func Behind(entries []Entry, id string, limit int) string {
	if limit <= 0 {
		return ""
	}
	before, oldest, taken := "", "", 0
	for _, e := range entries {
		switch {
		case e.Status == turn.Running, e.Status == turn.Suspended:
			if oldest == "" {
				oldest = e.Turn
			}
			taken++
		case e.Status == turn.Queued && e.Turn < id:
			before = e.Turn
			taken++
		}
	}
	switch {
	case taken < limit:
		return ""
	case before != "":
		return before
	default:
		return oldest
	}
}

// Waits says what an open turn waits for; behind is what [Behind] returns. It is empty while its worker works on it.
// Of a turn that waits for several things each is named.
func Waits(st turn.State, behind string) []api.Wait {
	switch {
	case st.Status == turn.Queued && behind != "":
		return []api.Wait{{For: api.WaitTurn, Turn: behind}}
	case st.Status == turn.Queued, st.Status == turn.Running && st.Worker == "" && !st.Outside:
		return []api.Wait{{For: api.WaitWorker, Agent: st.Agent}}
	case st.Status == turn.Ended:
		return nil
	}
	var all []api.Wait
	for _, c := range st.Calls {
		if w, waits := waitOf(st, c); waits {
			all = append(all, w)
		}
	}
	return all
}

// waitOf says what an open call waits for.
func waitOf(st turn.State, c turn.Call) (w api.Wait, waits bool) {
	switch c.State {
	case turn.Asked, turn.Unknown:
		return api.Wait{For: api.WaitPerson, Person: st.Owner, Question: c.Question, Tool: c.Tool}, true
	case turn.Accepted:
		return api.Wait{For: api.WaitUndo, Question: c.Question, Tool: c.Tool}, true
	case turn.Dispatched, turn.Started, turn.LeaseExpired:
		if id := firstOpen(c.Batch); id != "" {
			return api.Wait{For: api.WaitTurn, Turn: id, Tool: c.Tool, Call: c.ID}, true
		}
		return api.Wait{For: api.WaitTool, Tool: c.Tool, Call: c.ID}, true
	case turn.Requested, turn.Finished, turn.Resolved, turn.Closed:
	}
	return api.Wait{}, false
}

// firstOpen returns the first turn of a batch that has not ended; "" for a call that a service runs.
func firstOpen(b *turn.Batch) string {
	if b == nil {
		return ""
	}
	for _, c := range b.Children {
		if c.Status == "" {
			return c.Turn
		}
	}
	return ""
}
