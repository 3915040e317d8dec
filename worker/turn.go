package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// held is a claimed turn in the worker's hands.
type held struct {
	w       *Worker
	at      utp.WorkerRequest
	step    int
	seen    int // results observed
	lease   time.Duration
	renewed time.Time
	planner Planner
}

// errEnded: the turn has ended meanwhile, by a stop for example.
var errEnded = errors.New("worker: the turn has ended")

// work runs one claimed turn to its end, or until something stands in the way.
func (w *Worker) work(ctx context.Context, a utp.ClaimAnswer) error {
	h := &held{
		w: w, at: utp.WorkerRequest{Turn: a.Turn, Epoch: a.Epoch, Worker: w.name}, step: a.Step,
		lease: time.Duration(a.LeaseMS) * time.Millisecond, renewed: time.Now(),
	}
	var err error
	if h.planner, err = w.o.Agent.Plan(ctx, a.Args); err != nil {
		return h.deliver(ctx, failed(utp.CodeBadRequest, err))
	}
	if a.Suspended {
		if err := h.await(ctx); err != nil {
			return over(err)
		}
	}
	for ctx.Err() == nil {
		if err := h.observe(ctx); err != nil {
			return over(err)
		}
		move, err := h.planner.Next()
		switch {
		case err != nil:
			return h.deliver(ctx, failed(utp.CodeInternalError, err))
		case move.Answer != nil:
			return h.deliver(ctx, *move.Answer)
		}
		if err := h.call(ctx, move.Calls); err != nil {
			return h.refused(ctx, err)
		}
		if err := h.await(ctx); err != nil {
			return over(err)
		}
	}
	return ctx.Err()
}

// over takes the turn's end for what it is: no failure of the worker.
func over(err error) error {
	if errors.Is(err, errEnded) || rpc.Code(err, utp.CodeTurnEnded) || rpc.Code(err, utp.CodeStopped) {
		return nil
	}
	return err
}

func failed(code utp.Code, err error) Answer {
	return Answer{Status: utp.StatusFailed, Code: code, Summary: err.Error()}
}

// observe feeds the results that the planner has not seen.
func (h *held) observe(ctx context.Context) error {
	for {
		var page utp.TranscriptAnswer
		if err := rpc.AskUntil(ctx, h.w.o.Conn, utp.OpTranscript, utp.TranscriptRequest{WorkerRequest: h.at, After: h.seen}, &page); err != nil {
			return err
		}
		for _, r := range page.Results {
			value, err := rpc.Fetch(ctx, h.w.o.Conn, r.Result)
			if err != nil {
				return err
			}
			err = h.planner.Observe(Result{
				Key: r.Key, Call: r.Call, Tool: r.Tool, Status: r.Status, Code: r.Code, Message: r.Message, Value: value,
			})
			if err != nil {
				if err := h.deliver(ctx, failed(utp.CodeInternalError, err)); err != nil {
					return err
				}
				return errEnded
			}
			h.seen++
		}
		if !page.More {
			return nil
		}
	}
}

func (h *held) call(ctx context.Context, calls []Call) error {
	request := utp.CallRequest{WorkerRequest: h.at, Step: h.step + 1}
	room := utp.InlineLimit // of the one message that carries them all
	for _, c := range calls {
		args, err := rpc.StoreWithin(ctx, h.w.o.Conn, c.Args, room)
		if err != nil {
			return err
		}
		room -= len(args.Inline)
		request.Calls = append(request.Calls, utp.ToolCall{
			Key: c.Key, Tool: c.Tool, Args: args, Says: c.Says, From: c.From, To: c.To,
		})
	}
	if err := rpc.AskUntil(ctx, h.w.o.Conn, utp.OpCall, request, nil); err != nil {
		return err
	}
	h.step++
	return nil
}

// refused fails the turn when what the planner wants will never be taken. Anything else
// is left to whoever claims the turn next.
func (h *held) refused(ctx context.Context, err error) error {
	if errors.Is(err, rpc.ErrValue) || rpc.Code(err, utp.CodeBadRequest) || rpc.Code(err, utp.CodeTooLarge) {
		return h.deliver(ctx, failed(utp.CodeBadRequest, err))
	}
	return over(err)
}

// await waits until the step's calls have ended and the turn runs again, and keeps
// the turn meanwhile.
func (h *held) await(ctx context.Context) error {
	for ctx.Err() == nil {
		var a utp.ResumeAnswer
		if err := rpc.AskUntil(ctx, h.w.o.Conn, utp.OpResume, h.at, &a); err != nil {
			return err
		}
		switch {
		case a.Ended:
			return errEnded
		case a.Waiting == 0:
			h.at.Epoch, h.renewed = a.Epoch, time.Now()
			return nil
		}
		h.w.wait(ctx, h.w.o.Poll)
		if err := h.renew(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (h *held) renew(ctx context.Context) error {
	if time.Since(h.renewed) < h.lease/3 {
		return nil
	}
	h.renewed = time.Now()
	return rpc.AskUntil(ctx, h.w.o.Conn, utp.OpRenew, h.at, nil)
}

// deliver ends the turn with an answer, or, where that is not one that can be taken,
// says so in its place: a turn ends in any case.
func (h *held) deliver(ctx context.Context, a Answer) error {
	err := h.send(ctx, a)
	if errors.Is(err, rpc.ErrValue) || rpc.Code(err, utp.CodeBadRequest) || rpc.Code(err, utp.CodeTooLarge) {
		err = h.send(ctx, failed(utp.CodeInternalError, fmt.Errorf("the agent's answer was refused: %w", err)))
	}
	return over(err)
}

func (h *held) send(ctx context.Context, a Answer) error {
	request := utp.DeliverRequest{
		WorkerRequest: h.at, Status: a.Status, Code: a.Code, Summary: a.Summary, Output: a.Output,
	}
	if request.Status == "" {
		request.Status = utp.StatusSuccess
	}
	return rpc.AskUntil(ctx, h.w.o.Conn, utp.OpDeliver, request, nil)
}
