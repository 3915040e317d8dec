package announce

import "fmt"

// Surface is what a listener hears on, as far as that changes the words. The zero value is one where
// nothing can be done.
type Surface struct {
	// Name is what recorded answers call it, such as "terminal". An own answer that was given here is
	// told back as recorded; one that was given elsewhere is told with its place.
	Name string
	// Controls are how a person acts there: a hint names nothing else.
	Controls Controls
	// Output is how the agent's own text reaches the listener.
	Output Output
}

// Output is how the agent's own text reaches a listener.
type Output string

// The ways.
const (
	// OutputElsewhere: the surface shows it in a place of its own. That it is being written, and
	// that it is there, is told.
	OutputElsewhere Output = ""
	// OutputOnRequest: the same is told, and [Announcer.Answer] has the text.
	OutputOnRequest Output = "on request"
	// OutputAsItComes: it is announced itself, at the ends of sentences, and keeps its lines; at
	// [PaceQuiet] it is as on request.
	OutputAsItComes Output = "as it comes"
)

// Controls are how a person acts on a surface.
type Controls string

// The controls.
const (
	ControlsNone     Controls = ""         // nothing can be done there
	ControlsWords    Controls = "words"    // words that are typed or spoken
	ControlsButtons  Controls = "buttons"  // what is pressed
	ControlsCommands Controls = "commands" // commands of a shell
)

// Offer is what a person can do about what an announcement says.
type Offer string

// The offers.
const (
	OfferNone     Offer = ""
	OfferAnswer   Offer = "answer"    // the question
	OfferMoreTime Offer = "more_time" // to answer it
	OfferUndo     Offer = "undo"      // the yes, before its action starts
	OfferRead     Offer = "read"      // the answer that is there
	OfferFaster   Offer = "faster"    // more of what is told
)

// hint says how to take an offer up on this surface, "" where that cannot be done there.
func (a *Announcer) hint(o Offer, question int) string {
	return a.preferences.Surface.Controls.hint(o, question, len(a.open) > 1)
}

// hint names a question's number where it is needed: while several are open.
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

// SetControls says that a person acts in another way from now on: where the input of a terminal has
// ended, nothing can be done there any more.
func (a *Announcer) SetControls(c Controls) { a.preferences.Surface.Controls = c }
