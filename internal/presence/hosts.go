package presence

import (
	"fmt"
	"sync"
)

// Hosts are the processes that ask for calls: agents, and the hosts of agents. It is safe for concurrent use.
type Hosts struct {
	table Table

	mu    sync.Mutex
	known map[int]uint64 // when it started, by its id
}

// NewHosts returns an empty set.
func NewHosts(table Table) *Hosts { return &Hosts{table: table, known: map[int]uint64{}} }

// maxHosts limits the memory: when there are more, those that have ended are forgotten.
const maxHosts = 256

// Asked notes that a process asks for calls, for as long as it lives. A gateway is a program of ours that the host
// has started: then the host is the process above it, and what belongs to the same job.
func (h *Hosts) Asked(id int, gateway bool) {
	if id == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, lives := h.table(id); !lives || h.known[id] == p.Started {
		return // what is above it was noted the first time; since then its parent may have ended, and another taken its place
	}
	if len(h.known) >= maxHosts {
		h.forget()
	}
	depth, group := 0, 0
	for p := range h.table.above(id) {
		// The gateway, its parent, and those above it in the parent's process group: the host may have put a shell
		// between. A shell that a person types in is in another group than what it runs.
		if depth > 1 && p.Group != group || depth > 0 && isManager(p) {
			return
		}
		h.known[p.ID] = p.Started
		if depth++; !gateway {
			return
		}
		group = p.Group
	}
}

// AskedFor notes that a process asks for calls of an agent that it has started. A process that it has not started itself
// does not count: then it asks for itself.
func (h *Hosts) AskedFor(id, agent int) {
	if p, lives := h.table(agent); lives && p.Parent == id {
		id = agent
	}
	h.Asked(id, false)
}

// isManager reports whether a process starts the user's other programs, so that what it starts is not its own work.
func isManager(p Process) bool { return p.ID == 1 || p.Name == "systemd" }

// forget removes processes that have ended.
func (h *Hosts) forget() {
	for id, started := range h.known {
		if p, lives := h.table(id); !lives || p.Started != started {
			delete(h.known, id)
		}
	}
}

// Above returns an error if a process, or one above it, asks for calls: who asks never approves.
func (h *Hosts) Above(id int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.table.above(id) {
		if started, is := h.known[p.ID]; is && started == p.Started {
			return AbsenceError(fmt.Sprintf("it was started below %s (process %d), which asks for calls itself", p.Name, p.ID))
		}
	}
	return nil
}

// At returns the terminal of a process that nothing which asks for calls is above.
func (h *Hosts) At(id int) (Terminal, error) {
	if err := h.Above(id); err != nil {
		return Terminal{}, err
	}
	return h.table.At(id)
}
