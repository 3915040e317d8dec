package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/utp"
)

// standingFlags ask for a standing permission with an accept.
type standingFlags struct {
	asked, agent, session, yes bool
	uses                       int
	life                       time.Duration
	where                      []string
}

func (s *standingFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&s.asked, "standing", false, "with accept: also allow later calls that meet the bounds, without a question")
	flags.IntVar(&s.uses, "times", 0, fmt.Sprintf("with --standing: how many calls (default %d)", api.DefaultStandingUses))
	flags.DurationVar(&s.life, "for", 0, "with --standing: for how long, such as 30m or 2h (default 1h)")
	flags.BoolVar(&s.session, "session", false, "with --standing: in the session that asks (the default)")
	flags.BoolVar(&s.agent, "agent", false, "with --standing: in any session of the agent that asks")
	flags.StringArrayVar(&s.where, "where", nil,
		"with --standing: a bound on an argument: 'NAME=BEGINNING*', 'NAME<=NUMBER', or 'NAME=*' for anything; what is not named has to stay as it is")
	flags.BoolVar(&s.yes, "yes", false, "with --standing: give it without asking once more")
	c.MarkFlagsMutuallyExclusive("agent", "session")
}

// check refuses flags that have no meaning without --standing.
func (s *standingFlags) check() error {
	if !s.asked && (s.agent || s.session || s.yes || s.uses != 0 || s.life != 0 || len(s.where) > 0) {
		return cause.Misuse("these flags are about a standing permission", "add --standing to give one")
	}
	if s.asked && s.life%time.Second != 0 {
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
	args, err := utp.Canonical(raw)
	if err != nil {
		return nil, cause.Fail(err, fmt.Sprintf("the arguments of question %d cannot be read", q.Number), "accept it without --standing")
	}
	asked := api.Standing{Uses: s.uses, Seconds: int(s.life / time.Second), Scope: api.ScopeSession}
	if s.agent {
		asked.Scope = api.ScopeAgent
	}
	for _, text := range s.where {
		b, err := parseBound(text, args)
		if err != nil {
			return nil, err
		}
		asked.Bounds = append(asked.Bounds, b)
	}
	// The class is the server's to judge; here it is only about the words.
	call := standing.Call{Session: q.Session, Agent: q.Agent, Tool: q.Tool, Class: utp.Reversible, Args: args}
	p, err := standing.Make(asked, call, standing.Giver{Question: q.Number}, m.Now())
	if err != nil {
		return nil, cause.Misuse(err.Error(), "for example --where 'path=/home/ann/Pictures/*' --where 'count<=20' --where 'note=*'")
	}
	return &asked, m.agreeTo(p, f, s.yes)
}

// agreeTo says what a standing permission means, and asks for a y.
func (m *Main) agreeTo(p standing.Permission, f cli.RemoteFlags, yes bool) error {
	sentence := fmt.Sprintf("For %s, %s. Each use is told.", span(p.Expires.Sub(p.Made)), cli.Shown(p.Terms()))
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
			Kind: cause.Declined, Message: fmt.Sprintf("nothing is recorded: question %d stays open", p.Question),
			Hint: fmt.Sprintf("`earshot reply %d accept` accepts only this call", p.Question),
		}
	}
	return nil
}

// span says a length of time in whole units.
func span(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := d / unit.length; d >= unit.length && d%unit.length == 0 {
			if n == 1 {
				return "1 " + unit.name
			}
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}

// parseBound reads a bound as it is typed: name=beginning*, name=value, name=*, name<=number. A name is that of an
// argument, or its path.
func parseBound(text string, args jsontext.Value) (api.Bound, error) {
	name, value, found := strings.Cut(text, "=")
	most := strings.HasSuffix(name, "<")
	name = strings.TrimSpace(strings.TrimSuffix(name, "<"))
	if !found || name == "" {
		return api.Bound{}, cause.Misuse(fmt.Sprintf("%.64q is not a bound on an argument", text), "for example 'path=/home/ann/Pictures/*', 'count<=20' or 'note=*'")
	}
	b := api.Bound{Argument: "/" + strings.TrimPrefix(name, "/"), Rule: api.BoundEquals}
	switch beginning, begins := strings.CutSuffix(value, "*"); {
	case most:
		b.Rule, b.Value = api.BoundMost, jsontext.Value(strings.TrimSpace(value))
	case value == "*":
		b.Rule = api.BoundAny
	case begins:
		b.Rule, b.Value = api.BoundBegins, quoted(beginning)
	case argument(args, b.Argument).Kind() != jsontext.KindString && jsontext.Value(value).IsValid():
		b.Value = jsontext.Value(value)
	default:
		b.Value = quoted(value)
	}
	if most && !b.Value.IsValid() {
		return b, cause.Misuse(fmt.Sprintf("%.64q has no number", text), "for example 'count<=20'")
	}
	return b, nil
}

func quoted(text string) jsontext.Value {
	raw, err := json.Marshal(text, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil // a text always encodes
	}
	return raw
}

// argument finds an argument by its JSON pointer; nothing if there is none.
func argument(args jsontext.Value, pointer string) jsontext.Value {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var members map[string]jsontext.Value
		if json.Unmarshal(args, &members) != nil {
			return nil
		}
		args = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return args
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
		if cli.IsConflict(err) {
			return &cause.Error{Kind: cause.Declined, Message: fmt.Sprintf("there is no standing permission %d", n), Hint: "see `earshot permissions`", Err: err}
		}
		if err != nil {
			return err
		}
		if ended = append(ended, p); !f.AsJSON {
			m.Printf("%s", endLine(p))
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

// endLine says that a permission has ended.
func endLine(p api.StandingPermission) string {
	if p.Ended == string(standing.Revoked) {
		return fmt.Sprintf("Standing permission %d is revoked. %s has to ask again for %s.", p.Number, cli.Shown(p.Agent), cli.Shown(p.Tool))
	}
	return fmt.Sprintf("Standing permission %d had ended already.", p.Number)
}

// permissionLine is a standing permission in one line.
func (m *Main) permissionLine(p api.StandingPermission) string {
	where := "in any session"
	if p.Session != "" {
		where = "in " + p.Session
	}
	line := fmt.Sprintf("Permission %d: %s may use %s %s", p.Number, cli.Shown(p.Agent), cli.Shown(p.Tool), where)
	if p.BoundsText != "" {
		line += ", if " + cli.Shown(p.BoundsText)
	}
	uses := fmt.Sprintf("%d of %d uses left", p.Left, p.Uses)
	return fmt.Sprintf("%s. %s, until %s. Given by %s with question %d.", line, uses, m.TimeText(p.Expires), cli.Shown(p.By), p.Question)
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
