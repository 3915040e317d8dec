package main

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/narrate"
)

// previewFlag lets an operator hear a tool's question with arguments of their own.
func previewFlag(c *cobra.Command, args *string) {
	c.Flags().StringVar(args, "args", "", "arguments, as a JSON object, to preview the question with (default an example made of the parameters)")
}

// previewArgs are the arguments of the flag; none where it was not given.
func previewArgs(flag string) (jsontext.Value, error) {
	args := jsontext.Value(flag)
	if flag != "" && (!args.IsValid() || args.Kind() != '{') {
		return nil, cause.Misuse(fmt.Sprintf("--args is %.80q; it takes a JSON object", flag), `for example --args '{"root":"/a/folder"}'`)
	}
	return args, nil
}

// preview says how a tool is asked for once it is reviewed.
func (m *Main) preview(t api.ToolDetail, args jsontext.Value) error {
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		return cause.Fail(err, "the question cannot be previewed", "")
	}
	p := narrator.Preview(t.Definition, classOr("", t), riskOr("", t), args)
	m.sayf("Once reviewed, with the arguments %s, it is asked for like this:", legible.Value(cause.OneLine(string(p.Args))))
	m.sayf("  %s", legible.Line(strings.TrimSuffix(p.Action, ".")+"."))
	m.sayf("  What happens: %s", legible.Line(p.Consequence))
	if p.Hint != "" {
		m.sayf("  Hint: %s", legible.Line(p.Hint))
	}
	if p.Doing != "" {
		m.sayf("When it starts: %s", legible.Line(p.Doing))
	}
	if !p.Own {
		m.sayf("It brings no sentence of its own, so its name, its description and its values are said.")
	}
	for _, path := range p.Covers {
		m.sayf("It claims that its sentence stands for all of %s, however many: nobody has to read those values before a yes.", legible.Value(path))
	}
	return nil
}
