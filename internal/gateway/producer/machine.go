package producer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Effect is one thing that a [Machine] wants done at Earshot, in the order given. Each carries a key, so that it is done once however often
// it is tried.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Open opens the session here.
	Open struct{ api.AgentOpen }
	// Report tells the person something.
	Report struct{ api.AgentReport }
	// Confirm asks the person for a consent that the producer has to keep to by itself. The answer belongs to the producer's question with this
	// token.
	Confirm struct {
		api.AgentPermission

		Token string
	}
	// Clarify asks the person for information, likewise.
	Clarify struct {
		api.AgentQuestion

		Token string
	}
	// Withdraw takes a question back, because the producer has gone on.
	Withdraw struct{ Call string }
	// End ends the session here.
	End struct{ api.AgentEnd }
)

func (Open) effect()     {}
func (Report) effect()   {}
func (Confirm) effect()  {}
func (Clarify) effect()  {}
func (Withdraw) effect() {}
func (End) effect()      {}

// Machine determines what the events of one session of a producer mean here. It is a state machine without clock or I/O, and not safe for
// concurrent use.
type Machine struct {
	State State

	out   []Effect
	event aaep.Event
	keys  int // of what the event's own content has led to
}

// Event processes an event that is new and can be acted on.
func (m *Machine) Event(e aaep.Event) []Effect {
	m.out, m.event, m.keys = nil, e, 0
	if m.State.Session == "" {
		m.open()
	}
	m.number()
	m.payload()
	return m.out
}

// key is the key of the next effect. It does not depend on the state: after a restart, the same event has the same keys.
func (m *Machine) key() string {
	m.keys++
	return fmt.Sprintf("%s.%d", m.event.ID, m.keys)
}

// open opens the session here, also where its beginning did not come: the producer may have begun before anybody listened.
func (m *Machine) open() {
	q := api.AgentOpen{Label: cmp.Or(m.event.Producer.AgentName, m.event.Producer.AgentID), Idle: api.MaxIdle, Key: "ingest." + m.event.SessionID}
	if started, is := m.event.Payload.(aaep.SessionStarted); is {
		q.Request = started.RequestText
	}
	q.Label = shortened(q.Label, maxLabel)
	m.out = append(m.out, Open{q})
}

// number sees that no event is missing before this one.
func (m *Machine) number() {
	if m.event.Sequence == nil {
		return
	}
	number, next := *m.event.Sequence, m.State.Next
	if next != nil && number > *next {
		m.out = append(m.out, Report{api.AgentReport{Missed: int(min(number-*next, api.MaxMissed)), Key: m.event.ID + ".missed"}})
	}
	if next == nil || number >= *next {
		number++
		m.State.Next = &number
	}
}

func (m *Machine) report(r api.AgentReport) {
	r.Key = m.key()
	m.out = append(m.out, Report{r})
}

// doing reports what the producer is about now, observed what it has done or begun.
func (m *Machine) doing(text string) {
	if text = strings.TrimSpace(text); text != "" {
		m.report(api.AgentReport{Doing: shortened(text, api.MaxReported), Lang: m.language()})
	}
}

func (m *Machine) observed(text string) {
	if text = strings.TrimSpace(text); text != "" {
		m.report(api.AgentReport{Observed: shortened(text, api.MaxReported)})
	}
}

func (m *Machine) payload() {
	switch p := m.event.Payload.(type) {
	case aaep.SessionStarted:
		m.doing(p.SummaryNormal)
	case aaep.StateChanged:
		m.state(p)
	case aaep.ProgressUpdated:
		m.progress(p)
	case aaep.ToolInvoked:
		m.observed(invoked(p))
	case aaep.ToolCompleted:
		m.observed(completed(p))
	case aaep.OutputStreaming:
		m.text(p)
	case aaep.AwaitingConfirmation:
		m.confirm(p)
	case aaep.AwaitingClarification:
		m.clarify(p)
	case aaep.HandoffRequested:
		m.handOff(p)
	case aaep.SessionCompleted:
		m.end(api.AgentEnd{Status: utp.StatusSuccess, Summary: p.SummaryNormal})
	case aaep.SessionErrored:
		m.end(api.AgentEnd{Status: utp.StatusFailed, Code: codeOf(p.ErrorCategory), Summary: joined(p.SummaryNormal, p.RemediationHint)})
	case aaep.SessionCancelled:
		m.end(api.AgentEnd{Status: utp.StatusCanceled, Summary: p.SummaryNormal})
	case aaep.Other:
		m.observed(unquoted(p.Members["summary_normal"]))
	}
}

// state reports a change of state that says something, and takes back what the producer does not wait for any more.
func (m *Machine) state(p aaep.StateChanged) {
	if p.FromState == aaep.StateAwaitingInput && p.ToState != aaep.StateAwaitingInput {
		m.leave()
	}
	m.doing(p.SummaryNormal)
}

// leave takes the oldest question back that the producer waited for, or the one that the event names.
func (m *Machine) leave() {
	named := m.event.Extension(aaep.PrefixEarshot, "reply_token")
	for i := range m.State.Asked {
		q := &m.State.Asked[i]
		if q.Left || named != "" && q.Token != named {
			continue
		}
		q.Left = true
		m.out = append(m.out, Withdraw{q.Call})
		return
	}
}

// progress reports how much is done, and what is being done.
func (m *Machine) progress(p aaep.ProgressUpdated) {
	done := p.Progress
	switch {
	case done.Percent != nil && *done.Percent > 0:
		m.report(api.AgentReport{Progress: min(*done.Percent, 100)})
	case done.Step != nil && done.TotalSteps != nil && *done.Step > 1 && *done.TotalSteps >= *done.Step:
		m.report(api.AgentReport{Progress: float64(*done.Step-1) * 100 / float64(*done.TotalSteps)})
	}
	m.doing(cmp.Or(p.SummaryNormal, done.Description))
}

// text reports a piece of text. Outputs that follow on each other are apart.
func (m *Machine) text(p aaep.OutputStreaming) {
	if p.Chunk == "" {
		return
	}
	text := p.Chunk
	if m.State.HasText && p.OutputID != m.State.Output {
		text = "\n\n" + text
	}
	m.State.Output, m.State.HasText = p.OutputID, true
	for _, part := range pieces(text, api.AgentTextLimit) {
		m.report(api.AgentReport{Text: part, Lang: cmp.Or(p.Language, m.language())})
	}
}

// language is that of the event's texts, as far as it is said in a way that is understood here.
func (m *Machine) language() string {
	if m.event.Hints == nil || api.CheckLang(m.event.Hints.PrimaryLanguage) != nil {
		return ""
	}
	return m.event.Hints.PrimaryLanguage
}

// handOff ends the session here for the one who takes over. What cannot be passed on is left out.
func (m *Machine) handOff(p aaep.HandoffRequested) {
	h := api.Handoff{Reason: shortened(p.Reason, maxReason), Lang: m.language(), To: string(p.TargetKind), URI: p.TargetURI, Urgency: string(p.UrgencyForHandoff)}
	if len(p.PackagedContext) > 0 {
		if raw, err := json.Marshal(p.PackagedContext, json.Deterministic(true)); err == nil {
			h.Context = raw
		}
	}
	for {
		_, err := h.Complete()
		switch {
		case err == nil:
			m.end(api.AgentEnd{Status: utp.StatusSuccess, Summary: p.SummaryNormal, Handoff: &h})
			return
		case h.Context != nil: // what is only told in passing is left out before the wish itself is
			h.Context = nil
		case h.URI != "":
			h.URI = ""
		case h.Urgency != "" || h.To != "":
			h.Urgency, h.To = "", ""
		default:
			m.observed("It asks for someone else to take over: " + p.Reason)
			return
		}
	}
}

// end ends the session here. Questions that are open are withdrawn by that.
func (m *Machine) end(e api.AgentEnd) {
	for i := range m.State.Asked {
		if e.Handoff != nil && !m.State.Asked[i].Left {
			m.out = append(m.out, Withdraw{m.State.Asked[i].Call})
		}
		m.State.Asked[i].Left = true
	}
	e.Summary = shortened(e.Summary, maxSummary)
	m.State.Ended = api.IngestEnded
	m.out = append(m.out, End{e})
}

// codeOf is the reason of a failure.
func codeOf(c aaep.ErrorCategory) utp.Code {
	switch c {
	case aaep.ErrorTransient:
		return utp.CodeUpstreamUnavailable
	case aaep.ErrorRequiresUser:
		return utp.CodeAuthFailed
	case aaep.ErrorPermanent:
		return utp.CodeBadRequest
	default:
		return utp.CodeUnknownError
	}
}

func unquoted(v jsontext.Value) string {
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(text)
}
