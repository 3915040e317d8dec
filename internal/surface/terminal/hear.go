package terminal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// listened is what is kept about one session.
type listened struct {
	number  int               // in order of appearance
	outputs map[string]string // text that has not reached a boundary, by output
}

// maxOutput is how much text waits for a boundary before it is told without one.
const maxOutput = 4096

// hear turns one event into what is told.
func (t *Terminal) hear(e aaep.Event) {
	s := t.session(e.SessionID)

	switch p := e.Payload.(type) {
	case aaep.SessionStarted:
		t.tell(e, "Started", first(p.SummaryNormal, p.SummaryTerse))
	case aaep.StateChanged:
		t.hearState(e, p)
	case aaep.ProgressUpdated:
		t.tell(e, "Progress", progressText(p))
	case aaep.ToolInvoked:
		t.starts(p.ToolCallID)
		t.tell(e, "Tool", first(p.SummaryNormal, p.SummaryTerse, p.Tool))
	case aaep.ToolCompleted:
		t.tell(e, resultLabel(e, p), first(p.SummaryNormal, p.SummaryTerse, p.ErrorMessage, p.Tool))
	case aaep.OutputStreaming:
		t.hearOutput(e, s, p)
	case aaep.AwaitingConfirmation:
		t.ask(confirmationOf(e, p))
	case aaep.AwaitingClarification:
		t.ask(clarificationOf(e, p))
	case aaep.HandoffRequested:
		t.tell(e, "Hand-off", first(p.SummaryNormal, p.SummaryTerse, p.Reason))
	case aaep.SessionCompleted, aaep.SessionErrored, aaep.SessionCancelled:
		t.hearEnd(e, s)
	case aaep.Other:
		t.tell(e, "Event", otherText(p))
	default:
		t.tell(e, "Event", e.Type())
	}
}

func (t *Terminal) session(id string) *listened {
	s, ok := t.sessions[id]
	if !ok {
		s = &listened{number: len(t.sessions) + 1, outputs: map[string]string{}}
		t.sessions[id] = s
	}

	return s
}

// tell says one labelled line at the urgency of the event. Sessions beyond the
// first are named.
func (t *Terminal) tell(e aaep.Event, label, text string) {
	line := label + ": " + legible.Text(text)
	if n := t.session(e.SessionID).number; n > 1 {
		line = fmt.Sprintf("Session %d: %s", n, line)
	}

	switch urgencyOf(e) {
	case aaep.UrgencyCritical:
		t.interrupt(line)
	case aaep.UrgencyBackground:
		t.narrate(entry{text: line, background: true, tool: isTool(e), progress: e.Type() == aaep.TypeProgressUpdated})
	default:
		t.narrate(entry{text: line})
	}
}

func urgencyOf(e aaep.Event) aaep.Urgency {
	if e.Urgency == "" {
		return aaep.DefaultUrgency(e.Type())
	}

	return e.Urgency
}

func isTool(e aaep.Event) bool {
	return e.Type() == aaep.TypeToolInvoked || e.Type() == aaep.TypeToolCompleted
}

// hearState tells a change of state when it is worth a line: the end of a question, what
// is critical, what our own producers say beside a state, and states that no other event
// speaks of.
func (t *Terminal) hearState(e aaep.Event, p aaep.StateChanged) {
	if t.resolved(e, p) || t.acceptedBefore(e) {
		return
	}

	switch p.ToState {
	case aaep.StateIdle, aaep.StateThinking, aaep.StateCallingTool, aaep.StateWritingOutput, aaep.StateAwaitingInput:
		_, news := e.Extensions[aaep.PrefixEarshot]
		if urgency := urgencyOf(e); urgency != aaep.UrgencyCritical && (!news || urgency == aaep.UrgencyBackground) {
			return
		}
	default:
	}

	t.tell(e, "State", first(p.SummaryNormal, p.SummaryTerse, strings.ReplaceAll(p.ToState, "_", " ")))
}

// hearOutput gathers the agent's own text up to the end of a sentence: a chunk
// that ends nowhere is never told by itself (OUT-08).
func (t *Terminal) hearOutput(e aaep.Event, s *listened, p aaep.OutputStreaming) {
	text := s.outputs[p.OutputID] + p.Chunk

	whole := p.Complete || len(text) > maxOutput
	switch p.CoalesceHint {
	case aaep.BoundarySentence, aaep.BoundaryParagraph, aaep.BoundaryCompletion:
		whole = true
	case aaep.BoundaryNone, aaep.BoundaryWord:
	}

	if !whole {
		s.outputs[p.OutputID] = text

		return
	}

	delete(s.outputs, p.OutputID)

	if text = strings.TrimSpace(text); text != "" {
		t.tell(e, "Output", text)
	}
}

// hearEnd tells how a session ended. Its questions die with it (SEQ-38), and
// what was held comes first.
func (t *Terminal) hearEnd(e aaep.Event, s *listened) {
	for _, id := range slices.Sorted(maps.Keys(s.outputs)) {
		if text := strings.TrimSpace(s.outputs[id]); text != "" {
			t.narrate(entry{text: "Output: " + legible.Text(text)})
		}
	}

	s.outputs = map[string]string{}
	t.endQuestions(e.SessionID)

	switch p := e.Payload.(type) {
	case aaep.SessionCompleted:
		label := "Done"
		if failed, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Flag("all_failed"); failed {
			label = "Ended"
		}
		t.tell(e, label, first(p.SummaryNormal, p.SummaryTerse))
	case aaep.SessionCancelled:
		t.tell(e, "Cancelled", first(p.SummaryNormal, p.SummaryTerse))
	case aaep.SessionErrored:
		t.tell(e, "error", first(p.SummaryNormal, p.SummaryTerse))

		if p.RemediationHint != "" {
			t.tell(e, "hint", p.RemediationHint)
		}
	}
}

func progressText(p aaep.ProgressUpdated) string {
	var parts []string

	switch {
	case p.Progress.Percent != nil:
		parts = append(parts, percentText(*p.Progress.Percent))
	case p.Progress.Step != nil && p.Progress.TotalSteps != nil:
		parts = append(parts, fmt.Sprintf("step %d of %d", *p.Progress.Step, *p.Progress.TotalSteps))
	case p.Progress.Step != nil:
		parts = append(parts, fmt.Sprintf("step %d", *p.Progress.Step))
	case p.Progress.TotalSteps != nil:
		parts = append(parts, legible.Counted(*p.Progress.TotalSteps, "step")+" in all")
	}

	text := first(p.Progress.Description, p.SummaryNormal, p.SummaryTerse)
	if p.Progress.Percent != nil && text == fmt.Sprintf("%g percent done.", *p.Progress.Percent) {
		text = "" // that has been said
	}

	if text != "" {
		parts = append(parts, text)
	}

	return strings.Join(parts, ", ")
}

// resultLabel says in the label itself how a tool ended; the exact status is
// UTP's where it is given.
func resultLabel(e aaep.Event, p aaep.ToolCompleted) string {
	status := first(e.Extension(aaep.PrefixUTP, "status"), string(p.Status))

	switch status {
	case "", string(aaep.ToolSuccess):
		return "Result"
	case string(aaep.ToolError):
		status = "failed"
	default:
	}

	return "Result (" + legible.Text(status) + ")"
}

func otherText(p aaep.Other) string {
	for _, name := range []string{"summary_normal", "summary_terse"} {
		if text, err := jsontext.AppendUnquote(nil, p.Members[name]); err == nil && len(text) > 0 {
			return p.Type + ", " + string(text)
		}
	}

	return p.Type
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}

	return ""
}
