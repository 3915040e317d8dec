package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// Reply processes one message of the subscriber: confirmation.reply, clarification.reply, earshot:question.extend,
// subscription.renegotiate or subscription.close.
//
// For a well-formed reply it returns nil whether the reply counted or not: the sender never learns which check failed
// (CONF-56, C-57). The resolution arrives as an event. Errors: [ErrMalformed] for what cannot be parsed, before
// anything is looked up; [ErrNotAllowed] if the principal answers no questions at all; [ErrRevoked]; [ErrClosed];
// [ErrRefused] with the rejection of new terms, which ends the subscription (after a nil, [Subscription.Accepted] has
// the new ones). Any other error means that the reply was not recorded, or may not have been: it may be sent again.
func (s *Subscription) Reply(ctx context.Context, raw []byte) error {
	kind, _ := aaep.Read(raw).Text("type")
	switch kind {
	case aaep.TypeConfirmationReply:
		m, err := aaep.DecodeConfirmationReply(raw)
		return s.consider(ctx, err, api.OpAnswer, m.SubscriptionID, api.ReplyRequest{
			Token: m.ReplyToken, Decision: decision(m), Reason: m.DecisionRationale, At: m.Timestamp,
		})
	case aaep.TypeClarificationReply:
		m, err := aaep.DecodeClarificationReply(raw)
		return s.consider(ctx, err, api.OpAnswer, m.SubscriptionID, api.ReplyRequest{
			Token: m.ReplyToken, Response: m.Response.Plain(), ResponseType: responseType(m.Response), At: m.Timestamp,
		})
	case aaep.TypeQuestionExtend:
		m, err := aaep.DecodeQuestionExtend(raw)
		return s.consider(ctx, err, api.OpExtend, m.SubscriptionID, api.ReplyRequest{Token: m.ReplyToken, At: m.Timestamp})
	case aaep.TypeSubscriptionRenegotiate:
		m, err := aaep.DecodeSubscriptionRenegotiate(raw)
		if err != nil {
			return malformed(err)
		}
		_, rejected, err := s.Renegotiate(ctx, m)
		if rejected != nil {
			return refusedTerms(rejected)
		}
		return err
	case aaep.TypeSubscriptionClose:
		m, err := aaep.DecodeSubscriptionClose(raw)
		if err := s.mine(err, m.SubscriptionID); err != nil {
			return err
		}
		s.Close()
		return nil
	}
	return malformed(fmt.Errorf("found type %.64q, expected a reply, subscription.renegotiate or subscription.close", kind))
}

// decision returns the decision of a reply. An accept that would change the action counts as a reject, because changing
// it is not supported (CONF-38).
func decision(m aaep.ConfirmationReply) string {
	if m.ModifiedAction != nil {
		return string(aaep.DecisionReject)
	}
	return string(m.Decision)
}

// responseType returns the type of an answer. An answer of a type that was not asked for counts as none (CLA-08,
// CLA-10).
func responseType(r aaep.Response) string {
	if _, is := r.YesNo(); is {
		return api.ResponseBool
	}
	if _, is := r.Number(); is {
		return api.ResponseNumber
	}
	return api.ResponseText
}

// consider checks a reply by its sender, then forwards it to the kernel, which checks it against the question. A
// refusal on the merits is not reported to the sender.
func (s *Subscription) consider(ctx context.Context, unread error, op, subscription string, r api.ReplyRequest) error {
	if unread != nil {
		return malformed(unread)
	}
	who, err := s.sender()
	if err != nil {
		return err
	}
	if !who.Has(access.Approver) {
		return notAllowed("only an approver answers questions", "use a token with the role approver")
	}
	if err := attended(who, op, r); err != nil {
		return err // it depends on no token, so it tells nothing of one
	}
	r.Lists, r.Language = s.lists(r.Token), s.language(r.Token)
	why := s.entitled(ctx, who, subscription, r)
	if why == nil {
		_, why = s.hub.As(who).reply(ctx, op, r)
	}
	if r.Lists && (rpc.Code(why, utp.CodeArgumentsNotSeen) || rpc.Code(why, utp.CodePasskeyRequired)) { // the subscriber can act on this refusal
		return why
	}
	if refused(why) {
		s.hub.o.Logger.Info("reply ignored", "subscription", s.id, "surface", who.Surface, "reason", why) // CONF-62
		return nil
	}
	return why
}

// entitled checks whether the reply may count at all. It must name this very subscription, which must be able to answer
// that sort of question. The session's owner must be one for whom the sender may answer.
func (s *Subscription) entitled(ctx context.Context, who access.Principal, subscription string, r api.ReplyRequest) error {
	terms, _, _ := s.present()
	row, found, err := s.hub.session(ctx, api.SessionsRequest{Token: r.Token})
	switch {
	case err != nil:
		return err
	case subscription != s.id:
		return notAllowed("the reply names another subscription", "")
	case !found || !who.Hears(row.Owner) || !who.Approves(row.Owner) || !terms.Hears(row.Session):
		return ErrNotFound
	case r.Decision != "" && !terms.CanConfirm(), r.Response != "" && !terms.CanClarify():
		return notAllowed("the subscription has said that it does not answer", "")
	}
	return nil
}

// refused distinguishes a final refusal on the merits from a failure on the way.
func refused(err error) bool {
	if failure, is := errors.AsType[*Error](err); is {
		return failure.Code == CodeNotFound || failure.Code == CodeNotAllowed
	}
	fault, is := errors.AsType[*api.Fault](err)
	if !is {
		return false
	}
	switch fault.Code {
	case utp.CodeUpstreamUnavailable, utp.CodeStorageError, utp.CodeInternalError:
		return false
	case utp.CodeConflict:
		return !fault.Retry // losing a race too often is not a refusal
	default:
		return true
	}
}

// mine checks a message about the subscription itself.
func (s *Subscription) mine(unread error, subscription string) error {
	if unread != nil {
		return malformed(unread)
	}
	if _, err := s.sender(); err != nil {
		return err
	}
	if subscription != s.id {
		return ErrClosed
	}
	return nil
}

// sender returns the sender with its current rights.
func (s *Subscription) sender() (access.Principal, error) {
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended != nil {
		return access.Principal{}, ended
	}
	who, err := s.hub.current(s.who)
	if err != nil {
		s.end(err)
	}
	return who, err
}

// Renegotiate changes the terms; later deliveries follow the new ones (HS-63). If they cannot be granted, rejected
// explains why, and the subscription has ended (HS-61). Errors: [ErrClosed], also for a message that names another
// subscription; [ErrRevoked].
func (s *Subscription) Renegotiate(ctx context.Context, r aaep.SubscriptionRenegotiate) (aaep.SubscriptionAccepted, *aaep.SubscriptionRejected, error) {
	if err := s.mine(nil, r.SubscriptionID); err != nil {
		return aaep.SubscriptionAccepted{}, nil, err
	}
	before, _, _ := s.present()
	asked, note := answering(s.who, r.Capabilities)
	terms, accepted, rejected := before.Renegotiate(asked, s.hub.offer(ctx, s.who, asked))
	if rejected != nil {
		s.end(refusedTerms(rejected))
		return aaep.SubscriptionAccepted{}, rejected, nil
	}
	accepted.NegotiationNotes = joined(joined(accepted.NegotiationNotes, note), s.hub.translatedBy(terms.Language))
	s.agree(terms, accepted)
	return accepted, nil, nil
}

func refusedTerms(rejected *aaep.SubscriptionRejected) error {
	return &Error{Code: CodeRefused, Message: "the new terms cannot be given: " + rejected.ReasonMessage, Hint: "subscribe again", Rejected: rejected}
}

func malformed(err error) error {
	return &Error{Code: CodeMalformed, Message: "the message cannot be read: " + cause.Of(err), Hint: "correct it; the same bytes fail again", Err: err}
}
