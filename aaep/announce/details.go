package announce

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
)

// Label returns its label: "Question 3".
func (q Question) Label() string { return questionLabel(q.Number) }

// Heading returns its first line: the number, the session and what it asks.
func (q Question) Heading() string {
	label := q.Label()
	if q.Name != "" {
		label += ", " + legible.Value(oneBlank(q.Name))
	}
	return label + ": " + legible.Text(q.Text)
}

// Until says until when it can be answered. A nil zone means UTC.
func (q Question) Until(now time.Time, zone *time.Location) string {
	switch end := clockText(q.Deadline, now, zone); {
	case !q.Deadline.After(now):
		return "The time to answer is over."
	case q.Waiting:
		return "It waits until somebody who can answer is shown it, at most until " + end + "."
	case q.Unlimited:
		return "There is no time limit; it stays open until " + end + "."
	default:
		return "Answer by " + end + "."
	}
}

// UntilIn is [Question.Until] with the remaining time, for a text that is read at once.
func (q Question) UntilIn(now time.Time, zone *time.Location) string {
	until := q.Until(now, zone)
	if !q.Deadline.After(now) || q.Waiting || q.Unlimited {
		return until
	}
	return strings.TrimSuffix(until, ".") + ", in " + timeText(q.Deadline.Sub(now)) + "."
}

// Silence says what no answer means, "" if that is unknown.
func (q Question) Silence() string {
	switch {
	case q.Consent && q.Default == string(aaep.DecisionAccept) && !q.Irreversible():
		return "Without an answer it is done."
	case q.Consent:
		return "Without an answer it is not done."
	case q.Default != "":
		return "Without an answer it is: " + shown(q.Default, maxName) + "."
	default:
		return ""
	}
}

// Effect says whether the action can be undone, "" if that is unknown, or if the consequence says it.
func (q Question) Effect() string {
	if q.AgentTool {
		return ""
	}
	switch q.Reversibility {
	case aaep.Irreversible:
		return "This cannot be undone."
	case aaep.ReversibleWithEffort:
		return "This can be undone, with effort."
	case aaep.Reversible:
		return "This can be undone."
	default:
		return ""
	}
}

// notUndone is the only certain statement about a tool that is not Earshot's.
const notUndone = "Earshot cannot undo it."

// Amount says how many items it is about, and how many bytes; "" if neither is known.
func (q Question) Amount() string {
	var parts []string
	if q.Items >= 0 {
		parts = append(parts, legible.Counted(q.Items, "item"))
	}
	if q.Bytes >= 0 {
		parts = append(parts, legible.Bytes(q.Bytes))
	}
	return strings.Join(parts, ", ")
}

// Unread says how many of its values the event does not list in full, "" if it lists all.
func (q Question) Unread() string {
	switch n := q.Arguments.Unread(); n {
	case 0:
		return ""
	case 1:
		return "1 value is not shown here in full."
	default:
		return legible.Counted(n, "value") + " are not shown here in full."
	}
}

// Values returns a line for each value, with its name and text: of all values, or of those that its sentence does not
// state.
func (q Question) Values(all bool) []string {
	var lines []string
	for _, v := range q.Arguments.Values {
		if text := valueText(v); text != "" && (all || q.unsaid(v)) {
			lines = append(lines, text)
		}
	}
	return lines
}

// valueText is one value under its name.
func valueText(v outline.Value) string {
	name := legible.Value(v.Name())
	switch placeholder := v.Placeholder(); {
	case v.Kind == outline.Empty && v.Path == "":
		return "" // there are no arguments
	case v.Kind == outline.Masked: // not even its name, which screen readers would speak (SEC-07)
		return "one value is " + placeholder
	case placeholder != "":
		return name + ": " + placeholder
	case v.Kind == outline.Literal:
		return name + ": " + legible.Value(v.Value)
	}
	text := name + ": “" + legible.Value(v.Value) + "”"
	if v.More > 0 {
		text += " and " + legible.Counted(int64(v.More), "more character")
	}
	return text
}

// Lines returns the whole question, a line for each fact: what it asks, with which values, what follows, and until when
// it can be answered. The surface adds how to answer.
func (q Question) Lines(now time.Time, zone *time.Location) []string {
	lines := []string{q.Heading()}
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, label+": "+legible.Text(text))
		}
	}
	add("Asked again", q.Earlier)
	if !q.Consent {
		add("Why", q.Consequence)
		add("Request", q.Request)
		add("Hint", q.Hint)
		add("Passkey", q.Presence())
		return append(lines, join(q.UntilIn(now, zone), q.Silence()))
	}
	label := "Values: "
	if len(q.Arguments.Stated) > 0 {
		label = "More values: "
	}
	lines = append(lines, underLabel(label, q.Values(false))...)
	lines = append(lines, some(q.Unread())...)
	add("What happens", q.Consequence)
	if amount := q.Amount(); amount != "" {
		lines = append(lines, "How many: "+amount+".")
	}
	if !q.ByClass { // otherwise it has been stated already
		lines = append(lines, some(q.Effect())...)
	}
	add("Request", q.Request)
	add("Hint", q.Hint)
	add("Passkey", q.Presence())
	return append(lines, join(q.UntilIn(now, zone), q.Silence()))
}

// Why returns lines with everything else there is to know about it.
func (q Question) Why() []string {
	detail, label := first(q.Detail, q.Consequence, q.Text), "Why"
	if q.Number > 0 && !strings.HasPrefix(detail, q.Label()) {
		label = fmt.Sprintf("Why question %d", q.Number)
	}
	lines := []string{label + ": " + legible.Text(detail)}
	lines = append(lines, underLabel("Values: ", q.Values(true))...)
	lines = append(lines, some(q.Unread())...)
	if q.Tool != "" && !strings.Contains(detail, q.Tool) {
		lines = append(lines, "Tool: "+legible.Text(q.Tool))
	}
	if q.Risk != "" {
		lines = append(lines, "Risk: "+legible.Text(string(q.Risk))+".")
	}
	return lines
}

// Line returns the question as one line, for a list of questions.
func (q Question) Line(now time.Time, zone *time.Location) string {
	line := join(sentence(q.Heading(), english), q.Until(now, zone))
	if len(q.Choices) > 0 {
		values := make([]string, 0, len(q.Choices))
		for _, c := range q.Choices {
			values = append(values, c.Value)
		}
		for _, kind := range q.Kinds {
			switch kind {
			case aaep.ResponseYesNo:
				values = append(values, "yes", "no")
			case aaep.ResponseNumeric:
				values = append(values, "a number")
			case aaep.ResponseFreetext:
				values = append(values, "your own words")
			case aaep.ResponseMultipleChoice:
			}
		}
		line += " Answers: " + legible.Line(strings.Join(values, ", ")) + "."
	}
	switch {
	case q.AgentTool:
		line += " " + notUndone
	case q.Irreversible():
		line += " This cannot be undone."
	}
	return line
}

// StillOpen says that it is open, and until when.
func (q Question) StillOpen(now time.Time, zone *time.Location) string {
	if !q.Deadline.After(now) {
		return q.Label() + ": the time to answer is over."
	}
	return fmt.Sprintf("%s is still open. %s", q.Label(), q.UntilIn(now, zone))
}

// underLabel puts a label before the first line and indents the others below it.
func underLabel(label string, lines []string) []string {
	for i, line := range lines {
		lines[i] = label + line
		label = "  "
	}
	return lines
}

// some returns a list of one text, or of none if it is empty.
func some(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
