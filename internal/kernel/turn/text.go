package turn

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// AgentText is a piece of the text that the agent writes while it plans the step; From is its byte
// offset. What has been reported already is not reported again.
type AgentText struct {
	WorkerClaim

	Step int
	Try  int
	From int64
	Text string
}

func (AgentText) input() {}

// Notes about an agent's text.
const (
	NoteText NoteKind = "agent.said" // a piece of it

	// DetailRestarted is the detail of the first piece of a text that replaces one which an earlier
	// planner began and did not complete.
	DetailRestarted = "anew"
)

// agentText reports a piece that continues where the last one ended, and ignores one that was
// reported before.
func (m *machine) agentText(in AgentText) error {
	if err := m.checkClaim(in.WorkerClaim); err != nil {
		return err
	}
	switch {
	case m.Stop != nil:
		return refuse(utp.CodeStopped, "the turn has been stopped and takes no more text")
	case m.Status != Running || in.Step != m.Step+1:
		return refuse(utp.CodeConflict, "text belongs to the step that is being planned")
	}
	if m.ReportedText.Step != in.Step {
		m.ReportedText = api.ReportedText{Step: in.Step}
	}
	restarted := in.Try == m.ReportedText.Try+1 && in.From == 0
	if restarted {
		m.ReportedText = api.ReportedText{Step: in.Step, Try: in.Try}
	}
	end := in.From + int64(len(in.Text))
	switch {
	case in.Try != m.ReportedText.Try || in.From > m.ReportedText.Bytes || in.From < m.ReportedText.Bytes && end > m.ReportedText.Bytes:
		return refuse(utp.CodeConflict, "the text does not continue where the last segment ended")
	case end <= m.ReportedText.Bytes:
		return nil // the answer to the first request was lost
	}
	m.ReportedText.Sum = api.AddSum(m.ReportedText.Sum, in.Text)
	m.ReportedText.Bytes = end
	note := Note{Kind: NoteText}
	if restarted {
		note.Detail = DetailRestarted
	}
	m.emit(note)
	return nil
}

// IsReported reports whether text is what has been reported while the current step was planned.
func (s State) IsReported(text string) bool {
	return text != "" && s.ReportedText.Step == s.Step+1 && s.ReportedText.Bytes == int64(len(text)) && s.ReportedText.Sum == api.AddSum(0, text)
}

// Release gives the turn back: its worker ends its claim.
type Release struct{ WorkerClaim }

func (Release) input() {}

func (m *machine) release(in Release) error {
	if err := m.checkClaim(in.WorkerClaim); err != nil {
		return err
	}
	m.releaseWorker()
	if m.Status == Running {
		m.Claims = max(0, m.Claims-1) // giving the turn back is not a failed claim
		m.emit(WakeWorker{})
	}
	return nil
}
