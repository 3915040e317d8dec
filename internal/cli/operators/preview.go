package operators

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
)

// previewFlag lets an operator preview a tool's question with their own arguments.
func previewFlag(c *cobra.Command, args *string) {
	c.Flags().StringVar(args, "args", "", "arguments, as a JSON object, to preview the question with (default an example made of the parameters)")
}

// previewArgs parses the flag; it returns nil if the flag is not given.
func previewArgs(flag string) (jsontext.Value, error) {
	args := jsontext.Value(flag)
	if flag != "" && (!args.IsValid() || args.Kind() != '{') {
		return nil, cause.Misuse(fmt.Sprintf("--args is %.80q; it takes a JSON object", flag), `for example --args '{"root":"/a/folder"}'`)
	}
	return args, nil
}
