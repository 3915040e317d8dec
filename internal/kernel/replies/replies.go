// Package replies reads what people answer: which question a reply is about, in which form the question takes it, and what
// they are told where it does not count. A subscriber of the protocol is told nothing of that (CONF-56).
package replies

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Named returns the question that a reply is about.
func Named(rec *store.Record, r api.ReplyRequest) *consent.Question {
	for i := range rec.Questions {
		q := &rec.Questions[i]
		byToken := r.Token != "" && q.Token == r.Token && (r.Question == 0 || r.Question == q.Number)
		if byToken || (r.Token == "" && q.Number == r.Question) {
			return q
		}
	}
	return nil
}

// NoByNumber takes the token from a no to a question by its number, if that is a token of the question from before: it has been
// asked again since, as when somebody is just being shown it. What was read does not matter for a no.
func NoByNumber(rec *store.Record, r api.ReplyRequest) api.ReplyRequest {
	for _, q := range rec.Questions {
		if r.Decision == string(consent.Reject) && q.Number == r.Question && slices.Contains(q.SpentTokens, r.Token) {
			r.Token = ""
		}
	}
	return r
}

// IsUndo reports whether a reply is an undo: a no after the yes (call protocol, step U).
func IsUndo(q consent.Question, r api.ReplyRequest) bool {
	return q.Kind == consent.Confirmation && q.State == consent.Accepted && r.Decision == string(consent.Reject)
}

// Read builds what consent judges. From is who has sent it, for a reply that names nobody.
func Read(q consent.Question, from string, r api.ReplyRequest, now turn.Timestamp) consent.Reply {
	at := r.At
	if at.IsZero() {
		at = now.Wall
	}
	out := consent.Reply{
		Kind: q.Kind, Token: r.Token, Number: r.Question, Timestamp: at, Authenticated: true, Principal: r.By,
		Surface: r.Surface, Rationale: r.Reason, Decision: consent.Decision(r.Decision),
	}
	if out.Principal == "" {
		out.Principal = from
	}
	if q.Kind == consent.Clarification {
		out.Response = response(q, r)
	}
	return out
}

// response returns a typed answer as it is, and reads a text as the kind of answer that was asked for: a
// choice, yes or no, a number, a text.
func response(q consent.Question, r api.ReplyRequest) consent.Response {
	kinds := []consent.ResponseKind{consent.MultipleChoice, consent.YesNo, consent.Numeric}
	switch r.ResponseType {
	case api.ResponseText:
		return consent.TextResponse(r.Response)
	case api.ResponseBool:
		kinds = kinds[1:2]
	case api.ResponseNumber:
		kinds = kinds[2:]
	default:
		kinds = slices.DeleteFunc(kinds, func(kind consent.ResponseKind) bool { return !slices.Contains(q.ResponseKinds, kind) })
	}
	for _, kind := range kinds {
		if read, is := responseAs(q, kind, r.Response); is {
			return read
		}
	}
	return consent.TextResponse(r.Response)
}

func responseAs(q consent.Question, kind consent.ResponseKind, words string) (consent.Response, bool) {
	switch kind {
	case consent.MultipleChoice:
		for _, c := range q.Choices {
			if c.Value == words {
				return consent.TextResponse(words), true
			}
		}
	case consent.YesNo:
		switch words {
		case "yes", "true":
			return consent.BoolResponse(true), true
		case "no", "false":
			return consent.BoolResponse(false), true
		}
	case consent.Numeric:
		var n float64
		if err := json.Unmarshal([]byte(words), &n); err == nil {
			return consent.NumberResponse(n), true
		}
	case consent.FreeText:
	}
	return consent.Response{}, false
}
