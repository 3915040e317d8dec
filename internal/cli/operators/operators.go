// Package operators holds the commands of those who operate a server: tools and their review, turns, cards, audit,
// credentials, tokens, retention and backups. A command is one file: its flags, and what it asks of the server or,
// where none runs, of the ledger itself ([cli.Program.OperatorCommand]).
package operators

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cli"
)

// commands makes the commands of one program.
type commands struct {
	*cli.Program
	toolCall *cobra.Command
}

// Commands are the commands of operators. The one that calls a tool as a turn of its own is toolCall's, below `tools`.
func Commands(p *cli.Program, toolCall *cobra.Command) []*cobra.Command {
	m := &commands{Program: p, toolCall: toolCall}
	return []*cobra.Command{
		m.toolsCommand(), m.turnsCommand(), m.cardsCommand(), m.deadCommand(), m.auditCommand(), m.tokenCommand(), m.credentialCommand(), m.loginsCommand(),
		m.eraseCommand(), m.exportCommand(), m.importCommand(), m.backupCommand(), m.restoreCommand(),
	}
}
