package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/preference"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *Main) setCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "set",
		Short: "Set your preferences",
		Args:  usage.None,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.setAnswerTimeCommand(), m.setUndoTimeCommand())
	for _, one := range preference.Settings() {
		c.AddCommand(m.setWordCommand(one))
	}
	return c
}

// folded is a paragraph of a help text in lines.
func folded(text string) string {
	return strings.ReplaceAll(strings.Join(terminal.Wrap(text, helpWidth), "\n"), "\n  ", "\n")
}

// helpWidth is the width of the help texts, in columns.
const helpWidth = 88

// setWordCommand sets a preference that is a word.
func (m *Main) setWordCommand(one preference.Setting) *cobra.Command {
	var f cli.RemoteFlags
	c := &cobra.Command{
		Use:   one.Command + " [default|" + one.Placeholder + "]",
		Short: "Set, or tell, " + one.Short,
		Long: folded(one.Help) + "\n\n" + folded("Without a value it tells what is set. It is kept with your data, the settings "+
			"page has it too, and it holds from the next page or run on. It works with the server running or not."),
		Example:   "  earshot set " + one.Command + " " + one.Sample + "\n  earshot set " + one.Command + " default",
		Args:      usage.OneAtMost,
		ValidArgs: append([]string{"default"}, one.Values...),
		RunE: func(c *cobra.Command, args []string) error {
			var wanted api.Preferences
			if len(args) > 0 {
				var err error
				if wanted, err = one.Read(args[0], wanted); err != nil {
					return err
				}
			}
			person, now, err := m.prefer(c.Context(), f, wanted)
			if err != nil {
				return cli.ServerFailure(err)
			}
			return m.preferred(f, map[string]any{"person": person, one.Name: now.Text(one.TextPreference)}, one.Describe(person, now), len(args) > 0)
		},
	}
	f.Add(c)
	return c
}

func (m *Main) setAnswerTimeCommand() *cobra.Command {
	var f cli.RemoteFlags
	c := &cobra.Command{
		Use:   "answer-time [unlimited|default|TIME]",
		Short: "Set, or tell, how long questions that are put to you stay open",
		Long: `Set how long questions that are put to you stay open once you have been shown them:
a TIME such as 90s or 15m, at least 30s; unlimited, which means no time limit, as far
as a question can stay open, 24 hours; or default, which leaves it to the policy and the
tool. Without a value it tells what is set.

It is kept with your data and holds for questions that are asked from now on, in every
session that you own; only ` + "`earshot run --answer-within`" + ` comes before it. It works with the
server running or not.`,
		Example: `  earshot set answer-time unlimited
  earshot set answer-time 15m`,
		Args:      usage.OneAtMost,
		ValidArgs: []string{"unlimited\tno time limit", "default\tas the policy and the tool say"},
		RunE: func(c *cobra.Command, args []string) error {
			seconds, err := preference.AnswerTime(strings.Join(args, ""), len(args) > 0)
			if err != nil {
				return err
			}
			person, now, err := m.prefer(c.Context(), f, api.Preferences{AnswerSeconds: seconds})
			if err != nil {
				return cli.ServerFailure(err)
			}
			value := api.Preferred(now.AnswerSeconds)
			told := preference.Answer(person, value)
			if seconds == nil {
				told = "Q" + strings.TrimPrefix(told, "q") // it begins the line
			}
			return m.preferred(f, map[string]any{"person": person, "answer_seconds": value}, told, seconds != nil)
		},
	}
	f.Add(c)
	return c
}

func (m *Main) setUndoTimeCommand() *cobra.Command {
	var f cli.RemoteFlags
	c := &cobra.Command{
		Use:   "undo-time [default|TIME]",
		Short: "Set, or tell, how long you can take an accept back",
		Long: `Set how long you can take an accept back before what cannot be undone starts: a TIME
such as 20s or 1m, from 3s to 2m; or default, which is 8 seconds. It is counted from when you have
been told that your accept was recorded, and is never shorter than the tool and the policy
say. Without a value it tells what is set.

It is kept with your data and holds for what you accept from now on. It works with the
server running or not.`,
		Example: `  earshot set undo-time 20s
  earshot set undo-time default`,
		Args:      usage.OneAtMost,
		ValidArgs: []string{"default\t8 seconds"},
		RunE: func(c *cobra.Command, args []string) error {
			seconds, err := preference.UndoTime(strings.Join(args, ""), len(args) > 0)
			if err != nil {
				return err
			}
			person, now, err := m.prefer(c.Context(), f, api.Preferences{UndoSeconds: seconds})
			if err != nil {
				return cli.ServerFailure(err)
			}
			value := api.Preferred(now.UndoSeconds)
			return m.preferred(f, map[string]any{"person": person, "undo_seconds": value}, preference.Undo(person, value), seconds != nil)
		},
	}
	f.Add(c)
	return c
}

// prefer sends the preferences to the server that holds the data, or stores them in the ledger itself.
func (m *Main) prefer(ctx context.Context, f cli.RemoteFlags, wanted api.Preferences) (person string, now api.Preferences, err error) {
	path := ""
	if !f.Server.Named() {
		if path, err = m.DataPath(f.Server.DataFlag, f.Server.DataFlag != ""); err != nil {
			return "", now, err
		}
	}
	if path != "" && !cli.ServerAt(path) {
		return m.preferHere(ctx, path, wanted)
	}
	remote, err := m.Dial(ctx, f.Server, "earshot-set")
	if err != nil {
		return "", now, err
	}
	me, err := remote.Identity(ctx)
	if err != nil {
		return "", now, err
	}
	if wanted == (api.Preferences{}) {
		now, err = remote.Preferences(ctx)
	} else {
		now, err = remote.SetPreferences(ctx, wanted)
	}
	return me.Name, now, err
}

// preferHere opens the ledger to store the preferences.
func (m *Main) preferHere(ctx context.Context, path string, wanted api.Preferences) (person string, now api.Preferences, err error) {
	h, err := m.Visit(ctx, path)
	if err != nil {
		return "", now, err
	}
	defer h.Close()
	person = instance.LocalUser()
	a, err := h.Hub.Prefer(ctx, api.PreferRequest{Person: person, Preferences: wanted})
	if err != nil {
		err = h.Cause(cause.Fail(err, "the wish could not be recorded", "make room on the disk, then try again"))
	}
	return person, a.Preferences, err
}

// preferred reports the current preferences and, if they were set, that this was recorded.
func (m *Main) preferred(f cli.RemoteFlags, value map[string]any, told string, set bool) error {
	if f.AsJSON {
		return m.WriteJSON(value)
	}
	if set {
		m.Printf("Recorded: %s", told)
		return nil
	}
	m.Printf("%s", told)
	return nil
}
