package turn

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Say is a piece of the text that the agent writes while it plans the step, from a byte
// on. What has been told already is not told again.
type Say struct {
	Hold

	Step int
	Try  int
	From int64
	Text string
}

func (Say) input() {}

// Notes about an agent's text.
const (
	NoteSaid NoteKind = "agent.said" // a piece of it

	// DetailAnew is the detail of the first piece of a text that stands for another one,
	// which a planner began that is no more.
	DetailAnew = "anew"
)

// say takes a piece that goes on where the last one ended, and is silent on one that has
// been told.
func (m *machine) say(in Say) error {
	if err := m.held(in.Hold); err != nil {
		return err
	}
	switch {
	case m.Stop != nil:
		return refuse(utp.CodeStopped, "the turn has been stopped; nothing more is told of it")
	case m.Status != Running || in.Step != m.Step+1:
		return refuse(utp.CodeConflict, "text is told while a step is planned, and of that step")
	}
	if m.Said.Step != in.Step {
		m.Said = api.ReportedText{Step: in.Step}
	}
	anew := in.Try == m.Said.Try+1 && in.From == 0
	if anew {
		m.Said = api.ReportedText{Step: in.Step, Try: in.Try}
	}
	end := in.From + int64(len(in.Text))
	switch {
	case in.Try != m.Said.Try || in.From > m.Said.Bytes || in.From < m.Said.Bytes && end > m.Said.Bytes:
		return refuse(utp.CodeConflict, "the text does not go on where what has been told ends")
	case end <= m.Said.Bytes:
		return nil // the answer to the first request was lost
	}
	m.Said.Sum = api.AddSum(m.Said.Sum, in.Text)
	m.Said.Bytes = end
	note := Note{Kind: NoteSaid}
	if anew {
		note.Detail = DetailAnew
	}
	m.emit(note)
	return nil
}

// Told reports whether a text is the one that has been told while the present step was
// planned.
func (s State) Told(text string) bool {
	return text != "" && s.Said.Step == s.Step+1 && s.Said.Bytes == int64(len(text)) && s.Said.Sum == api.AddSum(0, text)
}

// Release gives the turn back: its worker lets go of it.
type Release struct{ Hold }

func (Release) input() {}

func (m *machine) release(in Release) error {
	if err := m.held(in.Hold); err != nil {
		return err
	}
	m.nobody()
	if m.Status == Running {
		m.Claims = max(0, m.Claims-1) // who gives it back did not fail at it
		m.emit(Ring{})
	}
	return nil
}
