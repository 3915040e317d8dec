package session

import (
	"errors"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// report gathers the findings of one event, or of one session at its end.
type report struct {
	found    []aaep.Violation
	consumer bool // judged for a listener: an error is only what is unsafe to act on
}

// unsafe are the rules whose breach a listener must not act on: something irreversible
// without consent, a token that an answer could be taken for another question by, and
// an id by which an event would be taken for one that came before.
var unsafe = []string{"SEQ-22", "SEQ-23", "CONF-01", "CONF-06", "CONF-07", "ENV-20"}

func (r *report) error(path, spec, message string, rules ...string) {
	r.add(aaep.SeverityError, path, spec, message, rules)
}

func (r *report) warn(path, spec, message string, rules ...string) {
	r.add(aaep.SeverityWarning, path, spec, message, rules)
}

func (r *report) info(rule, spec, message string) {
	r.add(aaep.SeverityInfo, "", spec, message, []string{rule})
}

func (r *report) add(severity aaep.Severity, path, spec, message string, rules []string) {
	if r.consumer && severity == aaep.SeverityError && !slices.ContainsFunc(rules, isUnsafe) {
		severity = aaep.SeverityWarning
	}
	ranked := aaep.Ranked(rules...)
	v := aaep.Violation{Rule: ranked[0], Severity: severity, Path: path, Message: message, Spec: spec}
	if len(ranked) > 1 {
		v.Also = ranked[1:]
	}
	r.found = append(r.found, v)
}

func isUnsafe(rule string) bool { return slices.Contains(unsafe, rule) }

// violationsOf returns the findings that an error of package aaep carries.
func violationsOf(err error) []aaep.Violation {
	if e, ok := errors.AsType[*aaep.Error](err); ok && len(e.Violations) > 0 {
		return e.Violations
	}
	return []aaep.Violation{{Rule: "ENV-01", Severity: aaep.SeverityError, Message: err.Error(), Spec: "§2.2.4"}}
}
