// Package operators contains the commands for operators: tools and their review, turns, cards, audit, credentials,
// tokens, retention and backups. Each command is one file: its flags, and its request to the server or, if none runs,
// to the ledger itself ([cli.Program.Operated]).
package operators

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cli"
)

// commands creates the commands of one program.
type commands struct {
	*cli.Program
	toolCall *cobra.Command
}

// Commands returns the operators' commands. toolCall becomes a subcommand of `tools`.
func Commands(p *cli.Program, toolCall *cobra.Command) []*cobra.Command {
	m := &commands{Program: p, toolCall: toolCall}
	return []*cobra.Command{
		m.toolsCommand(), m.agentsCommand(), m.turnsCommand(), m.cardsCommand(), m.boxesCommand(), m.deadCommand(),
		m.auditCommand(), m.tokenCommand(), m.credentialCommand(), m.loginsCommand(), m.passkeysCommand(), m.projectsCommand(),
		m.eraseCommand(), m.exportCommand(), m.importCommand(), m.backupCommand(), m.restoreCommand(),
	}
}
