package main

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

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
	day := time.Now()
	if epoch := m.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return cause.Fail(err, "SOURCE_DATE_EPOCH is not a number of seconds", "correct or unset it")
		}
		day = time.Unix(seconds, 0)
	}
	root := m.command()
	forAnybody(root)
	if err := manualPages(root, folder, day); err != nil {
		return cause.Fail(err, "the pages cannot be written", "name another folder")
	}
	return nil
}

// manualPages writes the page of the command and of each one below it that help lists.
func manualPages(c *cobra.Command, folder string, day time.Time) error {
	for _, below := range inHelp(c) {
		if err := manualPages(below, folder, day); err != nil {
			return err
		}
	}
	file := filepath.Join(folder, pageName(c)+".1")
	return os.WriteFile(file, []byte(manualPage(c, day)), 0o644) //nolint:gosec,wrapcheck // manual pages are for everybody; the caller says what failed
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
