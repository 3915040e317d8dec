package aaep

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Soft limits of §3.7. Beyond them a finding is a warning (ENV-49 to 52).
const (
	softBytes  = 64 << 10
	softFields = 32
	softDepth  = 8
	softString = 16 << 10
)

func (in *inspection) begin(t *tape, mode Mode, prefixes map[string]string) {
	in.tape, in.mode, in.prefixes = t, mode, prefixes
	in.plan, in.later = unknownType(), false
	in.found = t.faults
	in.found.list = slices.Clip(in.found.list)
}

// end returns what was found, in the order of the steps of §3.9.
func (in *inspection) end() []Violation {
	if len(in.found.list) == 0 {
		return nil
	}
	slices.SortStableFunc(in.found.list, func(a, b Violation) int { return a.step() - b.step() })
	in.found.more()
	list := in.found.list
	in.found.reset()
	return list
}

// message judges the document by its type.
func (in *inspection) message() {
	written := in.textOf(0, "type")
	known := planOf(written)
	in.later = laterVersion(in.textOf(0, "aaep_version"))
	switch {
	case known != nil && !known.Event:
		in.plan = known
		in.members(&known.outer, 0, strangers)
		in.run(known.Rules, 0)
	case bytes.HasPrefix(written, []byte("subscription.")):
		in.note(SeverityInfo, "/type", "§5.2", fmt.Sprintf("found the handshake message %s, which this version does not judge", quoted(written)), "HS-01")
		return
	default:
		if known != nil && in.mode != ModeEnvelope {
			in.plan = known
		}
		in.event(known != nil)
	}
	in.limits()
}

// planOf finds the plan of a type as it is written (C-05).
func planOf(written []byte) *plan {
	if known, ok := plans()[string(written)]; ok {
		return known
	}
	if compact := CompactType(string(written)); len(compact) != len(written) {
		return plans()[compact]
	}
	return nil
}

func (in *inspection) run(rules []Rule, n uint32) {
	for i := range rules {
		rules[i].check(in, n)
	}
}

// event judges an event. Where its type is unknown, only the envelope can be judged.
func (in *inspection) event(known bool) {
	in.outermost()
	in.eventType(known)
	in.urgency()
	in.localized()
	in.run(in.plan.Rules, 0)
}

// outermost walks the members of the event itself, the envelope's and the payload's.
func (in *inspection) outermost() {
	rows := &in.plan.outer
	seen, order := uint64(0), order{rank: -1}
	in.known, in.located = memberNodes{}, true
	first, end := in.inside(0)
	for n := first; n < end; n = in.nodes[n].next {
		found := rows.find(in.name(n))
		if in.mode != ModeConsumer {
			order.next(in, n, found)
		}
		if found == nil {
			if in.nodes[n].flags&flagRepeated == 0 {
				in.known[knownAs(in.name(n))] = n
			}
			in.unnamed(rows, n, outside)
			continue
		}
		seen |= 1 << found.index
		if in.nodes[n].flags&flagRepeated == 0 {
			in.known[found.known] = n
			in.value(found, n)
		}
	}
	if absent := (rows.required | rows.recommended) &^ seen; absent != 0 {
		in.absent(rows, 0, absent)
	}
}

// order is how far a walk has come in the recommended order (ENV-58). Readers must not
// care (ENV-04), so it is advice.
type order struct {
	rank     int
	name     uint32
	reported bool
}

// payloadRank stands behind correlation_id and before extensions.
func payloadRank() int { return 2 * (len(envelope()) - 2) }

func (o *order) next(in *inspection, n uint32, found *row) {
	rank := payloadRank()
	if found != nil && found.index < len(envelope()) {
		rank = 2*found.index - 1
	}
	if rank < o.rank && !o.reported {
		o.reported = true
		in.warn(n, "§3.6", fmt.Sprintf("found %s behind %s, expected it before", quoted(in.name(n)), quoted(in.name(o.name))), "ENV-58")
	}
	if rank >= o.rank {
		o.rank, o.name = rank, n
	}
}

// outside judges a member of an event that neither the envelope nor its payload names.
// A consumer lets it pass: it may be a later version's (VER-03).
func outside(in *inspection, rows *rows, n uint32) {
	name := in.name(n)
	switch {
	case in.mode == ModeConsumer:
	case bytes.HasPrefix(name, []byte("aaep_")):
		in.fail(n, "§3.5", fmt.Sprintf("found the reserved name %s, expected no name with aaep_ but aaep_version", quoted(name)), "ENV-45")
	case contains(reservedNames, name):
		in.fail(n, "§3.5", fmt.Sprintf("found %s, which an event must not carry", quoted(name)), "ENV-46")
	case in.plan.Closed != "":
		in.stray(rows, n)
	}
}

// reservedNames are those of JSON-LD that would change what an event says.
var reservedNames = []string{"@id", "@graph", "@base", "@vocab"}

// stray judges a member of a core event that no row names: the variant of a readable
// field in another language, or something that belongs in extensions.
func (in *inspection) stray(rows *rows, n uint32) {
	if base := variantOf(rows.list, in.name(n)); base != nil {
		in.variant(base, n)
		return
	}
	severity := SeverityError
	if in.later {
		severity = SeverityInfo
	} else if in.plan.Borne != "" && in.plan.Borne == string(in.name(n)) && in.nodes[n].kind == kindString {
		in.warn(n, "§3.5", fmt.Sprintf("found %s, which this event does not have; leave it out", quoted(in.name(n))), "ENV-47", "EXT-06")
		in.prose(n)
		return
	}
	in.note(severity, in.path(n), "§3.5", fmt.Sprintf("found the unknown member %s, expected own data in extensions", quoted(in.name(n))), "ENV-47", "EXT-06")
}

// variant judges a readable field in another language (§11.5.1).
func (in *inspection) variant(base *row, n uint32) {
	same := *base
	same.Rule, same.Spec, same.Required, same.Checks = "PAY-01", "§11.5.1", true, nil
	in.value(&same, n)
}

// limits judges the soft limits of §3.7.
func (in *inspection) limits() {
	if in.size > softBytes {
		in.note(SeverityWarning, "", "§3.7", fmt.Sprintf("found %d bytes, expected at most %d", in.size, softBytes), "ENV-49")
	}
	fields := in.nodes[0].count
	if fields > 1 {
		if extensions := in.member(0, "extensions"); in.is(extensions, kindObject) {
			fields += in.nodes[extensions].count
		}
	}
	if fields > softFields {
		in.note(SeverityWarning, "", "§3.7", fmt.Sprintf("found %d members, counting those of extensions, expected at most %d", fields, softFields), "ENV-50")
	}
	if in.depth > softDepth {
		in.note(SeverityWarning, "", "§3.7", fmt.Sprintf("found nesting %d deep, expected at most %d", in.depth, softDepth), "ENV-51")
	}
	if in.size > softString {
		in.longStrings()
	}
}

// longStrings judges the size of every string. Escapes only make a text shorter, so
// there is nothing to look for in a small message.
func (in *inspection) longStrings() {
	for n := range in.nodes {
		if in.nodes[n].kind != kindString {
			continue
		}
		if size := len(in.text(uint32(n))); size > softString {
			in.warn(uint32(n), "§3.7", fmt.Sprintf("found a text of %d bytes, expected at most %d", size, softString), "ENV-52")
		}
	}
}

// step is the step of §3.9 that a finding belongs to.
func (v Violation) step() int {
	switch v.Rule {
	case "ENV-01", "ENV-02", "ENV-05", "ENV-60":
		return 1 // an object
	case "ENV-07":
		return 2 // required members
	case "ENV-08", "ENV-09":
		return 4 // the core context
	case "ENV-12", "ENV-13", "ENV-14":
		return 5 // a known type
	case "ENV-18", "ENV-21", "ENV-24", "ENV-25", "ENV-26":
		return 6 // ids and times
	case "ENV-49", "ENV-50", "ENV-51", "ENV-52", "ENV-54":
		return 9 // limits
	case "ENV-41", "ENV-42":
		return 8 // extensions
	}
	switch chapter, _, _ := strings.Cut(v.Rule, "-"); chapter {
	case "EXT":
		return 8
	case "ENV", "I18N":
		return 3 // types and formats of the envelope
	default:
		return 7 // the payload
	}
}
