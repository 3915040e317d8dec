package terminal

import (
	"context"
	"iter"

	"github.com/earshot-dev/earshot/client"
)

// Port is the side that is listened to. Its methods may be called concurrently,
// and return soon after ctx is done. A nil error means that the request has been
// committed; the text of any other is shown to the person, so it says what to do.
type Port interface {
	// Events yields events in order and without gaps until there will be no more.
	// An error is the last thing it yields. Of an event without a payload nothing is
	// shown, and only its JSON text goes on; where it has no text it is encoded.
	Events(ctx context.Context) iter.Seq2[client.Event, error]
	Answer(ctx context.Context, a Answer) error
	Extend(ctx context.Context, e Extend) error
	Stop(ctx context.Context, s Stop) error
	Undo(ctx context.Context, u Undo) error
	// Arguments reads one page of what an open question is about.
	Arguments(ctx context.Context, r PageRequest) (Page, error)
}
