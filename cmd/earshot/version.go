package main

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *Main) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  usage.None,
		RunE: func(*cobra.Command, []string) error {
			b := build.This()
			if asJSON {
				return json.MarshalWrite(m.Stdout, b, jsontext.Multiline(true))
			}
			if _, err := fmt.Fprintf(m.Stdout, "earshot %s %s %s\n", b.Version, b.Go, b.Platform); err != nil {
				return cause.Fail(err, "the version could not be written", "")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}
