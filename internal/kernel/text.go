package kernel

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// agentText reports a piece of the text that the agent writes while it plans.
func (k *Kernel) agentText(ctx context.Context, from Caller, q api.AgentTextRequest) (struct{}, error) {
	if len(q.Text) > api.AgentTextLimit || q.From < 0 {
		return struct{}{}, api.NewFault(utp.CodeTooLarge, fmt.Sprintf("a piece of text has at most %d bytes", api.AgentTextLimit))
	}
	if err := checkLang(q.Lang); err != nil {
		return struct{}{}, err
	}
	return struct{}{}, k.stepAgentTurn(ctx, from, q.Turn, func(s *step) error {
		s.notification.Output, s.notification.Lang = q.Text, q.Lang
		return s.dispatch(turn.AgentText{WorkerClaim: workerClaim(from, q.WorkerRequest, s.rec.State), Step: q.Step, Try: q.Try, From: q.From, Text: q.Text})
	})
}

// checkLang refuses what is not the tag of a language.
func checkLang(tag string) error {
	if err := api.CheckLang(tag); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return nil
}

// release ends a worker's claim at the worker's own request.
func (k *Kernel) release(ctx context.Context, from Caller, q api.WorkerRequest) (struct{}, error) {
	return struct{}{}, k.stepAgentTurn(ctx, from, q.Turn, func(s *step) error {
		return s.dispatch(turn.Release{WorkerClaim: workerClaim(from, q, s.rec.State)})
	})
}
