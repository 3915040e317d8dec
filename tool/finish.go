package tool

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// finish records the result. It may outlive the service's context by grace, so that an effect that happened is
// reported.
func (s *Service) finish(serviceCtx context.Context, owner api.OwnerRequest, r Result, failure error) (utp.Status, utp.Code) {
	ctx, cancel := s.untilGrace(serviceCtx)
	defer cancel()
	request := api.FinishRequest{OwnerRequest: owner, Status: r.Status}
	if request.Status == "" {
		request.Status = utp.StatusSuccess
	}
	if failure != nil {
		request.Error = toolError(failure)
		if request.Status == utp.StatusSuccess {
			request.Status = utp.StatusFailed
		}
		if request.Error.Code == utp.CodeToolTimeout && request.Status == utp.StatusFailed {
			request.Status = utp.StatusTimeout
		}
	}
	rejected, err := s.store(ctx, r, &request.Result)
	if rejected != nil {
		request.Status, request.Error = utp.StatusFailed, cmp.Or(request.Error, rejected)
	}
	if err == nil {
		err = s.ask(ctx, api.OpFinish, request, nil)
	}
	if err != nil {
		s.o.Logger.Error("not finished", "call", owner.Call, "error", err)
	}
	if request.Error == nil {
		return request.Status, ""
	}
	return request.Status, request.Error.Code
}

// lastTrouble is how long a result is offered to a ledger that cannot read its turn. It is longer than a lease, because
// what was done should be reported if at all possible.
const lastTrouble = time.Minute

// ask retries a request until there is an answer. If a turn cannot be read for a while, it gives up: the call's outcome
// stays unknown, as if this process had died, and its slot is free for another call.
func (s *Service) ask(ctx context.Context, op string, request, into any) error {
	return rpc.AskWithin(ctx, s.o.Conn, lastTrouble, op, request, into)
}

// store puts a result's value into a body. If the value cannot be stored because of its form or size, rejected is an
// error to report instead, so that the call is still reported. Any other error means that the kernel was not reached.
func (s *Service) store(ctx context.Context, r Result, into *api.Body) (rejected *utp.ToolError, err error) {
	if r.Value == nil {
		return nil, nil //nolint:nilnil // Nothing to store, and no error.
	}
	raw, wrong := encode(r.Value)
	if wrong != nil {
		s.o.Logger.Error("the tool's result cannot be kept", "error", wrong)
		return wrong, nil
	}
	*into, err = rpc.Store(ctx, s.o.Conn, raw)
	switch {
	case errors.Is(err, rpc.ErrValue):
		return toolError(Error(utp.CodeResultNotSerializable, err.Error())), nil
	case rpc.Code(err, utp.CodeTooLarge):
		return toolError(Error(utp.CodeTooLarge, "the result is over the limit: "+err.Error())), nil
	}
	return nil, err
}

// untilGrace returns a context that ends grace after the service's own.
func (s *Service) untilGrace(serviceCtx context.Context) (context.Context, context.CancelFunc) {
	declared, cancel := context.WithCancel(context.WithoutCancel(serviceCtx))
	timer := time.AfterFunc(time.Hour, cancel)
	timer.Stop()
	stop := context.AfterFunc(serviceCtx, func() { timer.Reset(grace) })
	return declared, func() {
		stop()
		timer.Stop()
		cancel()
	}
}
