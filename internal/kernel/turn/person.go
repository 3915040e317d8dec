package turn

import "github.com/earshot-dev/earshot/utp"

// CallKind is what a call of a step is.
type CallKind string

// The kinds of calls.
const (
	ToolCall     CallKind = ""         // a service runs it, or the turns of a [Batch] do
	QuestionCall CallKind = "question" // a person answers it
	SubmitCall   CallKind = "submit"   // an answer of the agent that was refused: it has only a result
)

type (
	// AskPerson opens the question of a [QuestionCall]. The caller answers with
	// [QuestionAsked].
	AskPerson struct{ Call string }
	// Responded ends the question of a [QuestionCall], with a person's answer or without one.
	Responded struct {
		Question    int
		By, Surface string
		Outcome     Outcome
	}
)

func (AskPerson) effect() {}
func (Responded) input()  {}

// NoteResponded reports the end of a question that the agent itself asked. Detail is the code if there
// is no answer.
const NoteResponded NoteKind = "question.responded"

// responded applies the answer to the agent's question.
func (m *machine) responded(in Responded) error {
	c := m.asked(in.Question)
	switch {
	case c == nil || c.Kind != QuestionCall:
		return refuse(utp.CodeNotFound, "no question of the agent has that number")
	case c.State != Asked:
		return refuse(utp.CodeDone, "the question has been answered")
	}
	if in.By != "" { // no answer, no receipt
		m.emit(Receipt{Call: c.ID, By: in.By, Surface: in.Surface, Decision: "answered"})
	}
	c.State, c.Outcome = Finished, &in.Outcome
	if in.Outcome.Status == utp.StatusCanceled {
		c.State = Closed
	}
	m.emit(
		Note{Kind: NoteResponded, Call: c.ID, Detail: string(in.Outcome.Code), By: in.By, Surface: in.Surface},
		RecordOutcome{Call: c.ID},
	)
	return nil
}
