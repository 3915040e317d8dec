// Package gateways contains the commands that put Earshot in front of somebody's agent: what a host such as Claude Code
// runs (mcp serve, hook), what writes its files (install, uninstall), what a listener starts (stdio), the MCP servers behind
// the gate (mcp add), a bridge to the tools of another system (bridge), and the check that a host respects a no (doctor
// agents).
package gateways

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cli"
)

// commands creates the commands of one program.
type commands struct{ *cli.Program }

// Commands returns the commands about hosts.
func Commands(p *cli.Program) []cli.Command {
	m := &commands{p}
	return []cli.Command{
		{Name: "mcp", New: m.mcpCommand},
		{Name: "hook", New: m.hookCommand},
		{Name: "install", New: m.installCommand},
		{Name: "uninstall", New: m.uninstallCommand},
		{Name: "stdio", New: m.stdioCommand},
		{Name: "gateway", New: m.gatewayCommand},
		{Name: "bridge", New: m.bridgeCommand},
	}
}

// DoctorCommand returns the check of the hosts on this machine, a subcommand of `doctor`.
func DoctorCommand(p *cli.Program) *cobra.Command { return (&commands{p}).doctorAgentsCommand() }
