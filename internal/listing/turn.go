package listing

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/wording"
)

// TurnLine tells of a turn in a line.
func (p Printer) TurnLine(t api.SessionRow) string {
	parts := []string{fmt.Sprintf("%s: %s, %s of %s, %s.", t.Turn, t.Status, cause.OneLine(t.Agent), cause.OneLine(t.Owner), p.Time(t.Created))}
	for _, w := range t.Waits {
		parts = append(parts, "Waits for "+waitText(w)+".")
	}
	if !t.QuietSince.IsZero() {
		parts = append(parts, "Quiet since "+p.Time(t.QuietSince)+".")
	}
	return strings.Join(append(parts, said(t.Request, wording.Summary(t.Summary))...), " ")
}

// waitText says in words what a turn waits for.
func waitText(w api.Wait) string {
	switch w.For {
	case api.WaitWorker:
		return "a worker of " + cause.OneLine(w.Agent)
	case api.WaitTurn:
		if w.Call != "" {
			return w.Turn + ", which it has asked with " + cause.OneLine(w.Tool)
		}
		return "its place, after " + w.Turn
	case api.WaitPerson:
		return fmt.Sprintf("%s to answer question %d", cause.OneLine(w.Person), w.Question)
	case api.WaitUndo:
		return fmt.Sprintf("the end of the undo time of question %d", w.Question)
	case api.WaitTool:
		return "the tool " + cause.OneLine(w.Tool) + ", call " + w.Call
	}
	return cause.OneLine(string(w.For))
}

// Turn shows a turn in full.
func (p Printer) Turn(t api.TurnDetail) {
	p.Field("Turn", t.Turn)
	p.Field("Session", t.Session)
	p.Field("Project", t.Project)
	p.Field("Agent", t.Agent)
	p.Field("Owner", t.Owner)
	p.Since("Created", t.Created)
	p.Field("Status", t.Status)
	if t.End != nil {
		p.Field("Ended", wording.Outcome(t.End.Status, t.End.Code, t.Message))
		t.Message = wording.Message(t.End.Code, t.Message)
	}
	p.Field("Message", t.Message)
	if t.Erased {
		p.Line("Content: erased; the digests and receipts are kept.")
	}
	if !t.Imported.IsZero() {
		p.Field("Imported", p.Time(t.Imported)+", from another ledger; nothing of it runs here")
	}
	p.Field("Request", t.Request)
	p.Document("Arguments", t.Args)
	for i, c := range t.Calls {
		p.showCall(i+1, c)
	}
	for _, r := range t.Receipts {
		answer := fmt.Sprintf("question %d, %s by %s on %s", r.Question, cause.OneLine(r.Decision), cause.OneLine(r.By), cause.OneLine(r.Surface))
		if r.Decision == api.DecidedByNobody {
			answer = wording.NobodyCouldAnswer(r.Question)
		}
		p.sayf("Receipt: %s, %s. Call %s. Shown %s.", answer, p.Time(r.At), r.Call, r.Shown)
	}
}

func (p Printer) showCall(n int, c api.CallDetail) {
	line := fmt.Sprintf("Call %d: %s, %s, %s risk, %s", n, cause.OneLine(c.Tool), c.Class, c.Risk, c.State)
	if c.Status != "" {
		line += ": " + wording.Outcome(c.Status, c.Code, c.Message)
	}
	p.sayf("%s. %s.", line, c.ID)
	p.Field("  Message", wording.Message(c.Code, c.Message))
	p.Field("  The agent says", c.Comment)
	if c.Question > 0 {
		p.Field("  Question", strconv.Itoa(c.Question))
	}
	p.Field("  Arguments card", c.Card)
	p.Field("  Result card", c.Result)
	p.Field("  Consent digest", c.Digest)
}
