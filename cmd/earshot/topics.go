package main

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/example"
	"github.com/earshot-dev/earshot/internal/usage"
)

// topics are what `earshot help` knows beside the commands. Those about a file print one that can be used as it is.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "policy", Short: "A file of an operator's rules, for --policy", Long: example.Policy},
		{Use: "configuration", Short: "A file with the settings of a server, for --config", Long: example.Configuration},
		{Use: "questions", Short: "What a tool can say of itself in questions", Long: example.Questions},
		{Use: "services", Short: "Tool services and agents of your own, and their credentials", Long: example.Services},
		{Use: "database", Short: "A ledger in PostgreSQL, for --ledger", Long: example.Database},
	}
}

func (m *Main) toolsExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print a file of tools to begin with, for `earshot up --tools` and `earshot serve`",
		Long: `Print a file that turns programs of this machine and operations of HTTP servers into tools. It can be used as it is;
change in it what is run and sent.`,
		Example: `  earshot tools example > tools.yaml
  earshot serve --check tools.yaml`,
		Args: usage.None,
		RunE: func(*cobra.Command, []string) error { return m.write(example.Tools) },
	}
}
