package main

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/example"
)

// topics are the help topics besides the commands. Those about a file print a usable example.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "policy", Short: "A file of an operator's rules, for --policy", Long: example.Policy},
		{Use: "configuration", Short: "A file with the settings of a server, for --config", Long: example.Configuration},
		{Use: "questions", Short: "What a tool can say of itself in questions", Long: example.Questions},
		{Use: "services", Short: "Tool services and agents of your own, and their credentials", Long: example.Services},
		{Use: "database", Short: "A ledger in PostgreSQL, for --ledger", Long: example.Database},
	}
}
