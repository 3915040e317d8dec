package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// standingFlags ask for a standing permission with an accept.
type standingFlags struct {
	asked, session bool
	words          terminal.Standing
}

func (s *standingFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&s.asked, "standing", false, "with accept: also allow later calls that meet the bounds, without a question")
	flags.IntVar(&s.words.Uses, "times", 0, fmt.Sprintf("with --standing: how many calls (default %d)", api.DefaultStandingUses))
	flags.DurationVar(&s.words.Life, "for", 0, "with --standing: for how long, such as 30m or 2h (default 1h)")
	flags.BoolVar(&s.session, "session", false, "with --standing: in the session that asks (the default)")
	flags.BoolVar(&s.words.Agent, "agent", false, "with --standing: in any session of the agent that asks")
	flags.StringArrayVar(&s.words.Where, "where", nil,
		"with --standing: a bound on an argument: 'NAME=BEGINNING*', 'NAME<=NUMBER', or 'NAME=*' for anything; what is not named has to stay as it is")
	flags.BoolVar(&s.words.Agreed, "yes", false, "with --standing: give it without asking once more")
	c.MarkFlagsMutuallyExclusive("agent", "session")
}

// check refuses flags that have no meaning without --standing.
func (s *standingFlags) check() error {
	if !s.asked && (s.words.Agent || s.session || s.words.Agreed || s.words.Uses != 0 || s.words.Life != 0 || len(s.words.Where) > 0) {
		return cause.Misuse("these flags are about a standing permission", "add --standing to give one")
	}
	if s.asked && s.words.Life%time.Second != 0 {
		return cause.Misuse("--for takes whole seconds", "for example --for 2h")
	}
	return nil
}

// standing makes the request for a standing permission. It says what happens from then on, and asks for a y.
func (m *Main) standing(ctx context.Context, remote *client.Client, f cli.RemoteFlags, q api.OpenQuestion, s *standingFlags, want aaep.Resolution) (*api.Standing, error) {
	if want != aaep.ResolutionAccepted {
		return nil, cause.Misuse("a standing permission is given with accept only", fmt.Sprintf("`earshot reply %d accept --standing`", q.Number))
	}
	raw, err := remote.PeekArguments(ctx, q.Number)
	if err != nil {
		return nil, err
	}
	asked, means, err := s.words.For(q, raw, m.Now())
	if err != nil {
		return nil, err
	}
	return &asked, m.agreeTo(q.Number, means, f, s.words.Agreed)
}

// agreeTo says what a standing permission means, and asks for a y.
func (m *Main) agreeTo(question int, sentence string, f cli.RemoteFlags, yes bool) error {
	if yes {
		m.Notef("%s", sentence)
		return nil
	}
	out := m.shows(f)
	if out == nil || !cli.IsTerminal(m.Stdin) {
		return cause.Misuse("a standing permission has not been agreed to: "+lower(sentence), "add --yes if that is what you mean")
	}
	for _, line := range terminal.Wrap(sentence, cli.WidthOf(m.Stdout)()) {
		_, _ = fmt.Fprintln(out, line) // a lost terminal gives no answer either
	}
	terminal.FlushTerminal(m.Stdin)
	_, _ = fmt.Fprintln(out, "Type y, then press Enter, to accept and to give this permission. Anything else leaves the question open.")
	word, ended := readAnswer(m.Stdin)
	if !ended {
		_, _ = fmt.Fprintln(out)
	}
	if word != "y" && word != "yes" {
		return &cause.Error{
			Kind: cause.Declined, Message: fmt.Sprintf("nothing is recorded: question %d stays open", question),
			Hint: fmt.Sprintf("`earshot reply %d accept` accepts only this call", question),
		}
	}
	return nil
}

func (m *Main) permissionsCommand() *cobra.Command {
	c := m.RemoteCommand(&cobra.Command{
		Use:   "permissions",
		Short: "List standing permissions, or revoke one",
		Long: `List the standing permissions that are in force: what an agent may do without asking you,
within which bounds, how often and until when. You give one with
` + "`earshot reply N accept --standing`" + `. Each use is told, and is in the audit chain.

A permission ends when it is used up, expires or is revoked, when the tool changes, when its
session ends, when the login that gave it ends, and when the ledger is restored from a backup.`,
		Example: `  earshot permissions
  earshot permissions revoke 3
  earshot permissions revoke all`,
		Args: usageOfPermissions,
	}, func(ctx context.Context, remote *client.Client, f cli.RemoteFlags, _ []string) error {
		all, err := remote.Permissions(ctx)
		if err != nil {
			return err
		}
		if f.AsJSON {
			return m.WriteJSON(append([]api.StandingPermission{}, all...))
		}
		if len(all) == 0 {
			m.Printf("There are no standing permissions.")
		}
		for _, p := range all {
			m.Printf("%s", m.permissionLine(p))
		}
		return nil
	})
	c.AddCommand(m.revokeCommand())
	return c
}

// usageOfPermissions refuses words that are no command.
func usageOfPermissions(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return cause.Misuse(fmt.Sprintf("`earshot permissions` has no %.64q", args[0]), "`earshot permissions revoke N` revokes one")
}

func (m *Main) revokeCommand() *cobra.Command {
	return m.RemoteCommand(&cobra.Command{
		Use:   "revoke N|all",
		Short: "Revoke a standing permission, or all of them",
		Long: `Revoke a standing permission: from then on the agent has to ask again, also for what it was
allowed to do and has not started. It needs no login, like a reject.`,
		Example: `  earshot permissions revoke 3`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cause.Misuse("it takes the number of one permission, or all", "see `earshot permissions`")
			}
			return nil
		},
	}, m.revoke, offerPermissions)
}

func (m *Main) revoke(ctx context.Context, remote *client.Client, f cli.RemoteFlags, args []string) error {
	number, isNumber := questionNumber(args[0])
	numbers := []int{number}
	if args[0] == "all" {
		all, err := remote.Permissions(ctx)
		if err != nil {
			return err
		}
		numbers = nil
		for _, p := range all {
			numbers = append(numbers, p.Number)
		}
	} else if !isNumber {
		return cause.Misuse(fmt.Sprintf("%.64q is not the number of a standing permission", args[0]), "see `earshot permissions`")
	}
	ended := []api.StandingPermission{}
	for _, n := range numbers {
		p, err := remote.RevokePermission(ctx, n)
		if cli.IsTooLate(err) {
			return cause.Fail(nil, fmt.Sprintf("there is no standing permission %d", n), "see `earshot permissions`")
		}
		if err != nil {
			return err
		}
		if ended = append(ended, p); !f.AsJSON {
			m.Printf("%s", terminal.RevokedLine(p))
		}
	}
	if f.AsJSON {
		return m.WriteJSON(ended)
	}
	if len(ended) == 0 {
		m.Printf("There are no standing permissions.")
	}
	return nil
}

// permissionLine is a standing permission in one line.
func (m *Main) permissionLine(p api.StandingPermission) string {
	return terminal.PermissionLine(p, m.TimeText(p.Expires))
}

// offerPermissions offers the numbers of the standing permissions, and all.
func offerPermissions(ctx context.Context, remote *client.Client, args []string) []string {
	all, err := remote.Permissions(ctx)
	if err != nil || len(args) > 0 {
		return nil
	}
	words := []string{"all\tevery standing permission"}
	for _, p := range all {
		words = append(words, fmt.Sprintf("%d\t%s: %s", p.Number, cli.Shown(p.Agent), cli.Shown(p.Tool)))
	}
	return slices.Clip(words)
}
