package pacing

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep"
)

// Terms are what was agreed for one subscription. The zero value means no limit, every
// session, the core events, and no right to answer. Terms are a value: anyone who gets
// them may keep them, and changes nothing inside.
type Terms struct {
	SubscriptionID string
	Version        string            // of AAEP
	Language       string            // the producer's tag that serves the subscriber best, or ""
	Honored        aaep.Capabilities // as the accepted message says
	// Sessions narrows the subscription to these; nil means every session.
	Sessions []string
	// ObserveQuestions delivers questions also to one who cannot answer them.
	ObserveQuestions bool
	// Numbers has the shell number what it sends of each session, with [Trail.Number].
	Numbers bool

	prefixes []string // of the negotiated extensions
}

// Hears reports whether the subscription wants to hear of a session at all.
func (t Terms) Hears(session string) bool {
	return t.Sessions == nil || slices.Contains(t.Sessions, session)
}

// Wants reports whether an event of a session that it hears of is delivered. What is
// critical passes every filter (BP-06), except that one who cannot answer is not asked
// (CONF-83, CLA-12, C-46).
func (t Terms) Wants(e aaep.Event) bool { return t.wants(&e, isCritical(&e)) }

func (t *Terms) wants(e *aaep.Event, critical bool) bool {
	eventType := aaep.CompactType(e.Type())
	switch {
	case eventType == aaep.TypeAwaitingConfirmation && !t.CanConfirm(), eventType == aaep.TypeAwaitingClarification && !t.CanClarify():
		return t.ObserveQuestions
	case critical:
		return true
	case eventType == aaep.TypeProgressUpdated && t.Honored.CognitiveLoad == aaep.LoadLow: // C-77
		return false
	default:
		return t.Honored.EventFilters.Passes(eventType, t.prefixes)
	}
}

// CanConfirm reports whether the subscriber may answer confirmations.
func (t Terms) CanConfirm() bool { return isTrue(t.Honored.SupportsConfirmationReply) }

// Extends reports whether the subscriber has negotiated the extension of this prefix, so that it
// shows what events carry under it.
func (t Terms) Extends(prefix string) bool { return slices.Contains(t.prefixes, prefix) }

// CanClarify reports whether the subscriber may answer clarifications.
func (t Terms) CanClarify() bool { return isTrue(t.Honored.SupportsClarificationReply) }

// isCritical reports whether an event must not wait: by its own word, or by its type,
// which for four of them leaves no choice (§3.3.2).
func isCritical(e *aaep.Event) bool {
	return e.Urgency == aaep.UrgencyCritical || aaep.DefaultUrgency(e.Type()) == aaep.UrgencyCritical
}
