package terminal

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Stream says which of a listener's two streams a line belongs to. On a
// terminal they are one screen.
type Stream int

// The streams.
const (
	// Narration tells what the agent does.
	Narration Stream = iota
	// Prompt carries questions and everything said about answers.
	Prompt
)

// Effect is one thing that [Terminal] wants done, in the order given: [Print],
// [Echo], [Flush], [Send] or [InputEnded].
//
//sumtype:decl
type Effect interface{ effect() }

// Print writes lines that are wrapped already, each followed by a line end.
type Print struct {
	Stream Stream
	Lines  []string
}

// Echo shows keys that were pressed, where they are shown by this package; see [Settings.Keys]. It is written
// to the stream of [Prompt] as it is.
type Echo struct{ Text string }

// Flush throws away what was typed before now: nobody can have answered a
// question that was not yet shown.
type Flush struct{}

// Send makes a request of the [Port]; its end comes back as [Terminal.Result]
// under the same ID.
type Send struct {
	ID      int
	Request Request
}

// InputEnded tells that this terminal can answer nothing any more. It is sent once.
type InputEnded struct{}

func (Print) effect()      {}
func (Echo) effect()       {}
func (Flush) effect()      {}
func (Send) effect()       {}
func (InputEnded) effect() {}

// Request is what a person asks of the other side: [Answer], [Extend], [Stop],
// [Undo] or [PageRequest].
//
//sumtype:decl
type Request interface{ request() }

// Answer replies to an open question: with Decision to a confirmation, with
// Response, Decision being empty, to a clarification.
type Answer struct {
	Question int
	Token    string // as the question carried it (CONF-31)
	Decision aaep.Decision
	Response aaep.Response
	At       time.Time // when the person decided (CONF-34)
}

// Extend asks for more time for a question.
type Extend struct {
	Question int
	Token    string
	At       time.Time
}

// Stop asks that the agent take no further step, in everything that this
// listener hears.
type Stop struct{ At time.Time }

// Undo takes an accept back before its action has started.
type Undo struct {
	Question int
	At       time.Time
}

// PageRequest asks for one page of what a question is about.
type PageRequest struct {
	Question int
	Page     int  // from 1
	All      bool // all of it as one page
}

func (Answer) request()      {}
func (Extend) request()      {}
func (Stop) request()        {}
func (Undo) request()        {}
func (PageRequest) request() {}

// Result is the end of a request. Err nil means that it has been committed.
type Result struct {
	ID   int
	Err  error
	Page Page // for a PageRequest
}

// PageSize is how many items a page holds.
const PageSize = 20

// Page is one page of the items that a question is about, at most [PageSize] unless all of them were
// asked for.
type Page struct {
	Number int // from 1
	Pages  int
	Total  int // items in all
	Items  []Item
}

// Item is one thing that an action is about.
type Item struct {
	// Value is shown exactly, for example a path.
	Value string
	// Note is readable text beside it, for example "12 bytes".
	Note string
}
