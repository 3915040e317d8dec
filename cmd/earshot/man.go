package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *Main) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a manual page for each command into a folder",
		Hidden: true,
		Args:   usage.One("the folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everybody
				return cause.Fail(err, "the folder cannot be made", "name another one")
			}
			return m.manual(args[0])
		},
	}
}

// manual writes the manual page of each command, dated by SOURCE_DATE_EPOCH if that is set.
func (m *Main) manual(folder string) error {
	root := m.command()
	root.DisableAutoGenTag = true
	forAnybody(root)
	err := doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{
		Path: folder, CommandSeparator: "-", Header: &doc.GenManHeader{Section: "1", Source: "earshot", Manual: "User Commands"},
	})
	if err != nil {
		return cause.Fail(err, "the pages cannot be written", "name another folder")
	}
	return nil
}

// forAnybody removes defaults that are specific to the person who generates the pages, from a command and its
// subcommands.
func forAnybody(c *cobra.Command) {
	if person := c.Flags().Lookup("person"); person != nil {
		person.DefValue = ""
	}
	for _, below := range c.Commands() {
		forAnybody(below)
	}
}
