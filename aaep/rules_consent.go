package aaep

import (
	"fmt"
)

// The rules that keep a silent person from having said yes.
var (
	defaultDecisionRule = Rule{
		Name: "default decision", IDs: []string{"CONFM-15", "CONF-20", "CONF-21", "CONF-22", "CONF-23", "CONF-26", "CONF-27"}, check: checkDefaultDecision,
		outer: refusedByDefault, advice: []string{"CONF-22", "CONF-23"},
	}
	reversibilityRule = Rule{
		Name: "reversibility", IDs: []string{"CONFM-12", "CONF-27"}, check: checkReversibility, advice: []string{"CONFM-12", "CONF-27"},
	}
	allowedRepliesRule = Rule{Name: "allowed replies", IDs: []string{"CONFM-13"}, check: checkAllowedReplies, advice: []string{"CONFM-13"}}
	timeoutGuideRule   = Rule{Name: "timeout guide", IDs: []string{"CONF-71"}, check: checkTimeoutGuide, advice: []string{"CONF-71"}}
)

// irreversible reports whether a confirmation is for something that cannot be undone,
// by either of the two members that may say so (C-21).
func (t *tape) irreversible(whole uint32) bool {
	return t.isTrue(whole, "irreversible") || t.hasText(whole, "reversibility", string(Irreversible))
}

// checkDefaultDecision is the table of §6.4.1: what may hold when nobody answers.
func checkDefaultDecision(in *inspection, whole uint32) {
	if !in.hasText(whole, "default_decision", string(DecisionAccept)) {
		return
	}
	risk := Risk(in.textOf(whole, "risk_level"))
	forever := in.irreversible(whole)
	var rules []string
	if forever && !in.isTrue(whole, "irreversible") {
		rules = []string{"CONF-27"} // only reversibility says so, which the schema does not read
	}
	const path, spec = "/default_decision", "§6.4.1"
	switch {
	case forever && risk == RiskHigh:
		in.note(in.duty(), path, spec, "found accept for an irreversible action of high risk, expected reject", schemaToo(rules, "CONF-20", "CONF-26")...)
	case forever && risk == RiskMedium:
		in.note(in.duty(), path, spec, "found accept for an irreversible action of medium risk, expected reject", schemaToo(rules, "CONF-21")...)
	case forever && risk == RiskLow:
		in.note(SeverityWarning, path, spec, "found accept for an irreversible action, better reject", append(rules, "CONF-22")...)
	case forever:
		in.note(SeverityWarning, path, spec, "found accept for an irreversible action without a risk_level, treated as low; better reject", append(rules, "CONF-22")...)
	case risk == RiskHigh:
		in.note(SeverityWarning, path, spec, "found accept for an action of high risk, better reject", "CONF-23")
	}
}

// schemaToo adds the schema's own rule where the schema can see the breach.
func schemaToo(rules []string, more ...string) []string {
	if len(rules) == 0 {
		rules = []string{"CONFM-15"}
	}
	return append(rules, more...)
}

// checkReversibility: the two members must not contradict each other (C-21).
func checkReversibility(in *inspection, whole uint32) {
	if n := in.member(whole, "irreversible"); in.is(n, kindBool) && !in.isTrue(whole, "irreversible") && in.hasText(whole, "reversibility", string(Irreversible)) {
		in.note(SeverityWarning, "/reversibility", "§6.4.1", "found irreversible beside irreversible=false, treated as irreversible", "CONFM-12", "CONF-27")
	}
}

// checkAllowedReplies: C-25.
func checkAllowedReplies(in *inspection, whole uint32) {
	allowed := in.member(whole, "allowed_replies")
	if in.strings(allowed) == 0 {
		return
	}
	if decision := in.textOf(whole, "default_decision"); len(decision) > 0 && !in.has(allowed, string(decision)) {
		in.warn(allowed, "§4.4.1", fmt.Sprintf("found no %s, which is the default decision", quoted(decision)), "CONFM-13")
	}
	if !in.has(allowed, string(DecisionReject)) {
		in.warn(allowed, "§4.4.1", "found no reject, so that nobody could refuse; expected it", "CONFM-13")
	}
}

// checkTimeoutGuide tells where a deadline is outside the informative guide of
// §6.4.2.
func checkTimeoutGuide(in *inspection, whole uint32) {
	n := in.member(whole, "timeout_seconds")
	seconds, ok := int64(0), false
	if n != none {
		seconds, ok = in.whole(n)
	}
	if !ok || in.mode == ModeConsumer {
		return
	}
	var low, high int64
	forever := in.irreversible(whole)
	switch risk := Risk(in.textOf(whole, "risk_level")); {
	case in.plan.Type == TypeAwaitingClarification:
		low, high = 60, 300
	case forever && risk == RiskHigh:
		low, high = 180, 600
	case forever && risk == RiskMedium:
		low, high = 60, 180
	case !forever && risk == RiskLow:
		low, high = 30, 90
	default:
		return
	}
	if seconds < low || seconds > high {
		in.note(SeverityInfo, "/timeout_seconds", "§6.4.2", fmt.Sprintf("found %d seconds, the guide is %d to %d", seconds, low, high), "CONF-71")
	}
}
