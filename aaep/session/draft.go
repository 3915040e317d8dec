package session

import (
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
)

// draft is one step of a Session in the making: it changes a copy of the state, and
// only [draft.all] makes the copy the session's own. The first error stops it.
type draft struct {
	session *Session
	state   State
	now     time.Time
	rand    io.Reader
	events  []aaep.Event
	err     error
}

func (s *Session) draft(now time.Time, rand io.Reader) *draft {
	return &draft{session: s, state: s.state.clone(), now: now, rand: rand}
}

// all ends the step: either everything holds, or nothing does.
func (d *draft) all() ([]aaep.Event, error) {
	if d.err != nil {
		return nil, d.err
	}
	d.session.state = d.state
	return d.events, nil
}

// one is all for a step of exactly one event.
func (d *draft) one() (aaep.Event, error) {
	events, err := d.all()
	if err != nil {
		return aaep.Event{}, err
	}
	return events[0], nil
}

// build stamps one event and holds it against the table of package aaep.
func (d *draft) build(p aaep.Payload, extensions ...extension) {
	if d.err != nil {
		return
	}
	id, err := aaep.NewID(aaep.PrefixEvent, d.now, d.rand)
	if err != nil {
		d.err = wrap("cannot name the event", err)
		return
	}
	event := aaep.Event{
		ID: id, SessionID: d.state.SessionID, Time: d.stamp(), Producer: d.state.Producer, Payload: p,
		Verbosity: aaep.VerbosityNormal, Urgency: aaep.DefaultUrgency(p.EventType()),
	}
	if d.state.Language != "" {
		event.Hints = &aaep.LocalizationHints{PrimaryLanguage: d.state.Language, TextDirection: aaep.Direction(d.state.Language)}
	}
	for _, x := range extensions {
		if event, err = event.Extend(aaep.PrefixEarshot, x.name, x.value); err != nil {
			d.err = wrap("cannot extend the event", err)
			return
		}
	}
	if err := d.sendable(&event); err != nil {
		d.err = wrap("the event cannot be sent", err)
		return
	}
	d.events = append(d.events, event)
}

// sendable writes an event, or has it written.
func (d *draft) sendable(e *aaep.Event) error {
	if d.session.each != nil {
		return d.session.each(e)
	}
	_, err := e.Encode()
	return err
}

// extension is one member of extensions.earshot.
type extension struct{ name, value string }

// stamp is the time of the next event: never before that of the last (ENV-28), and
// to the millisecond, as it is written.
func (d *draft) stamp() time.Time {
	now := d.now.UTC().Truncate(time.Millisecond)
	if now.Before(d.state.Last) {
		now = d.state.Last
	}
	d.state.Last = now
	return now
}

// move tells the change to another state, and with it the outcome of a question.
func (d *draft) move(to string, p aaep.StateChanged) {
	p.FromState, p.ToState = d.state.Current, to
	after := afterTool([]byte(to))
	for i := range d.state.Calls {
		call := &d.state.Calls[i]
		call.Left = after && (call.Left || d.state.Current == aaep.StateCallingTool && !d.state.Finished)
	}
	if to == aaep.StateCallingTool && d.state.Current != to {
		d.state.Finished = false
	}
	d.state.Current = to
	resolved := d.state.Resolved
	d.state.Resolved = nil
	if resolved == nil {
		d.build(p)
		return
	}
	d.build(p, extension{"resolution", string(resolved.Resolution)}, extension{"reply_token", resolved.Token})
}

// complete closes the open call i.
func (d *draft) complete(i int, p aaep.ToolCompleted) {
	d.state.Calls = remove(d.state.Calls, i)
	d.state.UsedCalls = d.state.appendUsed(d.state.UsedCalls, p.ToolCallID)
	d.state.Finished = true
	d.build(p)
}

// output adds a chunk to an output, which may be new.
func (d *draft) output(p aaep.OutputStreaming) {
	i := d.state.output(p.OutputID)
	if i < 0 {
		i = len(d.state.Outputs)
		d.state.Outputs = append(d.state.Outputs, Output{ID: p.OutputID})
	}
	o := &d.state.Outputs[i]
	if d.err == nil && splits(o.Tail, p.Chunk) {
		d.err = refuse(CodeBadEvent, "I18N-29", "the chunk begins inside a character of its reader; cut before that character, see legible.Whole")
		return
	}
	p.Position = o.Position
	o.Position += int64(utf8.RuneCountInString(p.Chunk))
	o.Tail = string(tailOf([]byte(o.Tail), p.Chunk))
	if p.Complete {
		d.state.Outputs = remove(d.state.Outputs, i)
		d.state.UsedOutputs = d.state.appendUsed(d.state.UsedOutputs, p.OutputID)
		if p.CoalesceHint == "" {
			p.CoalesceHint = aaep.BoundaryCompletion
		}
	}
	d.build(p)
}

func contains(ids []string, id string) bool { return slices.Contains(ids, id) }

// remove returns the slice without its item i.
func remove[T any](items []T, i int) []T { return slices.Delete(items, i, i+1) }
