// Package protocol holds the commands about AAEP itself, of any producer: validate, capture, replay, schema, conform.
// They need no server of ours and no ledger.
package protocol

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cli"
)

// commands makes the commands of one program.
type commands struct{ *cli.Program }

// Commands are the commands about the protocol.
func Commands(p *cli.Program) []*cobra.Command {
	m := &commands{p}
	return []*cobra.Command{m.validateCommand(), m.captureCommand(), m.replayCommand(), m.schemaCommand(), m.conformCommand()}
}
