package session

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
)

// reply records what a person answered, when the capture holds replies: the first one
// that is valid for its question counts, in time (CONF-53), of its kind (CONF-61) and
// one of the replies that were allowed (CONF-55). Others are ignored (CONF-56). One that
// comes behind the irreversible invocation that it should have allowed shows that nobody
// had waited for it.
func (c *Checker) reply(f *facts, confirms bool) {
	token, _ := f.document.Bytes("reply_token")
	key := c.key(ofToken, 0, token)
	q, ok := c.tokens[key]
	if !ok {
		c.afterwards(f, key, confirms)
		return
	}
	if q.confirmation != confirms {
		return
	}
	when, dated := f.document.KnownMembers().Member(aaep.KnownTimestamp).Time()
	late := q.overdue(q.session.last) || dated && q.overdue(when)
	if !confirms {
		if q.answer == pending && !late {
			q.answer, q.certain = closed, true
		}
		return
	}
	decision, valid := decisionOf(f.document, q.noAccept, q.noReject)
	if !valid {
		return
	}
	if q.doubted {
		q.doubted = false
		c.disproved(decision, q.name, q.used)
	}
	if !q.certain {
		q.answered(f.document, decision, late)
	}
}

// answered takes the answer of a person.
func (q *question) answered(d aaep.Document, decision aaep.Decision, late bool) {
	q.certain = true
	switch {
	case late:
		q.expire()
		q.late = decision == aaep.DecisionAccept
	case decision == aaep.DecisionReject:
		q.answer = refused
	case d.Has("modified_action"):
		q.answer = changed // a producer that takes no other action has to refuse (CONF-38); one that does acts on what was not shown
	default:
		q.answer = accepted
	}
}

// decisionOf reads an answer, if it is one that the question takes.
func decisionOf(d aaep.Document, noAccept, noReject bool) (aaep.Decision, bool) {
	text, _ := d.Text("decision")
	switch decision := aaep.Decision(text); decision {
	case aaep.DecisionAccept:
		return decision, !noAccept
	case aaep.DecisionReject:
		return decision, !noReject
	default:
		return "", false
	}
}

// disproved tells that an answer has come behind what should have waited for it.
func (c *Checker) disproved(decision aaep.Decision, question string, at int64) {
	const message = "found the %s of question %s after the irreversible invocation that rests on it (message %d); expected an accept before the invocation"
	c.report.error("/decision", "§4.3.1", fmt.Sprintf(message, decision, question, at), "SEQ-22")
}

// doubt is a question that is forgotten, on which something irreversible was done before
// any answer was seen: the message that did it, and which answers the question does not
// take.
type doubt int64

const (
	doubtNoAccept doubt = 1 << iota
	doubtNoReject
	doubtAt
)

// doubt is what is remembered of the question.
func (q *question) doubt() doubt {
	d := doubt(q.used) * doubtAt
	if q.noAccept {
		d |= doubtNoAccept
	}
	if q.noReject {
		d |= doubtNoReject
	}
	return d
}

// afterwards judges a reply to a question whose session has ended.
func (c *Checker) afterwards(f *facts, token uint64, confirms bool) {
	d, known := c.doubts.find(token)
	if !known || !confirms {
		return
	}
	decision, valid := decisionOf(f.document, d&doubtNoAccept != 0, d&doubtNoReject != 0)
	if !valid {
		return
	}
	c.doubts.remove(token)
	name, _ := f.document.Text("reply_token")
	c.disproved(decision, name, int64(d/doubtAt))
}
