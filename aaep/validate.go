package aaep

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says for whom [Validate] judges.
type Mode int

const (
	// ModeProducer judges what one is about to send: every MUST and every schema limit
	// is an error, advice is a warning.
	ModeProducer Mode = iota
	// ModeConsumer judges what one has received: only what cannot be read, or would be
	// unsafe to act on, is an error. Unknown names, words and types pass.
	ModeConsumer
)

// Soft limits of §3.7. Beyond them a finding is a warning (ENV-49 to 52).
const (
	softBytes  = 64 << 10
	softFields = 32
	softDepth  = 8
	softString = 16 << 10
)

// Validate judges one message, an event or a reply, by its type, and returns every
// finding, or nil. It never panics and never stops at the first finding, except that
// nothing more can be said of bytes that are not a JSON object.
func Validate(raw []byte, mode Mode) []Violation { return Read(raw).Validate(mode) }

// Validate judges a document that has been read already; see the function of the
// same name.
func (d Document) Validate(mode Mode) []Violation {
	in := &inspection{mode: mode, found: slices.Clone(d.found)}
	if !d.Readable() {
		return in.found
	}
	written, _ := d.Text("type")
	message, known := Lookup(written)
	in.message = message
	if known && !message.Event {
		in.members(message.Fields, place{value: d.root, whole: d.root}, "")
		in.strangers(message.Fields, message.Closed, message.Spec, place{value: d.root, whole: d.root})
		in.limits(d)
		return in.found
	}
	if strings.HasPrefix(written, "subscription.") {
		in.add(SeverityInfo, "/type", "§5.2", fmt.Sprintf("found the handshake message %q, which this version does not judge", clip(written)), "HS-01")
		return in.found
	}
	in.event(d, known)
	return in.found
}

// event judges an event. Where its type is unknown, only the envelope can be judged.
func (in *inspection) event(d Document, known bool) {
	all := place{value: d.root, whole: d.root}
	in.later = laterVersion(d.root.textOf("aaep_version"))
	in.members(envelope, all, "ENV-07")
	in.eventType(all, known)
	in.urgency(all)
	if known {
		in.members(in.message.Fields, all, "")
		in.outer(slices.Concat(envelope, in.message.Fields), all)
		for _, rule := range in.message.Rules {
			rule.check(in, all)
		}
	} else {
		in.outer(envelope, all)
	}
	in.hints(all)
	in.order(all)
	in.limits(d)
}

// order judges ENV-58: the envelope in the recommended order, the payload before the
// extensions. Readers must not care (ENV-04), so it is advice.
func (in *inspection) order(all place) {
	if in.mode != ModeProducer {
		return
	}
	last, lastName := -1, ""
	for _, m := range all.whole.members {
		rank := 2 * (len(envelope) - 2) // a payload member: behind correlation_id, before extensions
		if i := slices.IndexFunc(envelope, func(f Field) bool { return f.Name == m.name }); i >= 0 {
			rank = 2*i - 1
		}
		if rank < last {
			in.add(SeverityWarning, pointer("", m.name), "§3.6", fmt.Sprintf("found %q behind %q, expected it before", m.name, clip(lastName)), "ENV-58")
			return
		}
		last, lastName = rank, m.name
	}
}

// limits judges the soft limits of §3.7.
func (in *inspection) limits(d Document) {
	if d.size > softBytes {
		in.add(SeverityWarning, "", "§3.7", fmt.Sprintf("found %d bytes, expected at most %d", d.size, softBytes), "ENV-49")
	}
	fields := len(d.root.members)
	if extensions := d.root.member("extensions"); extensions != nil {
		fields += len(extensions.members)
	}
	if fields > softFields {
		in.add(SeverityWarning, "", "§3.7", fmt.Sprintf("found %d members, counting those of extensions, expected at most %d", fields, softFields), "ENV-50")
	}
	if d.depth > softDepth {
		in.add(SeverityWarning, "", "§3.7", fmt.Sprintf("found nesting %d deep, expected at most %d", d.depth, softDepth), "ENV-51")
	}
	in.longStrings(d.root, "")
}

func (in *inspection) longStrings(n *node, path string) {
	if len(n.text) > softString {
		in.add(SeverityWarning, path, "§3.7", fmt.Sprintf("found a text of %d bytes, expected at most %d", len(n.text), softString), "ENV-52")
	}
	for _, m := range n.members {
		in.longStrings(m.value, pointer(path, m.name))
	}
	for i, item := range n.items {
		in.longStrings(item, fmt.Sprintf("%s/%d", path, i))
	}
}
