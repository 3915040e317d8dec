package aaep

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// The rules that keep a silent person from having said yes.
var (
	defaultDecisionRule = Rule{
		Name: "default decision", IDs: []string{"CONFM-15", "CONF-20", "CONF-21", "CONF-22", "CONF-23", "CONF-26", "CONF-27"}, check: checkDefaultDecision,
	}
	reversibilityRule  = Rule{Name: "reversibility", IDs: []string{"CONFM-12", "CONF-27"}, check: checkReversibility}
	allowedRepliesRule = Rule{Name: "allowed replies", IDs: []string{"CONFM-13"}, check: checkAllowedReplies}
	timeoutGuideRule   = Rule{Name: "timeout guide", IDs: []string{"CONF-71"}, check: checkTimeoutGuide}
)

// irreversible answers whether a confirmation is for something that cannot be undone,
// by either of the two members that may say so (C-21).
func irreversible(whole *node) bool {
	return whole.isTrue("irreversible") || whole.textOf("reversibility") == string(Irreversible)
}

// checkDefaultDecision is the table of §6.4.1: what may hold when nobody answers.
func checkDefaultDecision(in *inspection, at place) {
	if at.whole.textOf("default_decision") != string(DecisionAccept) {
		return
	}
	risk := Risk(at.whole.textOf("risk_level"))
	forever := irreversible(at.whole)
	var rules []string
	if forever && !at.whole.isTrue("irreversible") {
		rules = []string{"CONF-27"} // only reversibility says so, which the schema does not read
	}
	path := "/default_decision"
	switch {
	case forever && risk == RiskHigh:
		in.add(in.duty(), path, "§6.4.1", "found accept for an irreversible action of high risk, expected reject", schemaToo(rules, "CONF-20", "CONF-26")...)
	case forever && risk == RiskMedium:
		in.add(in.duty(), path, "§6.4.1", "found accept for an irreversible action of medium risk, expected reject", schemaToo(rules, "CONF-21")...)
	case forever && risk == RiskLow:
		in.add(SeverityWarning, path, "§6.4.1", "found accept for an irreversible action, better reject", append(rules, "CONF-22")...)
	case forever:
		in.add(SeverityWarning, path, "§6.4.1", "found accept for an irreversible action without a risk_level, treated as low; better reject", append(rules, "CONF-22")...)
	case risk == RiskHigh:
		in.add(SeverityWarning, path, "§6.4.1", "found accept for an action of high risk, better reject", "CONF-23")
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
func checkReversibility(in *inspection, at place) {
	if n := at.whole.member("irreversible"); n != nil && n.kind == jsontext.KindTrue && !n.truth && at.whole.textOf("reversibility") == string(Irreversible) {
		in.add(SeverityWarning, "/reversibility", "§6.4.1", "found irreversible beside irreversible=false, treated as irreversible", "CONFM-12", "CONF-27")
	}
}

// checkAllowedReplies: C-25.
func checkAllowedReplies(in *inspection, at place) {
	n := at.whole.member("allowed_replies")
	if n == nil || len(n.texts()) == 0 {
		return
	}
	allowed := n.texts()
	if decision := at.whole.textOf("default_decision"); decision != "" && !slices.Contains(allowed, decision) {
		in.add(SeverityWarning, "/allowed_replies", "§4.4.1", fmt.Sprintf("found no %q, which is the default decision", clip(decision)), "CONFM-13")
	}
	if !slices.Contains(allowed, string(DecisionReject)) {
		in.add(SeverityWarning, "/allowed_replies", "§4.4.1", "found no reject, so that nobody could refuse; expected it", "CONFM-13")
	}
}

// checkTimeoutGuide tells where a deadline is outside the informative guide of
// §6.4.2.
func checkTimeoutGuide(in *inspection, at place) {
	n := at.whole.member("timeout_seconds")
	if n == nil || in.mode == ModeConsumer {
		return
	}
	seconds, ok := n.whole()
	if !ok {
		return
	}
	var low, high int64
	switch risk := Risk(at.whole.textOf("risk_level")); {
	case irreversible(at.whole) && risk == RiskHigh:
		low, high = 180, 600
	case irreversible(at.whole) && risk == RiskMedium:
		low, high = 60, 180
	case !irreversible(at.whole) && risk == RiskLow:
		low, high = 30, 90
	default:
		return
	}
	if seconds < low || seconds > high {
		in.add(SeverityInfo, "/timeout_seconds", "§6.4.2", fmt.Sprintf("found %d seconds, the guide is %d to %d", seconds, low, high), "CONF-71")
	}
}
