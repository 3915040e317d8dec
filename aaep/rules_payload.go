package aaep

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The rules of payloads that span fields.
var (
	someProgressRule   = Rule{Name: "some progress", IDs: []string{"PROG-01"}, check: checkSomeProgress}
	stepRule           = Rule{Name: "step within steps", IDs: []string{"PROG-04"}, check: checkStep}
	errorMessageRule   = Rule{Name: "error message", IDs: []string{"TCOM-08"}, check: checkErrorMessage}
	completionHintRule = Rule{Name: "hint of the last chunk", IDs: []string{"OUT-04"}, check: checkCompletionHint}
	choicesRule        = Rule{Name: "choices", IDs: []string{"CLAR-09"}, check: checkChoices}
	defaultAnswerRule  = Rule{Name: "default response", IDs: []string{"CLAR-11"}, check: checkDefaultResponse}
)

func checkSomeProgress(in *inspection, at place) {
	for _, name := range []string{"percent", "step", "total_steps", "description"} {
		if at.value.member(name) != nil {
			return
		}
	}
	in.add(SeverityError, at.path, "§4.2.2", "found no progress, expected at least one of percent, step, total_steps, description", "PROG-01")
}

// checkStep: C-30.
func checkStep(in *inspection, at place) {
	step, total := at.value.member("step"), at.value.member("total_steps")
	if step == nil || total == nil {
		return
	}
	s, ok1 := step.whole()
	t, ok2 := total.whole()
	if !ok1 || !ok2 || s <= t {
		return
	}
	severity := in.duty()
	in.add(severity, at.path+"/step", "§4.2.2", fmt.Sprintf("found step %d of %d, expected a step within the total", s, t), "PROG-04")
}

func checkErrorMessage(in *inspection, at place) {
	status := at.whole.textOf("status")
	if (status == "error" || status == "timeout") && at.whole.member("error_message") == nil {
		in.add(SeverityWarning, "/error_message", "§4.3.2", fmt.Sprintf("found status %s without an error_message, expected one", status), "TCOM-08")
	}
}

// checkCompletionHint: C-31.
func checkCompletionHint(in *inspection, at place) {
	hint := at.whole.textOf("coalesce_hint")
	if hint == "" {
		return
	}
	if complete := at.whole.isTrue("complete"); complete != (hint == "completion") {
		in.add(SeverityWarning, "/coalesce_hint", "§4.3.3", fmt.Sprintf("found the hint %q with complete %t, expected completion on the last chunk only", clip(hint), complete), "OUT-04")
	}
}

// checkChoices: multiple choice needs something to choose from (C-29), and no two
// choices may answer alike.
func checkChoices(in *inspection, at place) {
	choices := at.whole.member("choices")
	kinds := at.whole.member("accepted_response_kinds")
	if choices == nil && kinds != nil && slices.Contains(kinds.texts(), "multiple_choice") {
		severity := in.duty()
		in.add(severity, "/choices", "§4.4.2", "found multiple_choice without choices, expected 2 to 32", "CLAR-09")
	}
}

// checkDefaultResponse: the default is a string that one of the kinds can read.
func checkDefaultResponse(in *inspection, at place) {
	n, kinds := at.whole.member("default_response"), at.whole.member("accepted_response_kinds")
	if n == nil || n.kind != jsontext.KindString || kinds == nil || len(kinds.texts()) == 0 {
		return
	}
	for _, kind := range kinds.texts() {
		if canAnswer(kind, n.text, at.whole) {
			return
		}
	}
	in.add(SeverityWarning, "/default_response", "§4.4.2", fmt.Sprintf("found %s, expected an answer of an accepted kind", n.describe()), "CLAR-11")
}

func canAnswer(kind, response string, whole *node) bool {
	switch ResponseKind(kind) {
	case ResponseYesNo:
		return response == "true" || response == "false"
	case ResponseNumeric:
		_, err := strconv.ParseFloat(response, 64)
		return err == nil
	case ResponseMultipleChoice:
		choices := whole.member("choices")
		return choices == nil || slices.ContainsFunc(choices.items, func(c *node) bool { return c.textOf("value") == response })
	case ResponseFreetext:
		return true
	default:
		return true // a kind of a later version
	}
}
