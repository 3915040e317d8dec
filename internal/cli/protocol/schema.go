package protocol

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/schemas"
)

func (m *commands) schemaCommand() *cobra.Command {
	var asJSON, markdown bool
	var folder string
	c := &cobra.Command{
		Use:   "schema [TYPE]",
		Short: "Print the JSON Schema of an AAEP message",
		Long: `Print the JSON Schema (2020-12) of one AAEP message, or list them all.

TYPE is a type such as aaep:agent.tool.invoked, or its name without the namespace.
A schema is whole: a validator needs nothing else. It says what a sender must keep to,
as far as JSON Schema can; what it cannot say it names by its rules.`,
		Example: `  earshot schema
  earshot schema confirmation.reply
  earshot schema --all schemas/`,
		Args:              atMostOneName("the type of a message"),
		ValidArgsFunction: completeNames,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case markdown:
				return m.Write(string(aaep.Reference()))
			case folder != "":
				return schemas.Write(folder, func(file string) { m.Printf("%s", file) })
			case len(args) == 1:
				raw, err := schemas.Of(args[0])
				if err != nil {
					return err
				}
				return m.Write(string(raw))
			default:
				return m.schemaList(asJSON)
			}
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "list them as JSON, one object a line")
	c.Flags().BoolVar(&markdown, "markdown", false, "print the reference of all fields as Markdown")
	c.Flags().StringVar(&folder, "all", "", "write all schemas into the folder `DIR`, a file for each")
	c.MarkFlagsMutuallyExclusive("json", "markdown", "all")
	return c
}

func atMostOneName(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		given := len(args)
		for _, flag := range []string{"json", "markdown", "all"} {
			if c.Flags().Changed(flag) && given > 0 {
				return cause.Misuse("found "+what+" beside --"+flag+", expected one of the two", "see `"+c.CommandPath()+" --help`")
			}
		}
		if given > 1 {
			return cause.Misuse(fmt.Sprintf("found %d names, expected at most one: %s", given, what), "see `"+c.CommandPath()+" --help`")
		}
		return nil
	}
}

func completeNames(_ *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, e := range schemas.All() {
		for _, name := range []string{e.Name, e.Type} {
			if len(args) == 0 && name != "" && strings.HasPrefix(name, begin) {
				names = append(names, name+"\t"+e.Description)
			}
			if e.Name == e.Type {
				break
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (m *commands) schemaList(asJSON bool) error {
	var out strings.Builder
	for _, e := range schemas.All() {
		if !asJSON {
			fmt.Fprintf(&out, "%s: %s\n", e.Name, e.Description)
			continue
		}
		line, err := json.Marshal(e)
		if err != nil {
			return cause.Fail(err, "the list cannot be written", "")
		}
		out.Write(append(line, '\n'))
	}
	return m.Write(out.String())
}
