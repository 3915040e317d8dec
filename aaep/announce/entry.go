package announce

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// Entry is what one line of a record says of an event, for a surface that lists what happened: every step,
// in the words that hold whenever they are read. It is "" for what such a list leaves out: output, and how
// far the work is ([Progress]).
func Entry(e aaep.Event) string {
	switch p := e.Payload.(type) {
	case aaep.OutputStreaming, aaep.ProgressUpdated:
		return ""
	case aaep.SessionErrored:
		return entryText(first(p.SummaryDetailed, p.SummaryNormal), p.RemediationHint)
	case aaep.SessionCancelled:
		return entryText(p.SummaryNormal, p.PartialResult)
	case aaep.StateChanged:
		return entryText(first(resolvedEntry(e, p), p.SummaryNormal, p.SummaryTerse))
	case aaep.ToolInvoked:
		return entryText(p.SummaryNormal)
	case aaep.ToolCompleted:
		text := first(p.SummaryNormal, p.SummaryTerse, p.ErrorMessage, "The tool "+p.Tool+" has ended: "+string(p.Status)+".")
		if p.Status != aaep.ToolSuccess { // with the reason
			text = first(p.SummaryDetailed, text)
		}
		return entryText(text)
	case aaep.HandoffRequested:
		return entryText(first(p.SummaryNormal, p.SummaryTerse, p.Reason))
	case aaep.SessionStarted:
		return entryText(p.SummaryNormal)
	case aaep.SessionCompleted:
		return entryText(p.SummaryNormal)
	case aaep.AwaitingConfirmation:
		return entryText(askedEntry(e, p.SummaryTerse, p.Action), p.Consequence)
	case aaep.AwaitingClarification:
		return entryText(askedEntry(e, p.SummaryTerse, p.Question))
	default:
		return ""
	}
}

func entryText(parts ...string) string {
	for i, text := range parts {
		parts[i] = legible.Text(text)
	}
	return join(parts...)
}

// askedEntry names a question before what it asks. An event in another language than English does so itself, at its
// shortest.
func askedEntry(e aaep.Event, terse, asks string) string {
	if terse != "" && !isEnglish(primary(e)) {
		return terse
	}
	return questionLabel(entryNumber(e)) + ": " + asks
}

func entryNumber(e aaep.Event) int { return number(aaep.Read(e.Extensions[aaep.PrefixEarshot])) }

// Decided says in English who accepted, rejected, answered or stopped a question, and where, without the words of the event, which may be
// in another language: for who can translate the sentence. It is "" where a question did not end so.
func Decided(e aaep.Event) string {
	p, is := e.Payload.(aaep.StateChanged)
	how, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Text("resolution")
	decided := []aaep.Resolution{aaep.ResolutionAccepted, aaep.ResolutionRejected, aaep.ResolutionAnswered, aaep.ResolutionStopped}
	if !is || !slices.Contains(decided, aaep.Resolution(how)) {
		return ""
	}
	p.SummaryTerse, p.SummaryNormal = "", ""
	return entryText(endedEntry(e, p))
}

// resolvedEntry says how a question ended, in the words for anyone who did not answer it; "" where the event
// is about nothing of that kind, or speaks another language than English.
func resolvedEntry(e aaep.Event, p aaep.StateChanged) string {
	how, ends := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Text("resolution")
	if !ends || !isEnglish(primary(e)) || aaep.Resolution(how) == aaep.ResolutionExtended {
		return ""
	}
	return endedEntry(e, p)
}

// endedEntry says how a question ended, in English; what the event says of it may be in another language.
func endedEntry(e aaep.Event, p aaep.StateChanged) string {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	how, _ := ours.Text("resolution")
	text := func(name string) string {
		value, _ := ours.Text(name)
		return value
	}
	return outcome{
		how: aaep.Resolution(how), number: number(ours), consent: true, who: who(text("by"), text("surface")), reason: text("reason"),
		code: e.Extension(aaep.PrefixUTP, "code"), summary: first(p.SummaryNormal, p.SummaryTerse),
	}.text()
}

// Progress says how far the work is.
func Progress(p aaep.ProgressUpdated) string {
	p.Progress.Description = first(p.SummaryNormal, p.SummaryTerse, p.Progress.Description)
	return progressText(p, percent(p.Progress), false)
}
