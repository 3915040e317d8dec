package terminal

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// Stream is one of a listener's two output streams. On a terminal they are one screen.
type Stream int

// The streams.
const (
	// Narration reports what the agent does.
	Narration Stream = iota
	// Prompt carries questions and everything about answers.
	Prompt
)

// Effect is one thing that [Terminal] wants done, in the order given: [Print],
// [Echo], [Flush], [Send] or [InputEnded].
//
//sumtype:decl
type Effect interface{ effect() }

// Print writes lines that are already wrapped, each followed by a line end.
type Print struct {
	Stream Stream
	Lines  []string
}

// Echo displays pressed keys if this package has to do that; see [Settings.Keys]. It is written to the stream of
// [Prompt] unchanged.
type Echo struct{ Text string }

// Flush discards what was typed before now: nobody can have answered a question that was not yet shown.
type Flush struct{}

// Send makes a request to the [Port]; its result comes back as [Terminal.Result] with the same ID.
type Send struct {
	ID      int
	Request Request
}

// InputEnded reports that this terminal can no longer answer, and that the agent has finished with the last request from
// here. It is sent once.
type InputEnded struct{}

func (Print) effect()      {}
func (Echo) effect()       {}
func (Flush) effect()      {}
func (Send) effect()       {}
func (InputEnded) effect() {}

// Request is what a person requests from the other side: [Answer], [Extend], [Stop], [Undo], [PageRequest], [AgentPrompt],
// [Proposal], [ListPermissions] or [Revoke].
//
//sumtype:decl
type Request interface{ request() }

// Answer replies to an open question: with Decision to a confirmation; with Response, and Decision empty, to a
// clarification.
type Answer struct {
	Question int
	Token    string // as the question carried it (CONF-31)
	Decision aaep.Decision
	Response aaep.Response
	At       time.Time // when the person decided (CONF-34)
	// Standing asks for a standing permission with an accept; nil for none.
	Standing *api.Standing
}

// Extend requests more time for a question.
type Extend struct {
	Question int
	Token    string
	At       time.Time
}

// Stop requests that the agent take no further step, in every session that this listener follows.
type Stop struct{ At time.Time }

// Undo takes back an accept before its action has started.
type Undo struct {
	Question int
	At       time.Time
}

// PageRequest requests one page of a question's arguments.
type PageRequest struct {
	Question int
	Tool     string // of the call that is asked about
	Page     int    // from 1
	All      bool   // everything as one page
}

// AgentPrompt gives the agent a request in the person's words. Its result comes when the agent has finished its turn.
type AgentPrompt struct{ Text string }

// Proposal asks what a standing permission would mean for a question. It gives none.
type Proposal struct {
	Question int
	Token    string
	Standing Standing
	At       time.Time
}

// Proposed is a standing permission that can be given, and what it means, in one sentence.
type Proposed struct {
	Asked api.Standing
	Means string
}

// ListPermissions requests the standing permissions in force.
type ListPermissions struct{}

// Revoke ends a standing permission; Number 0 ends all of them.
type Revoke struct {
	Number int
	At     time.Time
}

func (Answer) request()          {}
func (Extend) request()          {}
func (Stop) request()            {}
func (Undo) request()            {}
func (PageRequest) request()     {}
func (AgentPrompt) request()     {}
func (Proposal) request()        {}
func (ListPermissions) request() {}
func (Revoke) request()          {}

// Result is the result of a request. A nil Err means that it has been committed.
type Result struct {
	ID   int
	Err  error
	Page Page // for a PageRequest
	// Proposed is for a Proposal.
	Proposed Proposed
	// Permissions are those in force, for a ListPermissions, or those that have ended, for a Revoke.
	Permissions []api.StandingPermission
}

// PageSize is the number of items on a page.
const PageSize = 20

// Page is one page of a question's items, at most [PageSize] unless all of them were requested.
type Page struct {
	Number int // from 1
	Pages  int
	Total  int // number of all items
	Items  []Item
}

// Item is one thing that an action affects.
type Item struct {
	// Value is shown exactly, for example a path.
	Value string
	// Note is readable text beside it, for example "12 bytes".
	Note string
}
