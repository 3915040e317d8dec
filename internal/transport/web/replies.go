package web

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/utp"
)

// reply takes what a subscriber of a stream sends back (TR-SSE-04).
func (s *Server) reply(w http.ResponseWriter, r *http.Request, v visitor) error {
	raw, err := body(w, r, replyLimit)
	if err != nil {
		return asBadReply(err)
	}
	answer, err := s.message(r.Context(), v, raw)
	switch {
	case err != nil:
		return err
	case answer != nil:
		writeRaw(w, http.StatusOK, answer)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// message takes what a subscriber sends back, in any transport. Only a renegotiation has an answer, a message. Every well-formed
// reply has the same empty one, whatever its outcome. A sender does not learn whether a token exists, and the stream reports who won
// (C-57, C-99). What cannot be parsed is refused before any token is looked up.
func (s *Server) message(ctx context.Context, v visitor, raw []byte) (answer []byte, err error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, unreadable(err)
	}
	switch head.Type {
	case aaep.TypeSubscriptionRenegotiate:
		return s.renegotiate(ctx, v, raw)
	case aaep.TypeSubscriptionClose:
		return nil, s.closeSubscription(v, raw)
	}
	id, unread := replySubscription(head.Type, raw)
	if unread != nil && !decidesNothing(raw, unread) {
		return nil, unreadable(unread)
	}
	if err := denied(v.Principal, api.Answer); err != nil {
		return nil, err
	}
	s.counts.replies.Add(1)
	if unread != nil {
		s.log.InfoContext(ctx, "a reply did not count", "reason", unread)
		return nil, nil
	}
	if subscription, ok := s.hub.Subscription(v.Principal, id); ok {
		return nil, s.pass(ctx, subscription, raw)
	}
	return nil, nil
}

// actedOn are the codes of refusals that a sender can act on.
var actedOn = []string{string(utp.CodeArgumentsNotSeen), string(utp.CodePasskeyRequired), string(hub.CodeLogin)}

// pass forwards a reply. It reports an error if nothing could be recorded at all: that does not depend on the token, and the sender
// has to try again. A sender that has negotiated our extension also learns that
// the arguments have to be read first, or that an accept takes a passkey. Everyone learns that nobody can accept from there.
func (s *Server) pass(ctx context.Context, to Subscription, raw []byte) error {
	err := to.Reply(ctx, raw)
	var refusal *Refusal
	if errors.As(err, &refusal) && (refusal.SafeToRetry() || slices.Contains(actedOn, refusal.Code)) {
		return refusal
	}
	if err != nil {
		s.log.InfoContext(ctx, "a reply did not count", "reason", err)
	}
	return nil
}

// replySubscription parses a reply as strictly as the hub and returns the subscription that it names.
func replySubscription(kind string, raw []byte) (string, error) {
	switch kind {
	case aaep.TypeConfirmationReply:
		r, err := aaep.DecodeConfirmationReply(raw)
		return r.SubscriptionID, err
	case aaep.TypeClarificationReply:
		r, err := aaep.DecodeClarificationReply(raw)
		return r.SubscriptionID, err
	case aaep.TypeQuestionExtend:
		r, err := aaep.DecodeQuestionExtend(raw)
		return r.SubscriptionID, err
	}
	return "", refuse(api.KindInvalid, "found the type "+clip(kind)+", expected a reply, subscription.renegotiate or subscription.close", "send one of these")
}

// decidesNothing reports whether only the word of a confirmation's decision is none of AAEP's. Such a reply can be read, and
// is neither a yes nor a no (C-25, C-57).
func decidesNothing(raw []byte, unread error) bool {
	wrong, is := errors.AsType[*aaep.Error](unread)
	_, word := aaep.Read(raw).Text("decision")
	return is && word && len(wrong.Violations) > 0 &&
		!slices.ContainsFunc(wrong.Violations, func(v aaep.Violation) bool { return !v.Names("CONF-32") })
}

// renegotiate changes terms. The answer has the new terms, or says why there are none (C-82).
func (s *Server) renegotiate(ctx context.Context, v visitor, raw []byte) (answer []byte, err error) {
	request, err := aaep.DecodeSubscriptionRenegotiate(raw)
	if err != nil {
		return nil, unreadable(err)
	}
	subscription, ok := s.hub.Subscription(v.Principal, request.SubscriptionID)
	if !ok {
		return s.rejection(aaep.SubscriptionRejected{ReasonCode: aaep.ReasonUnknown, ReasonMessage: "There is no such live subscription of yours."})
	}
	accepted, rejected, err := subscription.Renegotiate(ctx, request)
	switch {
	case err != nil:
		return nil, err
	case rejected != nil:
		return s.rejection(*rejected)
	}
	return accepted.Encode()
}

// closeSubscription ends a subscription; one that has ended already stays so (HS-70).
func (s *Server) closeSubscription(v visitor, raw []byte) error {
	request, err := aaep.DecodeSubscriptionClose(raw)
	if err != nil {
		return unreadable(err)
	}
	if subscription, ok := s.hub.Subscription(v.Principal, request.SubscriptionID); ok {
		subscription.Close()
	}
	return nil
}

// unreadable is the answer to a body that is not a message (TR-SSE-08).
func unreadable(err error) error {
	return &Refusal{Kind: api.KindInvalid, Message: "the message cannot be read: " + plainly(err), Hint: "correct the message; sending the same again fails again", Cause: err}
}

// asBadReply turns an oversize reply into a bad one: both get the same answer (C-57).
func asBadReply(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Refusal{Kind: api.KindInvalid, Code: string(api.KindTooLarge), Message: "the body is larger than 64 KiB", Hint: "send less", Cause: err}
	}
	return err
}

// plainly returns the text of a protocol error for the sender of the message.
func plainly(err error) string {
	if wrong, ok := errors.AsType[*aaep.Error](err); ok {
		return wrong.Error()
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.Message
	}
	return "it is not one JSON object"
}
