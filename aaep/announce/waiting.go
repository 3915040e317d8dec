package announce

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// soonOver is how little time to answer a waiting question may have left for its announcement to say so.
const soonOver = 5 * time.Minute

// mustWait reports whether a question waits behind another one: the listener wants one at a time, and is at another.
func (a *Announcer) mustWait(q *question) bool {
	return a.preferences.OneQuestion && slices.ContainsFunc(a.open, func(other *question) bool { return other != q && other.announced && !other.waits })
}

// hold returns the announcement of the newest question as it is made now: in short, if the question waits. What only
// says that it has more time is short already.
func (a *Announcer) hold(n Announcement) Announcement {
	q := a.open[len(a.open)-1]
	if a.replay || !a.mustWait(q) {
		return n
	}
	q.waits, n.Waits = true, true
	n.ID += ".waits"
	if n.Text != q.extra {
		n.Text, n.Language = a.own(a.waitingText([]*question{q}))
	}
	return n
}

// next announces in full the question that waits and has the lowest number, once the listener is at no other.
func (a *Announcer) next() []Announcement {
	held := a.held()
	if len(held) == 0 || len(held) < len(a.open) {
		return nil
	}
	q := slices.MinFunc(held, func(x, y *question) int { return cmp.Compare(x.Number, y.Number) })
	q.waits = false
	n := q.cue
	n.At = a.now
	a.record(n, "")
	return []Announcement{n}
}

// held returns the questions that wait behind another one.
func (a *Announcer) held() []*question {
	var list []*question
	for _, q := range a.open {
		if q.waits {
			list = append(list, q)
		}
	}
	return list
}

// caughtUp announces questions from replays to a listener who wants one at a time: the first in full, if they are at
// no other, and the rest in one sentence.
func (a *Announcer) caughtUp(missed []*question) []Announcement {
	out := a.next()
	missed = slices.DeleteFunc(missed, func(q *question) bool { return !q.waits })
	if len(missed) == 0 {
		return out
	}
	n := missed[0].cue
	n.ID += ".waits"
	n.Text, n.Language = a.own(a.waitingText(missed))
	n.Waits, n.At = true, a.now
	return append(out, n)
}

// waitingText says how many questions wait, and until when they can be answered if that is soon.
func (a *Announcer) waitingText(list []*question) string {
	subject, must := "Another question waits", "It has"
	if n := len(list); n > 1 {
		subject, must = legible.Counted(int64(n), "more question")+" wait", "One of them has"
	}
	text := subject + ": " + strconv.Itoa(len(a.open)) + " in all."
	first := slices.MinFunc(list, func(x, y *question) int { return x.Deadline.Compare(y.Deadline) })
	if left := first.Deadline.Sub(a.now); first.Waiting || left <= 0 || left > soonOver {
		return text
	}
	return text + " " + must + " to be answered by " + clockText(first.Deadline, a.now, a.preferences.Zone) + "."
}

// Waiting says how many questions wait behind the one that is open, with a new id; it returns none if none waits.
func (a *Announcer) Waiting(now time.Time) []Announcement {
	held := a.held()
	if len(held) == 0 {
		return nil
	}
	a.now = now
	n := a.again(held[0].cue, "waits")
	n.Text, n.Language = a.own(a.waitingText(held))
	n.Waits, n.At = true, now
	return []Announcement{n}
}
