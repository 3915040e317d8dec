package protocol

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) conformCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "conform",
		Short: "Measure by the rules of AAEP",
		Long: `AAEP says how an agent tells people what it does. Its rules have numbers, such as
ENV-18; vectors are examples that keep or break one of them, with the verdict that a
judge must reach.`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.vectorsCommand(), m.coverageCommand(), m.producerCommand(), m.subscriberCommand(), m.suiteAgentCommand())
	return c
}

func (m *commands) vectorsCommand() *cobra.Command {
	var (
		asJSON bool
		by     judgeFlags
	)
	c := &cobra.Command{
		Use:   "vectors [AREA|RULE|VECTOR]",
		Short: "Judge the vectors with the validator of this program, or with yours",
		Long: `Judge the vectors with the validator of this program, or with another in any language
(--judge), and name those that it judges otherwise than they say. Without an argument
all of them; AREA is the beginning of the rules in small letters, such as env, RULE one
of them, such as ENV-18.

The program of --judge reads one vector a line from its standard input:
  {"id":"ENV-18-hyphen","kind":"event","mode":"producer","options":{},"messages":[{"text":"{…}"}]}
and writes its findings as one line to its standard output, before it reads the next:
  {"findings":[{"message":0,"rule":"ENV-18","severity":"error","path":"/event_id"}]}
or {"unsupported":"no streams yet"}. A message that is not text comes as "base64".

Exit code: 0 every vector held, is of a kind that is not supported, or is listed by
--known; 1 some did not; 2 no vector of that name.`,
		Example: `  earshot conform vectors seq
  earshot conform vectors --judge 'python3 judge.py' --known known.json`,
		Args:              usage.AtMostOne("an area, a rule or a vector"),
		ValidArgsFunction: completeAreas,
		RunE: func(c *cobra.Command, args []string) error {
			vectors, err := chosenVectors(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return m.runVectors(c.Context(), vectors, by, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each vector, then a summary")
	c.Flags().StringVar(&by.command, "judge", "", "a command that judges them, run by sh")
	c.Flags().StringVar(&by.known, "known", "", "a file with the vectors that are known to fail: one JSON object of ids and reasons")
	cli.MarkPaths(c, nil, []string{"known"})
	c.Flags().DurationVar(&by.wait, "wait", 10*time.Second, "how long --judge may take for one vector")
	return c
}

func completeAreas(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return conform.Areas(), cobra.ShellCompDirectiveNoFileComp
}

// chosenVectors returns those that the word selects, or all.
func chosenVectors(word string) ([]conform.Vector, error) {
	chosen, err := conform.Select(word)
	switch {
	case err != nil:
		return nil, cause.Fail(err, "the vectors could not be read", "")
	case len(chosen) == 0:
		return nil, cause.Misuse(fmt.Sprintf("found no vector for %q, expected an area, a rule or the id of a vector", word), "the areas are "+strings.Join(conform.Areas(), ", "))
	}
	return chosen, nil
}

// runVectors judges them with this program, or the one that was named.
func (m *commands) runVectors(ctx context.Context, vectors []conform.Vector, by judgeFlags, asJSON bool) error {
	if by.command == "" && by.known != "" {
		return cause.Misuse("--known is given without --judge",
			"name the program that you judge with --judge COMMAND, or leave --known out: Earshot knows by itself which vectors it does not meet yet")
	}
	if by.command == "" {
		known, err := conform.Pending()
		if err != nil {
			return cause.Fail(err, "the vectors could not be read", "")
		}
		return m.judgeVectors(vectors, conform.Reference, known, asJSON)
	}
	known, err := knownFailures(by.known)
	if err != nil {
		return err
	}
	judge, err := startJudge(ctx, by, m.Stderr)
	if err != nil {
		return err
	}
	err = m.judgeVectors(vectors, judge.ask, known, asJSON)
	if failed := judge.end(); failed != nil {
		return failed
	}
	return err
}

// judgeVectors says what became of each vector. A judge that cannot be asked any more ends it.
func (m *commands) judgeVectors(vectors []conform.Vector, judge conform.Judge, known map[string]string, asJSON bool) error {
	var gone error
	asked := func(c conform.Case) (found [][]aaep.Violation, err error) {
		if found, err = judge(c); errors.Is(err, conform.ErrProgram) {
			gone = err
		}
		return found, err
	}
	t, err := conform.JudgeAll(vectors, asked, known, func(j conform.Judgement) error {
		if gone != nil {
			return gone
		}
		return m.printJudgement(j, asJSON)
	})
	if err == nil {
		err = m.printTally(t, asJSON)
	}
	if err != nil {
		return err
	}
	if t.Failed > 0 {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

func (m *commands) printJudgement(j conform.Judgement, asJSON bool) error {
	switch {
	case asJSON:
		return m.writeLine(j)
	case j.Passed && j.Pending != "":
		m.Printf("known to fail, and held: %s", j.ID)
	case j.Passed:
	case j.Unsupported != "":
		m.Printf("not supported: %s: %s", j.ID, cause.OneLine(j.Unsupported))
	case j.Pending != "":
		m.Printf("pending: %s: %s: %s", j.ID, cause.OneLine(j.Pending), cause.OneLine(j.Problem))
	default:
		m.Printf("failed: %s: %s: %s", j.ID, cause.OneLine(j.Title), cause.OneLine(j.Problem))
	}
	return nil
}

func (m *commands) printTally(t conform.Tally, asJSON bool) error {
	if asJSON {
		return m.writeLine(map[string]conform.Tally{"summary": t})
	}
	unsupported := ""
	if t.Unsupported > 0 {
		unsupported = fmt.Sprintf(", not supported: %d", t.Unsupported)
	}
	m.Printf("vectors: %d, held: %d, failed: %d, pending: %d%s", t.Vectors, t.Passed, t.Failed, t.Pending, unsupported)
	return nil
}

// writeLine writes a value as JSON on one line.
func (m *commands) writeLine(value any) error {
	raw, err := json.Marshal(value, json.Deterministic(true))
	if err == nil {
		_, err = m.Stdout.Write(append(raw, '\n'))
	}
	if err != nil {
		return cause.Fail(err, "the output could not be written", "")
	}
	return nil
}

func (m *commands) coverageCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "coverage",
		Short: "Say which rules of AAEP are covered by vectors and tests",
		Long: `Say how many rules of each level are covered: by vectors that keep and break them, or
by other tests of this program's sources. Rules that one event, one message or one stream
can show should all be covered, and so should each MUST that takes an exchange; each of
them that is not is named with the reason.`,
		Args: usage.None,
		RunE: func(*cobra.Command, []string) error {
			all, err := conform.Measure()
			if err != nil {
				return cause.Fail(err, "the coverage could not be measured", "")
			}
			if asJSON {
				return m.writeCoverage(all)
			}
			m.printCoverage(all)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each rule of the catalogue")
	return c
}

func (m *commands) writeCoverage(all []conform.Coverage) error {
	for _, c := range all {
		if err := m.writeLine(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *commands) printCoverage(all []conform.Coverage) {
	for _, s := range conform.Summarise(all) {
		m.Printf("%s: %d of %d covered where one event, message or stream shows it; %d of %d of the others", s.Level, s.DueCovered, s.Due, s.OtherCovered, s.Other)
	}
	for _, c := range all {
		if (c.Rule.Due() || c.Rule.Exchange()) && !c.Covered {
			m.Printf("not covered: %s, %s: %s", c.Rule.ID, c.Rule.Title, c.Reason)
		}
	}
}
