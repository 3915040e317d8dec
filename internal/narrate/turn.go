package narrate

import (
	"cmp"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// maxRequestedBy is the maximum length of a requester's name in an event.
const maxRequestedBy = 256

// began opens the session. A turn that an agent or a service started within another is not told as the owner's request.
func (s *eventBuilder) began() error {
	within := s.t.Turn.Within
	l := line{
		key: "turn.began", params: Params{
			"agent": s.agent(), "session": sessionName(s.t.Turn.Name), "request": quoted(s.t.Request),
			"spawner": who(within.Spawner), "parent": sessionName(within.Name),
		},
		earshot: map[string]any{extSession: s.t.Turn.Name},
	}
	if within.Session != "" {
		l.earshot[extParent] = within.Session
	}
	requester, _ := cut(valid(cmp.Or(within.Spawner, s.t.Turn.Owner)), maxRequestedBy)
	return s.add(l, aaep.TypeSessionStarted, func(x texts) ([]aaep.Event, error) {
		return one(s.session.Start(s.t.At, s.t.Rand, aaep.SessionStarted{
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
			RequestedBy: requester, RequestText: s.request(),
		}))
	})
}

// request returns the person's request, without apparent credentials.
func (s *eventBuilder) request() string {
	head, more := clean(s.t.Request, capRequest)
	if more > 0 {
		return head + " " + s.narrator.speaker.left(more)
	}
	return head
}

func (s *eventBuilder) thinking() error {
	if s.blocked() {
		return nil // a call of an external agent is still waiting for an answer
	}
	if err := s.move(aaep.StateThinking, line{key: "turn.thinking", urgency: aaep.UrgencyBackground}); err != nil {
		return err
	}
	if len(s.session.State().Calls) == 0 {
		return nil
	}
	return s.back() // a call of an external agent still runs, and that is the state (SEQ-21)
}

// stopping reports that tools still run after a stop. It also closes questions that the stop withdrew without an event
// of their own.
func (s *eventBuilder) stopping() error {
	if err := s.closeDead("stopped"); err != nil {
		return err
	}
	n := 0
	for _, c := range s.t.Turn.Calls {
		if c.State == turn.Started || c.State == turn.LeaseExpired {
			n++
		}
	}
	return s.announce(line{
		key: "turn.stopping", params: Params{"running": count(int64(n)), "by": who(s.by())},
		earshot: map[string]any{extBy: s.by(), extSurface: s.surface()},
	})
}

// closeDead withdraws the questions that are open here but no longer in the turn.
func (s *eventBuilder) closeDead(reason string) error {
	open := append([]openQuestion(nil), s.memory.Open...)
	closed := false
	for _, q := range open {
		c, found := s.t.Turn.Find(q.Call)
		open := found && c.Question == q.Number && (c.State == turn.Asked || c.State == turn.Unknown)
		if open {
			continue
		}
		if err := s.withdraw(q, reason); err != nil {
			return err
		}
		closed = true
	}
	if closed {
		return s.back()
	}
	return nil
}

// withdraw closes a question that nobody will answer.
func (s *eventBuilder) withdraw(q openQuestion, reason string) error {
	params := Params{paramQuestion: count(int64(q.Number)), "action": q.Action, "reason": phraseParam("withdrawn."+reason, nil)}
	key, resolution := "question.withdrawn", aaep.ResolutionWithdrawn
	if reason == "stopped" {
		resolution = aaep.ResolutionStopped
	}
	if q.Outcome {
		key = "fate.stopped"
	}
	return s.resolve(q.Token, resolution, line{
		key: key, params: params, earshot: map[string]any{extQuestion: q.Number, extReason: reason, extCall: callID(q.Call)},
	})
}

// frozen reports that the ledger went back in time. Questions about calls whose outcome is now in doubt are withdrawn
// first; their own clarifications follow.
func (s *eventBuilder) frozen() error {
	for _, q := range append([]openQuestion(nil), s.memory.Open...) {
		c, found := s.t.Turn.Find(q.Call)
		if found && (c.State == turn.Asked && c.Question == q.Number || q.Outcome && c.State == turn.Unknown) {
			continue
		}
		if err := s.withdraw(q, "restored"); err != nil {
			return err
		}
	}
	if err := s.revokeDead(); err != nil {
		return err
	}
	return s.announce(line{key: "ledger.restored", urgency: aaep.UrgencyCritical})
}

// rules reports that the operator's rules have a problem, or no longer have one. It is about no call, and contains
// nothing confidential of the operator.
func (s *eventBuilder) rules() error {
	if s.t.Note.Kind == kernel.NoteRulesMended {
		return s.announce(line{key: "rules.mended", urgency: aaep.UrgencyNormal})
	}
	return s.announce(line{key: "rules.broken", urgency: aaep.UrgencyCritical})
}

// countdown says how much time is left to answer an open question. Nothing hangs on it: the deadline counts (CONF-73,
// CONF-74).
func (s *eventBuilder) countdown() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open || !s.blocked() {
		return nil
	}
	left := s.t.Question.Deadline.Sub(s.t.At).Round(time.Second)
	return s.announce(line{
		key: "question.left", params: Params{paramQuestion: count(int64(q.Number)), "left": duration(left), paramAction: q.Action},
		urgency: aaep.UrgencyNormal, earshot: map[string]any{extQuestion: q.Number, extLeft: int64(left / time.Second)},
	})
}

// working reports what a call is doing, in the words of its service.
func (s *eventBuilder) working() error {
	l := line{
		key: "call.working", params: Params{"tool": identifier(s.t.Call.Tool), "words": quotedTo(s.t.Summary, capField)},
		urgency: aaep.UrgencyBackground, earshot: s.aboutCall(),
	}
	return s.add(l, aaep.TypeProgressUpdated, func(x texts) ([]aaep.Event, error) {
		return one(s.session.Progress(s.t.At, s.t.Rand, aaep.ProgressUpdated{
			Progress:     aaep.Progress{Description: x[fieldNormal]},
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
		}))
	})
}

// progress reports the completed share of the whole work; it never decreases.
func (s *eventBuilder) progress() error {
	percent := min(max(s.t.Note.Percent, 0), 100)
	if percent <= s.memory.Percent {
		return nil
	}
	s.memory.Percent = percent
	l := line{
		key: "call.progress", params: Params{"percent": count(int64(percent)), "tool": identifier(s.t.Call.Tool)},
		urgency: aaep.UrgencyBackground, earshot: s.aboutCall(),
	}
	return s.add(l, aaep.TypeProgressUpdated, func(x texts) ([]aaep.Event, error) {
		return one(s.session.Progress(s.t.At, s.t.Rand, aaep.ProgressUpdated{
			Progress:     aaep.Progress{Percent: &percent},
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
		}))
	})
}
