package operators

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
)

func (m *commands) tokenCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke tokens, which let programs and other people in",
		Long: `Tokens let programs and other people in at the server's API. They are kept as hashes
in the data directory; what they are made of is shown once, when they are made. All of
this works with the server running or not: it takes notice within a second, and ends
the streams of a token that is revoked.

Roles:
  listener  hears the sessions of its person, and of the --owner it is given
  approver  answers questions there, starts turns and stops them
  auditor   hears every session and changes nothing
  operator  hears every session, starts turns and stops any
  agent     asks for calls; never hears or approves
  tool      carries calls out; never hears or approves`,
		Args: usage.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.tokenAddCommand(), m.tokenListCommand(), m.tokenRevokeCommand())
	return c
}

// tokens opens the token file of a data directory, which is created if necessary.
func (m *commands) tokens(dataFlag string) (*access.Store, error) {
	path, err := m.DataPath(dataFlag, false)
	if err != nil {
		return nil, err
	}
	if err := datadir.Make(path); err != nil {
		return nil, err
	}
	return instance.OpenAccess(path, m.Now)
}

func (m *commands) tokenAddCommand() *cobra.Command {
	var (
		n     access.NewToken
		roles []string
		f     cli.LocalFlags
	)
	c := f.Add(&cobra.Command{
		Use:   "add NAME --role ROLE",
		Short: "Make a token and show it, this once",
		Example: `  earshot token add phone --role approver --person anna
  (umask 077; earshot token add bot --role operator > bot.token)`,
		Args: usage.One("a name for the token"),
		RunE: func(c *cobra.Command, args []string) error {
			store, err := m.tokens(f.Data)
			if err != nil {
				return err
			}
			n.Name = args[0]
			if machine := slices.Contains(roles, string(access.Agent)) || slices.Contains(roles, string(access.Tool)); machine && !c.Flags().Changed("person") {
				n.Person = n.Name // a program acts for itself; a person with an agent's token could no longer approve anything
			}
			for _, r := range roles {
				n.Roles = append(n.Roles, access.Role(r))
			}
			secret, t, err := store.Add(n)
			if err != nil {
				return instance.AccessFailure(err)
			}
			if f.AsJSON {
				return m.WriteJSON(struct {
					tokenRow
					Token string `json:"token"`
				}{rowOf(t), secret})
			}
			m.Notef("Token %s: %s", cause.OneLine(t.Name), cause.OneLine(t.Describe()))
			m.Notef("Keep it where only %s can read it; it is not shown again.", t.Person)
			_, _ = fmt.Fprintln(m.Stdout, secret) // on one line, for copying
			return nil
		},
	}, "write it as JSON")
	flags := c.Flags()
	flags.StringSliceVar(&roles, "role", nil, "what it may do; may be given several times")
	flags.StringVar(&n.Person, "person", instance.LocalUser(), "whose token it is: who hears, answers and owns turns with it (of an agent or tool: NAME)")
	flags.StringSliceVar(&n.Owners, "owner", nil, "somebody else whose sessions it is for as well; * is everybody")
	flags.StringSliceVar(&n.Projects, "project", nil, "project that it is limited to")
	flags.StringVar(&n.Surface, "surface", "", "what receipts call the place where it answers (default its name)")
	_ = c.RegisterFlagCompletionFunc("role", completeRoles) // fails only if the flag does not exist
	return c
}

func completeRoles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	roles := api.Roles()
	names := make([]string, 0, len(roles))
	for _, r := range roles {
		names = append(names, string(r))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// tokenRow is the JSON of a token in lists.
type tokenRow struct {
	Name     string        `json:"name"`
	Person   string        `json:"person"`
	Roles    []access.Role `json:"roles"`
	Owners   []string      `json:"owners,omitzero"`
	Projects []string      `json:"projects,omitzero"`
	Surface  string        `json:"surface"`
	Created  time.Time     `json:"created"`

	token access.Token
}

func rowOf(t access.Token) tokenRow {
	return tokenRow{Name: t.Name, Person: t.Person, Roles: t.Roles, Owners: t.Owners, Projects: t.Projects, Surface: t.Surface, Created: t.Created, token: t}
}

func (m *commands) tokenListCommand() *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use:   "list",
		Short: "List the tokens, oldest first, without what they are made of",
		Args:  usage.None,
		RunE: func(*cobra.Command, []string) error {
			store, err := m.tokens(f.Data)
			if err != nil {
				return err
			}
			all, err := store.List()
			if err != nil {
				return instance.AccessFailure(err)
			}
			rows := make([]tokenRow, 0, len(all))
			for _, t := range all {
				rows = append(rows, rowOf(t))
			}
			return cli.ListRows(m.Program, f.AsJSON, rows, "There are no tokens.", func(r tokenRow) string {
				t := r.token
				return fmt.Sprintf("Token %s: %s Made %s.", cause.OneLine(t.Name), cause.OneLine(t.Describe()), m.TimeText(t.Created))
			})
		},
	}, "write the list as JSON")
}

// noToken is the error for a name that no token has.
func noToken(store *access.Store, name string, err error) error {
	all, _ := store.List() // where it fails, no similar name is known
	names := make([]string, 0, len(all))
	for _, t := range all {
		names = append(names, t.Name)
	}
	return &cause.Error{Message: cause.Of(err), Hint: settings.Suggest(name, names, "see `earshot token list`"), Err: err}
}

func (m *commands) tokenRevokeCommand() *cobra.Command {
	var f cli.LocalFlags
	return f.Add(&cobra.Command{
		Use:   "revoke NAME",
		Short: "Take a token away; its streams end within a second",
		Args:  usage.One("the name of the token"),
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := m.tokens(f.Data)
			if err != nil {
				return err
			}
			t, err := store.Revoke(args[0])
			if errors.Is(err, access.ErrNotFound) {
				return noToken(store, args[0], err)
			}
			if err != nil {
				return instance.AccessFailure(err)
			}
			m.Printf("Token %s is revoked.", cause.OneLine(t.Name))
			return nil
		},
	}, "")
}
