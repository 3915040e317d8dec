package acp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/utp"
)

// Effect is one thing that a [Machine] wants done, in the order given.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Report tells the person something, on every surface.
	Report struct{ api.AgentReport }
	// Ask asks the person for a permission. The answer comes back as [Machine.Answered].
	Ask struct {
		Request    string
		Permission api.AgentPermission
	}
	// Reply answers a request of the agent with one of its options; with "" it is cancelled.
	Reply struct{ Request, Option string }
	// SetMode sets the agent's mode, by a setting if Setting is not empty. The result comes back as [Machine.ModeSet].
	SetMode struct{ Mode, Setting string }
	// Send gives the agent a request of the person. Its end comes back as [Machine.Rested].
	Send struct{ Text string }
	// Cancel tells the agent to end what it is doing. The replies after it are given when it has been sent, for an agent
	// that hears of them first goes on.
	Cancel struct{}
	// Ready says that the agent can be given a request.
	Ready struct{}
	// End ends the session. Nothing comes after it.
	End struct {
		Result api.AgentEnd
		// Reason is why it ended early, in words; "" means that the person has no further request.
		Reason string
		// Hint is what to do about it.
		Hint string
	}
)

func (Report) effect()  {}
func (Ask) effect()     {}
func (Reply) effect()   {}
func (SetMode) effect() {}
func (Send) effect()    {}
func (Cancel) effect()  {}
func (Ready) effect()   {}
func (End) effect()     {}

// Settings configure a [Machine].
type Settings struct {
	// Agent is the agent's name at Earshot, such as claude. It selects the reviewed modes.
	Agent string
	// AllowedMode is a mode of the agent that the person has named: the agent works in it, whether it asks there or not.
	// [NoMode] is that of an agent that names none.
	AllowedMode string
	// Request is the request with which the session at Earshot was opened, and which need not be told again.
	Request string
}

// Machine determines what an agent's messages mean for the person and what their answers mean for the agent. It is a
// state machine without clock or I/O, and not safe for concurrent use.
type Machine struct {
	out   []Effect
	begun string // the request with which the session was opened
	modes modes
	calls calls
	plan  plan

	asked map[string]question // the agent's requests that wait for a person
	// opened: the session is there and its mode is set. running: it works on a request of the person. last: the person
	// has no further one.
	opened, running, last bool
	stopped, ended        bool
	declined              int // how many permissions were not given
	atStop                []*call
	unread                bool // it was reported that a message could not be read
}

// question is a request of the agent that waits for a person.
type question struct {
	call    *call
	accept  string // the option that allows once
	decline string // the option that rejects once; "" is none
}

// NewMachine returns the machine of an agent whose session is not open yet.
func NewMachine(s Settings) *Machine {
	return &Machine{begun: s.Request, modes: modes{agent: s.Agent, allowed: s.AllowedMode}, calls: calls{}, asked: map[string]question{}}
}

// step applies one input and returns its effects.
func (m *Machine) step(input func()) []Effect {
	m.out = nil
	if !m.ended {
		input()
	}
	return m.out
}

func (m *Machine) emit(effects ...Effect) { m.out = append(m.out, effects...) }

// observedf reports something that the agent did, or says about itself.
func (m *Machine) observedf(format string, args ...any) {
	if m.stopped {
		return
	}
	text := shortened(fmt.Sprintf(format, args...), api.MaxReported)
	m.emit(Report{api.AgentReport{Observed: text}})
}

// Opened processes the agent's answer to the request for a session: its mode is set before anything else.
func (m *Machine) Opened(o Opened) []Effect {
	return m.step(func() {
		m.modes.open(o)
		want, err := m.modes.wanted()
		switch {
		case err != nil:
			m.refuse(err.Error())
		case want == m.modes.current || want == NoMode:
			m.begin()
		default:
			m.emit(SetMode{Mode: want, Setting: m.modes.option})
		}
	})
}

// ModeSet processes the result of [SetMode].
func (m *Machine) ModeSet(mode string, err error) []Effect {
	return m.step(func() {
		if err != nil {
			m.refuse(fmt.Sprintf("its mode could not be set to %s: %s", mode, strings.TrimRight(err.Error(), ".")))
			return
		}
		m.modes.current = mode
		m.begin()
	})
}

// begin says in which mode the agent is, before the first request.
func (m *Machine) begin() {
	m.opened = true
	if m.modes.current == "" {
		m.observedf("It names no modes: nobody can tell whether it asks before it acts. You have allowed that.")
	} else {
		m.observedf("Its mode is %s.", m.allowedWords(m.modes.current))
	}
	m.emit(Ready{})
}

func (m *Machine) allowedWords(mode string) string {
	words := m.modes.words(mode)
	if mode == m.modes.allowed {
		words += ", and you have allowed this mode"
	}
	return words
}

// refuse ends the session because of the agent's mode.
func (m *Machine) refuse(reason string) {
	m.observedf("It is refused, because %s.", reason)
	m.withdraw()
	m.end(End{
		Result: api.AgentEnd{Status: utp.StatusFailed, Code: utp.CodeDeniedByPolicy, Summary: "The agent was refused, because " + reason + "."},
		Reason: "the agent is refused, because " + reason,
		Hint:   "set another mode in the agent's own settings; or, if it may act without asking you, give --allow-mode " + m.modes.example(),
	})
}

// withdraw cancels what the agent does and what it asks.
func (m *Machine) withdraw() {
	if m.running {
		m.emit(Cancel{})
	}
	for _, request := range slices.Sorted(maps.Keys(m.asked)) {
		m.emit(Reply{Request: request})
	}
	clear(m.asked)
}

func (m *Machine) end(e End) {
	m.ended = true
	m.emit(e)
}

// Prompt processes a request of the person.
func (m *Machine) Prompt(text string) []Effect {
	return m.step(func() {
		if !m.CanPrompt() {
			return
		}
		m.running = true
		if text != m.begun {
			m.observedf("It is given the request: %s", text)
		}
		m.emit(Send{Text: text})
	})
}

// CanPrompt reports whether the agent can be given a request.
func (m *Machine) CanPrompt() bool { return m.opened && !m.running && !m.stopped && !m.ended }

// LastPrompt says that there is no further request. The session ends with the one that the agent works on.
func (m *Machine) LastPrompt() []Effect {
	return m.step(func() {
		m.last = true
		m.endIfIdle()
	})
}

func (m *Machine) endIfIdle() {
	if m.last && m.opened && !m.running && !m.stopped {
		m.end(End{Result: api.AgentEnd{Status: utp.StatusSuccess}})
	}
}

// restedWords says why an agent has ended its turn.
var restedWords = map[string]string{ //nolint:gosec // a limit of tokens is no credential
	"end_turn":          "It has finished its turn.",
	"max_tokens":        "It has ended its turn early, because its limit of tokens is reached.",
	"max_turn_requests": "It has ended its turn early, because its limit of requests to its model is reached.",
	"refusal":           "It refuses to go on.",
	"cancelled":         "It has broken its turn off.",
}

// Rested processes the end of a turn of the agent: the protocol's stop reason, or an error.
func (m *Machine) Rested(reason string, err error) []Effect {
	m.running = false // also after the end, for which somebody may wait
	return m.step(func() {
		words, known := restedWords[reason]
		switch {
		case err != nil:
			words = "It could not do that: " + strings.TrimRight(err.Error(), ".") + "."
		case !known:
			words = "It has ended its turn: " + reason + "."
		}
		m.observedf("%s", words)
		if m.stopped {
			return
		}
		m.emit(Ready{})
		m.endIfIdle()
	})
}

// AgentEnded processes the unexpected end of the agent or of the connection to it.
func (m *Machine) AgentEnded(how string) []Effect {
	return m.step(func() {
		m.observedf("%s", strings.TrimSpace("It has ended unexpectedly. "+m.calls.underWay()))
		m.withdraw()
		m.running = false
		m.end(End{
			Result: api.AgentEnd{Status: utp.StatusFailed, Code: utp.CodeUpstreamUnavailable, Summary: "The agent has ended unexpectedly."},
			Reason: "the agent has ended: " + how, Hint: "see whether the command starts it in a terminal of its own",
		})
	})
}

// Lost processes a failure of Earshot: nobody can be told or asked any more.
func (m *Machine) Lost(reason string) []Effect {
	return m.step(func() {
		m.withdraw()
		m.end(End{
			Result: api.AgentEnd{Status: utp.StatusFailed, Code: utp.CodeUpstreamUnavailable, Summary: "Earshot could not be reached."},
			Reason: "Earshot could not be told what the agent does, so the agent was ended: " + reason, Hint: "see that `earshot up` runs, then start again",
		})
	})
}

// Stop processes a stop that the person gives here. The session at Earshot is stopped after it.
func (m *Machine) Stop() []Effect {
	return m.step(func() {
		if m.stopped {
			return
		}
		if begun := m.calls.underWay(); begun != "" {
			m.observedf("It is told to stop. %s", begun)
		}
		m.stop()
	})
}

// Stopped processes the end of the session at Earshot: a person has stopped it, or it has ended by itself.
func (m *Machine) Stopped() []Effect {
	return m.step(func() {
		if !m.stopped {
			m.stop()
		}
	})
}

func (m *Machine) stop() {
	m.withdraw()
	m.stopped, m.atStop = true, m.calls.begun()
}

// accounted reports whether the agent has said of each call that it had begun at the stop what has become of it.
func (m *Machine) accounted() bool {
	return !slices.ContainsFunc(m.atStop, func(c *call) bool { return !c.over })
}

// Account says what the agent had begun when it was stopped, and what has become of it since.
func (m *Machine) Account() string {
	if len(m.atStop) == 0 {
		return "When the agent was stopped, none of its tools was at work."
	}
	list := make([]string, 0, len(m.atStop))
	for _, c := range m.atStop {
		list = append(list, c.title()+" ("+c.since()+")")
	}
	return "When the agent was stopped, it had begun: " + strings.Join(list, "; ") + "."
}

// Update processes the parameters of session/update.
func (m *Machine) Update(params jsontext.Value) []Effect {
	return m.step(func() {
		u, err := readUpdate(params)
		if err != nil {
			m.unreadable(string(params), err)
			return
		}
		m.update(u)
	})
}

// unreadable processes an update that cannot be read. It is reported once; a change of the mode may have been lost.
func (m *Machine) unreadable(params string, err error) {
	if strings.Contains(params, "current_mode_update") || strings.Contains(params, "config_option_update") {
		m.refuse("its mode has changed, and the message cannot be read")
		return
	}
	if !m.unread {
		m.unread = true
		m.observedf("Something that it says cannot be read: %s. More of that is left out.", cause.Of(err))
	}
}

func (m *Machine) update(u update) {
	switch u.Kind {
	case "agent_message_chunk":
		m.text(u.Content)
	case "tool_call", "tool_call_update":
		m.toolCall(u.toolCall)
	case "plan":
		if words := m.plan.changed(u.Entries); words != "" {
			m.observedf("%s", words)
		}
	case "current_mode_update":
		m.mode(u.Mode)
	case "config_option_update":
		for _, c := range u.Options {
			if value, is := c.mode(); is {
				m.mode(value)
			}
		}
	default: // its thoughts, its commands, what it costs
	}
}

// mode processes a change of the mode.
func (m *Machine) mode(id string) {
	if !m.opened || id == m.modes.current {
		if !m.opened {
			m.modes.current = id
		}
		return
	}
	m.modes.current = id
	if !m.modes.asks(id) {
		m.refuse("its mode has changed to " + m.modes.words(id))
		return
	}
	m.observedf("Its mode has changed to %s.", m.allowedWords(id))
}

// text reports a piece of the agent's answer.
func (m *Machine) text(raw jsontext.Value) {
	text := readBlock(raw).words()
	if m.stopped || text == "" {
		return
	}
	for _, part := range pieces(text, api.AgentTextLimit) {
		m.emit(Report{api.AgentReport{Text: part}})
	}
}

func (m *Machine) toolCall(t toolCall) {
	c := m.calls.merge(t)
	if words := c.progress(); words != "" {
		m.observedf("%s", words)
	}
}

// Permission processes a request for permission. Request is the agent's id of it.
func (m *Machine) Permission(request string, params jsontext.Value) []Effect {
	if m.ended {
		m.out = nil
		m.emit(Reply{Request: request})
		return m.out
	}
	return m.step(func() {
		p, err := readPermission(params)
		if err != nil {
			m.observedf("It asks for a permission in a way that cannot be read (%s), and is told no.", cause.Of(err))
		}
		if err != nil || m.stopped {
			m.emit(Reply{Request: request})
			return
		}
		m.permission(request, p)
	})
}

func (m *Machine) permission(request string, p permissionRequest) {
	c := m.calls.merge(p.ToolCall)
	q := question{call: c, decline: single(p.Options, kindRejectOnce)}
	once := optionsOf(p.Options, kindAllowOnce)
	if len(once) != 1 {
		why := "no way to allow it once"
		if len(once) > 1 {
			why = "several ways to allow it once (" + names(once) + ")"
		}
		m.observedf("It asks for a permission, but offers %s, and is told no: %s", why, c.title())
		m.emit(Reply{Request: request, Option: q.decline})
		return
	}
	q.accept = once[0].ID
	m.asked[request] = q
	m.emit(Ask{Request: request, Permission: c.permission()})
}

// Answered processes the answer to an [Ask].
func (m *Machine) Answered(request string, a hook.Answer) []Effect {
	return m.step(func() {
		q, open := m.asked[request]
		if !open {
			return
		}
		delete(m.asked, request)
		c := q.call
		switch a.Verdict {
		case hook.Allow:
			c.allowed = true
			m.emit(Reply{Request: request, Option: q.accept})
		case hook.NoDecision:
			if !c.looks() { // nobody was asked, although the request said so
				m.declined++
				m.emit(Reply{Request: request, Option: q.decline})
				return
			}
			m.observedf("The policy lets it do this without asking you: %s", c.title())
			m.emit(Reply{Request: request, Option: q.accept})
		case hook.Deny:
			m.declined++
			m.emit(Reply{Request: request, Option: q.decline})
		}
	})
}

// Declined returns how many permissions were asked for and not given.
func (m *Machine) Declined() int { return m.declined }
