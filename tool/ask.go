package tool

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// asksAgain is how often the service polls for the reply to a question.
const asksAgain = 500 * time.Millisecond

// Ask asks the person a question during the call, on every surface, and waits for the reply. It is not consent: the
// call was already granted, and no reply permits the use of another tool. The question names the tool that asks; its
// text is quoted as the tool's.
//
// A question that ends without a reply is a [*utp.ToolError]: consent_expired if nobody replied in time,
// consent_withdrawn or stopped if the call has ended meanwhile, bad_request if the question is invalid. A default
// counts as a reply (Answered.Default).
func (c *Call) Ask(ctx context.Context, q api.Question) (api.Answered, error) {
	var a api.Answered
	if c.conn == nil {
		return a, &utp.ToolError{Code: utp.CodeNotImplemented, Message: "nobody can be asked here"}
	}
	request := api.InquireRequest{OwnerRequest: c.held, Key: strconv.FormatInt(c.asked.Add(1), 10), Question: &q}
	for {
		var s api.CallStatus
		if err := rpc.AskUntil(ctx, c.conn, api.OpInquire, request, &s); err != nil {
			return a, fmt.Errorf("tool: asking the person: %w", err)
		}
		if s.Ended() {
			return answered(ctx, c.conn, s)
		}
		request.Asked, request.Key, request.Question = s.Call, "", nil
		timer := time.NewTimer(asksAgain)
		select {
		case <-ctx.Done():
			timer.Stop()
			return a, fmt.Errorf("tool: asking the person: %w", context.Cause(ctx))
		case <-timer.C:
		}
	}
}

func answered(ctx context.Context, conn rpc.Requester, s api.CallStatus) (a api.Answered, err error) {
	if s.Status != utp.StatusSuccess {
		return a, &utp.ToolError{Code: s.Code, Message: "the person gave no answer: " + s.Explain(), Source: utp.SourceTool}
	}
	raw, err := rpc.Fetch(ctx, conn, s.Result)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil {
		return api.Answered{}, fmt.Errorf("tool: reading the person's answer: %w", err)
	}
	return a, nil
}
