package operators

import (
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/auditkey"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) auditKeyCommand() *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use:   "key FILE",
		Short: "Make a key to sign heads of the audit chain with",
		Long: `Make a key (Ed25519) to sign heads of the audit chain with, in a new file that only you can read, and its public half in
FILE.pub. It is not made inside the data directory: ` + auditkey.StorageAdvice + `.`,
		Example: `  earshot audit key /media/keys/heads.pem`,
		Args:    usage.One("the file of the new key"),

		ValidArgsFunction: cli.CompleteFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := m.keyOutside(f.Data, args[0]); err != nil {
				return err
			}
			if err := auditkey.Make(args[0]); err != nil {
				return err
			}
			m.Printf("The key is in %s, its public half in %s.", cause.OneLine(args[0]), cause.OneLine(args[0]+".pub"))
			return m.OutputError()
		},
	}, "")
}

// keyOutside refuses a key in the data directory.
func (m *commands) keyOutside(dataFlag, file string) error {
	data, err := m.DataPath(dataFlag, dataFlag != "")
	if err != nil {
		return nil //nolint:nilerr // Without a data directory, nothing is inside of it.
	}
	return auditkey.Outside(data, file)
}
