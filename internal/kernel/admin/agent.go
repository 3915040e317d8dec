package admin

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

const agentPage, maxAgentDetail = 50, 1 << 10

// Agents returns the definition of one agent, or a page of all.
func (ad *Admin) Agents(ctx context.Context, q api.AgentsRequest) (api.AgentsAnswer, error) {
	var a api.AgentsAnswer
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		a = api.AgentsAnswer{}
		rows, err := tx.Agents(store.AgentFilter{Name: q.Name, After: q.After, Limit: agentPage})
		if err == nil && q.Name != "" && len(rows) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		r := newPageBudget()
		for _, row := range rows {
			d := row.Detail()
			if fits, err := r.fits(d); err != nil || !fits {
				a.More = true
				return err
			}
			a.Agents = append(a.Agents, d)
		}
		a.More = q.Name == "" && len(rows) == agentPage
		return nil
	})
	return a, err
}

// DefineAgent records the definition of an agent, if it replaces what the operator has looked at.
func (ad *Admin) DefineAgent(ctx context.Context, q api.DefineAgentRequest) (api.AgentDetail, error) {
	after := store.Agent{Definition: q.Definition}
	if err := roster.Check(q.Definition); err != nil {
		return after.Detail(), api.NewFault(utp.CodeBadRequest, "the definition: "+err.Error())
	}
	var err error
	if after.Digest, err = roster.Digest(q.Definition); err != nil {
		return after.Detail(), store.Unexpected("a definition", err)
	}
	err = store.Update(ctx, ad.o.Ledger, func(tx store.Tx) error {
		now, err := store.ReadAgent(tx, q.Definition.Name)
		if err != nil {
			return err
		}
		if now.Digest != q.Before {
			return agentChanged(q.Definition.Name, "recorded")
		}
		return ad.changeAgent(tx, store.AgentChange{Name: q.Definition.Name, Before: now.Digest, After: after},
			api.AuditAct{Detail: agentDetail(q.Definition), Digest: after.Digest, By: q.By})
	})
	return after.Detail(), err
}

// RemoveAgent removes the definition of an agent.
func (ad *Admin) RemoveAgent(ctx context.Context, q api.RemoveAgentRequest) error {
	return store.Update(ctx, ad.o.Ledger, func(tx store.Tx) error {
		now, err := store.ReadAgent(tx, q.Name)
		if err == nil && now.Digest == "" {
			err = store.ErrNotFound
		}
		if err != nil {
			return err
		}
		if now.Digest != q.Before {
			return agentChanged(q.Name, "removed")
		}
		return ad.changeAgent(tx, store.AgentChange{Name: q.Name, Before: now.Digest}, api.AuditAct{Detail: api.ActEnded, Digest: now.Digest, By: q.By})
	})
}

func agentChanged(name, done string) error {
	return api.NewFault(utp.CodeConflict, "the definition of "+name+" has changed since it was looked at; nothing was "+done)
}

// changeAgent saves a change with its act.
func (ad *Admin) changeAgent(tx store.Tx, c store.AgentChange, act api.AuditAct) error {
	act.Act, act.Subject = api.ActAgent, c.Name
	a, err := ad.Operated(act)
	if err != nil {
		return err
	}
	return tx.Save(store.Batch{Agents: []store.AgentChange{c}, Acts: a})
}

// agentDetail describes a definition in an act, which its digest covers as a whole.
func agentDetail(d api.AgentDefinition) string { return store.Clip(roster.Describe(d), maxAgentDetail) }

// agentsInForce returns the definitions as acts name them. A digest that is not that of the definition itself is replaced,
// so that it is found to differ.
func agentsInForce(all []store.Agent) []store.InForce {
	rows := make([]store.InForce, 0, len(all))
	for _, a := range all {
		digest, err := roster.Digest(a.Definition)
		if err != nil {
			digest = "none"
		}
		rows = append(rows, store.InForce{Kind: api.ActAgent, Subject: a.Definition.Name, Digest: digest, Detail: agentDetail(a.Definition)})
	}
	return rows
}
