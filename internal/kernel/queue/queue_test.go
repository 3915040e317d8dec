package queue_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/queue"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func TestClaimable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit, underWay int
		any             bool
	}{{0, 0, true}, {0, 900, true}, {1, 0, true}, {1, 1, false}, {1, 2, false}, {3, 2, true}, {3, 3, false}} {
		got := queue.Claimable(tt.limit, tt.underWay)
		if (got == nil) != tt.any || slices.Contains(got, turn.Queued) {
			t.Errorf("limit %d, %d under way: %v", tt.limit, tt.underWay, got)
		}
	}
}

func TestBehind(t *testing.T) {
	t.Parallel()
	open := []queue.Entry{{"turn_1", turn.Running}, {"turn_2", turn.Queued}, {"turn_3", turn.Suspended}, {"turn_4", turn.Queued}}
	for _, tt := range []struct {
		id    string
		limit int
		want  string
	}{
		{"turn_2", 0, ""},
		{"turn_2", 1, "turn_1"},
		{"turn_2", 2, "turn_1"},
		{"turn_2", 3, ""},
		{"turn_4", 2, "turn_2"},
		{"turn_4", 3, "turn_2"},
		{"turn_4", 4, ""},
	} {
		if got := queue.Behind(open, tt.id, tt.limit); got != tt.want {
			t.Errorf("%s of %d: behind %q; want %q", tt.id, tt.limit, got, tt.want)
		}
	}
}

// TestFIFO plays workers that claim, and turns that end, in any order: turns begin in the order in which they were asked
// for, no more than the limit are under way, and each begins in the end.
func TestFIFO(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(0, 3).Draw(rt, "limit")
		var open []queue.Entry
		var begun []string
		asked := 0
		claim := func() bool {
			underWay := 0
			for _, e := range open {
				if e.Status != turn.Queued {
					underWay++
				}
			}
			statuses := queue.Claimable(limit, underWay)
			for i := range open {
				if open[i].Status != turn.Queued || statuses != nil && !slices.Contains(statuses, turn.Queued) {
					continue
				}
				if behind := queue.Behind(open, open[i].Turn, limit); behind != "" {
					rt.Fatalf("%s may begin and is said to be behind %s", open[i].Turn, behind)
				}
				open[i].Status = turn.Running
				begun = append(begun, open[i].Turn)
				if underWay++; limit > 0 && underWay > limit {
					rt.Fatalf("%d are under way; the limit is %d", underWay, limit)
				}
				return true
			}
			return false
		}
		end := func() bool {
			i := slices.IndexFunc(open, func(e queue.Entry) bool { return e.Status == turn.Running })
			if i >= 0 {
				open = slices.Delete(open, i, i+1)
			}
			return i >= 0
		}
		for range rapid.IntRange(1, 60).Draw(rt, "moves") {
			switch rapid.IntRange(0, 2).Draw(rt, "move") {
			case 0:
				asked++
				open = append(open, queue.Entry{Turn: fmt.Sprintf("turn_%03d", asked), Status: turn.Queued})
			case 1:
				claim()
			default:
				end()
			}
		}
		for moved := true; moved; {
			moved = claim() || end()
		}
		if len(begun) != asked || !slices.IsSorted(begun) {
			rt.Fatalf("%d were asked for; %v began", asked, begun)
		}
	})
}

func TestWaits(t *testing.T) {
	t.Parallel()
	calls := func(states ...turn.CallState) turn.State {
		st := turn.State{Status: turn.Suspended, Owner: "ada", Agent: "tidy"}
		for i, s := range states {
			st.Calls = append(st.Calls, turn.Call{ID: fmt.Sprint("tc_", i+1), Tool: "files.move", State: s, Question: i + 1})
		}
		return st
	}
	for name, tt := range map[string]struct {
		state  turn.State
		behind string
		want   []api.Wait
	}{
		"a worker":         {turn.State{Status: turn.Queued, Agent: "tidy"}, "", []api.Wait{{For: api.WaitWorker, Agent: "tidy"}}},
		"a turn":           {turn.State{Status: turn.Queued, Agent: "tidy"}, "turn_1", []api.Wait{{For: api.WaitTurn, Turn: "turn_1"}}},
		"a worker again":   {turn.State{Status: turn.Running, Agent: "tidy"}, "", []api.Wait{{For: api.WaitWorker, Agent: "tidy"}}},
		"nothing":          {turn.State{Status: turn.Running, Agent: "tidy", Worker: "wrk"}, "", nil},
		"a program":        {turn.State{Status: turn.Running, Agent: "tidy", Outside: true}, "", nil},
		"ended":            {turn.State{Status: turn.Ended}, "", nil},
		"a person":         {calls(turn.Asked), "", []api.Wait{{For: api.WaitPerson, Person: "ada", Question: 1, Tool: "files.move"}}},
		"an outcome":       {calls(turn.Unknown), "", []api.Wait{{For: api.WaitPerson, Person: "ada", Question: 1, Tool: "files.move"}}},
		"the undo time":    {calls(turn.Accepted), "", []api.Wait{{For: api.WaitUndo, Question: 1, Tool: "files.move"}}},
		"a tool":           {calls(turn.Finished, turn.Started), "", []api.Wait{{For: api.WaitTool, Tool: "files.move", Call: "tc_2"}}},
		"a tool, a person": {calls(turn.Dispatched, turn.Asked), "", []api.Wait{{For: api.WaitTool, Tool: "files.move", Call: "tc_1"}, {For: api.WaitPerson, Person: "ada", Question: 2, Tool: "files.move"}}},
	} {
		if got := queue.Waits(tt.state, tt.behind); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v; want %+v", name, got, tt.want)
		}
	}
}
