package session

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep"
)

// Stream is what a [Checker] is told of the stream that it will judge. The zero Stream
// is a whole capture: every event of every session, in order, from its first.
type Stream struct {
	// JoinedLate says that sessions may have begun before the stream did. A session whose
	// first event here is not session.started, or that tells its present state at once
	// (from_state equal to to_state, C-91), is not held to what came before.
	JoinedLate bool
	// Terms are what was honoured for the subscription that the stream was sent on; nil
	// says that it was not sent on one. Types that these terms keep back are not missed
	// (SEQ-50), those that they keep back and that come all the same are told, and since
	// a rate allows merging, transitions and positions are judged as C-34 and C-70 say.
	Terms *aaep.Capabilities
	// Reordering says that the transport can change the order, so that every event must
	// carry a sequence_number (SEQ-43). The stream is given in the order of the numbers.
	Reordering bool
	// CutShort says that the stream is a recording that may end before its sessions do:
	// what they leave open at its end is not a finding.
	CutShort bool
	// Mode says for whom is judged, as for single messages: with [aaep.ModeConsumer] an
	// error is only what a listener cannot safely act on, and all else that breaks a duty
	// is a warning; with [aaep.ModeEnvelope] only the order of the envelopes is judged.
	Mode aaep.Mode
}

// kind is the type of an event as a small number.
type kind uint8

const (
	other kind = iota // of an extension, or unknown
	started
	completed
	errored
	cancelled
	stateChanged
	progressUpdated
	toolInvoked
	toolCompleted
	outputStreaming
	confirmation
	clarification
	handoff
	kinds
)

// kindNames are the types of the events.
var kindNames = [kinds]string{
	started: aaep.TypeSessionStarted, completed: aaep.TypeSessionCompleted, errored: aaep.TypeSessionErrored, cancelled: aaep.TypeSessionCancelled,
	stateChanged: aaep.TypeStateChanged, progressUpdated: aaep.TypeProgressUpdated, toolInvoked: aaep.TypeToolInvoked, toolCompleted: aaep.TypeToolCompleted,
	outputStreaming: aaep.TypeOutputStreaming, confirmation: aaep.TypeAwaitingConfirmation, clarification: aaep.TypeAwaitingClarification, handoff: aaep.TypeHandoffRequested,
}

func (k kind) terminal() bool { return k == completed || k == errored || k == cancelled }

// critical reports whether events of this kind pass every filter (BP-06).
func (k kind) critical() bool {
	return k == errored || k == confirmation || k == clarification || k == handoff
}

// kindOf reads a type, compact or expanded (C-05).
func kindOf(written []byte) kind {
	const core = "aaep:agent."
	if len(written) <= len(core) || string(written[:len(core)]) != core {
		compact := aaep.CompactType(string(written))
		if !strings.HasPrefix(compact, core) {
			return other
		}
		written = []byte(compact)
	}
	switch string(written[len(core):]) {
	case "session.started":
		return started
	case "session.completed":
		return completed
	case "session.errored":
		return errored
	case "session.cancelled":
		return cancelled
	case "state.changed":
		return stateChanged
	case "progress.updated":
		return progressUpdated
	case "tool.invoked":
		return toolInvoked
	case "tool.completed":
		return toolCompleted
	case "output.streaming":
		return outputStreaming
	case "awaiting.confirmation":
		return confirmation
	case "awaiting.clarification":
		return clarification
	case "handoff.requested":
		return handoff
	default:
		return other
	}
}

// view is a Stream made ready.
type view struct {
	Stream

	hidden  [kinds]bool // kept back by the terms, unless critical
	implied stateSet    // states that events which are kept back may have implied
	paced   bool        // what is not critical may come later than it was made
}

func newView(s Stream) view {
	v := view{Stream: s}
	if s.Terms == nil {
		return v
	}
	for k := started; k < kinds; k++ {
		v.hidden[k] = !k.critical() && !s.Terms.EventFilters.Passes(kindNames[k], nil)
		if v.hidden[k] {
			v.implied |= implies(k)
		}
	}
	v.paced = s.Terms.MaxEventsPerSecond > 0 || s.Terms.CognitiveLoad == aaep.LoadLow
	observes, _ := aaep.Read(s.Terms.Extensions[aaep.PrefixEarshot]).Flag("observe_questions")
	v.hidden[confirmation] = !observes && !isTrue(s.Terms.SupportsConfirmationReply)
	v.hidden[clarification] = !observes && !isTrue(s.Terms.SupportsClarificationReply)
	for _, k := range []kind{confirmation, clarification} {
		if v.hidden[k] {
			v.implied |= implies(k)
		}
	}
	return v
}

func isTrue(flag *bool) bool { return flag != nil && *flag }

// stateSet is a set of the standard states.
type stateSet uint8

const (
	inCallingTool stateSet = 1 << iota
	inWritingOutput
	inAwaitingInput
	inHandingOff
)

// implies is the state that an event shows its producer to be in (SEQ-10), or none.
func implies(k kind) stateSet {
	switch k {
	case toolInvoked, toolCompleted:
		return inCallingTool
	case outputStreaming:
		return inWritingOutput
	case confirmation, clarification:
		return inAwaitingInput
	case handoff:
		return inHandingOff
	default:
		return 0
	}
}

// setOf is the set of one state, or none for a word that no event implies.
func setOf(state string) stateSet {
	switch state {
	case aaep.StateCallingTool:
		return inCallingTool
	case aaep.StateWritingOutput:
		return inWritingOutput
	case aaep.StateAwaitingInput:
		return inAwaitingInput
	case aaep.StateHandingOff:
		return inHandingOff
	default:
		return 0
	}
}

// words are the states of a set.
func (s stateSet) words() []string {
	var words []string
	for _, word := range []string{aaep.StateCallingTool, aaep.StateWritingOutput, aaep.StateAwaitingInput, aaep.StateHandingOff} {
		if s&setOf(word) != 0 {
			words = append(words, word)
		}
	}
	return words
}
