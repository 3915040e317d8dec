package aaep

import (
	"fmt"
	"strconv"
)

// The rules of payloads that span fields.
var (
	someProgressRule   = Rule{Name: "some progress", IDs: []string{"PROG-01"}, check: checkSomeProgress, shape: shapeSomeProgress}
	stepRule           = Rule{Name: "step within steps", IDs: []string{"PROG-04"}, check: checkStep}
	errorMessageRule   = Rule{Name: "error message", IDs: []string{"TCOM-08"}, check: checkErrorMessage, advice: []string{"TCOM-08"}}
	completionHintRule = Rule{Name: "hint of the last chunk", IDs: []string{"OUT-04"}, check: checkCompletionHint, advice: []string{"OUT-04"}}
	choicesRule        = Rule{Name: "choices", IDs: []string{"CLAR-09"}, check: checkChoices, outer: choicesToChoose}
	defaultAnswerRule  = Rule{Name: "default response", IDs: []string{"CLAR-11"}, check: checkDefaultResponse, advice: []string{"CLAR-11"}}
)

// progressMembers are those of which progress has at least one.
var progressMembers = []string{"percent", "step", "total_steps", "description"}

func checkSomeProgress(in *inspection, progress uint32) {
	for _, name := range progressMembers {
		if in.member(progress, name) != none {
			return
		}
	}
	in.fail(progress, "§4.2.2", "found no progress, expected at least one of percent, step, total_steps, description", "PROG-01")
}

// checkStep: C-30.
func checkStep(in *inspection, progress uint32) {
	step, total := in.member(progress, "step"), in.member(progress, "total_steps")
	if step == none || total == none {
		return
	}
	s, ok1 := in.whole(step)
	t, ok2 := in.whole(total)
	if ok1 && ok2 && s > t {
		in.breach(step, "§4.2.2", fmt.Sprintf("found step %d of %d, expected a step within the total", s, t), "PROG-04")
	}
}

func checkErrorMessage(in *inspection, whole uint32) {
	status := in.textOf(whole, "status")
	if (string(status) == "error" || string(status) == "timeout") && in.member(whole, "error_message") == none {
		in.note(SeverityWarning, "/error_message", "§4.3.2", fmt.Sprintf("found status %s without an error_message, expected one", status), "TCOM-08")
	}
}

// checkCompletionHint: C-31.
func checkCompletionHint(in *inspection, whole uint32) {
	hint := in.textOf(whole, "coalesce_hint")
	if len(hint) == 0 {
		return
	}
	if complete := in.isTrue(whole, "complete"); complete != (string(hint) == "completion") {
		in.note(SeverityWarning, "/coalesce_hint", "§4.3.3", fmt.Sprintf("found the hint %s with complete %t, expected completion on the last chunk only", quoted(hint), complete), "OUT-04")
	}
}

// checkChoices: multiple choice needs something to choose from (C-29), and no two
// choices may answer alike.
func checkChoices(in *inspection, whole uint32) {
	if in.member(whole, "choices") == none && in.has(in.member(whole, "accepted_response_kinds"), string(ResponseMultipleChoice)) {
		in.note(in.duty(), "/choices", "§4.4.2", "found multiple_choice without choices, expected 2 to 32", "CLAR-09")
	}
}

// checkDefaultResponse: the default is a string that one of the kinds can read.
func checkDefaultResponse(in *inspection, whole uint32) {
	response, kinds := in.member(whole, "default_response"), in.member(whole, "accepted_response_kinds")
	if !in.is(response, kindString) || in.strings(kinds) == 0 {
		return
	}
	first, end := in.inside(kinds)
	for n := first; n < end; n = in.nodes[n].next {
		if in.is(n, kindString) && in.canAnswer(in.text(n), in.text(response), whole) {
			return
		}
	}
	in.warn(response, "§4.4.2", fmt.Sprintf("found %s, expected an answer of an accepted kind", in.describe(response)), "CLAR-11")
}

func (in *inspection) canAnswer(kind, response []byte, whole uint32) bool {
	switch ResponseKind(kind) {
	case ResponseYesNo:
		return string(response) == "true" || string(response) == "false"
	case ResponseNumeric:
		_, err := strconv.ParseFloat(string(response), 64)
		return err == nil
	case ResponseMultipleChoice:
		choices := in.member(whole, "choices")
		return choices == none || in.offers(choices, response)
	case ResponseFreetext:
		return true
	default:
		return true // a kind of a later version
	}
}

// offers reports whether one of the choices has this value.
func (in *inspection) offers(choices uint32, value []byte) bool {
	if !in.is(choices, kindArray) {
		return false
	}
	first, end := in.inside(choices)
	for n := first; n < end; n = in.nodes[n].next {
		if in.hasText(n, "value", string(value)) {
			return true
		}
	}
	return false
}
