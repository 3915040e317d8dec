package aaep

import "sync"

// Known is a member of events that [Document.KnownMembers] finds without a search: those on
// which the order of a stream depends.
type Known uint8

// The members that are known. The zero Known is none of them.
const (
	KnownType Known = iota + 1
	KnownEventID
	KnownSessionID
	KnownSequenceNumber
	KnownTimestamp
	KnownProducer
	KnownExtensions
	KnownFromState
	KnownToState
	KnownTool
	KnownToolCallID
	KnownIrreversible
	KnownRiskLevel
	KnownReplyToken
	KnownAction
	KnownDefaultDecision
	KnownTimeoutSeconds
	KnownAllowedReplies
	KnownExtraContext
	KnownOutputID
	KnownChunk
	KnownCoalesceHint
	KnownPosition
	KnownComplete

	knownCount
)

// knownNames are the names of what is known.
var knownNames = [knownCount]string{
	KnownType:            "type",
	KnownEventID:         "event_id",
	KnownSessionID:       "session_id",
	KnownSequenceNumber:  "sequence_number",
	KnownTimestamp:       "timestamp",
	KnownProducer:        "producer",
	KnownExtensions:      "extensions",
	KnownFromState:       "from_state",
	KnownToState:         "to_state",
	KnownTool:            "tool",
	KnownToolCallID:      "tool_call_id",
	KnownIrreversible:    "irreversible",
	KnownRiskLevel:       "risk_level",
	KnownReplyToken:      "reply_token",
	KnownAction:          "action",
	KnownDefaultDecision: "default_decision",
	KnownTimeoutSeconds:  "timeout_seconds",
	KnownAllowedReplies:  "allowed_replies",
	KnownExtraContext:    "extra_context",
	KnownOutputID:        "output_id",
	KnownChunk:           "chunk",
	KnownCoalesceHint:    "coalesce_hint",
	KnownPosition:        "position",
	KnownComplete:        "complete",
}

// knownRows finds what is known by its name.
var knownRows = sync.OnceValue(compileKnown)

func compileKnown() *rows {
	fields := make([]Field, 0, len(knownNames)-1)
	for _, name := range knownNames[1:] {
		fields = append(fields, Field{Name: name})
	}
	compiled := compileRows(fields, "", "")
	return &compiled
}

// knownAs returns what a name is known as, or 0.
func knownAs(name []byte) Known {
	if found := knownRows().find(name); found != nil {
		return Known(found.index + 1)
	}
	return 0
}

// memberNodes is where the known members of the outermost object are: their nodes, or 0.
// What is not known is put under 0.
type memberNodes [knownCount]uint32

// locate walks over the members of the outermost object to find those that are known.
// A walk that judges an event does the same beside.
func (t *tape) locate() {
	t.known, t.located = memberNodes{}, true
	if !t.readable() {
		return
	}
	first, end := t.inside(0)
	for n := first; n < end; n = t.nodes[n].next {
		if t.nodes[n].flags&flagRepeated == 0 {
			t.known[knownAs(t.name(n))] = n
		}
	}
}

// KnownMembers are the known members of the outermost object of a [Document].
type KnownMembers struct{ tape *tape }

// noMembers is where nothing is.
var noMembers = &tape{located: true}

// KnownMembers finds the known members. It walks over all members, unless the document has
// been judged as an event, which has found them.
func (d Document) KnownMembers() KnownMembers {
	if d.tape == nil {
		return KnownMembers{noMembers}
	}
	if !d.tape.located {
		d.tape.locate()
	}
	return KnownMembers(d)
}

// Member returns a known member; one that is absent, or occurs twice, has no value.
func (p KnownMembers) Member(k Known) Member { return Member{p.tape, p.tape.known[k]} }
