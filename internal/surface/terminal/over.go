package terminal

import (
	"fmt"
	"time"
)

// overAgain is how often a question that is open past its deadline is looked at: a loss of the connection is noticed late.
const overAgain = 5 * time.Second

// overDue returns when it has to be looked at whether the question's time is over without an end; zero if never.
func (t *Terminal) overDue(q *question) time.Time {
	switch {
	case t.settings.Away == nil, q.stage != stageOpen, q.overTold, q.Deadline.IsZero():
		return time.Time{}
	case q.overAfter.IsZero():
		return q.Deadline
	default:
		return q.overAfter
	}
}

// showOver says of each question that its time is over, while the connection to the server, which says so otherwise, is lost.
func (t *Terminal) showOver() {
	for _, q := range t.questions {
		due := t.overDue(q)
		if due.IsZero() || due.After(t.now) {
			continue
		}
		if q.overAfter = t.now.Add(overAgain); !t.settings.Away() {
			continue
		}
		q.overTold = true
		t.promptf("%s", overText(q.Number))
	}
}

func overText(number int) string {
	return fmt.Sprintf("The time to answer question %d is over, and the connection is lost. "+
		"Nothing is done without an answer; what became of it is told once the connection is back.", number)
}
