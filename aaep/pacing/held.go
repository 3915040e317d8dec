package pacing

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
)

// maxChunk is how many code points a chunk may have (OUT-01).
const maxChunk = 16_384

// held is what waits in a [Pacer]: one event, or several of one session that leave as one. What stands for several is
// built when it leaves: a text of a thousand pieces is put together once.
type held struct {
	last     Item  // the only one, or the last: its envelope is the one that leaves
	first    int64 // the place of the first
	id       string
	followed bool // something of the session waits behind it, so that it does not wait for more

	// What is kept of the parts that are joined here, for a text or for a state.
	chunks   []Item // of a text: all of it, the last too
	runes    int
	position int64
	from     string // of a state
}

func hold(i Item) *held {
	h := &held{last: i, first: i.Seq, id: i.Event.ID}
	switch p := i.Event.Payload.(type) {
	case aaep.OutputStreaming:
		h.chunks, h.runes, h.position = []Item{i}, utf8.RuneCountInString(p.Chunk), p.Position
	case aaep.StateChanged:
		h.from = p.FromState
	}
	return h
}

// join has h stand for what follows directly upon it too, if it can. Of a state only a background one says nothing that
// would be missed, and of progress only one that is a number, which the next one brings up to date (C-70, BP-15).
func (h *held) join(next *held) bool {
	before, after := h.last.Event, next.last.Event
	if before.Urgency != after.Urgency || !h.continues(next) {
		return false
	}
	h.chunks, h.runes = append(h.chunks, next.chunks...), h.runes+next.runes
	h.last, h.id = next.last, joinedID(h.id, next.id)
	return true
}

func (h *held) continues(next *held) bool {
	before := h.last.Event
	switch b := next.last.Event.Payload.(type) {
	case aaep.OutputStreaming:
		a, like := before.Payload.(aaep.OutputStreaming)
		return like && a.OutputID == b.OutputID && a.Language == b.Language && a.ContentType == b.ContentType && !a.Complete &&
			next.position == h.position+int64(h.runes) && h.runes+next.runes <= maxChunk
	case aaep.StateChanged:
		_, like := before.Payload.(aaep.StateChanged)
		return like && before.Urgency == aaep.UrgencyBackground && h.from != b.ToState
	case aaep.ProgressUpdated:
		return h.isNumber()
	default:
		return false
	}
}

// skip joins three background states in a row to one, where the second comes back to where the first began: of A to B, B to A and A
// to C there remains A to C. It reports whether these are such states; h is the first.
func (h *held) skip(back, next *held) bool {
	to, last := next.moves()
	_, middle := back.moves()
	if _, first := h.moves(); !first || !middle || !last || to == h.from {
		return false
	}
	h.last, h.id = next.last, joinedID(joinedID(h.id, back.id), next.id)
	h.followed = false // what followed it is in it now
	return true
}

// moves returns where a background state leads; is tells whether it is one.
func (h *held) moves() (to string, is bool) {
	p, is := h.last.Event.Payload.(aaep.StateChanged)
	return p.ToState, is && h.last.Event.Urgency == aaep.UrgencyBackground
}

// isNumber reports whether it is progress that says no more than how far the work is.
func (h *held) isNumber() bool {
	p, is := h.last.Event.Payload.(aaep.ProgressUpdated)
	return is && (p.Progress.Percent != nil || p.Progress.Step != nil)
}

func (h *held) isText() bool { return h.chunks != nil }

// ripe reports whether it has to wait for nothing but the budget: a text until it reaches a boundary of the terms
// (CAP-06), under a low cognitive load a background state until it is known what follows (C-77).
func (h *held) ripe(t *Terms) bool { return h.followed || ripe(&h.last.Event, t) }

// ripe is the same of an event behind which nothing waits.
func ripe(e *aaep.Event, t *Terms) bool {
	switch p := e.Payload.(type) {
	case aaep.OutputStreaming:
		return p.Complete || rank(p.CoalesceHint) >= t.reach()
	case aaep.StateChanged:
		return t.Honored.CognitiveLoad != aaep.LoadLow || e.Urgency != aaep.UrgencyBackground
	default:
		return true
	}
}

// deliveries is what leaves: one event, where it can be written, and otherwise the parts of a text. Nothing is lost.
func (h *held) deliveries(t Terms) []Delivery {
	event, changed := h.event(t)
	if !changed {
		return []Delivery{h.delivery(h.last)}
	}
	raw, err := event.Forward()
	if err != nil && h.isText() { // better many events than none
		parts := make([]Delivery, len(h.chunks))
		for n, i := range h.chunks {
			parts[n] = i.delivery(isCritical(&i.Event))
		}
		parts[0].First = h.first
		return parts
	}
	if err != nil {
		return []Delivery{h.delivery(h.last)}
	}
	return []Delivery{h.delivery(Item{Session: h.last.Session, Seq: h.last.Seq, Event: event, Raw: raw})}
}

func (h *held) delivery(i Item) Delivery {
	d := i.delivery(isCritical(&i.Event))
	d.First = h.first
	return d
}

// event is the one event, and whether it is another than the last as it came.
func (h *held) event(t Terms) (aaep.Event, bool) {
	event, changed := h.last.Event, h.id != h.last.Event.ID
	switch p := event.Payload.(type) {
	case aaep.OutputStreaming:
		hint := t.hint(p)
		changed = changed || hint != p.CoalesceHint
		p.CoalesceHint, p.Position = hint, h.position
		var text strings.Builder
		for _, i := range h.chunks {
			text.WriteString(i.Event.Payload.(aaep.OutputStreaming).Chunk) //nolint:forcetypeassert // they are texts
		}
		p.Chunk = text.String()
		event.Payload = p
	case aaep.StateChanged:
		p.FromState = h.from
		event.Payload = p
	}
	if event.ID = h.id; changed && h.id == h.last.Event.ID {
		event.ID = joinedID("", h.id)
	}
	return event, changed
}

// boundaries are the places where a text may be cut, the weakest first.
var boundaries = []aaep.CoalesceHint{ //nolint:gochecknoglobals // a table
	aaep.BoundaryNone, aaep.BoundaryWord, aaep.BoundarySentence, aaep.BoundaryParagraph, aaep.BoundaryCompletion,
}

// rank is how strong a boundary is; what is not said is none (C-75).
func rank(b aaep.CoalesceHint) int { return max(0, slices.Index(boundaries, b)) }

// reach is how strong a boundary a text has to reach before it leaves by itself.
func (t Terms) reach() int {
	reach := 0
	for n, b := range t.Honored.CoalesceBoundaries {
		if r := rank(b); n == 0 || r < reach {
			reach = r
		}
	}
	if t.Honored.CognitiveLoad == aaep.LoadLow {
		reach = max(reach, rank(aaep.BoundaryParagraph)) // BP-19: coarser text
	}
	return reach
}

// hint is what a chunk says of where it ends, in the words of the terms (BP-14): an end of a paragraph is one of a sentence
// for a subscriber that knows no paragraphs. One that reaches none of them stays what it is.
func (t Terms) hint(p aaep.OutputStreaming) aaep.CoalesceHint {
	asked := t.Honored.CoalesceBoundaries
	if len(asked) == 0 || slices.Contains(asked, p.CoalesceHint) {
		return p.CoalesceHint
	}
	if p.Complete {
		return aaep.BoundaryCompletion
	}
	for _, b := range slices.Backward(boundaries[:rank(p.CoalesceHint)]) {
		if slices.Contains(asked, b) {
			return b
		}
	}
	return p.CoalesceHint
}
