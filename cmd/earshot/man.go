package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/internal/cause"
)

func (m *Main) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a manual page for each command into a folder",
		Hidden: true,
		Args:   oneName("the folder"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everybody
				return cause.Fail(err, "the folder cannot be made", "name another one")
			}
			for _, page := range manual(c.Root()) {
				if err := os.WriteFile(filepath.Join(args[0], page.name), []byte(page.text), 0o644); err != nil { //nolint:gosec // as above
					return cause.Fail(err, "the page cannot be written", "name another folder")
				}
				m.sayf("%s", page.name)
			}
			return nil
		},
	}
}

// manPage is one page in the man macros.
type manPage struct{ name, text string }

// manual makes the page of a command and those of all below it.
func manual(c *cobra.Command) []manPage {
	c.InitDefaultHelpFlag()
	pages := []manPage{{name: manName(c) + ".1", text: manText(c)}}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			pages = append(pages, manual(below)...)
		}
	}
	return pages
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func manText(c *cobra.Command) string {
	var b strings.Builder
	name := manName(c)
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"earshot\" \"User Commands\"\n", strings.ToUpper(name))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", roffText(long))
	if flags := c.NonInheritedFlags(); flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		flags.VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(c.Example))
	}
	if c.HasAvailableSubCommands() || c.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(related(c), ", "))
	}
	return b.String()
}

func manFlag(b *strings.Builder, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, text := pflag.UnquoteUsage(f)
	if value != "" {
		name += " " + value
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0s" && f.Name != "person" {
		text += " (default " + f.DefValue + ")"
	}
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(text))
}

// related names the pages above and below.
func related(c *cobra.Command) []string {
	var names []string
	if c.HasParent() {
		names = append(names, manName(c.Parent()))
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			names = append(names, manName(below))
		}
	}
	for i, name := range names {
		names[i] = ".BR " + roff(name) + " (1)"
	}
	return []string{strings.Join(names, " ,\n")}
}

// roffText keeps paragraphs, and lists as they are written.
func roffText(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains(paragraph, "\n  ") || strings.HasPrefix(paragraph, "  ") {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(paragraph))
			continue
		}
		fmt.Fprintf(&b, ".PP\n%s\n", roff(paragraph))
	}
	return b.String()
}

// roff keeps text from acting on the formatter.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
