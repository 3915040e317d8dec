package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// noLimit is the longest that a question can stay open.
const noLimit = consent.MaxSeconds * time.Second

// shortestAnswer is the least time to answer that somebody can wish for.
const shortestAnswer = api.MinAnswerSeconds * time.Second

// shortestUndo and longestUndo bound the time to take an accept back.
const (
	shortestUndo = api.MinUndoSeconds * time.Second
	longestUndo  = api.MaxUndoSeconds * time.Second
)

func (m *Main) setCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "set",
		Short: "Set what you wish for yourself",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.setAnswerTimeCommand(), m.setUndoTimeCommand())
	return c
}

func (m *Main) setAnswerTimeCommand() *cobra.Command {
	var f wordFlags
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
		Args:      oneAtMost,
		ValidArgs: []string{"unlimited\tno time limit", "default\tas the policy and the tool say"},
		RunE: func(c *cobra.Command, args []string) error {
			seconds, err := answerTime(strings.Join(args, ""), len(args) > 0)
			if err != nil {
				return err
			}
			person, now, err := m.prefer(c.Context(), f, api.Preferences{AnswerSeconds: seconds})
			if err != nil {
				return serverFailure(err)
			}
			return m.preferredAnswer(f, person, api.Preferred(now.AnswerSeconds), seconds != nil)
		},
	}
	f.add(c)
	return c
}

func (m *Main) setUndoTimeCommand() *cobra.Command {
	var f wordFlags
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
		Args:      oneAtMost,
		ValidArgs: []string{"default\t8 seconds"},
		RunE: func(c *cobra.Command, args []string) error {
			seconds, err := undoTime(strings.Join(args, ""), len(args) > 0)
			if err != nil {
				return err
			}
			person, now, err := m.prefer(c.Context(), f, api.Preferences{UndoSeconds: seconds})
			if err != nil {
				return serverFailure(err)
			}
			return m.preferredUndo(f, person, api.Preferred(now.UndoSeconds), seconds != nil)
		},
	}
	f.add(c)
	return c
}

// undoTime reads a time to take an accept back in seconds; nil where none is given.
func undoTime(word string, given bool) (*int, error) {
	return wishedTime(word, given, wished{
		what: "time to take an accept back", least: shortestUndo, most: longestUndo, bounds: "3s to 2m", sample: "20s or 1m",
		hint:  "for example `earshot set undo-time 20s`, or default",
		words: map[string]time.Duration{"default": 0},
	})
}

// answerTime reads a time to answer in seconds; nil where none is given.
func answerTime(word string, given bool) (*int, error) {
	return wishedTime(word, given, wished{
		what: "time to answer", least: shortestAnswer, most: noLimit, bounds: "30s to 24h", sample: "90s or 15m",
		hint:  "for example `earshot set answer-time 15m`, or unlimited, or default",
		words: map[string]time.Duration{"default": 0, "unlimited": noLimit},
	})
}

// wished is a time that somebody can wish for: in its bounds, or by a word of its own.
type wished struct {
	what, bounds, sample, hint string
	least, most                time.Duration
	words                      map[string]time.Duration
}

// wishedTime reads it in seconds; nil where none is given.
func wishedTime(word string, given bool, w wished) (*int, error) {
	if !given {
		return nil, nil //nolint:nilnil // nothing is to be set, and that is no error
	}
	d, named := w.words[strings.ToLower(strings.TrimSpace(word))]
	if !named {
		var err error
		d, err = time.ParseDuration(word)
		if _, bare := strconv.Atoi(word); bare == nil {
			return nil, cause.Misuse(fmt.Sprintf("%.64q has no unit; a time is one such as %s", word, w.sample), w.hint)
		}
		if err != nil || d < w.least || d > w.most {
			return nil, cause.Misuse(fmt.Sprintf("%.64q is no %s; it can be %s", word, w.what, w.bounds), w.hint)
		}
	}
	n := int(d / time.Second)
	return &n, nil
}

// prefer hands the wish to the server that holds the data, or keeps it in the ledger itself.
func (m *Main) prefer(ctx context.Context, f wordFlags, wanted api.Preferences) (person string, now api.Preferences, err error) {
	path := ""
	if !f.server.given() {
		if path, err = m.dataPath(f.server.dataFlag, f.server.dataFlag != ""); err != nil {
			return "", now, err
		}
	}
	if path != "" && !serverAt(path) {
		return m.preferHere(ctx, path, wanted)
	}
	remote, err := m.dial(ctx, f.server, "earshot-set")
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

// preferHere opens the ledger for the one wish.
func (m *Main) preferHere(ctx context.Context, path string, wanted api.Preferences) (person string, now api.Preferences, err error) {
	h, err := m.visit(ctx, path)
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

// preferredUndo tells what holds of the time to take an accept back.
func (m *Main) preferredUndo(f wordFlags, person string, seconds int, set bool) error {
	if f.asJSON {
		return m.writeJSON(struct {
			Person  string `json:"person"`
			Seconds int    `json:"undo_seconds"`
		}{person, seconds})
	}
	verb := ""
	if set {
		verb = "Recorded: "
	}
	d := time.Duration(seconds) * time.Second
	if d == 0 {
		d = turn.DefaultUndo
	}
	m.sayf("%s%s can take an accept back for %s, or longer where the tool or the policy says so.", verb, cause.OneLine(person), d)
	return nil
}

// preferredAnswer tells what holds of the time to answer.
func (m *Main) preferredAnswer(f wordFlags, person string, seconds int, set bool) error {
	if f.asJSON {
		return m.writeJSON(struct {
			Person  string `json:"person"`
			Seconds int    `json:"answer_seconds"`
		}{person, seconds})
	}
	verb := ""
	if set {
		verb = "Recorded: "
	}
	switch d := time.Duration(seconds) * time.Second; {
	case d == 0:
		m.sayf("%squestions to %s stay open as long as the policy and the tool say.", verb, cause.OneLine(person))
	case d >= noLimit:
		m.sayf("%squestions to %s have no time limit; a question stays open for 24 hours at most.", verb, cause.OneLine(person))
	default:
		m.sayf("%squestions to %s stay open for %s once they are shown.", verb, cause.OneLine(person), d)
	}
	return nil
}
