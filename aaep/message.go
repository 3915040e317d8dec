package aaep

import (
	"slices"
	"strings"
	"sync"
)

// Core vocabulary (§3.2).
const (
	Version     = "1.0.0"
	CoreContext = "https://aaep-protocol.org/context/v1"
	// ExtensionContext declares the extension prefixes [PrefixEarshot] and [PrefixUTP].
	ExtensionContext = "https://github.com/earshot-dev/earshot/ns/v1"
	PrefixEarshot    = "earshot"
	PrefixUTP        = "utp"
)

// coreForms are the two expansions of the prefix aaep: that the sources give (C-06).
var coreForms = []string{"https://aaep-protocol.org/types/", "https://aaep-protocol.org/vocab/v1#"}

// extensionPrefixes is the registry of prefixes whose context is known here.
var extensionPrefixes = map[string]string{PrefixEarshot: ExtensionContext, PrefixUTP: ExtensionContext}

// Message describes one type of message: an event, a reply or a part of
// the handshake. The members of an event are the envelope's (see [Envelope]) and
// Fields, at the same level.
type Message struct {
	Type        string
	Description string  // what the message tells, in a sentence
	Spec        string  // section that defines it
	Example     string  // a whole message as JSON, without a finding
	Event       bool    // carries the envelope
	Urgency     Urgency // of an event, where it does not say (ENV-36)
	Quiet       bool    // an event that is as usual in the background, too: a change of state, and a tool that only looks (C-69)
	Critical    string  // the rule that demands critical urgency, or ""
	Closed      string  // the rule against unknown members; "" lets them pass
	Borne       string  // the one unknown member that is only warned of, a text; "" is none
	Fields      []Field
	Rules       []Rule
}

// Name returns the type without its namespace, such as agent.tool.invoked.
func (m Message) Name() string { return m.Type[strings.LastIndexByte(m.Type, ':')+1:] }

// Rule is a check that a row of data cannot express: it spans fields, or needs more
// than a pattern. IDs lists every rule of the catalogue that it can name.
type Rule struct {
	Name  string
	IDs   []string
	check func(in *inspection, n uint32) // n is the value of the row, or the whole message

	// What the exported schema says of the rule, in the schema of its field and beside
	// that of the whole message; where it says nothing, the rule is beyond it.
	shape func(s *schema)
	outer func() []schema
	// advice are those of IDs whose findings are not errors: a schema has no word for them.
	advice []string
	// partly are those of IDs that shape and outer do not say in full.
	partly []string
}

// Lookup returns the description of a message type, in compact or expanded form.
func Lookup(messageType string) (Message, bool) {
	i, known := typed()[CompactType(messageType)]
	if !known {
		return Message{}, false
	}
	return table()[i], true
}

// typed are the places in the table, by type: each event is looked up many times.
var typed = sync.OnceValue(func() map[string]int {
	all := make(map[string]int, len(table()))
	for i, m := range table() {
		all[m.Type] = i
	}
	return all
})

// Describe returns the description of a message or a document by its type, in compact
// or expanded form, or by its [Message.Name].
func Describe(name string) (Message, bool) {
	compact := CompactType(name)
	all := slices.Concat(table(), Documents())
	for _, same := range []func(Message) bool{
		func(m Message) bool { return m.Type == compact },
		func(m Message) bool { return m.Name() == name },
	} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i], true
		}
	}
	return Message{}, false
}

// Messages returns the description of every message that this package knows, in the
// order of the specification. The caller may change the slice, not what it holds.
func Messages() []Message { return slices.Clone(table()) }

// Documents returns the description of what is fetched and not sent: the manifest.
func Documents() []Message { return []Message{manifest()} }

// Envelope returns the description of the members that every event carries, in the
// recommended order (ENV-58); the payload stands before the last.
func Envelope() []Field { return slices.Clone(envelope()) }

// CompactType turns the expanded form of a core type into the compact one (C-05,
// C-06). Any other type is returned as it is.
func CompactType(messageType string) string {
	if strings.HasPrefix(messageType, "aaep:") {
		return messageType
	}
	for _, form := range coreForms {
		if local, ok := strings.CutPrefix(messageType, form); ok {
			return "aaep:" + local
		}
	}
	return messageType
}
