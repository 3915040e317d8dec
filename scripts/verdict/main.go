// Verdict judges a test run by what `go test -json` has written of it, where its runner cannot: a skipped test is
// a part that was not tried, and with CI=true in the environment that is a failure; a test that failed and
// passed when it was run again is flaky, which is told, and forgiven only where nothing hangs on it.
//
//	go run ./scripts/verdict -flaky docs/flaky.md -forgive 'hub|listen' FILE
//
// Nothing is forgiven of a test that counts consents, starts or effects (it says so itself, by the attribute
// `counts`), of a data race or of a panic. With -undecided FILE it writes there, one on a line, the packages in which only the
// race detector itself gave up, if nothing else failed; scripts/check runs those again. Its last lines say which test failed,
// what it wrote, and the command that repeats it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

func main() {
	os.Exit(Run(os.Args[1:], os.Getenv("CI") == "true", os.Stdout, os.Stderr))
}

// Run is the program: it returns 0 where there is nothing to complain of, 1 where there is, 2 where it could not judge.
func Run(args []string, strict bool, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("verdict", flag.ContinueOnError)
	flags.SetOutput(complaints)
	flaky := flags.String("flaky", "", "`file` to which flaky tests are added, with what they said")
	forgive := flags.String("forgive", "^$", "`pattern` of the packages, below the module, in which a flaky test is forgiven")
	rerun := flags.String("rerun", "go test -count=1", "`command` that repeats a test, without the test and its package")
	undecided := flags.String("undecided", "", "`file` for the packages in which only the race detector gave up")
	err := flags.Parse(args)
	pattern, bad := regexp.Compile(`/(` + *forgive + `)$`)
	if err != nil || bad != nil || flags.NArg() != 1 {
		_, _ = fmt.Fprintln(complaints, "usage: verdict [-flaky FILE] [-forgive PATTERN] [-undecided FILE] [-rerun COMMAND] FILE")
		return 2
	}
	in, err := os.Open(flags.Arg(0))
	if err != nil {
		_, _ = fmt.Fprintln(complaints, "error:", err)
		return 2
	}
	defer func() { _ = in.Close() }()
	v, err := Judge(in, pattern, strict)
	if err == nil && *undecided != "" {
		err = os.WriteFile(*undecided, []byte(strings.Join(append(v.Undecided, ""), "\n")), 0o600)
	}
	if err == nil && *flaky != "" {
		err = note(*flaky, v.Flaky)
	}
	if err != nil {
		_, _ = fmt.Fprintln(complaints, "error:", err)
		return 2
	}
	_, _ = fmt.Fprint(out, v)
	_, _ = fmt.Fprint(out, Report(v.Failed, *rerun))
	if !v.OK() {
		return 1
	}
	return 0
}

// note adds flaky tests to the file, newest last.
func note(path string, flaky []Flaky) error {
	if len(flaky) == 0 {
		return nil
	}
	out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // git keeps only whether a file can be run
	if err != nil {
		return fmt.Errorf("noting flaky tests: %w", err)
	}
	for _, f := range flaky {
		if err == nil {
			_, err = fmt.Fprintf(out, "## %s %s\n\n```\n%s```\n\n", f.Package, f.Test, f.Output)
		}
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
