package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manualPage returns the command's manual page in roff, as man reads it.
func manualPage(c *cobra.Command, day time.Time) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".nh\n.TH \"%s\" \"1\" \"%s\" \"earshot\" \"User Commands\"\n", roff(strings.ToUpper(pageName(c))), day.Format("Jan 2006"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(strings.ReplaceAll(c.Short, "`", "")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(c.UseLine()))
	b.WriteString(".SH DESCRIPTION\n" + paragraphs(c.Long, c.Short))
	b.WriteString(options("OPTIONS", c.NonInheritedFlags()) + options("OPTIONS INHERITED FROM PARENT COMMANDS", c.InheritedFlags()))
	if c.Example != "" {
		b.WriteString(".SH EXAMPLE\n" + asIs(c.Example))
	}
	if names := related(c); len(names) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(names, ",\n") + "\n")
	}
	return b.String()
}

// pageName returns the name of the command's page, such as earshot-token-add.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// inHelp returns the commands below one that help lists.
func inHelp(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(below *cobra.Command) bool {
		return !below.IsAvailableCommand() || below.IsAdditionalHelpTopicCommand()
	})
}

// related returns the pages of the commands above and below.
func related(c *cobra.Command) []string {
	pages := inHelp(c)
	if c.HasParent() {
		pages = append([]*cobra.Command{c.Parent()}, pages...)
	}
	names := make([]string, len(pages))
	for i, page := range pages {
		names[i] = `\fB` + roff(pageName(page)) + `\fP(1)`
	}
	return names
}

// paragraphs returns the text, or the other one if it is empty, with lines that are indented as they are.
func paragraphs(text, otherwise string) string {
	if text == "" {
		text = otherwise
	}
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, " ") {
			b.WriteString(asIs(paragraph))
			continue
		}
		if title, is := strings.CutPrefix(paragraph, "#### "); is { // in cobra's help about completion
			b.WriteString(".SS " + roff(title) + "\n")
			continue
		}
		b.WriteString(bold(roff(paragraph)) + "\n")
	}
	return b.String()
}

// options returns the section of the flags that help lists, or nothing.
func options(title string, flags *pflag.FlagSet) string {
	if !flags.HasAvailableFlags() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		name, value := `\fB`+roff("--"+f.Name)+`\fP`, "="+f.DefValue
		if f.Shorthand != "" {
			name = `\fB` + roff("-"+f.Shorthand) + `\fP, ` + name
		}
		if f.Value.Type() == "string" {
			value = fmt.Sprintf("=%q", f.DefValue)
		}
		if f.NoOptDefVal != "" {
			value = "[" + value + "]"
		}
		fmt.Fprintf(&b, ".TP\n%s%s\n%s\n", name, roff(value), bold(roff(f.Usage)))
	})
	return b.String()
}

// asIs returns lines that keep their ends.
func asIs(lines string) string { return ".EX\n" + roff(lines) + "\n.EE\n" }

// roff returns the text without anything that roff would take as a request.
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

// bold returns the text with what stands between two backticks in bold instead.
func bold(text string) string {
	parts := strings.Split(text, "`")
	for i := 1; i+1 < len(parts); i += 2 {
		parts[i] = `\fB` + parts[i] + `\fP`
	}
	return strings.Join(parts, "")
}
