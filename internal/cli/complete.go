package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/client"
)

// completeTime is the timeout for a completion that asks a slow server.
const completeTime = 5 * time.Second

// Completion returns what a shell offers for a command's next argument. It asks the server, and returns nothing if that
// cannot be reached.
type Completion func(ctx context.Context, remote *client.Client, args []string) []string

// Completes converts a completion of a command that uses a server.
func (m *Program) Completes(f *RemoteFlags, offer Completion) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), completeTime)
		defer cancel()
		remote, err := m.Dial(ctx, f.Server, "earshot-completion")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(ctx, remote, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// OfferOne restricts a completion to the first argument.
func OfferOne(offer Completion) Completion {
	return func(ctx context.Context, remote *client.Client, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return offer(ctx, remote, args)
	}
}

// FileFirst offers files for the first argument; behind, if not nil, completes the others.
func FileFirst(behind cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return nil, cobra.ShellCompDirectiveDefault
		case behind != nil:
			return behind(c, args, word)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// MarkPaths marks flags as folders or files: shells complete them accordingly, and in a configuration file their values
// are relative to that file.
func MarkPaths(c *cobra.Command, folders, files []string) {
	for _, name := range folders {
		_ = c.MarkFlagDirname(name) // fails only if the flag does not exist
	}
	for _, name := range files {
		_ = c.MarkFlagFilename(name)
	}
}

// CompleteFiles completes arguments with files.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
