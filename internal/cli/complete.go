package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/client"
)

// completeTime bounds how long a shell waits for what is open, at a server that is there and
// slow.
const completeTime = 5 * time.Second

// Completion is what a command offers a shell for its next argument; the server is asked
// only here, and says nothing where it cannot be reached.
type Completion func(ctx context.Context, remote *client.Client, args []string) []string

// Completes makes a completion of a command that speaks to a server.
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

// OfferOne offers for the first argument only.
func OfferOne(offer Completion) Completion {
	return func(ctx context.Context, remote *client.Client, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return offer(ctx, remote, args)
	}
}

// FileFirst offers files for the first argument, and for the others what behind does, if anything.
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

// MarkPaths says which flags name folders and which files: shells complete them so, and a
// configuration file has them relative to itself.
func MarkPaths(c *cobra.Command, folders, files []string) {
	for _, name := range folders {
		_ = c.MarkFlagDirname(name) // fails only where the flag is not there
	}
	for _, name := range files {
		_ = c.MarkFlagFilename(name)
	}
}

// CompleteFiles offers files as arguments.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
