package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// counted is a number of things.
func counted(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// News is what lies on the page beside the chosen session's own story.
type News struct {
	Sessions  Sessions
	Questions Questions
	Chosen    *Session
	Open      []api.OpenQuestion // those that are listed
}

// OpenCount says how many questions are open.
func OpenCount(n int) string {
	if n == 0 {
		return "none open"
	}
	return strconv.Itoa(n) + " open"
}

// Title is the page's title: what needs the person comes first.
func (n News) Title() string {
	switch open := n.Questions.Total; open {
	case 0:
		return "Earshot"
	case 1:
		return "(1 question) Earshot"
	default:
		return fmt.Sprintf("(%d questions) Earshot", open)
	}
}

// Where says where things stand.
func (n News) Where() string { return strings.Join(n.standing(), " ") }

// underWay counts the sessions that run and those that wait, for a person or to be taken up.
func (n News) underWay() string {
	running := 0
	for _, l := range n.Sessions.Running {
		if l.State == stateRunning {
			running++
		}
	}
	var text string
	switch waiting := len(n.Sessions.Running) - running; {
	case running+waiting == 0:
		return "No session is running."
	case waiting == 0:
		text = counted(running, "session") + " running."
	case running == 0:
		text = counted(waiting, "session") + " waiting."
	default:
		text = fmt.Sprintf("%s running, %d waiting.", counted(running, "session"), waiting)
	}
	if n.Sessions.MoreRunning != "" {
		return "More than " + text
	}
	return text
}

// standing is where things stand, in sentences.
func (n News) standing() []string {
	parts := []string{n.underWay()}
	switch open := n.Questions.Open; len(open) {
	case 0:
		parts = append(parts, "No question is open.")
	default:
		numbers := make([]string, 0, len(open))
		for _, q := range open {
			numbers = append(numbers, strconv.Itoa(q.Number))
		}
		list := strings.Join(numbers, ", ")
		if n.Questions.More != "" {
			list += " and more"
		}
		parts = append(parts, counted(n.Questions.Total, "question")+" open: "+list+".")
	}
	if n.Chosen != nil {
		parts = append(parts, "You are looking at "+isolated(legible.Value(strings.Join(strings.Fields(n.Chosen.DisplayName()), " ")))+", "+n.Chosen.State+".")
	}
	return parts
}

// isolated sets a name apart from the sentence around it, whose words may go another way, or be like it.
func isolated(name string) string {
	if strings.HasPrefix(name, string(isolate)) {
		return name
	}
	return string(isolate) + name + string(isolateEnd)
}
