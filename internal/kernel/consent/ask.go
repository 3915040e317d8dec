package consent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxSeconds is the longest time that a question may stay open once a person
// has seen it, extensions included, and the longest that it waits to be seen.
const MaxSeconds = 86_400

const (
	maxChoices     = 32
	maxChoiceValue = 256
	maxChoiceLabel = 1024
)

// isID reports whether an id is a prefix with 1 to 64 letters or digits behind it.
func isID(prefix, id string) bool {
	tail, is := strings.CutPrefix(id, prefix)
	return is && tail != "" && len(tail) <= 64 && strings.Trim(tail, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func isDigest(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// RefusedError says why [Ask] would not build a question. Asking again with the
// same parameters fails again.
type RefusedError struct {
	Field string // the parameter at fault
	Found string // its value
	Want  string // what would have been accepted
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("consent: cannot ask: %s is %s; want %s", e.Field, e.Found, e.Want)
}

// Params is what a question is made of.
type Params struct {
	Number    int    // from 1
	Kind      Kind   // required
	SessionID string // "sess_" and 1 to 64 letters or digits
	Token     string // "rpl_" and 1 to 64 letters or digits; never used before (CONF-07)
	AskedAt   time.Time
	Timeout   int // whole seconds to answer, 1 to 86,400
	// Unseen says that it is not known whether a surface shows the question: the caller
	// reports that with [Question.Present], or with [Question.Await] that none does.
	Unseen bool

	Default        Decision   // Reject when empty; Accept only where it is harmless
	Irreversible   bool       // includes the wire's reversibility "irreversible" (C-21)
	Risk           Risk       // required for a confirmation
	AllowedReplies []Decision // accept and reject when empty; must hold Reject
	Digest         string     // required for a confirmation: 64 lower-case hexadecimal digits

	ResponseKinds   []ResponseKind // any scalar when empty (C-29)
	Choices         []Choice       // 2 to 32; required for MultipleChoice
	DefaultResponse string         // must fit one of ResponseKinds; none when empty
}

// Ask builds an open question, or returns a [*RefusedError]. It refuses whatever
// could turn silence into consent to something that cannot be undone. That is
// stricter than §6.4.1, which leaves low and high-but-reversible cases open (C-24).
func Ask(p Params) (Question, error) {
	p = p.withDefaults()

	checks := []func() *RefusedError{p.checkIdentity, p.checkConfirmation, p.checkClarification}
	for _, check := range checks {
		if err := check(); err != nil {
			return Question{}, err
		}
	}

	asked := milliseconds(p.AskedAt)

	return Question{
		Number: p.Number, Kind: p.Kind, SessionID: p.SessionID, Token: p.Token,
		AskedAt: asked, ClockFrom: asked, Timeout: p.Timeout, Length: p.Timeout, Unseen: p.Unseen,
		Default: p.Default, Irreversible: p.Irreversible, Risk: p.Risk,
		AllowedReplies: slices.Clone(p.AllowedReplies), Digest: p.Digest,
		ResponseKinds: slices.Clone(p.ResponseKinds), Choices: slices.Clone(p.Choices),
		DefaultResponse: p.DefaultResponse,
		State:           Open,
	}, nil
}

func (p Params) withDefaults() Params {
	if p.Kind != Confirmation {
		return p
	}

	if p.Default == "" {
		p.Default = Reject
	}

	if len(p.AllowedReplies) == 0 {
		p.AllowedReplies = []Decision{Accept, Reject}
	}

	return p
}

func (p Params) checkIdentity() *RefusedError {
	switch {
	case p.Number < 1:
		return refused("number", strconv.Itoa(p.Number), "1 or more")
	case p.Kind != Confirmation && p.Kind != Clarification:
		return refused("kind", quoted(p.Kind), "confirmation or clarification")
	case !isID("sess_", p.SessionID):
		return refused("session_id", quoted(p.SessionID), "sess_ and 1 to 64 letters or digits")
	case !isID("rpl_", p.Token):
		return refused("token", quoted(p.Token), "rpl_ and 1 to 64 letters or digits")
	case p.AskedAt.IsZero():
		return refused("asked_at", "zero", "the time of asking")
	case p.Timeout < 1 || p.Timeout > MaxSeconds:
		return refused("timeout", strconv.Itoa(p.Timeout), "1 to 86400 seconds")
	default:
		return nil
	}
}

func (p Params) checkConfirmation() *RefusedError {
	if p.Kind != Confirmation {
		return nil
	}

	switch {
	case p.Risk != Low && p.Risk != Medium && p.Risk != High:
		return refused("risk", quoted(p.Risk), "low, medium or high")
	case !isDigest(p.Digest):
		return refused("digest", quoted(p.Digest), "64 lower-case hexadecimal digits")
	case slices.ContainsFunc(p.AllowedReplies, func(d Decision) bool { return d != Accept && d != Reject }):
		return refused("allowed_replies", quoted(p.AllowedReplies), "only accept and reject")
	case !slices.Contains(p.AllowedReplies, Reject):
		return refused("allowed_replies", quoted(p.AllowedReplies), "a list that holds reject")
	case !slices.Contains(p.AllowedReplies, p.Default):
		return refused("default", quoted(p.Default), "one of the allowed replies")
	case p.Default == Accept && p.Irreversible:
		return refused("default", quoted(p.Default), "reject, because the action is irreversible")
	case p.Default == Accept && p.Risk == High:
		return refused("default", quoted(p.Default), "reject, because the risk is high")
	default:
		return nil
	}
}

func (p Params) checkClarification() *RefusedError {
	if p.Kind != Clarification {
		return nil
	}

	for i, kind := range p.ResponseKinds {
		if !kind.valid() || slices.Contains(p.ResponseKinds[:i], kind) {
			return refused("response_kinds", quoted(p.ResponseKinds), "freetext, yes_no, multiple_choice and numeric, each once")
		}
	}

	if err := p.checkChoices(); err != nil {
		return err
	}

	if p.DefaultResponse == "" {
		return nil
	}

	asked := Question{ResponseKinds: p.ResponseKinds, Choices: p.Choices, DefaultResponse: p.DefaultResponse}
	if asked.fallback() == (Response{}) {
		return refused("default_response", quoted(p.DefaultResponse), "an answer of one of the response kinds")
	}

	return nil
}

func (p Params) checkChoices() *RefusedError {
	if len(p.Choices) == 0 && !slices.Contains(p.ResponseKinds, MultipleChoice) {
		return nil
	}

	if len(p.Choices) < 2 || len(p.Choices) > maxChoices {
		return refused("choices", strconv.Itoa(len(p.Choices))+" choices", "2 to 32")
	}

	for i, c := range p.Choices {
		same := func(o Choice) bool { return o.Value == c.Value }

		switch {
		case !within(c.Value, maxChoiceValue):
			return refused("choices", "a value of "+strconv.Itoa(utf8.RuneCountInString(c.Value))+" characters", "1 to 256")
		case !within(c.Label, maxChoiceLabel):
			return refused("choices", "a label of "+strconv.Itoa(utf8.RuneCountInString(c.Label))+" characters", "1 to 1024")
		case slices.ContainsFunc(p.Choices[:i], same):
			return refused("choices", quoted(c.Value)+" twice", "each value once")
		}
	}

	return nil
}

func refused(field, found, want string) *RefusedError {
	return &RefusedError{Field: field, Found: found, Want: want}
}

func quoted(value any) string { return fmt.Sprintf("%q", value) }

// within counts characters as the schemas do: code points, not bytes.
func within(text string, most int) bool {
	n := utf8.RuneCountInString(text)

	return n >= 1 && n <= most
}
