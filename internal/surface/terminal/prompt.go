package terminal

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
)

// promptAgent gives the agent a request, in the person's words.
func (t *Terminal) promptAgent(line string) {
	if t.prompt != 0 {
		t.promptf("The agent is at work, so this was not passed on. Wait until it has finished its turn, or type stop.")

		return
	}

	if len(line) >= maxLine {
		t.promptf("The line is longer than a line can be here, so it was not passed on. Give a long request with --request.")

		return
	}

	t.lastID++
	t.prompt = t.lastID
	t.out = append(t.out, Send{ID: t.prompt, Request: AgentPrompt{Text: strings.TrimSpace(line)}})
}

// finishPrompt processes the end of the agent's turn. What came of it is told by events.
func (t *Terminal) finishPrompt(r Result) {
	t.prompt = 0

	if r.Err != nil {
		t.promptf("%s", sentence(legible.Text(cause.Of(r.Err))))
	}
}
