package announce

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

const (
	workStopped = "The work was stopped."
	// reasonUndone is why a session is cancelled whose accept was taken back.
	reasonUndone = "undone"
)

// end tells how a session ended. An answer that was never completed is there all the
// same, and what was still asked is not asked any more.
func (a *Announcer) end(s *session, e aaep.Event) []saying {
	var sayings []saying
	ready := "A part of an answer is there"
	if e.Type() == aaep.TypeSessionCompleted {
		ready = "The answer is ready"
	}
	for _, o := range s.outputs {
		if a.asItComes() {
			sayings = append(sayings, o.rest()...)
			continue
		}
		a.answer = answer{session: s.id, event: e.ID, text: o.whole}
		sayings = append(sayings, a.ready(o, ready)...)
	}
	s.outputs = nil
	w := a.ending(s, e)
	w.kind, w.label = KindEnd, endLabel(e)
	w.text = join(w.text, a.in(w.language, a.unasked(s.id)))
	return append(sayings, w)
}

// endLabel says how a session ended. One in which nothing worked is not done, whatever its agent says.
func endLabel(e aaep.Event) string {
	switch e.Payload.(type) {
	case aaep.SessionErrored:
		return labelFailed
	case aaep.SessionCancelled:
		return labelCancelled
	default:
		if failed, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Flag("all_failed"); failed {
			return labelEnded
		}
		return labelDone
	}
}

func (a *Announcer) ending(s *session, e aaep.Event) saying {
	switch p := e.Payload.(type) {
	case aaep.SessionErrored:
		w := a.failed(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
		if hint := sentence(p.RemediationHint, w.language); !strings.Contains(w.text, hint) && w.language == primary(e) {
			w.text = join(w.text, hint)
		}
		return a.orElse(w, Assertive, "The work has failed.")
	case aaep.SessionCancelled:
		if s.tookBack && p.CancellationReason == reasonUndone {
			return a.endedByUndo(e, p)
		}
		return a.orElse(a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed), Assertive, workStopped)
	case aaep.SessionCompleted:
		return a.orElse(a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed), Polite, "Finished.")
	default:
		return a.orElse(saying{}, Polite, "The session has ended.")
	}
}

// endedByUndo is the end that follows when the listener has taken an accept back here. It does not interrupt what they are told of that;
// and if nothing had been done before, they know all of it but that the work is over.
func (a *Announcer) endedByUndo(e aaep.Event, p aaep.SessionCancelled) saying {
	var w saying
	if p.PartialResult != "" {
		w = a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	}
	w = a.orElse(w, Polite, workStopped)
	w.ofOwnReply = true
	return w
}

func (a *Announcer) orElse(w saying, priority Priority, text string) saying {
	w.priority = priority
	if w.text == "" {
		w.text, w.language = a.own(text)
	}
	return w
}

// unasked names the questions that end with their session.
func (a *Announcer) unasked(session string) string {
	var list []string
	for _, q := range a.open {
		if q.Session == session && q.Number > 0 && !a.answeredHere(q.Number) && len(list) < maxAlarms {
			list = append(list, q.Label()+" is no longer asked.")
		}
	}
	return join(list...)
}
