package operators

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/toolfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

func (m *commands) toolsAddCommand() *cobra.Command {
	c := m.Operated(&cobra.Command{
		Use:   "add FILE|-",
		Short: "Register the tools of a third-party service that does not register them itself",
		Long: `Register the tools of a third-party service. Services of Earshot's kit, and files of tools, register themselves.

The file, or standard input for -, is YAML or JSON: a tool, or a list of them, with tool_name (or name), description,
parameters (a JSON Schema), target_subject, after_execution (suspend or terminate) and options, as CommonGround
describes tools. It may say class and risk. Whatever else it says is left out, and named.

Such a tool is broker-only: Earshot decides whether a call leaves, and nobody holds the service to what it then does. Nobody
has reviewed it. Until that is done, and the policy names it with broker_only where it does more than read, its calls
are denied. The same definition again changes nothing; another one of the same name takes its place, unreviewed.`,
		Example: `  earshot tools add words.yaml
  earshot tools review words.count`,
		Args: usage.One("the file of the definitions, or - for standard input"),
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, args []string) error {
		all, err := m.definitionsIn(args[0])
		if err != nil {
			return err
		}
		return m.addTools(ctx, ask, f, all)
	})
	c.ValidArgsFunction = cli.FileFirst(nil)
	return c
}

func (m *commands) addTools(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, all []utp.Definition) error {
	list := m.NewRows(f.AsJSON)
	for i, definition := range all {
		var t api.ToolDetail
		if err := ask(ctx, api.OpAdd, api.RegisterRequest{Definition: definition}, &t); err != nil {
			if f.AsJSON {
				list.End("")
			}
			return m.notAdded(err, definition, i, len(all))
		}
		if err := list.Add(t, "Recorded: "+listing.ToolLine(t)); err != nil {
			return err
		}
	}
	list.End("There is no tool in it.")
	return nil
}

// notAdded reports which of several definitions failed, and that the ones before it were added.
func (m *commands) notAdded(err error, d utp.Definition, n, of int) error {
	if of > 1 {
		m.Notef("%d of %d tools are recorded; the next one, %s, is not. The same file can be added again.", n, of, cmp.Or(cause.OneLine(d.Tool), "which has no name"))
	}
	return err
}

// definitionsIn reads a file of definitions, or standard input for -.
func (m *commands) definitionsIn(path string) ([]utp.Definition, error) {
	raw, err := m.definitionFile(path)
	if err != nil {
		return nil, cause.Fail(err, cause.OneLine(path)+" cannot be read", "name a file of definitions, or - for standard input")
	}
	return toolfile.Definitions(path, raw, m.Note)
}

func (m *commands) definitionFile(path string) ([]byte, error) {
	if path != "-" {
		return settings.ReadFile(path, settings.MaxFile)
	}
	raw, err := io.ReadAll(io.LimitReader(m.Stdin, settings.MaxFile+1))
	if err == nil && len(raw) > settings.MaxFile {
		err = errors.New("it is larger than 1 MiB")
	}
	return raw, err
}
