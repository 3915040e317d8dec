// Told reads what `go test -json` writes and tells a person what counts: each package's verdict, each failure
// with its output, and each skipped test with its reason. A skipped test is a part that was not tried; with
// CI=true in the environment it is a failure.
//
//	go test -json ./... | go run ./scripts/told
package main

import (
	"fmt"
	"os"
)

func main() {
	os.Exit(run())
}

func run() int {
	verdict, err := Tell(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 2
	}
	if !verdict.OK(os.Getenv("CI") == "true") {
		return 1
	}
	return 0
}
