package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// confirm lets a person accept a question that they have not named: it shows the whole question and asks for
// confirmation, on a terminal. Whoever gives a number has seen the question.
func (m *Main) confirm(ctx context.Context, remote *client.Client, q api.OpenQuestion, f cli.RemoteFlags) error {
	out := m.shows(f)
	if out == nil || !cli.IsTerminal(m.Stdin) {
		return cause.Misuse(fmt.Sprintf("question %d has not been shown here, and what was not seen is not accepted", q.Number),
			fmt.Sprintf("see `earshot pending %d`, then say which: `earshot reply %d accept`", q.Number, q.Number))
	}
	lines, err := m.inFull(ctx, remote, q)
	if err != nil {
		return err
	}
	for _, line := range lines {
		_, _ = fmt.Fprintln(out, line) // a lost terminal gives no answer either
	}
	terminal.FlushTerminal(m.Stdin) // what was typed before it was shown cannot be an answer to it
	_, _ = fmt.Fprintf(out, "Type accept, then press Enter.\nAnything else leaves question %d open.\n", q.Number)
	word, ended := readAnswer(m.Stdin)
	if !ended {
		_, _ = fmt.Fprintln(out)
	}
	if word != string(aaep.DecisionAccept) {
		return &cause.Error{
			Kind: cause.Declined, Message: fmt.Sprintf("nothing is recorded: question %d stays open", q.Number),
			Hint: fmt.Sprintf("`earshot reply %d accept`, or reject", q.Number),
		}
	}
	return nil
}

// shows returns the terminal that a person reads here; nil if there is none.
func (m *Main) shows(f cli.RemoteFlags) *os.File {
	for _, w := range []io.Writer{m.Stdout, m.Stderr} {
		file, is := w.(*os.File)
		if is && cli.IsTerminal(file) && (w != m.Stdout || !f.AsJSON) {
			return file
		}
	}
	return nil
}

// maxAnswerLine limits the line that is read as an answer.
const maxAnswerLine = 256

// readAnswer reads one line and normalizes it: without surrounding spaces, in lowercase. A line without a line end does
// not count.
func readAnswer(in io.Reader) (word string, ended bool) {
	line, err := bufio.NewReader(io.LimitReader(in, maxAnswerLine)).ReadString('\n')
	if err != nil {
		return "", false
	}
	return strings.ToLower(strings.TrimSpace(line)), true
}
