package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *Main) pendingCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "pending [N]",
		Short: "List the questions that wait for an answer, or show one in full",
		Long: `List the questions that wait for an answer at the server, oldest first. A question
waits until its deadline, no matter who is connected. The time to answer starts when somebody
who can answer is first shown the question, which this list does.

With the number of a question it shows that question in full, with every value that it is
about. What cannot be undone, or is of high risk, can be accepted once all of it was shown.`,
		Example: `  earshot pending
  earshot pending 2`,
		Args: usage.OneAtMost,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, args []string) error {
		if len(args) > 0 {
			return m.pendingInFull(ctx, remote, f, args[0])
		}
		open, err := remote.Questions(ctx)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(append([]api.OpenQuestion{}, open...))
		}
		if len(open) == 0 {
			m.Printf("Nothing waits for an answer.")
		}
		for _, q := range open {
			m.Printf("%s", m.questionLine(q))
		}
		return nil
	})
}

// pendingInFull shows one question with all its arguments.
func (m *Main) pendingInFull(ctx context.Context, remote *client.Client, f cli.RemoteFlags, word string) error {
	q, err := m.named(ctx, remote, word)
	if err != nil {
		return err
	}
	if f.AsJSON { // what is not shown is not read either
		return m.WriteJSON(q)
	}
	lines, err := m.inFull(ctx, remote, q)
	if err != nil {
		return err
	}
	for _, line := range lines {
		m.Printf("%s", line)
	}
	return nil
}

// inFull returns the lines of a question, with all its arguments. It reads those that are not in the event from the
// server, which records that.
func (m *Main) inFull(ctx context.Context, remote *client.Client, q api.OpenQuestion) ([]string, error) {
	asked, asks := readQuestion(q)
	if !asks {
		return nil, cause.Fail(nil, fmt.Sprintf("question %d cannot be read", q.Number), "see it on the page, or at the terminal where its session runs")
	}
	var lines []string
	for _, line := range asked.Lines(m.Now(), m.Now().Location()) {
		lines = append(lines, terminal.Wrap(line, cli.WidthOf(m.Stdout)())...)
	}
	for _, c := range asked.Choices {
		lines = append(lines, fmt.Sprintf("Answer %s for: %s", cli.Shown(c.Value), cli.Shown(c.Label)))
	}
	if asked.Arguments.Complete() || q.Call == "" {
		return lines, nil
	}
	raw, err := remote.Arguments(ctx, q.Number)
	if err != nil {
		return nil, err
	}
	lines = append(lines, "All of its values:")
	for _, item := range terminal.Values(raw) {
		lines = append(lines, "  "+cli.Shown(strings.TrimPrefix(item.Note, "/"))+": "+legible.Value(item.Value))
	}
	return lines, nil
}

func (m *Main) questionLine(q api.OpenQuestion) string {
	asked, asks := readQuestion(q)
	line := fmt.Sprintf("Question %d: %s", q.Number, cli.Shown(asSentence(q.Title)))
	switch {
	case q.Parked:
		line += " Parked: its session is not under way at the server, so it can be rejected and not accepted."
	case asks:
		line = asked.Line(m.Now(), m.Now().Location())
	}
	if asks && !asked.StatesAll() {
		line += fmt.Sprintf(" `earshot pending %d` shows all of it.", q.Number)
	}
	return line + " In " + q.Session + "."
}

// asSentence ends a title with a full stop, unless it ends as a sentence, or with the quotation of one.
func asSentence(title string) string {
	if strings.HasSuffix(strings.TrimRight(title, "”"), ".") || strings.HasSuffix(title, "?") {
		return title
	}
	return title + "."
}

// readQuestion parses a question's event; false if this version cannot parse it.
func readQuestion(q api.OpenQuestion) (announce.Question, bool) {
	event, err := aaep.DecodeEvent(q.Event)
	if err != nil {
		return announce.Question{}, false
	}
	return announce.ReadQuestion(event)
}

// choicesOf returns the answers that a question offers.
func choicesOf(q api.OpenQuestion) []aaep.Choice {
	asked, _ := readQuestion(q)
	return asked.Choices
}

func (m *Main) sessionsCommand() *cobra.Command {
	var open, all bool
	limit := cli.UsualSessions
	c := m.RemoteCommand(&cobra.Command{
		Use:   "sessions",
		Short: "List the newest sessions, the newest first",
		Args:  usage.None,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, _ []string) error {
		if limit < 1 {
			return cause.Misuse(fmt.Sprintf("--limit %d is not a number of sessions", limit), "give one from 1 on, or --all")
		}
		n := limit
		if all {
			n = 0
		}
		listed, more, err := remote.NewestSessions(ctx, open, n)
		if err != nil {
			return err
		}
		return m.listSessions(f, listed, more)
	})
	c.Flags().BoolVar(&open, "open", false, "only those that have not ended")
	c.Flags().IntVar(&limit, "limit", limit, "how many")
	c.Flags().BoolVar(&all, "all", false, "all of them")
	c.MarkFlagsMutuallyExclusive("limit", "all")
	return c
}

// listSessions writes a list. A note that it is incomplete goes to standard error.
func (m *Main) listSessions(f cli.RemoteFlags, listed []api.Session, more bool) error {
	if more {
		defer m.Notef("There are older ones: `earshot sessions --all` lists every one, --limit N so many.")
	}
	if f.AsJSON {
		return m.WriteJSON(append([]api.Session{}, listed...))
	}
	if len(listed) == 0 {
		m.Printf("There are no sessions.")
	}
	for _, s := range listed {
		m.Printf("%s", m.Listing().SessionLine(s))
	}
	return nil
}

// questionNumber parses a number as people write it.
func questionNumber(word string) (int, bool) {
	const mostDigits = 9
	if word == "" || len(word) > mostDigits || strings.Trim(word, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(word)
	return n, err == nil && n > 0
}

// named finds the open question that a word names: a number, a token, or nothing if there is only one. For one that was
// already answered, the error says how.
func (m *Main) named(ctx context.Context, remote *client.Client, word string) (api.OpenQuestion, error) {
	open, err := remote.Questions(ctx)
	if err != nil {
		return api.OpenQuestion{}, err
	}
	if word == "" {
		return only(open)
	}
	number, isNumber := questionNumber(word)
	i := slices.IndexFunc(open, func(q api.OpenQuestion) bool {
		return (isNumber && q.Number == number) || (!isNumber && q.Token == word)
	})
	if i >= 0 {
		return open[i], nil
	}
	if !isNumber {
		return api.OpenQuestion{}, notOpen("no open question has the token " + word)
	}
	if told := m.how(ctx, remote, "", number); told != "" {
		return api.OpenQuestion{}, notOpen(told)
	}
	return api.OpenQuestion{}, notOpen(fmt.Sprintf("there is no open question %d", number))
}

// only returns the one open question; with several it does not guess.
func only(open []api.OpenQuestion) (api.OpenQuestion, error) {
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		return api.OpenQuestion{}, notOpen("no question waits for an answer")
	}
	var numbers []string
	for _, q := range open {
		numbers = append(numbers, strconv.Itoa(q.Number))
	}
	return api.OpenQuestion{}, cause.Misuse(fmt.Sprintf("%d questions are open", len(open)),
		"name one by its number: "+strings.Join(numbers, ", ")+"; see `earshot pending`")
}

func notOpen(message string) error {
	return &cause.Error{Kind: cause.Declined, Message: message, Hint: "see `earshot pending` for what is open"}
}

// searchBack is how many sessions are searched for a question that has ended.
const searchBack = 8

// how describes how a question ended, by whom and where; "" if that is not found.
func (m *Main) how(ctx context.Context, remote *client.Client, session string, number int) string {
	names := []string{session}
	if session == "" {
		newest, _, err := remote.NewestSessions(ctx, false, searchBack)
		if err != nil {
			return ""
		}
		names = nil
		for _, s := range newest {
			names = append(names, s.ID)
		}
	}
	for _, name := range names {
		if told := m.howIn(ctx, remote, name, number); told != "" {
			return told
		}
	}
	return ""
}

func (m *Main) howIn(ctx context.Context, remote *client.Client, session string, number int) string {
	told := ""
	for d, err := range remote.PastEvents(ctx, session) {
		if err != nil {
			return told
		}
		ours := aaep.Read(d.Extensions[aaep.PrefixEarshot])
		if n, _ := ours.Whole("question"); int(n) != number {
			continue
		}
		how, ended := ours.Text("resolution")
		if !ended || how == string(aaep.ResolutionExtended) {
			continue
		}
		by, _ := ours.Text("by")
		surface, _ := ours.Text("surface")
		c := announce.Closed{Question: number, Resolution: aaep.Resolution(how), By: by, Surface: surface, At: d.Time}
		told = lower(c.Text(m.Now(), m.Now().Location()))
	}
	return told
}

// lower turns sentences into an error message: lowercase first letter, no final full stop.
func lower(sentence string) string {
	_, size := utf8.DecodeRuneInString(sentence)
	return strings.ToLower(sentence[:size]) + strings.TrimSuffix(sentence[size:], ".")
}
