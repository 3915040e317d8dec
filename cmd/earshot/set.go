package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/utp"
)

// noLimit is the longest that a question can stay open.
const noLimit = consent.MaxSeconds * time.Second

// shortestAnswer is the least time to answer that somebody can wish for.
const shortestAnswer = utp.MinAnswerSeconds * time.Second

func (m *Main) setCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "set",
		Short: "Set what you wish for yourself",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.setAnswerTimeCommand())
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
			person, now, err := m.prefer(c.Context(), f, seconds)
			if err != nil {
				return serverFailure(err)
			}
			return m.preferred(f, person, now, seconds != nil)
		},
	}
	f.add(c)
	return c
}

// answerTime reads a time to answer in seconds; nil where none is given.
func answerTime(word string, given bool) (*int, error) {
	if !given {
		return nil, nil //nolint:nilnil // nothing is to be set, and that is no error
	}
	in := func(d time.Duration) (*int, error) {
		n := int(d / time.Second)
		return &n, nil
	}
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "unlimited":
		return in(noLimit)
	case "default":
		return in(0)
	}
	d, err := time.ParseDuration(word)
	if _, bare := strconv.Atoi(word); bare == nil {
		return nil, usage(fmt.Sprintf("%.64q has no unit; a time is one such as 90s or 15m", word), "for example `earshot set answer-time 15m`, or unlimited, or default")
	}
	if err != nil || d < shortestAnswer || d > noLimit {
		return nil, usage(fmt.Sprintf("%.64q is no time to answer; it can be 30s to 24h", word), "for example `earshot set answer-time 15m`, or unlimited, or default")
	}
	return in(d)
}

// prefer hands the wish to the server that holds the data, or keeps it in the ledger itself.
func (m *Main) prefer(ctx context.Context, f wordFlags, seconds *int) (person string, now int, err error) {
	path := ""
	if !f.server.given() {
		if path, err = m.dataPath(f.server.dataFlag, f.server.dataFlag != ""); err != nil {
			return "", 0, err
		}
	}
	if path != "" && !serverAt(path) {
		return m.preferHere(ctx, path, seconds)
	}
	client, err := m.dial(ctx, f.server, "earshot-set")
	if err != nil {
		return "", 0, err
	}
	me, err := client.Me(ctx)
	if err != nil {
		return "", 0, err
	}
	now, err = client.Prefer(ctx, seconds)
	return me.Name, now, err
}

// preferHere opens the ledger for the one wish.
func (m *Main) preferHere(ctx context.Context, path string, seconds *int) (person string, now int, err error) {
	rules, err := loadPolicy("")
	if err != nil {
		return "", 0, err
	}
	h, err := m.openHouse(ctx, houseOptions{dataPath: path, rules: rules, log: m.logger(false), reached: m.faultPoint(), keepAll: true})
	if err != nil {
		return "", 0, err
	}
	defer h.Close()
	person = localUser()
	now, err = h.hub.Prefer(ctx, person, seconds)
	if err != nil {
		err = h.cause(failed(err, "the wish could not be recorded", "make room on the disk, then try again"))
	}
	return person, now, err
}

// preferred tells what holds.
func (m *Main) preferred(f wordFlags, person string, seconds int, set bool) error {
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
		m.sayf("%squestions to %s stay open as long as the policy and the tool say.", verb, oneLine(person))
	case d >= noLimit:
		m.sayf("%squestions to %s have no time limit; a question stays open for 24 hours at most.", verb, oneLine(person))
	default:
		m.sayf("%squestions to %s stay open for %s once they are shown.", verb, oneLine(person), d)
	}
	return nil
}
