package terminal

import (
	"context"
	"iter"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// Port is the other side: it provides events and takes requests. Its methods may be called concurrently, and return
// soon after ctx is done. A nil error means that the request has been committed; the text of any other is shown to the
// person, so it says what to do.
type Port interface {
	// Events yields events in order and without gaps until there are no more. An error is the last value. An event
	// without a payload is not displayed; only its JSON text is passed on. An event without a text is encoded.
	Events(ctx context.Context) iter.Seq2[client.Event, error]
	Answer(ctx context.Context, a Answer) error
	Extend(ctx context.Context, e Extend) error
	Stop(ctx context.Context, s Stop) error
	Undo(ctx context.Context, u Undo) error
	// Arguments reads one page of an open question's arguments.
	Arguments(ctx context.Context, r PageRequest) (Page, error)
}

// Permitter is a [Port] through which standing permissions are given, with an [Answer], listed and revoked.
type Permitter interface {
	Port

	// Propose says what a permission means. It gives none.
	Propose(ctx context.Context, p Proposal) (Proposed, error)
	Permissions(ctx context.Context) ([]api.StandingPermission, error)
	// Revoke returns those that have ended, also beside an error.
	Revoke(ctx context.Context, r Revoke) ([]api.StandingPermission, error)
}

// Prompter is a [Port] whose agent takes requests: a line that is not a command becomes one while no question is open and
// the agent is not at work.
type Prompter interface {
	Port

	// Prompt returns when the agent has finished its turn.
	Prompt(ctx context.Context, p AgentPrompt) error
}
