package session

import (
	"fmt"
	"slices"
)

// calls pairs tool.invoked with tool.completed.
type calls struct {
	open  []invocation
	done  map[string]bool // ids that were completed
	order []string        // of done, oldest first
}

type invocation struct{ id, tool string }

func (i invocation) name() string {
	if i.id == "" {
		return "of " + i.tool
	}
	return i.id + " of " + i.tool
}

func (c *calls) find(match func(invocation) bool) int { return slices.IndexFunc(c.open, match) }

// invoked opens a call; its id is unique in the session.
func (c *calls) invoked(f facts, r *report) {
	used := c.done[f.callID] || c.find(func(i invocation) bool { return i.id == f.callID }) >= 0
	if f.callID != "" && used {
		r.error("/tool_call_id", "§4.3.1", fmt.Sprintf("found %s again, expected an id that this session has not used", f.callID), "SEQ-15")
	}
	c.open = append(c.open, invocation{id: f.callID, tool: f.tool})
}

// completed closes a call: the one with the same id where ids are used, else the
// oldest open one of the same tool.
func (c *calls) completed(f facts, r *report) {
	if f.callID == "" {
		c.completedByTool(f, r)
		return
	}
	if i := c.find(func(i invocation) bool { return i.id == f.callID }); i >= 0 {
		if c.open[i].tool != f.tool {
			r.error("/tool", "§4.3.2", fmt.Sprintf("found %q, expected %q as invoked", f.tool, c.open[i].tool), "SEQ-14")
		}
		c.close(i)
		return
	}
	if i := c.find(func(i invocation) bool { return i.id == "" && i.tool == f.tool }); i >= 0 {
		r.error("/tool_call_id", "§4.3.1", fmt.Sprintf("found %s, which the invocation of %q did not carry; expected the same on both", f.callID, f.tool), "SEQ-15")
		c.close(i)
		return
	}
	if c.done[f.callID] {
		r.error("/tool_call_id", "§9.3.1", fmt.Sprintf("found a second completion of %s, expected exactly one", f.callID), "SEQ-16")
		return
	}
	r.error("/tool_call_id", "§4.5.2", fmt.Sprintf("found %s, which no tool.invoked has named", f.callID), "SEQ-13")
}

func (c *calls) completedByTool(f facts, r *report) {
	if i := c.find(func(i invocation) bool { return i.id == "" && i.tool == f.tool }); i >= 0 {
		c.close(i)
		return
	}
	if i := c.find(func(i invocation) bool { return i.tool == f.tool }); i >= 0 {
		r.error("/tool_call_id", "§4.3.1", fmt.Sprintf("found none, expected %s as invoked", c.open[i].id), "SEQ-15")
		c.close(i)
		return
	}
	r.error("/tool", "§4.5.2", fmt.Sprintf("found a completion of %q without an open invocation of it", f.tool), "SEQ-13", "SEQ-17")
}

// close forgets the call i and remembers its id.
func (c *calls) close(i int) {
	id := c.open[i].id
	c.open = slices.Delete(c.open, i, i+1)
	if id == "" || c.done[id] {
		return
	}
	c.done[id] = true
	c.order = append(c.order, id)
	if len(c.order) > maxIDs {
		delete(c.done, c.order[0])
		c.order = c.order[1:]
	}
}
