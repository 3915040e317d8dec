package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
)

// replyWait is how long a command waits for its outcome.
const replyWait = 5 * time.Second

// tokenPrefix begins every reply token.
const tokenPrefix = "rpl_"

func (m *Main) replyCommand() *cobra.Command {
	var s standingFlags
	c := m.RemoteCommand(&cobra.Command{
		Use:   "reply [N|N-M|N,M|TOKEN] accept|reject|TEXT",
		Short: "Answer a question",
		Long: `Answer the question with a number, or with a reply token: accept or reject it, or, where
it asks for words, say them. Without a number the only open question is meant; while
several are open, that is refused. The first valid answer of anybody counts; a reject
takes an accept back for as long as nothing has started.

Several questions are answered in one act: 3,5,7 names each, and 3-7 all that are open from
3 to 7, which accept shows in full first, on a terminal. Each is answered by itself, and
what became of each is told.

Any answer but a reject takes a person: a terminal of ` + "`earshot login`" + `, or a token that was
made to answer (--token-file). What an agent's host has started never accepts.

Nobody accepts what they have not seen: ` + "`earshot reply accept`" + ` shows the question in full
and asks for the word once more, on a terminal; elsewhere it is refused, and the number
is needed, as ` + "`earshot pending`" + ` shows it.

With --standing, an accept also gives a standing permission: the agent may use the tool
again without asking, as often and as long as you say, while the arguments stay within the
bounds. It is said first what that means. It is never given for what cannot be undone.
` + "`earshot permissions`" + ` lists and revokes them.

It waits up to 5 seconds for what became of it. Exit codes: 0 as asked; 3 otherwise,
such as when somebody else was first; 1 the server could not be reached; 2 usage.`,
		Example: `  earshot reply 2 accept
  earshot reply reject
  earshot reply 3-7 accept
  earshot reply 3 ask again
  earshot reply 2 accept --standing --times 20 --for 2h --where 'path=/home/ann/Pictures/*'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cause.Misuse("there is no answer", "for example `earshot reply 1 accept`")
			}
			return s.check()
		},
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, args []string) error {
		return m.reply(ctx, remote, f, &s, args)
	}, offerAnswers)
	s.add(c)
	return c
}

func (m *Main) reply(ctx context.Context, remote *client.Client, f cli.RemoteFlags, s *standingFlags, args []string) error {
	if several, is := terminal.ParseSelection(args[0]); is {
		if s.asked {
			return cause.Misuse("a standing permission is given with one question", "name one: `earshot reply 3 accept --standing`")
		}
		if len(args) == 1 {
			return cause.Misuse("there is no answer", "for example `earshot reply "+cause.OneLine(args[0])+" accept`")
		}
		return m.replyMany(ctx, remote, f, several, strings.Join(args[1:], " "))
	}
	which, words := "", args
	if _, isNumber := questionNumber(args[0]); isNumber || strings.HasPrefix(args[0], tokenPrefix) {
		which, words = args[0], args[1:]
	}
	answer := strings.Join(words, " ")
	if strings.TrimSpace(answer) == "" {
		return cause.Misuse("there is no answer", "for example `earshot reply "+which+" accept`")
	}
	q, err := m.named(ctx, remote, which)
	if err != nil {
		return err
	}
	r, want, err := replyTo(q, answer)
	if err != nil {
		return err
	}
	if which == "" && want == aaep.ResolutionAccepted {
		if err := m.confirm(ctx, remote, q, f); err != nil {
			return err
		}
	}
	if s.asked {
		if r.Standing, err = m.standing(ctx, remote, f, q, s, want); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, replyWait)
	defer cancel()
	said, err := remote.Reply(ctx, q.Number, r)
	if err != nil {
		return m.tooLate(ctx, remote, q, notAttended(err, q.Number, answer))
	}
	return m.became(f, q, said, want)
}

// replyTo converts an answer to the form that the question takes, and returns the expected resolution.
func replyTo(q api.OpenQuestion, answer string) (api.Reply, aaep.Resolution, error) {
	r := api.Reply{Token: q.Token}
	word := strings.ToLower(strings.Join(strings.Fields(answer), " "))
	if q.Kind == "confirmation" {
		r.Decision = word
		switch aaep.Decision(word) {
		case aaep.DecisionAccept:
			return r, aaep.ResolutionAccepted, nil
		case aaep.DecisionReject:
			return r, aaep.ResolutionRejected, nil
		}
		return r, "", cause.Misuse(fmt.Sprintf("question %d takes accept or reject, not %.64q", q.Number, answer), fmt.Sprintf("`earshot reply %d accept`, or reject", q.Number))
	}
	r.Response = api.Response{Text: answer}
	asked, _ := readQuestion(q)
	choices := asked.Choices
	if len(choices) == 0 {
		return r, aaep.ResolutionAnswered, nil
	}
	i := slices.IndexFunc(choices, func(c aaep.Choice) bool {
		return strings.EqualFold(c.Value, word) || strings.EqualFold(c.Label, word)
	})
	if i < 0 && slices.ContainsFunc(asked.Kinds, func(kind aaep.ResponseKind) bool { return kind != aaep.ResponseMultipleChoice }) {
		return r, aaep.ResolutionAnswered, nil // it takes other answers, too
	}
	if i < 0 {
		var values []string
		for _, c := range choices {
			values = append(values, c.Value)
		}
		return r, "", cause.Misuse(fmt.Sprintf("question %d does not take %.64q", q.Number, answer), "it takes: "+strings.Join(values, ", "))
	}
	r.Response = api.Response{Text: choices[i].Value}
	return r, aaep.ResolutionAnswered, nil
}

// tooLate explains how the question ended instead, if that is why a command was refused.
func (m *Main) tooLate(ctx context.Context, remote *client.Client, q api.OpenQuestion, err error) error {
	e, is := errors.AsType[*client.Error](err)
	switch {
	case !is || !cli.IsTooLate(err):
		return err
	case e.Closed != nil:
		return notOpen(lower(e.Message))
	case errors.Is(err, client.ErrArgumentsNotSeen):
		return &cause.Error{
			Kind: cause.Declined, Message: fmt.Sprintf("question %d is about more than you have been shown", q.Number),
			Hint: fmt.Sprintf("`earshot pending %d` shows all of it; then `earshot reply %d accept`", q.Number, q.Number), Err: err,
		}
	case errors.Is(err, client.ErrConflict): // for an open question the ledger itself gives the reason
		return &cause.Error{Kind: cause.Declined, Message: e.Message, Hint: cmp.Or(e.Hint, "see `earshot pending` for what is open"), Err: err}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), replyWait)
	defer cancel()
	if told := m.how(ctx, remote, q.Session, q.Number); told != "" {
		return notOpen(told)
	}
	return notOpen(fmt.Sprintf("question %d is not open", q.Number))
}

// became reports what the ledger records after a command.
func (m *Main) became(f cli.RemoteFlags, q api.OpenQuestion, said api.ReplyAnswer, want aaep.Resolution) error {
	switch {
	case f.AsJSON:
		if err := m.WriteJSON(said); err != nil {
			return err
		}
	case said.Unused:
		m.Printf("%s", announce.Unused(q.Number))
	default:
		m.Printf("%s", announce.Recorded(q.Number, aaep.Resolution(said.Resolution)))
		if said.Undo > 0 {
			m.Printf("%s", announce.StartsIn(time.Duration(said.Undo)*time.Second, q.Number, announce.ControlsCommands))
		}
		if p := said.Permission; p != nil {
			m.Printf("%s `earshot permissions revoke %d` ends it.", m.permissionLine(*p), p.Number)
		}
	}
	if said.Resolution != string(want) {
		return &cli.ExitError{Code: cli.ExitDeclined}
	}
	return nil
}

func (m *Main) extendCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "extend [N|TOKEN]",
		Short: "Ask for more time for a question",
		Args:  usage.OneAtMost,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, args []string) error {
		q, err := m.named(ctx, remote, strings.Join(args, ""))
		if err != nil {
			return err
		}
		said, err := remote.Extend(ctx, q.Number, q.Token)
		if err != nil {
			return m.tooLate(ctx, remote, q, err)
		}
		if f.AsJSON {
			return m.WriteJSON(said)
		}
		later := announce.Question{Deadline: said.Deadline}
		m.Printf("%s %s", announce.Recorded(q.Number, aaep.ResolutionExtended), later.Until(m.Now(), m.Now().Location()))
		return nil
	}, offerQuestions)
}

func (m *Main) stopCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "stop [N|SESSION|all]",
		Short: "Stop a session: no further step is taken in it",
		Long: `Stop the session that asks question N, the session named, or all of them. Without a
name the only session under way is meant. What runs is told to end, and says exactly
what it has done.`,
		Example: `  earshot stop
  earshot stop all`,
		Args: usage.OneAtMost,
	}, m.stopSessions, offerStops)
}

func (m *Main) stopSessions(ctx context.Context, remote *client.Client, f cli.RemoteFlags, args []string) error {
	which := strings.Join(args, "")
	names, err := m.toStop(ctx, remote, which)
	if err != nil {
		return err
	}
	var stopped []string
	var trouble error
	for _, name := range names {
		switch _, err := remote.StopSession(ctx, name); {
		case err == nil:
			stopped = append(stopped, name)
		case which == "all" && cli.IsTooLate(err): // it has ended since the sessions were listed
		default:
			trouble = err
		}
	}
	switch {
	case f.AsJSON:
		if err := m.WriteJSON(map[string][]string{"stopped": append([]string{}, stopped...)}); err != nil {
			return err
		}
	default:
		for _, name := range stopped {
			m.Printf("Recorded: %s is stopped.", name)
		}
		if len(stopped) == 0 && trouble == nil {
			m.Printf("Nothing is under way.")
		}
	}
	if trouble != nil && cli.IsTooLate(trouble) {
		return &cause.Error{Kind: cause.Declined, Message: "it had ended already: " + trouble.Error(), Hint: "see `earshot sessions`", Err: trouble}
	}
	return trouble
}

// toStop returns the sessions that a word names.
func (m *Main) toStop(ctx context.Context, remote *client.Client, which string) ([]string, error) {
	if _, isNumber := questionNumber(which); isNumber {
		q, err := m.named(ctx, remote, which)
		return []string{q.Session}, err
	}
	open, err := remote.Sessions(ctx, true)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range open {
		if which == "" || which == "all" || which == s.ID || which == s.Turn {
			names = append(names, s.ID)
		}
	}
	switch {
	case which == "" && len(names) > 1:
		return nil, cause.Misuse(fmt.Sprintf("%d sessions are under way", len(names)), "name one of "+strings.Join(names, ", ")+", or all")
	case which != "" && which != "all" && len(names) == 0:
		return nil, notUnderWay(ctx, remote, which, open)
	}
	return names, nil
}

// notUnderWay says of a session that is not under way whether it has ended or is not there at all.
func notUnderWay(ctx context.Context, remote *client.Client, which string, open []api.Session) error {
	if s, err := remote.Session(ctx, which); err == nil && s.End != nil {
		return &cause.Error{Kind: cause.Declined, Message: fmt.Sprintf("the session %.128q has ended already", which), Hint: "see `earshot sessions`"}
	}
	names := make([]string, 0, 2*len(open))
	for _, s := range open {
		names = append(names, s.ID, s.Turn)
	}
	return cause.Fail(nil, fmt.Sprintf("no session %.128q is under way", which), settings.Suggest(which, names, "see `earshot sessions --open`"))
}

func (m *Main) undoCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "undo [N]",
		Short: "Take an accept back before its action has started",
		Long: `Take the accept of question N back, in the few seconds before its action starts.
Without a number the last one accepted is meant.`,
		Args: usage.OneAtMost,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, args []string) error {
		number, isNumber := questionNumber(strings.Join(args, ""))
		if len(args) > 0 && !isNumber {
			return cause.Misuse(fmt.Sprintf("%.64q is not the number of a question", args[0]), "for example `earshot undo 1`")
		}
		if !isNumber {
			var err error
			if number, err = m.lastAccepted(ctx, remote); err != nil {
				return err
			}
		}
		said, err := remote.Undo(ctx, number)
		if cli.IsTooLate(err) {
			message := fmt.Sprintf("the accept of question %d cannot be taken back: %s", number, err)
			return &cause.Error{Kind: cause.Declined, Message: message, Hint: "`earshot stop` stops what has started; `earshot recap` says what was done", Err: err}
		}
		if err != nil {
			return err
		}
		return m.became(f, api.OpenQuestion{Number: number}, said, aaep.ResolutionStopped)
	})
}

// lastAccepted returns the question of the running sessions that was accepted last.
func (m *Main) lastAccepted(ctx context.Context, remote *client.Client) (int, error) {
	open, err := remote.Sessions(ctx, true)
	if err != nil {
		return 0, err
	}
	number, latest := 0, time.Time{}
	for _, s := range open {
		for d, err := range remote.PastEvents(ctx, s.ID) {
			if err != nil {
				return 0, err
			}
			ours := aaep.Read(d.Extensions[aaep.PrefixEarshot])
			how, _ := ours.Text("resolution")
			n, _ := ours.Whole("question")
			if how == string(aaep.ResolutionAccepted) && d.Time.After(latest) {
				number, latest = int(n), d.Time
			}
		}
	}
	if number == 0 {
		return 0, &cause.Error{Kind: cause.Declined, Message: "nothing was accepted in what is under way", Hint: "see `earshot sessions --open`"}
	}
	return number, nil
}

func (m *Main) recapCommand() *cobra.Command {
	var session string
	c := m.RemoteCommand(&cobra.Command{
		Use:   "recap [N]",
		Short: "Repeat the last 5 sentences, or the last N",
		Args:  usage.OneAtMost,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, args []string) error {
		n, isNumber := questionNumber(strings.Join(args, ""))
		if len(args) > 0 && !isNumber {
			return cause.Misuse(fmt.Sprintf("%.64q is not a number of sentences", args[0]), "for example `earshot recap 10`")
		}
		if session == "" {
			newest, _, err := remote.NewestSessions(ctx, false, 1)
			if err != nil {
				return err
			}
			if len(newest) == 0 {
				m.Printf("There are no sessions.")
				return nil
			}
			session = newest[0].ID
		}
		told, err := remote.Recap(ctx, session, n)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(append([]api.Announcement{}, told...))
		}
		for _, s := range told {
			m.Printf("%s", cli.Shown(s.Text))
		}
		return nil
	})
	c.Flags().StringVar(&session, "session", "", "session to tell of (default the newest)")
	return c
}
