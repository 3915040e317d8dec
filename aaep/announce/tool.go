package announce

import (
	"strconv"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// longTool is how long a tool that only looks must have taken, in milliseconds, for its
// end to be told: one that is quick has said what it does, and something else follows.
const longTool = 5000

// maxDoing is how long, in characters, the words of a tool that was agreed to may be to be said as they are: longer ones repeat
// what the question has said.
const maxDoing = 60

// invoked tells that a tool begins.
func (a *Announcer) invoked(s *session, e aaep.Event, p aaep.ToolInvoked) []saying {
	s.progress = reportedProgress{}
	if urgency(e) == aaep.UrgencyBackground && a.preferences.Verbosity == aaep.VerbosityTerse {
		return nil
	}
	w := a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if n := number(aaep.Read(e.Extensions[aaep.PrefixEarshot])); n > 0 {
		long := utf8.RuneCountInString(w.text) > maxDoing
		if a.preferences.Verbosity != aaep.VerbosityDetailed && !a.replay && (long || w.text == "") { // what was asked need not be said again
			w, _ = a.ours(e, "What question "+strconv.Itoa(n)+" asked for begins now.", p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
		}
		w.question = n
	}
	if w.text == "" {
		w.text, w.language = a.own("Using the tool " + nameText(p.Tool) + ".")
	}
	w.kind = KindTool
	return one(w)
}

// completed tells how a tool ended. What failed, and what nobody knows, interrupts.
func (a *Announcer) completed(s *session, e aaep.Event, p aaep.ToolCompleted) []saying {
	s.progress = reportedProgress{}
	if p.Status == aaep.ToolSuccess {
		return a.succeeded(e, p)
	}
	w := a.failed(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if e.Extension(aaep.PrefixUTP, "code") == "outcome_unknown" && a.preferences.Verbosity != aaep.VerbosityDetailed {
		// The question that follows says what it is about.
		w = a.text(e, p.SummaryTerse, first(p.SummaryTerse, p.SummaryNormal), "")
	}
	if w.text == "" {
		w.text, w.language = a.own(join("The tool "+nameText(p.Tool)+" did not succeed.", legible.Capital(sentence(p.ErrorMessage, english))))
	}
	w.kind, w.priority, w.label = KindTool, Assertive, resultLabel(e, p)
	return one(w)
}

func (a *Announcer) succeeded(e aaep.Event, p aaep.ToolCompleted) []saying {
	if urgency(e) == aaep.UrgencyBackground {
		long := p.DurationMS != nil && *p.DurationMS >= longTool
		switch a.preferences.Verbosity {
		case aaep.VerbosityTerse:
			return nil
		case aaep.VerbosityNormal:
			if !long {
				return nil
			}
		case aaep.VerbosityDetailed:
		}
	}
	w := a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if w.text == "" {
		w.text, w.language = a.own("The tool " + nameText(p.Tool) + " has finished.")
	}
	w.kind, w.label = KindTool, resultLabel(e, p)
	return one(w)
}

// resultLabel says in the label itself how a tool ended; the exact status is UTP's where it is given.
func resultLabel(e aaep.Event, p aaep.ToolCompleted) string {
	status := first(e.Extension(aaep.PrefixUTP, "status"), string(p.Status))
	switch status {
	case "", string(aaep.ToolSuccess):
		return labelResult
	case string(aaep.ToolError):
		status = "failed"
	}
	return labelResult + " (" + shown(status, maxName) + ")"
}
