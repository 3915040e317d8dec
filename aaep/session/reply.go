package session

import "github.com/earshot-dev/earshot/aaep"

// reply records what a person answered, when the capture holds replies: the first one
// that is valid for its question counts, in time (CONF-53), of its kind (CONF-61) and
// one of the replies that were allowed (CONF-55). Others are ignored (CONF-56).
func (c *Checker) reply(d aaep.Document, confirms bool) {
	token, _ := d.Bytes("reply_token")
	q, ok := c.tokens[c.key(ofToken, 0, token)]
	if !ok || q.answer != pending || q.confirmation != confirms {
		return
	}
	if written, ok := d.Bytes("timestamp"); ok && q.timed {
		if when, ok := aaep.ParseTime(written); ok && !when.Before(q.deadline) {
			return
		}
	}
	if !confirms {
		q.answer = closed
		return
	}
	decision, _ := d.Text("decision")
	switch {
	case decision == string(aaep.DecisionAccept) && q.noAccept, decision == string(aaep.DecisionReject) && q.noReject:
	case decision == string(aaep.DecisionAccept) && d.Has("modified_action"):
		q.answer = unclear // whether the producer takes a changed action is not known (CONF-38)
	case decision == string(aaep.DecisionAccept):
		q.answer = accepted
	case decision == string(aaep.DecisionReject):
		q.answer = refused
	}
}
