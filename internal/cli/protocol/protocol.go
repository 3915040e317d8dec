// Package protocol contains the commands about AAEP itself, for any producer: validate, capture, replay, schema,
// conform, manifest. They need neither an Earshot server nor a ledger.
package protocol

import (
	"github.com/earshot-dev/earshot/internal/cli"
)

// commands creates the commands of one program.
type commands struct{ *cli.Program }

// Commands returns the commands about the protocol.
func Commands(p *cli.Program) []cli.Command {
	m := &commands{p}
	return []cli.Command{
		{Name: "validate", New: m.validateCommand},
		{Name: "capture", New: m.captureCommand},
		{Name: "replay", New: m.replayCommand},
		{Name: "schema", New: m.schemaCommand},
		{Name: "conform", New: m.conformCommand},
		{Name: "manifest", New: m.manifestCommand},
	}
}
