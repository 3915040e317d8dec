package announce

import (
	"fmt"
	"slices"
)

// Surface describes where a listener hears announcements, as far as that affects the text. With the zero value, nothing
// can be done there.
type Surface struct {
	// Name is its name in recorded answers, such as "terminal". The listener's own answer is announced as recorded if
	// it was given here, and otherwise with its place.
	Name string
	// Controls are how a person acts there; hints name nothing else.
	Controls Controls
	// Output is how the agent's own text reaches the listener.
	Output Output
}

// Output is how the agent's own text reaches a listener.
type Output string

// The ways.
const (
	// OutputElsewhere: the surface shows it in a separate place. Announcements say that it is being written, and that
	// it is complete.
	OutputElsewhere Output = ""
	// OutputOnRequest: the same, and [Announcer.Answer] returns the text.
	OutputOnRequest Output = "on request"
	// OutputAsItComes: the text itself is announced, sentence by sentence, and keeps its lines; at [PaceQuiet] it is as
	// on request.
	OutputAsItComes Output = "as it comes"
)

// Controls are how a person acts on a surface.
type Controls string

// The controls.
const (
	ControlsNone     Controls = ""         // nothing can be done there
	ControlsWords    Controls = "words"    // typed or spoken words
	ControlsButtons  Controls = "buttons"  // buttons or keys
	ControlsCommands Controls = "commands" // shell commands
)

// Offer is what a person can do about an announcement.
type Offer string

// The offers.
const (
	OfferNone     Offer = ""
	OfferAnswer   Offer = "answer"    // the question
	OfferMoreTime Offer = "more_time" // to answer it
	OfferUndo     Offer = "undo"      // the accept, before its action starts
	OfferRead     Offer = "read"      // the answer that is there
	OfferFaster   Offer = "faster"    // more announcements
)

// hint says how to use an offer on this surface, "" if that is not possible.
func (a *Announcer) hint(o Offer, number int) string {
	held := a.held()
	waits := slices.ContainsFunc(held, func(q *question) bool { return number > 0 && q.Number == number })
	if waits && a.preferences.Surface.Controls == ControlsButtons { // its own are not shown yet
		return "The link More questions leads to it."
	}
	return a.preferences.Surface.Controls.hint(o, number, waits || len(a.open)-len(held) > 1)
}

// hint includes the question's number if necessary: if several are open.
func (c Controls) hint(o Offer, question int, several bool) string {
	number := ""
	if question > 0 && several {
		number = fmt.Sprintf(" %d", question)
	}
	switch c {
	case ControlsWords:
		return map[Offer]string{
			OfferMoreTime: "Type more time" + number + " to get more.", OfferUndo: "Type undo to take it back.", OfferRead: "Type read to read it.",
			OfferFaster: "Type faster to hear more.",
		}[o]
	case ControlsButtons:
		return map[Offer]string{OfferMoreTime: fmt.Sprintf("The button More time%s gets more.", forQuestion(question)), OfferUndo: "Undo takes it back."}[o]
	case ControlsCommands:
		return map[Offer]string{
			OfferMoreTime: fmt.Sprintf("`earshot extend %d` gets more.", question), OfferUndo: fmt.Sprintf("`earshot undo %d` takes it back.", question),
		}[o]
	case ControlsNone:
	}
	return ""
}

func forQuestion(number int) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf(" for question %d", number)
}

// SetControls changes how a person can act: for example, nothing can be done in a terminal whose input has ended.
func (a *Announcer) SetControls(c Controls) { a.preferences.Surface.Controls = c }
