package wording

import "github.com/earshot-dev/earshot/api"

// summaries are the reasons that the ledger keeps of a stop instead of a summary, and what is narrated of them.
var summaries = map[string]string{ //nolint:gochecknoglobals // a table
	"hangup":          stopped, // the names of signals
	"interrupt":       stopped,
	"terminated":      stopped,
	api.SummaryUndone: "Taken back, and stopped.",
}

const stopped = "Stopped."

// Summary says in a list of sessions how one ended: the agent's summary as it is, and of one that was stopped, what its last event
// says instead of the reason that was recorded.
func Summary(stored string) string {
	if words, is := summaries[stored]; is {
		return words
	}
	return stored
}

// Stopped reports whether the ledger's summary only names the signal by which the session was stopped.
func Stopped(stored string) bool { return summaries[stored] == stopped }
