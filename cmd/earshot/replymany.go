package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// maxTogether is how many questions are answered in one act: more than that nobody takes in.
const maxTogether = 50

// selected returns the selected questions of those that are open, in order, and the named numbers that are not open.
func selected(s terminal.Selection, open []api.OpenQuestion) (found []api.OpenQuestion, closed []int) {
	numbers := make([]int, 0, len(open))
	for _, q := range open {
		if numbers = append(numbers, q.Number); s.Includes(q.Number) {
			found = append(found, q)
		}
	}
	return found, s.Missing(numbers)
}

// togetherRow is what became of one of several questions.
type togetherRow struct {
	Question   int    `json:"question"`
	Resolution string `json:"resolution,omitzero"`
	Undo       int    `json:"undo_seconds,omitzero"`
	// Error is why the answer was not recorded.
	Error string `json:"error,omitzero"`

	asked bool // whether it ended as asked
}

// replyMany answers several questions in one act. Each is answered by itself: with its own token, consent, receipt and
// undo, and one that fails does not hold up the others.
func (m *Main) replyMany(ctx context.Context, remote *client.Client, f cli.RemoteFlags, s terminal.Selection, answer string) error {
	word := strings.ToLower(strings.Join(strings.Fields(answer), " "))
	if word != string(aaep.DecisionAccept) && word != string(aaep.DecisionReject) {
		return cause.Misuse(fmt.Sprintf("several questions together take accept or reject, not %.64q", answer), "answer those that ask for words one by one")
	}
	open, err := remote.Questions(ctx)
	if err != nil {
		return err
	}
	found, closed := selected(s, open)
	switch {
	case len(found) == 0:
		return notOpen("none of these questions is open")
	case len(found) > maxTogether:
		return cause.Misuse(fmt.Sprintf("%d questions are selected, and at most %d are answered together", len(found), maxTogether), "answer them in several parts")
	}
	if word == string(aaep.DecisionAccept) && s.Spans() {
		if err := m.confirmMany(ctx, remote, found, f); err != nil {
			return err
		}
	}
	rows := make([]togetherRow, 0, len(found)+len(closed))
	for _, q := range found {
		row, err := m.replyOne(ctx, remote, q, word)
		if err != nil {
			return err
		}
		if rows = append(rows, row); !f.AsJSON {
			m.tellRow(row)
		}
	}
	for _, n := range closed {
		row := togetherRow{Question: n, Error: fmt.Sprintf("question %d is not open", n)}
		if rows = append(rows, row); !f.AsJSON {
			m.tellRow(row)
		}
	}
	return m.endTogether(f, rows)
}

// endTogether reports the sum.
func (m *Main) endTogether(f cli.RemoteFlags, rows []togetherRow) error {
	if f.AsJSON {
		if err := m.WriteJSON(rows); err != nil {
			return err
		}
	}
	done := len(rows)
	for _, row := range rows {
		if !row.asked {
			done--
		}
	}
	if done == len(rows) {
		return nil
	}
	if !f.AsJSON {
		m.Printf("%d of %d questions are answered as asked.", done, len(rows))
	}
	return &cli.ExitError{Code: cli.ExitDeclined}
}

// replyOne answers one of several questions. The error is one that the others would have as well.
func (m *Main) replyOne(ctx context.Context, remote *client.Client, q api.OpenQuestion, word string) (togetherRow, error) {
	row := togetherRow{Question: q.Number}
	if q.Kind != "confirmation" {
		row.Error = fmt.Sprintf("question %d asks for words: answer it by itself", q.Number)
		return row, nil
	}
	r, want, err := replyTo(q, word)
	if err != nil {
		return row, err
	}
	ctx, cancel := context.WithTimeout(ctx, replyWait)
	defer cancel()
	said, err := remote.Reply(ctx, q.Number, r)
	if err == nil {
		row.Resolution, row.Undo, row.asked = said.Resolution, said.Undo, said.Resolution == string(want)
		if said.Unused {
			row.Error = announce.Unused(q.Number)
		}
		return row, nil
	}
	err = m.tooLate(ctx, remote, q, notAttended(err, q.Number, word))
	if failure, is := errors.AsType[*cause.Error](err); is && failure.Kind == cause.Declined {
		row.Error = failure.Message
		if failure.Hint != "" {
			row.Error += "; " + failure.Hint
		}
		return row, nil
	}
	return row, err
}

func (m *Main) tellRow(row togetherRow) {
	switch {
	case row.Error != "":
		m.Printf("Question %d: not recorded: %s.", row.Question, strings.TrimSuffix(cli.Shown(row.Error), "."))
		return
	default:
		m.Printf("%s", announce.Recorded(row.Question, aaep.Resolution(row.Resolution)))
	}
	if row.Undo > 0 {
		m.Printf("%s", announce.StartsIn(time.Duration(row.Undo)*time.Second, row.Question, announce.ControlsCommands))
	}
}

// confirmMany shows the questions of a span in full, and asks for the word once. Who names a span has not said which
// questions they have seen: one may have come since.
func (m *Main) confirmMany(ctx context.Context, remote *client.Client, found []api.OpenQuestion, f cli.RemoteFlags) error {
	numbers := make([]string, 0, len(found))
	for _, q := range found {
		numbers = append(numbers, strconv.Itoa(q.Number))
	}
	list := strings.Join(numbers, ",")
	out := m.shows(f)
	if out == nil || !cli.IsTerminal(m.Stdin) {
		return cause.Misuse("the questions have not been shown here, and what was not seen is not accepted",
			"see `earshot pending`, then name each: `earshot reply "+list+" accept`")
	}
	for _, q := range found {
		lines, err := m.inFull(ctx, remote, q)
		if err != nil {
			return err
		}
		for _, line := range append(lines, "") {
			_, _ = fmt.Fprintln(out, line) // a lost terminal gives no answer either
		}
	}
	terminal.FlushTerminal(m.Stdin) // what was typed before they were shown cannot be an answer to them
	_, _ = fmt.Fprintf(out, "Type accept, then press Enter, to accept all %d: questions %s.\nAnything else leaves them open.\n", len(found), strings.Join(numbers, ", "))
	word, ended := readAnswer(m.Stdin)
	if !ended {
		_, _ = fmt.Fprintln(out)
	}
	if word != string(aaep.DecisionAccept) {
		return &cause.Error{Kind: cause.Declined, Message: "nothing is recorded: the questions stay open", Hint: "`earshot reply " + list + " accept`, or reject"}
	}
	return nil
}
