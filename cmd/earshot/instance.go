package main

import (
	"context"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/utp"
)

// openInstance opens the ledger of a data directory in this process, for a run or, as a visit, for one command of an operator.
func (m *Main) openInstance(ctx context.Context, data string, policy *policyfile.File, debug, visit bool) (*instance.Instance, error) {
	shipped, err := tidy.Definitions()
	if err != nil {
		return nil, err
	}
	return instance.Open(ctx, instance.Options{
		Data: data, Policy: policy, Visit: visit, Agents: []string{tidyName}, Reviewed: map[string][]utp.Definition{tidy.Target: shipped},
		Keepers: []instance.Keeper{m.filesService(nil, data).Keeper},
		Now:     m.Now, LookupEnv: m.LookupEnv, Logger: m.logger(debug), Reached: fault.Points(m.Getenv(fault.Variable)),
	})
}

// visit opens the ledger of a data directory for an operator.
func (m *Main) visit(ctx context.Context, data string) (*instance.Instance, error) {
	policy, err := policyfile.Open("")
	if err != nil {
		return nil, err
	}
	h, err := m.openInstance(ctx, data, policy, false, true)
	if err == nil && h.Restored {
		m.tellf("%s", instance.RestoredNote)
	}
	return h, err
}
