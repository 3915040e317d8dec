package service

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool"
)

// Main is the main function of a program that only runs a service. It serves the tools until Control-C or SIGTERM, logs
// to standard error, and exits. The flag -credentials, or [Variable], names the credentials file.
func Main(tools ...tool.Tool) {
	os.Exit(run(os.Args, tools))
}

func run(args []string, tools []tool.Tool) int {
	o := Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.Credentials, "credentials", "", "`file` of credentials (default $"+Variable+")")
	if err := flags.Parse(args[1:]); err != nil {
		return 2 //nolint:mnd // Usage, as everywhere.
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	if err := Run(ctx, o, tools...); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "error: "+cause.Of(err))
		return 1
	}
	return 0
}
