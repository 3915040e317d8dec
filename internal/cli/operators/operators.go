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
	toolCall func() *cobra.Command
}

// Commands returns the operators' commands. toolCall makes a subcommand of `tools`.
func Commands(p *cli.Program, toolCall func() *cobra.Command) []cli.Command {
	m := &commands{Program: p, toolCall: toolCall}
	return []cli.Command{
		{Name: "tools", New: m.toolsCommand},
		{Name: "agents", New: m.agentsCommand},
		{Name: "turns", New: m.turnsCommand},
		{Name: "cards", New: m.cardsCommand},
		{Name: "boxes", New: m.boxesCommand},
		{Name: "dead", New: m.deadCommand},
		{Name: "audit", New: m.auditCommand},
		{Name: "token", New: m.tokenCommand},
		{Name: "credential", New: m.credentialCommand},
		{Name: "logins", New: m.loginsCommand},
		{Name: "passkeys", New: m.passkeysCommand},
		{Name: "projects", New: m.projectsCommand},
		{Name: "erase", New: m.eraseCommand},
		{Name: "export", New: m.exportCommand},
		{Name: "import", New: m.importCommand},
		{Name: "backup", New: m.backupCommand},
		{Name: "restore", New: m.restoreCommand},
	}
}
