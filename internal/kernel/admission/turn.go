package admission

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/boxes"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	// maxOpen is how many open turns one owner may have: nobody who may start turns can fill the ledger, or the lists of
	// those who listen to them.
	maxOpen     = 200
	maxChildren = 64 // open turns within one
)

// Begin refuses a turn of an agent that is not active, or that has as many open turns as it may, and names the session. The
// turn keeps the name that the agent is shown by.
func (t *Tx) Begin(q api.EnqueueRequest) error {
	if err := t.mayBegin(); err != nil {
		return err
	}
	return t.nameSession(q)
}

// Complete checks the arguments of a turn by the definition of its agent, or where that says nothing by the agent's program,
// and gives the turn what it has by the definition. It is for a turn that is otherwise ready to begin.
func (t *Tx) Complete(args jsontext.Value) error {
	if t.of.Outside { // what an external program takes and answers is its own affair
		return nil
	}
	d, err := t.Definition()
	if err != nil {
		return err
	}
	parameters, shown := d.Parameters, fmt.Sprintf("; `earshot agents show %s` shows what it takes", d.Name)
	if len(parameters) == 0 {
		parameters, shown = t.gate.o.Parameters(t.of.Agent), ""
	}
	if err := roster.CheckArgs(t.of.Agent, parameters, args); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error()+shown+"; nothing was started")
	}
	if len(t.of.ResultFields) == 0 {
		t.of.ResultFields = d.ResultFields
	}
	return nil
}

// BeginWithin is Begin for a turn that is begun with others. They are named together, by [Siblings.Name].
func (t *Tx) BeginWithin(q api.EnqueueRequest, with *Siblings) error {
	t.siblings = with
	err := t.mayBegin()
	t.of.Topic = topic(cmp.Or(t.of.DisplayName, q.Agent), q)
	return err
}

func (t *Tx) mayBegin() error {
	d, err := t.Definition()
	t.of.DisplayName = d.DisplayName
	switch {
	case err != nil:
		return err
	case !d.IsActive():
		return api.NewFault(utp.CodeAgentInactive, fmt.Sprintf("the agent %s is not active, as an operator has defined it; nothing was started", d.Name))
	case d.MaxOpen == 0:
		return nil
	}
	open, err := t.tx.Turns(store.TurnFilter{Agent: d.Name, Open: true, Limit: d.MaxOpen})
	if err == nil && len(open)+t.siblings.countOf(d.Name) >= d.MaxOpen {
		return api.NewFault(utp.CodeTooManyTurns, fmt.Sprintf(
			"%d turns of the agent %s have not ended, which is the most that its definition allows; wait until some have, or stop some", d.MaxOpen, d.Name))
	}
	return err
}

// MayNotStart refuses who may not start turns of an agent.
func MayNotStart(name, agent string) error {
	return api.NewFault(utp.CodeAuthFailed, fmt.Sprintf(
		"%.64q may not start turns of %.64q; an operator allows it with `earshot up --may-start`, or in the definition of the agent", name, agent))
}

// MayStart checks that an agent, or a tool service, may start turns of the new turn's agent at all. What the definition of
// an agent says of whom it may ask takes the place of the server's setting.
func (t *Tx) MayStart(name string, service bool) error {
	agent := t.of.Agent
	if !service {
		d, err := t.siblings.agent(t.tx, name)
		if err != nil {
			return err
		}
		if _, decided := roster.MayAsk(d.Definition, agent); decided || agent == name {
			return nil // by its definition, when it is known what the turn is within
		}
	}
	if !t.gate.o.MayStart(name, agent) {
		return MayNotStart(name, agent)
	}
	return nil
}

// Within makes the turn a part of another one, if it may be.
func (t *Tx) Within(above turn.State) error {
	if err := t.mayAsk(above.Agent); err != nil {
		return err
	}
	if err := t.checkChildren(above.Turn); err != nil {
		return err
	}
	if err := t.checkPlaces(above); err != nil {
		return err
	}
	st := t.of
	st.Parent, st.Depth = above.Turn, above.Depth+1
	st.Within.Session, st.Within.Name, st.Within.Agent = above.Session, above.Name, above.Agent
	st.Deadline = st.Deadline.Earlier(above.Deadline, t.now)
	for _, box := range []string{st.Boxes.ContextBox, st.Boxes.OutputBox} {
		if box == "" {
			continue
		}
		if err := boxes.Check(t.tx, *st, box); err != nil {
			return err
		}
	}
	return checkDepth(st.Depth)
}

// mayAsk refuses a turn within one of an agent whose definition does not let it ask this turn's agent, no matter who
// requests it: the agent itself, a service at work in its turn, or the owner.
func (t *Tx) mayAsk(above string) error {
	a, err := t.siblings.agent(t.tx, above)
	if err != nil {
		return err
	}
	if may, decided := roster.MayAsk(a.Definition, t.of.Agent); decided && !may {
		return api.NewFault(utp.CodeAuthFailed, fmt.Sprintf(
			"the definition of the agent %s does not let it ask %.64q; an operator sees it with `earshot agents show %s`; nothing was started", above, t.of.Agent, above))
	}
	return nil
}

// checkChildren refuses another turn within one that has the most open turns allowed. An owner with fewer open turns
// than that needs no closer look.
func (t *Tx) checkChildren(parent string) error {
	open, err := t.siblings.openOf(t.tx, t.of.Owner, 0)
	if err != nil || len(open)+t.siblings.count() < maxChildren {
		return err
	}
	children, err := t.countChildren(open, parent)
	if children += t.siblings.count(); err == nil && children >= maxChildren {
		return api.NewFault(utp.CodeTooManyTurns, fmt.Sprintf(
			"%d turns that this one started have not ended, which is the most; wait until some have, or stop some", children))
	}
	return err
}

// countChildren counts the turns that are within one.
func (t *Tx) countChildren(open []store.TurnRow, parent string) (n int, err error) {
	if t.siblings != nil && t.siblings.read.children {
		return t.siblings.children, nil
	}
	for _, row := range open {
		above, known := t.gate.parents.get(row.Turn)
		if !known {
			rec, err := t.tx.Turn(store.TurnRef{Turn: row.Turn})
			if err != nil {
				return n, err
			}
			above = rec.State.Parent
			t.gate.parents.put(row.Turn, above)
		}
		if above == parent {
			n++
		}
	}
	if t.siblings != nil {
		t.siblings.children, t.siblings.read.children = n, true
	}
	return n, nil
}

// checkPlaces refuses a turn of an agent whose places are all held by the turns that it is within: it could begin only
// when one of them has ended, and if they wait for it, none ever does. Those whose calls wait for it leave it their places.
func (t *Tx) checkPlaces(above turn.State) error {
	agent := t.of.Agent
	limit := t.gate.o.MaxActive(agent)
	if limit <= 0 {
		return nil
	}
	held, below := 0, *t.of
	for range turn.MaxDepth {
		if above.Agent == agent && above.CountsAsActive() && !above.Awaits(below.Within) {
			held++
		}
		if above.Parent == "" {
			break
		}
		rec, err := t.tx.Turn(store.TurnRef{Turn: above.Parent})
		if errors.Is(err, store.ErrNotFound) { // it has been erased, and so had ended
			break
		}
		if err != nil {
			return err
		}
		below, above = above, rec.State
	}
	if held < limit {
		return nil
	}
	return api.NewFault(utp.CodeTooManyTurns, fmt.Sprintf(
		"%.64q may have %d turns under way, and the turns that this one would be within are as many; nothing was started; "+
			"do the work in the turn itself, or have an operator raise --max-active", agent, limit))
}

func checkDepth(depth int) error {
	if depth < 0 || depth >= turn.MaxDepth {
		return api.NewFault(utp.CodeRecursionDepthExceeded, fmt.Sprintf("the turn would be %d agents deep; a turn is less than %d deep", depth, turn.MaxDepth))
	}
	return nil
}

// CheckRequest refuses a request for a turn that is not in order.
func CheckRequest(q api.EnqueueRequest) error {
	if err := checkDepth(q.Depth); err != nil {
		return err
	}
	if q.Deadline < 0 || q.Deadline > api.MaxDeadline {
		return api.NewFault(utp.CodeBadRequest, fmt.Sprintf("deadline_seconds is %d; it is 1 to %d, or 0 for no deadline", q.Deadline, api.MaxDeadline))
	}
	if max(len(q.Profile), len(q.ContextBox), len(q.OutputBox), len(q.Parent)) > store.MaxName {
		return api.NewFault(utp.CodeBadRequest, "the profile, a box and the parent turn are named by at most 128 bytes each")
	}
	if !utp.ValidToken(q.Agent) {
		return api.NewFault(utp.CodeBadRequest, "the agent's name is not one token of A-Z a-z 0-9 _ -")
	}
	if len(q.Args)+len(q.Request)+len(q.Owner) > api.InlineLimit { // they fit in one message, with room to spare
		return api.NewFault(utp.CodeTooLarge, "the turn's arguments and its request together may have 256 KiB")
	}
	if err := utp.CheckRequired(q.ResultFields); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if len(q.Label) > api.InlineLimit/64 {
		return api.NewFault(utp.CodeBadRequest, "the label may have 4 KiB; it is a few words on what the turn is about")
	}
	return nil
}

// CheckOpenTurns refuses another turn of an owner who has the most open turns allowed. It runs in the
// transaction that adds the turn, so that no two turns take the last place. With are those that are added with it.
func CheckOpenTurns(tx store.Tx, owner string, with *Siblings) error {
	open, err := with.openOf(tx, owner, maxOpen)
	if err == nil && len(open)+with.count() >= maxOpen {
		return api.NewFault(utp.CodeTooManyTurns, fmt.Sprintf(
			"%d turns of %.64q have not ended, which is the most that one owner may have; wait until some have, or stop some", maxOpen, owner))
	}
	return err
}
