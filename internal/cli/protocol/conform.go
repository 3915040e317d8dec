package protocol

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

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
	c.AddCommand(m.vectorsCommand(), m.coverageCommand())
	return c
}

func (m *commands) vectorsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "vectors [AREA|RULE|VECTOR]",
		Short: "Judge the vectors with the validator of this program",
		Long: `Judge the vectors with the validator of this program, and name those that it judges
otherwise than they say. Without an argument all of them; AREA is the beginning of the
rules in small letters, such as env, RULE one of them, such as ENV-18.

Exit code: 0 every vector held, 1 some did not, 2 no vector of that name.`,
		Args:              usage.AtMostOne("an area, a rule or a vector"),
		ValidArgsFunction: completeAreas,
		RunE: func(_ *cobra.Command, args []string) error {
			vectors, err := chosenVectors(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return m.runVectors(vectors, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each vector, then a summary")
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

func (m *commands) runVectors(vectors []conform.Vector, asJSON bool) error {
	t, err := conform.JudgeAll(vectors, conform.Reference, func(j conform.Judgement) error {
		switch {
		case asJSON:
			return m.writeLine(j)
		case j.Passed:
		case j.Pending != "":
			m.Printf("pending: %s: %s: %s", j.ID, cause.OneLine(j.Pending), cause.OneLine(j.Problem))
		default:
			m.Printf("failed: %s: %s: %s", j.ID, cause.OneLine(j.Title), cause.OneLine(j.Problem))
		}
		return nil
	})
	if err == nil {
		err = m.printTally(t, asJSON)
	}
	if err != nil {
		return err
	}
	if t.Failed+t.Pending > 0 {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

func (m *commands) printTally(t conform.Tally, asJSON bool) error {
	if asJSON {
		return m.writeLine(map[string]conform.Tally{"summary": t})
	}
	m.Printf("vectors: %d, held: %d, failed: %d, pending: %d", t.Vectors, t.Passed, t.Failed, t.Pending)
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
can show should all be covered; each of them that is not is named with the reason.`,
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
		if c.Rule.Due() && !c.Covered {
			m.Printf("not covered: %s, %s: %s", c.Rule.ID, c.Rule.Title, c.Reason)
		}
	}
}
