package page

import (
	"github.com/earshot-dev/earshot/aaep"
)

// Outcome is how a session ended, in the words of its badge.
type Outcome string

// The outcomes.
const (
	Ended    Outcome = "ended" // how is not known
	Done     Outcome = "done"
	Partly   Outcome = "done in part"
	Failed   Outcome = "failed"
	TimedOut Outcome = "timed out"
	Stopped  Outcome = "stopped"
)

// Tone is the kind of badge that shows an outcome: good, bad, or "" for neither. The words say the same.
func (o Outcome) Tone() string {
	switch o {
	case Done:
		return "good"
	case Partly, Failed, TimedOut:
		return "bad"
	case Ended, Stopped:
	}
	return ""
}

// Tail is what the last events of a session say: what it is at, or how it ended.
type Tail struct {
	Step                string
	Language, Direction string // of the step
	Agents              string // the language of the agent's own words in it; "" if it is not known
	Outcome             Outcome
}

// Add adds the next event.
func (t *Tail) Add(raw []byte) {
	e, err := aaep.DecodeEvent(raw)
	if err != nil {
		return // not an event that this version can read; the record has it
	}
	if e.IsTerminal() {
		*t = Tail{Outcome: outcomeOf(e)}
		return
	}
	entry := entryOf(e)
	if p, is := e.Payload.(aaep.ProgressUpdated); is {
		entry.Text = progress(e, p)
	}
	if entry.Text != "" {
		t.Step, t.Language, t.Direction, t.Agents = entry.Text, entry.Language, entry.Direction, agents(e)
	}
}

// outcomes are those of a turn's exact status, which an event's extension has.
var outcomes = map[string]Outcome{ //nolint:gochecknoglobals // a table
	"success": Done, "partial": Partly, "failed": Failed, "timeout": TimedOut, "canceled": Stopped,
}

// outcomeOf reads how a session ended from its last event. One in which nothing worked is not done, whatever its agent
// says.
func outcomeOf(e aaep.Event) Outcome {
	if failed, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Flag("all_failed"); failed {
		return Failed
	}
	if o, known := outcomes[e.Extension(aaep.PrefixUTP, "status")]; known {
		return o
	}
	switch e.Payload.(type) {
	case aaep.SessionCompleted:
		return Done
	case aaep.SessionErrored:
		return Failed
	case aaep.SessionCancelled:
		return Stopped
	}
	return Ended
}
