package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
)

// reportFlags are the flags of a command that judges a running peer.
type reportFlags struct {
	level              int
	known, junit, html string
	strict             bool
	asJSON, everything bool
}

// register adds the flags to a command. The caller marks the files.
func (f *reportFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.IntVar(&f.level, "level", 3, "the level of conformance that is expected: 1, 2 or 3")
	flags.StringVar(&f.known, "known", "", "a file with the rules that are known to be broken: one JSON object of ids and reasons")
	flags.BoolVar(&f.strict, "strict", false, "fail for advice that is not followed, too")
	flags.BoolVar(&f.everything, "all", false, "a line also for each rule that was not exercised")
	flags.BoolVar(&f.asJSON, "json", false, "write one JSON object for each rule, and a summary")
	flags.StringVar(&f.junit, "junit", "", "write the report to this file as JUnit XML, for CI")
	flags.StringVar(&f.html, "html", "", "write the report to this file as a page")
	_ = c.RegisterFlagCompletionFunc("level", cobra.FixedCompletions([]string{"1", "2", "3"}, cobra.ShellCompDirectiveNoFileComp))
}

// check refuses a level that there is not; that of 0 would be the default of the judges.
func (f *reportFlags) check() error {
	if f.level < 1 || f.level > 3 {
		return cause.Misuse(fmt.Sprintf("the level is %d, expected 1, 2 or 3", f.level), "level 3 has the rules of all three")
	}
	return nil
}

// notJudged is why there is no report. Neither is a verdict, so both have the code of wrong usage.
func notJudged(err error, what string) error {
	if e, ok := errors.AsType[*report.Error](err); ok {
		return cause.Misuse(e.Message, e.Hint)
	}
	return cause.Fail(err, what, "")
}

// writeReport writes the report in each form that was asked for.
func (m *commands) writeReport(f reportFlags, r report.Report, known map[string]string) error {
	for _, rule := range r.Expect(known) {
		m.Note(fmt.Sprintf("%s is known to be broken, and was kept.", rule))
	}
	if err := toFile(f.junit, func(to io.Writer) error { return r.WriteJUnit(to, f.strict) }); err != nil {
		return err
	}
	if err := toFile(f.html, r.WriteHTML); err != nil {
		return err
	}
	var err error
	if f.asJSON {
		err = r.WriteJSON(m.Stdout)
	} else {
		err = r.WriteText(m.Stdout, f.everything)
	}
	switch {
	case err != nil:
		return cause.Fail(err, "the report could not be written", "")
	case !r.Passed(f.strict):
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

// toFile writes a file, if it has a name.
func toFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = os.WriteFile(name, b.Bytes(), 0o600)
	}
	if err != nil {
		return cause.Misuse(fmt.Sprintf("%s cannot be written: %s", name, cause.Of(err)), "check the name and the rights")
	}
	return nil
}
