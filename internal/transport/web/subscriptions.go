package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
)

// subscribe takes a subscription.request (TR-SSE-01). The answer is always accepted or rejected (HS-07), even without
// authentication.
func (s *Server) subscribe(w http.ResponseWriter, r *http.Request, _ visitor) error {
	v, err := s.visitor(r)
	if err != nil {
		why := "Nobody has said who this is. Send a token as Authorization: Bearer."
		if r.Header.Get("Authorization") != "" {
			why = tokenUnknown
		}
		s.reject(w, r, s.refusalOf(r, err).rejection(why))
		return nil
	}
	if err := denied(v.Principal, api.Listen); err != nil {
		s.reject(w, r, mayNotHear(v))
		return nil //nolint:nilerr // the rejection says it
	}
	if err := v.byToken(r); err != nil {
		s.reject(w, r, aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthorizationDenied, ReasonMessage: "A login of the page does not subscribe. Send a token as Authorization: Bearer."})
		return nil //nolint:nilerr // the rejection says it
	}
	raw, err := body(w, r, replyLimit)
	if err != nil {
		s.rejectUnread(w, r, err)
		return nil
	}
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		s.rejectUnread(w, r, err)
		return nil
	}
	subscription, answer, rejected := s.openSubscription(r.Context(), v, request)
	if rejected != nil {
		s.reject(w, r, *rejected)
		return nil
	}
	s.accept(w, subscription, answer)
	return nil
}

// tokenUnknown is said to who has shown a token that nobody knows.
const tokenUnknown = "The token is not valid, or no longer. Get a new one."

func mayNotHear(v visitor) aaep.SubscriptionRejected {
	return aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthorizationDenied, ReasonMessage: v.Name + " may not hear sessions."}
}

// openSubscription begins a subscription, for any transport. accepted is the text of the answer; rejected is the answer instead.
func (s *Server) openSubscription(ctx context.Context, v visitor, request aaep.SubscriptionRequest) (_ Subscription, accepted []byte, rejected *aaep.SubscriptionRejected) {
	subscription, rejected, err := s.hub.Subscribe(ctx, v.Principal, request)
	if err == nil && rejected == nil {
		if accepted, err = subscription.Accepted().Encode(); err == nil {
			s.counts.subscriptions.Add(1)
			return subscription, accepted, nil
		}
		subscription.Close()
	}
	if err != nil {
		s.log.ErrorContext(ctx, "subscription failed", "error", err)
		rejected = &aaep.SubscriptionRejected{ReasonCode: aaep.ReasonTransportUnavailable, ReasonMessage: "The server cannot take subscriptions now.", RetryAfterSeconds: 5}
	}
	return nil, nil, rejected
}

// accept answers 201 with the terms and the address of the stream (TR-SSE-02).
func (s *Server) accept(w http.ResponseWriter, subscription Subscription, answer []byte) {
	w.Header().Set("Location", api.AAEPRoot+"/events?subscription_id="+url.QueryEscape(subscription.ID()))
	writeRaw(w, http.StatusCreated, answer)
}

// reject answers with the rejection, with the status for its reason (C-82).
func (s *Server) reject(w http.ResponseWriter, r *http.Request, rejected aaep.SubscriptionRejected) {
	s.rejectAs(w, r, rejected, stream.StatusOf(rejected.ReasonCode))
}

// rejectUnread answers what is not a request: 400 and a rejection (C-53).
func (s *Server) rejectUnread(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadRequest
	var refusal *Refusal
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &refusal):
		status = refusal.status()
	case errors.As(err, &big):
		status = http.StatusRequestEntityTooLarge
	}
	s.rejectAs(w, r, unreadRequest(err), status)
}

// unreadRequest is the rejection of what is not a request. It distinguishes an unsupported value of a capability from a malformed
// message.
func unreadRequest(err error) aaep.SubscriptionRejected {
	var wrong *aaep.Error
	if errors.As(err, &wrong) && onlyCapabilities(wrong.Violations) {
		return aaep.SubscriptionRejected{
			ReasonCode: aaep.ReasonCapabilitiesIncompatible, ReasonMessage: "A capability has a value that it does not take: " + plainly(err),
		}
	}
	return aaep.SubscriptionRejected{ReasonCode: aaep.ReasonUnknown, ReasonMessage: "This is not a subscription.request: " + plainly(err)}
}

// rejection counts a rejection and returns its text.
func (s *Server) rejection(rejected aaep.SubscriptionRejected) ([]byte, error) {
	s.counts.rejections.Add(1)
	return rejected.Encode()
}

func (s *Server) rejectAs(w http.ResponseWriter, r *http.Request, rejected aaep.SubscriptionRejected, status int) {
	answer, err := s.rejection(rejected)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="earshot"`)
	}
	if rejected.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(rejected.RetryAfterSeconds))
	}
	writeRaw(w, status, answer)
}

// onlyCapabilities reports whether all violations are within the capabilities.
func onlyCapabilities(found []aaep.Violation) bool {
	for _, v := range found {
		if v.Severity == aaep.SeverityError && !strings.HasPrefix(v.Path, "/capabilities/") {
			return false
		}
	}
	return len(found) > 0
}
