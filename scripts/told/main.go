// Told reads what `go test -json` writes and tells a person what counts: each package's verdict, each failure
// with its output, and each skipped test with its reason. A skipped test is a part that was not tried; with
// CI=true in the environment it is a failure.
//
//	go test -json ./... | go run ./scripts/told
//
// With -undecided FILE it writes there, one on a line, the packages in which only the race detector itself gave
// up, if nothing else failed; scripts/race tries those again.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	os.Exit(run())
}

func run() int {
	undecided := flag.String("undecided", "", "`file` for the packages in which only the race detector gave up")
	flag.Parse()
	verdict, err := Tell(os.Stdin, os.Stdout)
	if err == nil && *undecided != "" && len(verdict.Undecided) == verdict.Failed {
		err = os.WriteFile(*undecided, []byte(strings.Join(append(verdict.Undecided, ""), "\n")), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 2
	}
	if !verdict.OK(os.Getenv("CI") == "true") {
		return 1
	}
	return 0
}
