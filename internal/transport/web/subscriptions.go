package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// subscribe takes a subscription.request (TR-SSE-01). The answer is always accepted or rejected (HS-07), even without
// authentication.
func (s *Server) subscribe(w http.ResponseWriter, r *http.Request, _ visitor) error {
	v, err := s.visitor(r)
	if err != nil {
		s.reject(w, r, aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthenticationRequired, ReasonMessage: "Nobody has said who this is. Send a token as Authorization: Bearer."})
		return nil //nolint:nilerr // the rejection says it
	}
	if err := denied(v.Principal, api.Listen); err != nil {
		s.reject(w, r, aaep.SubscriptionRejected{ReasonCode: aaep.ReasonAuthorizationDenied, ReasonMessage: v.Name + " may not hear sessions."})
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
	subscription, rejected, err := s.hub.Subscribe(r.Context(), v.Principal, request)
	switch {
	case err != nil:
		s.log.ErrorContext(r.Context(), "subscription failed", "error", err)
		s.reject(w, r, aaep.SubscriptionRejected{ReasonCode: aaep.ReasonTransportUnavailable, ReasonMessage: "The server cannot take subscriptions now.", RetryAfterSeconds: 5})
	case rejected != nil:
		s.reject(w, r, *rejected)
	default:
		s.accept(w, r, subscription)
	}
	return nil
}

// accept answers 201 with the terms and the address of the stream (TR-SSE-02).
func (s *Server) accept(w http.ResponseWriter, r *http.Request, subscription Subscription) {
	answer, err := subscription.Accepted().Encode()
	if err != nil {
		subscription.Close()
		s.fail(w, r, err)
		return
	}
	s.counts.subscriptions.Add(1)
	w.Header().Set("Location", api.AAEPRoot+"/events?subscription_id="+url.QueryEscape(subscription.ID()))
	writeRaw(w, http.StatusCreated, answer)
}

// reject answers with the rejection, with the status for its reason (C-82).
func (s *Server) reject(w http.ResponseWriter, r *http.Request, rejected aaep.SubscriptionRejected) {
	s.rejectAs(w, r, rejected, rejectedStatus(rejected.ReasonCode))
}

// rejectUnread answers what is not a request: 400 and a rejection (C-53). It distinguishes an unsupported value of a
// capability from a malformed message.
func (s *Server) rejectUnread(w http.ResponseWriter, r *http.Request, err error) {
	rejected := aaep.SubscriptionRejected{ReasonCode: aaep.ReasonUnknown, ReasonMessage: "This is not a subscription.request: " + plainly(err)}
	var wrong *aaep.Error
	if errors.As(err, &wrong) && onlyCapabilities(wrong.Violations) {
		rejected.ReasonCode = aaep.ReasonCapabilitiesIncompatible
		rejected.ReasonMessage = "A capability has a value that it does not take: " + plainly(err)
	}
	status := http.StatusBadRequest
	var refusal *Refusal
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &refusal):
		status = refusal.status()
	case errors.As(err, &big):
		status = http.StatusRequestEntityTooLarge
	}
	s.rejectAs(w, r, rejected, status)
}

func (s *Server) rejectAs(w http.ResponseWriter, r *http.Request, rejected aaep.SubscriptionRejected, status int) {
	s.counts.rejections.Add(1)
	answer, err := rejected.Encode()
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

func rejectedStatus(code aaep.ReasonCode) int {
	switch code {
	case aaep.ReasonAuthenticationRequired:
		return http.StatusUnauthorized
	case aaep.ReasonAuthorizationDenied:
		return http.StatusForbidden
	case aaep.ReasonRateLimit:
		return http.StatusTooManyRequests
	case aaep.ReasonTransportUnavailable:
		return http.StatusServiceUnavailable
	case aaep.ReasonVersionUnsupported, aaep.ReasonManifestSignatureRequired, aaep.ReasonCapabilitiesIncompatible, aaep.ReasonUnknown:
		return http.StatusConflict
	}
	return http.StatusConflict
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
