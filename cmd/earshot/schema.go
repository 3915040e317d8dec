package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/settings"
)

// schemaEntry is one line of the list.
type schemaEntry struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitzero"` // as it stands in the message; the envelope has none
	ID          string `json:"id"`            // of the schema
	Spec        string `json:"spec"`
	Description string `json:"description"`
}

func (m *Main) schemaCommand() *cobra.Command {
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
				return m.write(string(aaep.Reference()))
			case folder != "":
				return m.schemaFiles(folder)
			case len(args) == 1:
				return m.schemaOf(args[0])
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
	for _, e := range schemaEntries() {
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

func schemaEntries() []schemaEntry {
	names := aaep.Names()
	all := make([]schemaEntry, 0, len(names))
	for _, name := range names {
		e := schemaEntry{Name: name, ID: aaep.SchemaID(name), Spec: "§3", Description: "What every event carries, of whatever type."}
		if message, ok := aaep.Describe(name); ok {
			e.Type, e.Spec, e.Description = message.Type, message.Spec, message.Description
		}
		all = append(all, e)
	}
	return all
}

func (m *Main) schemaList(asJSON bool) error {
	var out strings.Builder
	for _, e := range schemaEntries() {
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
	return m.write(out.String())
}

func (m *Main) schemaOf(name string) error {
	raw, err := aaep.Schema(name)
	if err != nil {
		return cause.Misuse(fmt.Sprintf("there is no message %.64q", name), unknownHint(name))
	}
	return m.write(string(raw))
}

func (m *Main) schemaFiles(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // schemas are for everybody
		return cause.Fail(err, "the folder cannot be made", "name another one")
	}
	for _, name := range aaep.Names() {
		raw, err := aaep.Schema(name)
		if err != nil {
			return cause.Fail(err, "the schema cannot be made", "")
		}
		file := name + aaep.SchemaSuffix
		if err := os.WriteFile(filepath.Join(folder, file), raw, 0o644); err != nil { //nolint:gosec // as above
			return cause.Fail(err, "the schema cannot be written", "name another folder")
		}
		m.sayf("%s", file)
	}
	return nil
}

func (m *Main) write(text string) error {
	if _, err := fmt.Fprint(m.Stdout, text); err != nil {
		return cause.Fail(err, "the output could not be written", "")
	}
	return nil
}

// unknownHint names the type that was probably meant, where one is near enough.
func unknownHint(name string) string {
	var known []string
	of := map[string]string{}
	for _, e := range schemaEntries() {
		for _, spelling := range spellings(e) {
			known, of[spelling] = append(known, spelling), e.Name
		}
	}
	if near := settings.Nearest(name, known); near != "" {
		return fmt.Sprintf("the nearest is %s; `earshot schema` lists them all", of[near])
	}
	return "`earshot schema` lists them"
}

// spellings are the ways in which a type may have been meant: whole, without the
// namespace, and by its last words.
func spellings(e schemaEntry) []string {
	all := []string{e.Name, e.Type}
	if _, rest, found := strings.Cut(e.Name, "."); found {
		all = append(all, rest)
	}
	return all
}
