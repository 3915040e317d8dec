package producer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/utp"
)

// ErrUnknown is the error for a question that was not asked through the ingester.
var ErrUnknown = errors.New("no such question was sent")

// decider is who answers where nobody is named: the person is known to Earshot, which has the receipt.
const decider = "earshot"

// Reply waits for the answer to a question of the producer, at most so long. Whether it counts is up to the producer.
func (d *Ingester) Reply(ctx context.Context, by Caller, id, token string, wait time.Duration) (api.IngestReply, error) {
	r := d.acquire(by, id)
	defer d.release(r)
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	err := d.load(r)
	q, known := r.machine.State.question(token)
	of := r.machine.State.Session
	if known && !q.Left {
		defer r.waits(token, cancel)()
	}
	r.mu.Unlock()
	switch {
	case err != nil:
		return api.IngestReply{}, err
	case !known:
		return api.IngestReply{}, ErrUnknown
	}
	at := by.Agent.Session(of)
	c := api.AgentCall{State: api.CallEnded, Code: utp.CodeConsentWithdrawn, Message: "The producer has gone on from the question."}
	if !q.Left {
		asked, err := at.Wait(waiting, q.Call, wait)
		switch {
		case ctx.Err() == nil && waiting.Err() != nil: // while this request was open, the question could not be withdrawn
			if err := at.Withdraw(ctx, q.Call); err != nil {
				return api.IngestReply{}, err
			}
		case err != nil:
			return api.IngestReply{}, err
		default:
			c = asked
		}
	}
	if !c.Ended() {
		return api.IngestReply{Question: c.Question}, nil
	}
	if c.Status == utp.StatusSuccess { // a yes counts once the server has recorded that it was passed on
		if err := at.Received(ctx, c.ID); err != nil {
			return api.IngestReply{}, err
		}
	}
	return d.outcome(r.key, q, c)
}

// outcome is what came of a question, with the message for its producer. Anything but a yes is a reject.
func (d *Ingester) outcome(key string, q Question, c api.AgentCall) (api.IngestReply, error) {
	answer := api.IngestReply{Outcome: outcomeOf(q, c), Message: c.Message}
	whole := sha256.Sum256([]byte(key))
	subscription := "sub_" + hex.EncodeToString(whole[:16])
	var raw []byte
	var err error
	if q.Confirms {
		decision := aaep.DecisionReject
		if answer.Outcome == api.IngestAccepted {
			decision = aaep.DecisionAccept
		}
		raw, err = aaep.ConfirmationReply{ReplyToken: q.Token, Decision: decision, SubscriptionID: subscription, Timestamp: d.o.Now(), DecidedBy: decider}.Encode()
	} else if answer.Outcome == api.IngestAnswered {
		raw, err = clarification(q, c, subscription, d.o.Now())
	}
	if err != nil {
		return api.IngestReply{}, &client.Error{Code: client.CodeStrange, Message: "the answer cannot be written: " + err.Error(), Hint: "the producer's own default applies", Err: err}
	}
	answer.Reply = raw
	return answer, nil
}

func outcomeOf(q Question, c api.AgentCall) string {
	switch {
	case q.Confirms && c.Status == utp.StatusSuccess && c.Code == "":
		return api.IngestAccepted
	case !q.Confirms && c.Status == utp.StatusSuccess:
		return api.IngestAnswered
	}
	switch c.Code {
	case utp.CodeConsentExpired:
		return api.IngestExpired
	case utp.CodeConsentWithdrawn, utp.CodeConsentStale:
		return api.IngestWithdrawn
	case utp.CodeStopped:
		return api.IngestStopped
	default:
		return api.IngestRejected
	}
}

// clarification is the message with the answer to a question for information.
func clarification(q Question, c api.AgentCall, subscription string, now time.Time) ([]byte, error) {
	var given api.Answered
	if err := json.Unmarshal(c.Result, &given); err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it is about
	}
	reply := aaep.ClarificationReply{ReplyToken: q.Token, SubscriptionID: subscription, Timestamp: now, DecidedBy: decider}
	if given.By != "" {
		reply.DecidedBy = given.By
	}
	var err error
	switch given.Answer.Kind() {
	case 't', 'f':
		reply.Response = aaep.YesNoResponse(given.Answer.Kind() == 't')
	case '0':
		var number float64
		err = json.Unmarshal(given.Answer, &number)
		reply.Response = aaep.NumberResponse(number)
	default:
		var text string
		err = json.Unmarshal(given.Answer, &text)
		reply.Response = aaep.TextResponse(text)
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // the same
	}
	return reply.Encode()
}
