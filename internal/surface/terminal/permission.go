package terminal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// proposal is a standing permission that a person was told the meaning of, and has not agreed to. The next line decides.
type proposal struct {
	question int
	token    string
	asked    api.Standing
}

// parseStanding parses the commands about standing permissions: "accept standing times 20", "accept 3 standing",
// "permissions", "permissions revoke 3".
func parseStanding(fields []string, line string) (command, bool) {
	c := command{text: strings.Join(fields, " "), line: line}

	switch strings.ToLower(fields[0]) {
	case "permissions":
		c.verb = verbPermissions

		const words = 3
		if len(fields) != words || !strings.EqualFold(fields[1], "revoke") {
			return c, len(fields) == 1
		}

		number, isNumber := questionNumber(fields[2])
		c.verb, c.number = verbRevoke, number

		return c, isNumber || strings.EqualFold(fields[2], "all")
	case "accept":
		rest := fields[1:]

		if len(rest) > 1 {
			if n, isNumber := questionNumber(rest[0]); isNumber {
				c.number, rest = n, rest[1:]
			}
		}

		c.verb = verbStanding

		return c, len(rest) > 0 && strings.EqualFold(strings.TrimPrefix(rest[0], "--"), "standing")
	}

	return command{}, false
}

// propose asks what a standing permission would mean. Who may not accept the question is told so at once.
func (t *Terminal) propose(c command) {
	if !t.permits() {
		return
	}

	q := t.target(c.number, "accept standing")
	if q == nil || !t.mayDecide(q, aaep.DecisionAccept) {
		return
	}

	if q.answer != 0 {
		t.promptf("Question %d: your answer is being recorded.", q.Number)

		return
	}

	words, ended := splitWords(c.line)

	first := 0 // the word after "standing"
	for first < len(words) && !strings.EqualFold(strings.TrimPrefix(words[first], "--"), "standing") {
		first++
	}

	s, err := ParseStanding(words[min(first+1, len(words)):])
	if !ended {
		err = cause.Misuse("a quote does not end", "put the whole bound between quotes: where 'note=two words*'")
	}

	if err != nil {
		t.promptf("%s", reason(err))

		return
	}

	word := fmt.Sprintf("accept question %d and give a standing permission", q.Number)
	t.understood(word)
	t.send(Proposal{Question: q.Number, Token: q.Token, Standing: s, At: t.now}, word, "")
}

// permits reports whether standing permissions exist here, and otherwise says where they do.
func (t *Terminal) permits() bool {
	if !t.settings.Permits {
		t.promptf("Standing permissions are given at a server: start `earshot up`, and run this again.")
	}

	return t.settings.Permits
}

// finishProposal says what a standing permission means, and takes the next line as the answer. Without a person who reads
// and types, it has to have been agreed to before.
func (t *Terminal) finishProposal(made Proposal, sent request, r Result) {
	q := t.find(made.Question)

	switch {
	case r.Err != nil:
		t.promptf("Not recorded: %s. %s", sent.command, reason(r.Err))
	case q == nil || q.stage != stageOpen || q.Token != made.Token:
		t.promptf("Not recorded: %s. The question is not open any more, or has changed.", sent.command)
	case made.Standing.Agreed:
		t.promptf("%s", r.Proposed.Means)
		t.give(proposal{question: made.Question, token: made.Token, asked: r.Proposed.Asked})
	case !t.settings.Typed:
		t.promptf("Not recorded: %s. %s Add yes to the line if that is what you mean.", sent.command, r.Proposed.Means)
	default:
		t.edit.clear()
		t.out = append(t.out, Flush{}) // what was typed before it was said cannot be an answer to it
		t.promptf("%s", r.Proposed.Means)
		t.promptf("Type y, then press Enter, to accept and to give this permission. Anything else leaves the question open.")
		t.proposal = &proposal{question: made.Question, token: made.Token, asked: r.Proposed.Asked}
	}
}

// agree takes a line as the answer to a proposal. It reports whether it did: only a stop is more than that.
func (t *Terminal) agree(c command) bool {
	p := t.proposal
	if p == nil {
		return false
	}

	t.proposal = nil

	if word := strings.ToLower(strings.TrimSpace(c.line)); word == "y" || word == "yes" {
		t.give(*p)

		return true
	}

	t.promptf("Nothing is recorded: question %d stays open.", p.question)

	return c.verb != verbStop
}

// give accepts the question with the permission, if it is still the same question.
func (t *Terminal) give(p proposal) {
	q := t.target(p.question, "accept")

	switch {
	case q == nil:
	case q.Token != p.token:
		t.promptf("Nothing is recorded: question %d has changed.", p.question)
	case t.mayDecide(q, aaep.DecisionAccept):
		t.reply(q, Answer{Decision: aaep.DecisionAccept, Standing: &p.asked}, string(aaep.DecisionAccept), aaep.ResolutionAccepted)
	}
}

// forgetProposal drops a proposal, because something was printed after it that asks for another answer.
func (t *Terminal) forgetProposal() {
	if t.proposal != nil {
		t.promptf("The standing permission for question %d is not given.", t.proposal.question)
		t.proposal = nil
	}
}

// reason is an error with what to do about it.
func reason(err error) string {
	said := sentence(legible.Text(cause.Of(err)))
	if e, is := errors.AsType[*cause.Error](err); is && e.Hint != "" {
		said += " " + sentence(legible.Text(e.Hint))
	}

	return said
}

// revoke ends one standing permission, or all of them.
func (t *Terminal) revoke(c command) {
	if !t.permits() {
		return
	}

	word := "revoke every standing permission"
	if c.number > 0 {
		word = fmt.Sprintf("revoke standing permission %d", c.number)
	}

	t.understood(word)
	t.send(Revoke{Number: c.number, At: t.now}, word, "")
}

// listPermissions requests the standing permissions in force.
func (t *Terminal) listPermissions() {
	if t.permits() {
		t.send(ListPermissions{}, "list the standing permissions", "")
	}
}

// finishPermissions prints what a request about standing permissions has found or ended.
func (t *Terminal) finishPermissions(sent request, r Result) {
	_, lists := sent.made.(ListPermissions)

	for _, p := range r.Permissions {
		if lists {
			t.promptf("%s", PermissionLine(p, p.Expires.In(t.settings.Zone).Format("15:04 on 2 January")))
		} else {
			t.promptf("%s", RevokedLine(p))
		}
	}

	switch {
	case r.Err != nil && lists:
		t.promptf("No list: %s", reason(r.Err))
	case r.Err != nil:
		t.promptf("Not recorded: %s. %s", sent.command, reason(r.Err))
	case len(r.Permissions) == 0:
		t.promptf("There are no standing permissions.")
	}
}
