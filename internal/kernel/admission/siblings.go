package admission

import (
	"cmp"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Siblings are the turns that one step begins within its own, before they are saved together. What the ledger has is read once
// for all of them. Without any, the zero value and nil are the same. It is for one goroutine.
type Siblings struct {
	begun    []*Tx
	open     []store.TurnRow // of their owner
	agents   map[string]store.Agent
	children int // those of open that are within the turn above
	read     struct{ open, children bool }
}

// Add counts a turn that may begin.
func (s *Siblings) Add(t *Tx) {
	t.gate.parents.put(t.of.Turn, t.of.Parent)
	s.begun = append(s.begun, t)
}

func (s *Siblings) count() int {
	if s == nil {
		return 0
	}
	return len(s.begun)
}

// countOf counts those of an agent.
func (s *Siblings) countOf(agent string) (n int) {
	if s == nil {
		return 0
	}
	for _, t := range s.begun {
		if t.of.Agent == agent {
			n++
		}
	}
	return n
}

// openOf returns the open turns of the owner that the ledger has, at most so many unless that is 0.
func (s *Siblings) openOf(tx store.Tx, owner string, most int) ([]store.TurnRow, error) {
	f := store.TurnFilter{Owners: []string{owner}, Open: true, Limit: most}
	if s == nil {
		return tx.Turns(f)
	}
	var err error
	if f.Limit = 0; !s.read.open {
		s.open, err = tx.Turns(f)
		s.read.open = err == nil
	}
	return s.open, err
}

// agent returns the definition of an agent.
func (s *Siblings) agent(tx store.Tx, name string) (store.Agent, error) {
	if s == nil {
		return store.ReadAgent(tx, name)
	}
	if a, read := s.agents[name]; read {
		return a, nil
	}
	a, err := store.ReadAgent(tx, name)
	if err == nil {
		if s.agents == nil {
			s.agents = map[string]store.Agent{}
		}
		s.agents[name] = a
	}
	return a, err
}

// Name names the turns. Numbering them takes a counter's row, for which others wait until the transaction ends: it comes last
// before they are saved, once for each topic, and in the same order for everybody.
func (s *Siblings) Name(tx store.Tx) error {
	if s.count() == 0 {
		return nil
	}
	byTopic := map[string][]*Tx{}
	var topics []string
	for _, t := range s.begun {
		if byTopic[t.of.Topic] == nil {
			topics = append(topics, t.of.Topic)
		}
		byTopic[t.of.Topic] = append(byTopic[t.of.Topic], t)
	}
	slices.Sort(topics)
	taken := make([]bool, len(topics))
	for i, topic := range topics {
		var err error
		if taken[i], err = isTaken(tx, topic); err != nil {
			return err
		}
	}
	n := namer{tx: tx, project: s.begun[0].of.Project}
	for i, topic := range topics {
		of := byTopic[topic][0].of
		names, err := n.name(cmp.Or(of.DisplayName, of.Agent), topic, len(byTopic[topic]), taken[i])
		if err != nil {
			return err
		}
		for j, t := range byTopic[topic] {
			t.of.Name = names[j]
		}
	}
	return nil
}

// Above returns the turn that a turn is within, if this kernel has lately begun it there; otherwise "".
func (g *Gate) Above(turn string) string {
	above, _ := g.parents.get(turn)
	return above
}

// maxParents is how many turns are remembered by the one that they are within.
const maxParents = 16_384

// parents remembers which turn a turn is within. That never changes, so what is forgotten is only read again.
type parents struct {
	mu sync.Mutex
	of map[string]string
}

func (p *parents) get(turn string) (parent string, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	parent, known = p.of[turn]
	return parent, known
}

func (p *parents) put(turn, parent string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil || len(p.of) >= maxParents {
		p.of = map[string]string{}
	}
	p.of[turn] = parent
}
