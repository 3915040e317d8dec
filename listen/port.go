package listen

import (
	"context"
	"iter"

	"github.com/earshot-dev/earshot/aaep"
)

// Delivered is one event as it came.
type Delivered struct {
	// Event is what is told. Without a payload nothing is, and only the JSON text goes
	// on: so a resumed session does not ask again what has been answered.
	Event aaep.Event
	// Raw is the event's JSON text. When it is nil the event is encoded anew where
	// the text is wanted.
	Raw []byte
}

// Port is the side that is listened to. Its methods may be called concurrently,
// and return soon after ctx is done. A nil error means that the request has been
// committed; the text of any other is shown to the person, so it says what to do.
type Port interface {
	// Events yields events in order and without gaps until there will be no more.
	// An error is the last thing it yields.
	Events(ctx context.Context) iter.Seq2[Delivered, error]
	Answer(ctx context.Context, a Answer) error
	Extend(ctx context.Context, e Extend) error
	Stop(ctx context.Context, s Stop) error
	Undo(ctx context.Context, u Undo) error
	// Arguments reads one page of what an open question is about.
	Arguments(ctx context.Context, r PageRequest) (Page, error)
}
