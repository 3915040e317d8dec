// Command earshot runs AI agents within a person's earshot: every step reaches the person, and nothing irreversible
// happens without that person's consent.
package main

import (
	"context"
	"os"
	"time"
	_ "time/tzdata" // times are shown in the readers' zones, whatever zone data this machine has

	"github.com/earshot-dev/earshot/internal/cli"
)

func main() {
	m := Main{Args: os.Args[1:], Program: cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, LookupEnv: os.LookupEnv, Environ: os.Environ, Now: time.Now, OwnsProcess: true,
	}}
	os.Exit(m.Run(context.Background()))
}
