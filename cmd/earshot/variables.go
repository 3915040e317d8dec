package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/internal/agentcheck"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/cli/gateways"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/tool/service"
)

// ignoredVariables begin the variables that tests and the program itself set, or programs of others in its languages read.
var ignoredVariables = []string{"EARSHOT_TEST_", "EARSHOT_CHAOS_", "EARSHOT_SOAK", "EARSHOT_FAULT", "EARSHOT_AGENTS_CACHE", "EARSHOT_DOCTOR_KEY", "EARSHOT_CALL", "EARSHOT_PROGRAM"}

// startedByHosts are commands that hosts start: what they say of variables nobody reads, or it disturbs.
var startedByHosts = []string{"earshot hook", "earshot mcp serve", "earshot acp", "earshot stdio", "earshot completion", "earshot __complete", "earshot __completeNoDesc"}

// noteVariables warns of variables EARSHOT_… that the program does not know, which are probably misspelt.
func (m *Main) noteVariables(c *cobra.Command) {
	if m.Environ == nil || slices.ContainsFunc(startedByHosts, func(path string) bool { return strings.HasPrefix(c.CommandPath()+" ", path+" ") }) {
		return
	}
	known := []string{
		"EARSHOT_CONFIG", "EARSHOT_TOKEN", "EARSHOT_URL", agentcheck.Variable, service.Variable, gateways.CommonGroundDSN,
		cli.VariableClientCert, cli.VariableClientKey, cli.VariableClientCA,
	}
	if len(config.Unknown(m.Environ(), known, ignoredVariables)) > 0 { // probably the settings of a server
		m.upCommand().Flags().VisitAll(func(f *pflag.Flag) { known = append(known, config.Variable(f.Name)) })
	}
	for _, line := range config.Unknown(m.Environ(), known, ignoredVariables) {
		m.Notef("warning: %s", line)
	}
}
