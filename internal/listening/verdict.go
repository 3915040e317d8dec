package listening

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// Verdict is what was found so far.
type Verdict struct {
	Messages, Errors, Warnings int
	Lost                       int // places where messages may be missing
}

// judge holds each message, and the order of all, against the rules for producers.
type judge struct {
	validator aaep.Validator
	checker   *session.Checker
	verdict   Verdict
	told      map[string]bool // rules with the place, of which one finding is told
}

func newJudge() *judge {
	return &judge{checker: session.NewStreamChecker(session.Stream{JoinedLate: true, CutShort: true}), told: map[string]bool{}}
}

// maxTold bounds what is remembered.
const maxTold = 1000

// message judges one message, and returns what was not found before in the same place: a producer that breaks a rule does so with every
// message.
func (j *judge) message(raw []byte) []aaep.Violation {
	document := j.validator.Read(raw)
	found := j.validator.Judge(document, aaep.ModeProducer)
	if document.Readable() {
		found = append(slices.Clone(found), j.checker.CheckDocument(document)...)
	}
	if kind, _ := document.Text("type"); kind != aaep.TypeSubscriptionRejected { // who was not let in has heard nothing
		j.verdict.Messages++
	}
	return j.fresh(found)
}

func (j *judge) fresh(found []aaep.Violation) []aaep.Violation {
	var fresh []aaep.Violation
	for _, v := range found {
		switch v.Severity {
		case aaep.SeverityError:
			j.verdict.Errors++
		case aaep.SeverityWarning:
			j.verdict.Warnings++
		default:
			continue
		}
		key := v.Rule + " " + v.Path
		if j.told[key] || len(j.told) >= maxTold {
			continue
		}
		j.told[key] = true
		fresh = append(fresh, v)
	}
	return fresh
}
