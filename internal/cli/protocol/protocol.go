// Package protocol contains the commands about AAEP itself, for any producer: validate, capture, replay, schema,
// conform, manifest. They need neither an Earshot server nor a ledger.
package protocol

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cli"
)

// commands creates the commands of one program.
type commands struct{ *cli.Program }

// Commands returns the commands about the protocol.
func Commands(p *cli.Program) []*cobra.Command {
	m := &commands{p}
	return []*cobra.Command{m.validateCommand(), m.captureCommand(), m.replayCommand(), m.schemaCommand(), m.conformCommand(), m.manifestCommand()}
}
