package operators

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/usage"
)

// loginRow is the JSON of a login in lists.
type loginRow struct {
	ID      string    `json:"id"`
	Person  string    `json:"person"`
	Browser string    `json:"browser"` // the browser's own name
	Begun   time.Time `json:"begun"`
	Used    time.Time `json:"used"` // the last use, up to five minutes old
	Expires time.Time `json:"expires"`
}

func loginRows(all []access.Login) []loginRow {
	rows := make([]loginRow, 0, len(all))
	for _, l := range all {
		rows = append(rows, loginRow(l))
	}
	return rows
}

func (m *commands) loginsCommand() *cobra.Command {
	c := m.loginsListCommand("logins", "List the browsers and terminals that are logged in, and end their logins")
	c.Long = `List the browsers that are logged in on the page, and the terminals of ` + "`earshot login`" + `, oldest
first: who, in which browser (it says so itself) or terminal, since when, and when it was
last used (up to 5 minutes behind). All of this works with the server running or not.

A login ends by itself after 12 hours, when its browser logs out or logs in again, and
with ` + "`earshot logins end`" + `, which ends its streams within a second.`
	c.Example = `  earshot logins
  earshot logins end 3fa9
  earshot logins end --all`
	c.AddCommand(m.loginsListCommand("list", "List the browsers and terminals that are logged in, oldest first"), m.loginsEndCommand())
	return c
}

func (m *commands) loginsListCommand(name, short string) *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use: name, Short: short, Args: usage.None,
		RunE: func(*cobra.Command, []string) error {
			store, err := m.tokens(f.Data)
			if err != nil {
				return err
			}
			all, err := store.Logins()
			if err != nil {
				return instance.AccessFailure(err)
			}
			return m.listLogins(f, all, "Login")
		},
	}, "write the list as JSON")
}

// listLogins writes logins.
func (m *commands) listLogins(f cli.LocalFlags, all []access.Login, separator string) error {
	return cli.ListRows(m.Program, f.AsJSON, loginRows(all), "No browser is logged in.", func(l loginRow) string {
		return separator + " " + l.ID + ": " + m.Listing().Login(access.Login(l))
	})
}

func (m *commands) loginsEndCommand() *cobra.Command {
	var (
		f   cli.LocalFlags
		all bool
	)
	c := f.Add(&cobra.Command{
		Use:   "end ID | --all",
		Short: "End a login, or all of them; their streams end within a second",
		Long: `End a login, or all of them. An ID is one that ` + "`earshot logins`" + ` lists, or its beginning, as
long as no other begins so. The browser has to log in again; its open page says so.`,
		Example: `  earshot logins end 3fa9
  earshot logins end --all`,
		Args: func(_ *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return cause.Misuse("both an ID and --all are named", "name one of them")
			}
			if !all && (len(args) != 1 || args[0] == "") {
				return cause.Misuse("no login is named", "name it by its ID, as `earshot logins` lists it, or end them all with --all")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			ended, err := m.endLogins(f.Data, args)
			if err != nil {
				return err
			}
			return m.listLogins(f, ended, "Ended: login")
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return m.completeLogins(f.Data, args), cobra.ShellCompDirectiveNoFileComp
		},
	}, "write what was ended as JSON")
	c.Flags().BoolVar(&all, "all", false, "end all logins, of everybody")
	return c
}

// endLogins ends the login that the argument names, or all if there is none.
func (m *commands) endLogins(dataFlag string, args []string) ([]access.Login, error) {
	store, err := m.tokens(dataFlag)
	if err != nil {
		return nil, err
	}
	meant := func(access.Login) bool { return true }
	if len(args) > 0 {
		all, err := store.Logins()
		if err != nil {
			return nil, instance.AccessFailure(err)
		}
		id, err := access.LoginNamed(all, args[0])
		if err != nil {
			return nil, err
		}
		meant = func(l access.Login) bool { return l.ID == id }
	}
	ended, err := store.EndLogins(meant)
	return ended, instance.AccessFailure(err)
}

// completeLogins returns the ids for a shell to complete, each with a description.
func (m *commands) completeLogins(dataFlag string, args []string) []string {
	store, err := m.tokens(dataFlag)
	if err != nil || len(args) > 0 {
		return nil
	}
	all, err := store.Logins()
	if err != nil {
		return nil
	}
	var ids []string
	for _, l := range all {
		ids = append(ids, cobra.CompletionWithDesc(l.ID, cause.OneLine(l.Person)+", "+cli.Shown(l.Browser)))
	}
	return ids
}
