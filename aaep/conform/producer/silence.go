package producer

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/report"
)

// silence is a question that was left alone.
type silence struct {
	session  string
	rules    []string // about what happens when its time is over
	deadline time.Time
	early    bool // the session has gone on before, so that the question was withdrawn
	ended    bool // the session has gone on at the end of its time, or after it
	finding  report.Finding
}

func newSilence(event aaep.Event, where report.Finding) *silence {
	s := &silence{session: event.SessionID, rules: []string{"CLA-11"}, finding: where}
	var seconds int64
	switch p := event.Payload.(type) {
	case aaep.AwaitingConfirmation:
		s.rules, seconds = []string{"CONF-70", "L2P-3"}, p.TimeoutSeconds
	case aaep.AwaitingClarification:
		seconds = p.TimeoutSeconds
	}
	s.deadline = event.Time.Add(time.Duration(seconds) * time.Second)
	return s
}

// leftAlone reports whether a question gets no answer.
func (x *exam) leftAlone(event aaep.Event) bool {
	_, clarifies := event.Payload.(aaep.AwaitingClarification)
	return x.o.Answer == Silence || clarifies && x.o.Answer != aaep.DecisionAccept
}

// brokenSilence notes that a session has gone on after a question that was left alone. What comes a moment early is a clock that differs.
func (x *exam) brokenSilence(l *listener, h heard, now time.Time) {
	if !l.answers {
		return
	}
	for _, s := range x.silent {
		switch {
		case s.session != h.session || h.id == s.finding.EventID || h.kind == aaep.TypeProgressUpdated:
		case now.Before(s.deadline.Add(-time.Second)):
			s.early = s.early || slices.Contains(terminals, h.kind) || h.leaves
		default:
			s.ended = true
		}
	}
}

// lapsed judges what has become of the questions that were left alone until their time was over.
func (x *exam) lapsed(now time.Time) {
	for _, s := range x.silent {
		switch {
		case s.early:
		case s.ended:
			x.evidence.Saw(s.rules...)
		case now.Sub(s.deadline) >= patience:
			said := fmt.Sprintf("found nothing of its session in the %v after its time was over, expected that the producer goes on by itself", now.Sub(s.deadline).Round(time.Second))
			x.note(x.evidence.Violation(s.rules[0], said, s.rules[1:]...), s.finding)
		}
	}
}
