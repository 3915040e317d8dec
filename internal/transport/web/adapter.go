package web

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/utp"
)

// FromHub serves a hub.
func FromHub(h *hub.Hub) Hub { return hubAdapter{hub: h} }

// hubAdapter converts the hub's requests and answers to the server's, and its errors to refusals.
type hubAdapter struct {
	hub *hub.Hub
}

func (o hubAdapter) Subscribe(ctx context.Context, who Principal, r aaep.SubscriptionRequest) (Subscription, *aaep.SubscriptionRejected, error) {
	s, rejected, err := o.hub.Subscribe(ctx, who, r)
	if rejected != nil || err != nil {
		return nil, rejected, refusal(err)
	}
	return subscriptionAdapter{s}, nil, nil
}

func (o hubAdapter) Subscription(who Principal, id string) (Subscription, bool) {
	s, err := o.hub.Subscription(who, id)
	if err != nil {
		return nil, false
	}
	return subscriptionAdapter{s}, true
}

// Sessions reads until the page is full or there are no more: the kernel returns as many as fit into a message.
func (o hubAdapter) Sessions(ctx context.Context, who Principal, w ListOptions) (Page, error) {
	person := o.hub.As(who)
	q := api.SessionsRequest{Newest: true, Open: w.Open, Ended: w.Ended}
	if w.Before != "" {
		row, err := person.Session(ctx, w.Before) // a session that they may not follow is not a valid cursor
		if err != nil {
			return Page{}, refusal(err)
		}
		q.After = row.Turn
	}
	var l Page
	for {
		q.Limit = w.Limit + 1 - len(l.Sessions)
		rows, err := person.Sessions(ctx, q)
		if err != nil {
			return Page{}, refusal(err)
		}
		if len(rows) == 0 {
			return l, nil
		}
		for _, r := range rows {
			if len(l.Sessions) == w.Limit {
				l.More = true
				return l, nil
			}
			l.Sessions = append(l.Sessions, session(r))
		}
		q.After = rows[len(rows)-1].Turn
	}
}

func (o hubAdapter) Session(ctx context.Context, who Principal, id string) (api.Session, error) {
	row, err := o.hub.As(who).Session(ctx, id)
	return session(row), refusal(err)
}

func session(r api.SessionRow) api.Session {
	return api.Session{
		ID: r.Session, Turn: r.Turn, Agent: r.Agent, Name: r.Name, Owner: r.Owner, Request: r.Request, Status: r.Status, Summary: r.Summary,
		Created: r.Created, Last: r.Last, Ended: r.Ended, QuietSince: r.QuietSince, End: r.End, Args: r.Args, PartOf: r.PartOf, Parts: r.Parts, MoreParts: r.MoreParts,
	}
}

func (o hubAdapter) Events(ctx context.Context, who Principal, session string, after int64, language string) iter.Seq2[api.EventRow, error] {
	return func(yield func(api.EventRow, error) bool) {
		for more := true; more; {
			page, err := o.hub.As(who).Events(ctx, api.EventsRequest{Session: session, After: after}, language)
			if err != nil {
				yield(api.EventRow{}, refusal(err))
				return
			}
			for _, row := range page.Events {
				after = row.Seq
				if !yield(row, nil) {
					return
				}
			}
			more = page.More && len(page.Events) > 0
		}
	}
}

func (o hubAdapter) Newest(ctx context.Context, who Principal) (string, error) {
	newest, err := o.hub.As(who).Newest(ctx)
	return newest, refusal(err)
}

func (o hubAdapter) Questions(ctx context.Context, who Principal, w QuestionListOptions) (QuestionList, error) {
	page, err := o.hub.As(who).Questions(ctx, hub.QuestionOptions(w))
	if err != nil {
		return QuestionList{}, refusal(err)
	}
	list := QuestionList{More: page.More, Total: page.Total, Waiting: page.Waiting}
	for _, q := range page.Questions {
		list.Questions = append(list.Questions, api.OpenQuestion{
			Number: q.Number, Session: q.Session, Token: q.Token, Call: q.Call, Tool: q.Tool, Kind: q.Kind, Title: q.Title, English: q.English,
			Name: q.Name, Agent: q.Agent, Request: q.Request, Owner: q.Owner,
			Asked: q.Asked, Deadline: q.Deadline, Parked: q.Parked, Event: q.Body,
		})
	}
	return list, nil
}

func (o hubAdapter) Arguments(ctx context.Context, who Principal, q api.ArgumentsRequest) ([]byte, int64, error) {
	data, size, err := o.hub.As(who).Arguments(ctx, q)
	return data, size, refusal(err)
}

func (o hubAdapter) Enqueue(ctx context.Context, who Principal, t api.TurnStart) (api.EnqueueAnswer, error) {
	started, err := o.hub.As(who).Enqueue(ctx, api.EnqueueRequest{
		Agent: t.Agent, Args: t.Args, Request: t.Request, Label: t.Label, Answer: t.Answer, ResultFields: t.ResultFields, Key: t.Key,
		Correlation: t.Correlation, Parent: t.Parent, Deadline: t.Deadline, Boxes: t.Boxes,
	})
	return started, unstarted(err, t.Key != "" || t.Correlation != "")
}

// unstarted is the refusal of a turn. Unlike a reply, a turn that is sent twice starts two turns, unless it has a key.
func unstarted(err error, keyed bool) error {
	return uncertain(err, keyed, "it begins one turn", "look at the sessions before you start it again")
}

// uncertain is the refusal of a request that is not idempotent without a key. once explains what a retry with the key
// does, peek what to check without one.
func uncertain(err error, keyed bool, once, peek string) error {
	var isRefusal *Refusal
	answer := refusal(err)
	fault, answered := errors.AsType[*api.Fault](err)
	if !errors.As(answer, &isRefusal) || isRefusal.Kind != api.KindUnavailable || answered && fault.Retry || !answered && isRefusal.Code != "" {
		return answer
	}
	isRefusal.Hint = "send the same request with the same Idempotency-Key again: " + once
	if !keyed {
		isRefusal.Kind, isRefusal.After = api.KindUncertain, 0
		isRefusal.Hint = peek + "; a request with an Idempotency-Key can be sent again"
	}
	return answer
}

func (o hubAdapter) Prefer(ctx context.Context, who Principal, w api.Preferences) (api.Preferences, error) {
	a, err := o.hub.As(who).Prefer(ctx, api.PreferRequest{Preferences: w})
	return a.Preferences, refusal(err)
}

func (o hubAdapter) Permissions(ctx context.Context, who Principal, q api.PermissionsRequest) (api.PermissionsAnswer, error) {
	a, err := o.hub.As(who).Permissions(ctx, q)
	return a, refusal(err)
}

func (o hubAdapter) Revoke(ctx context.Context, who Principal, number int) (api.StandingPermission, error) {
	v, err := o.hub.As(who).Revoke(ctx, number)
	return v, refusal(err)
}

func (o hubAdapter) Operate(ctx context.Context, who Principal, op string, request jsontext.Value) (jsontext.Value, error) {
	answer, err := o.hub.As(who).Operate(ctx, op, request)
	return answer, refusal(err)
}

func (o hubAdapter) Reply(ctx context.Context, who Principal, w Reply) (api.ReplyAnswer, error) {
	r := api.ReplyRequest{
		Question: w.Question, Token: w.Token, Session: w.Session, Decision: w.Decision, Response: w.Response.Text, ResponseType: w.Response.Type, Reason: w.Reason,
		Standing: w.Standing, At: w.At, Language: w.Language, Assertion: w.Assertion,
	}
	person := o.hub.As(who)
	var a api.ReplyAnswer
	var err error
	switch w.Verb {
	case VerbAnswer:
		a, err = person.Answer(ctx, r)
	case VerbExtend:
		a, err = person.Extend(ctx, r)
	case VerbUndo:
		a, err = person.Undo(ctx, r)
	case VerbStop:
		a, err = person.Stop(ctx, r)
	case VerbNoticed:
		person.Noticed(ctx, w.Question, w.Token)
	default:
		return api.ReplyAnswer{}, refuse(api.KindInvalid, "found the word "+clip(string(w.Verb))+", expected answer, extend, undo or stop", "correct it")
	}
	return a, refusal(err)
}

// subscriptionAdapter wraps one subscription of the hub.
type subscriptionAdapter struct {
	*hub.Subscription
}

func (s subscriptionAdapter) Reply(ctx context.Context, raw []byte) error {
	return refusal(s.Subscription.Reply(ctx, raw))
}

func (s subscriptionAdapter) Renegotiate(ctx context.Context, r aaep.SubscriptionRenegotiate) (aaep.SubscriptionAccepted, *aaep.SubscriptionRejected, error) {
	raw, err := r.Encode()
	if err != nil {
		return aaep.SubscriptionAccepted{}, nil, err
	}
	err = s.Subscription.Reply(ctx, raw)
	var refused *hub.Error
	if errors.As(err, &refused) && refused.Rejected != nil {
		return aaep.SubscriptionAccepted{}, refused.Rejected, nil
	}
	return s.Accepted(), nil, refusal(err)
}

// refusal converts an error of the hub, of the kernel behind it, or of the rights into one for the client. Any other
// error means that no answer came. The outcome is then unknown, but the same request may be sent again, because the
// ledger records each command once.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	if ours, ok := errors.AsType[*hub.Error](err); ok {
		return &Refusal{Kind: hubKinds()[ours.Code], Code: string(ours.Code), Message: ours.Message, Hint: ours.Hint, After: soon(ours.SafeToRetry()), Cause: err}
	}
	if fault, ok := errors.AsType[*api.Fault](err); ok {
		kind, known := faultKinds()[fault.Code]
		if !known {
			kind = api.KindConflict
		}
		// Retry means that a repetition does no harm, not that it helps.
		if fault.Code.Retryable() && kind == api.KindConflict {
			kind = api.KindBusy
		}
		isRefusal := &Refusal{Kind: kind, Code: string(fault.Code), Message: fault.Message, After: soon(fault.Code.Retryable()), Closed: fault.Closed, Cause: err}
		if fault.Code == utp.CodeParked {
			isRefusal.Hint = "start the server with the folder of the session (earshot up --root), or reject it, or stop the session"
		}
		return isRefusal
	}
	if who, ok := errors.AsType[*access.Error](err); ok {
		return &Refusal{Kind: api.KindUnauthenticated, Message: who.Message, Hint: who.Hint, Cause: err}
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &Refusal{
		Kind: api.KindUnavailable, Message: "no answer came in time; whether it was recorded is not known", Hint: "look at the questions and sessions, and send it again if it is not there",
		After: time.Second, Cause: err,
	}
}

func soon(retry bool) time.Duration {
	if retry {
		return time.Second
	}
	return 0
}

func hubKinds() map[hub.Code]api.Kind {
	return map[hub.Code]api.Kind{
		hub.CodeNotAllowed: api.KindForbidden, hub.CodeLogin: api.KindForbidden,
		hub.CodeRevoked: api.KindUnauthenticated, hub.CodeClosed: api.KindNotFound, hub.CodeSuperseded: api.KindConflict,
		hub.CodeMalformed: api.KindInvalid, hub.CodeRefused: api.KindConflict, hub.CodeNotFound: api.KindNotFound, hub.CodeLedgerChanged: api.KindUnavailable,
		hub.CodeStopping: api.KindUnavailable,
	}
}

func faultKinds() map[utp.Code]api.Kind {
	return map[utp.Code]api.Kind{
		utp.CodeBadRequest: api.KindInvalid, utp.CodeTooLarge: api.KindTooLarge, utp.CodeNotFound: api.KindNotFound, utp.CodeUnknownCall: api.KindNotFound,
		utp.CodeAuthFailed: api.KindForbidden, utp.CodePasskeyRequired: api.KindForbidden, utp.CodeUpstreamUnavailable: api.KindUnavailable, utp.CodeStorageError: api.KindUnavailable,
		utp.CodeInternalError: api.KindUnavailable,
	}
}
