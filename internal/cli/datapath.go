package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
)

// DataPath returns the data directory: the flag, $EARSHOT_DATA, $XDG_DATA_HOME/earshot, or ~/.local/share/earshot.
func (m *Program) DataPath(flag string, given bool) (string, error) {
	if given && flag == "" { // an empty shell variable: it does not mean the default
		return "", cause.Misuse("the name of the data directory is empty", "name a folder, or leave --data out")
	}
	if flag == "" {
		flag = m.Getenv("EARSHOT_DATA")
	}
	if flag != "" {
		path, err := filepath.Abs(flag)
		if err != nil {
			return "", cause.Fail(err, "the data directory cannot be named", "use --data DIR with an absolute path")
		}
		return path, nil
	}
	base := m.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := m.Getenv("HOME")
		if home == "" {
			return "", cause.Fail(nil, "there is no home folder to keep the ledger in", "set EARSHOT_DATA or use --data DIR")
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "earshot"), nil
}

// LocalFlags are the flags of commands that work on the files of a data directory, whether a server runs with it or
// not.
type LocalFlags struct {
	Data   string
	AsJSON bool
}

// Add adds the flags to a command. If written is empty, there is no --json.
func (f *LocalFlags) Add(c *cobra.Command, written string) *cobra.Command {
	c.Flags().StringVar(&f.Data, "data", "", DataUsage)
	MarkPaths(c, []string{"data"}, nil)
	if written != "" {
		c.Flags().BoolVar(&f.AsJSON, "json", false, written)
	}
	return c
}

// ListRows writes rows as JSON, or each as its line or lines; without rows it writes none.
func ListRows[Row any](m *Program, asJSON bool, rows []Row, none string, line func(Row) string) error {
	if asJSON {
		return m.WriteJSON(append([]Row{}, rows...))
	}
	if len(rows) == 0 {
		m.Printf("%s", none)
	}
	for _, row := range rows {
		for part := range strings.SplitSeq(line(row), "\n") {
			m.Printf("%s", part)
		}
	}
	return nil
}

// The help of a --data flag: of commands that work on the folder itself, and of those that find their server by it.
const (
	DataUsage       = "folder of the ledger " + dataDefault
	ServerDataUsage = "data directory of the server " + dataDefault

	dataDefault = "(default $EARSHOT_DATA, else earshot in $XDG_DATA_HOME, else ~/.local/share/earshot)" // what DataPath does
)

// DataFlag returns the flag that names a data directory in a suggested command.
func (m *Program) DataFlag(data string) string {
	if usual, err := m.DataPath("", false); err == nil && usual == data {
		return ""
	}
	return " --data " + cause.Quoted(data)
}
