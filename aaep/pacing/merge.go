package pacing

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
)

// maxChunk is how many code points a chunk may have (OUT-01).
const maxChunk = 16_384

// merged is events of one session as few as can stand for them, before a critical one that they
// hold up: what follows directly upon its like is joined with it, and of the progress only the
// last is told (C-72, BP-16).
func merged(queued []Item) []Delivery {
	var out []joined
	for _, i := range queued {
		last := len(out) - 1
		if last < 0 || !out[last].join(i) {
			out = append(out, joined{Item: i, first: i})
		}
	}
	deliveries := make([]Delivery, len(out))
	for n, j := range out {
		deliveries[n] = j.delivery()
	}
	return deliveries
}

// joined is an event that may stand for some before it, from first on.
type joined struct {
	Item

	first Item
}

// join has the next event of the session stand for both, if it can.
func (j *joined) join(next Item) bool {
	if j.Event.Urgency != next.Event.Urgency {
		return false
	}
	payload, can := joinedPayload(j.Event, next.Event)
	if !can {
		return false
	}
	event := next.Event
	event.Payload, event.ID = payload, joinedID(j.Event.ID, next.Event.ID)
	raw, err := event.Forward()
	if err != nil { // better two events than none
		return false
	}
	j.Item = Item{Session: next.Session, Seq: next.Seq, Event: event, Raw: raw}
	return true
}

func (j joined) delivery() Delivery {
	d := j.Item.delivery()
	d.First = j.first.Seq
	return d
}

// joinedPayload is what stands for two. Of a state only a background one says nothing that would
// be missed, and of progress only one that is a number, which the next one brings up to date.
func joinedPayload(before, after aaep.Event) (aaep.Payload, bool) {
	switch b := after.Payload.(type) {
	case aaep.OutputStreaming:
		a, like := before.Payload.(aaep.OutputStreaming)
		return joinedChunk(a, b), like && follows(a, b)
	case aaep.StateChanged:
		a, like := before.Payload.(aaep.StateChanged)
		b.FromState = a.FromState
		return b, like && before.Urgency == aaep.UrgencyBackground && a.FromState != b.ToState
	case aaep.ProgressUpdated:
		a, like := before.Payload.(aaep.ProgressUpdated)
		return b, like && (a.Progress.Percent != nil || a.Progress.Step != nil)
	default:
		return nil, false
	}
}

// follows reports whether the text of b goes on where that of a ends, as one chunk could.
func follows(a, b aaep.OutputStreaming) bool {
	runes := utf8.RuneCountInString(a.Chunk)
	return a.OutputID == b.OutputID && a.Language == b.Language && a.ContentType == b.ContentType && !a.Complete &&
		b.Position == a.Position+int64(runes) && runes+utf8.RuneCountInString(b.Chunk) <= maxChunk
}

func joinedChunk(a, b aaep.OutputStreaming) aaep.OutputStreaming {
	b.Chunk, b.Position = a.Chunk+b.Chunk, a.Position
	return b
}

// joinedID names an event that stands for others: the same for the same ones, and another than
// theirs, for it has another content (ENV-20). What it keeps of the later id is the time and the
// form.
func joinedID(a, b string) string {
	const stamp, size = len("evt_") + 21, len("evt_") + 32
	sum := sha256.Sum256([]byte(a + " " + b))
	if len(b) != size {
		return "evt_" + hex.EncodeToString(sum[:16])
	}
	return b[:stamp] + hex.EncodeToString(sum[:6])[:size-stamp]
}
