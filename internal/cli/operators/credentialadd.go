package operators

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/credentialfile"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/tool/settings"
)

// addFlags are the flags of `earshot credential add`.
type addFlags struct {
	local cli.LocalFlags
	role  string
	tools []string
}

func (m *commands) credentialAddCommand() *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add NAME --role tool|agent|operator|foreign",
		Short: "Make the credentials of a tool service, an agent, an operator or a third-party peer, and say where they are",
		Long: `Make credentials, and say where they are. A server that runs lets them in at once.

A tool service registers tools whose names begin with NAME and a dot. With --tools it may register others
too; where there are credentials of NAME already, that adds to their list and leaves their secrets as they are.
A name belongs to one of them only, and what the operator's own file serves (` + "`earshot up --tools`" + `) to none.`,
		Example: "  earshot credential add words --role tool\n  earshot credential add words --role tool --tools word_count,word_sum\n  earshot credential add me --role operator",
		Args:    usage.One("a name: of a tool service, what its tools' names begin with"),
		RunE: func(c *cobra.Command, args []string) error {
			kind, err := credentialfile.Kind(f.role, "add --role tool for a tool service")
			if err != nil {
				return err
			}
			return m.addCredential(c.Context(), bus.Principal{Kind: kind, Name: args[0]}, f)
		},
	}
	c.Flags().StringVar(&f.role, "role", "", "what they are for: "+credentialfile.RoleNames)
	c.Flags().StringSliceVar(&f.tools, "tools", nil, "names of tools that the service may register beside NAME.…, for the roles tool and foreign")
	f.local.Add(c, "")
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(slices.Sorted(maps.Keys(credentialfile.Roles())), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (m *commands) addCredential(ctx context.Context, who bus.Principal, f addFlags) error {
	files, err := m.credentials(f.local.Data)
	if err != nil {
		return err
	}
	change, err := files.Add(who, f.tools)
	if err != nil {
		return err
	}
	if err := change.Write(); err != nil {
		return cause.Fail(err, "the credentials cannot be kept", "make room, or use another folder with --data DIR")
	}
	told, err := m.reloadServer(ctx, f.local.Data, files)
	if err != nil {
		return cause.Fail(nil, "the credentials of "+who.String()+" are made ("+cause.OneLine(files.File(who))+"), and the server that runs has not taken them up: "+cause.Of(err),
			"they count from its next start")
	}
	for _, r := range told.Answer.Refused {
		if r.File == filepath.Base(files.File(who)) {
			change.Revert()
			return cause.Misuse("the server that runs does not take them: "+r.Message, r.Hint)
		}
	}
	m.Printf("Credentials of %s: %s", who, cause.OneLine(files.File(who)))
	if tools := change.Credentials.Tools; len(tools) > 0 {
		m.Printf("Tools that it may register beside %s.…: %s", who.Name, strings.Join(tools, ", "))
	}
	m.Printf("%s Anyone who can read the file can act as %s.", told.Counts(), who)
	m.printRefused(told.Answer)
	return nil
}

// reloadServer makes the server of the data directory, if there is one, reload the credential files.
func (m *commands) reloadServer(ctx context.Context, dataFlag string, files credentialfile.Dir) (credentialfile.Reload, error) {
	if !cli.ServerAt(filepath.Dir(files.Path)) {
		return credentialfile.Reload{}, nil
	}
	remote, err := m.Dial(ctx, cli.ServerFlags{DataFlag: dataFlag}, "earshot-credential")
	if err != nil {
		return credentialfile.Reload{}, err
	}
	answer, err := remote.ReloadCredentials(ctx)
	return credentialfile.Reload{Running: true, Answer: answer}, cli.ServerFailure(err)
}

// printRefused lists the other files that the server has refused.
func (m *commands) printRefused(answer api.Credentials) {
	for _, r := range answer.Refused {
		m.Notef("Not taken up: %s: %s", cause.OneLine(r.File), cause.OneLine(r.Message))
	}
}

func (m *commands) credentialRevokeCommand() *cobra.Command {
	var (
		role string
		f    cli.LocalFlags
	)
	c := f.Add(&cobra.Command{
		Use:   "revoke NAME [--role tool|agent|operator|foreign]",
		Short: "Take credentials away; a server that runs cuts their connections at once",
		Args:  usage.One("the name of the credentials"),
		RunE: func(c *cobra.Command, args []string) error {
			kind, err := credentialfile.Kind(role, "see `earshot credential list`")
			if err != nil {
				return err
			}
			return m.revokeCredential(c.Context(), bus.Principal{Kind: kind, Name: args[0]}, f.Data)
		},
	}, "")
	c.Flags().StringVar(&role, "role", "tool", "what they are for: "+credentialfile.RoleNames)
	return c
}

// noCredentials is the error for a name that no credentials of its kind have.
func noCredentials(files credentialfile.Dir, who bus.Principal) error {
	all, _ := files.All() // where it fails, no similar name is known
	var names []string
	for _, one := range all {
		if one.Principal.Kind == who.Kind {
			names = append(names, one.Principal.Name)
		}
	}
	return cause.Fail(nil, "there are no credentials of "+cause.OneLine(who.String()), settings.Suggest(who.Name, names, "see `earshot credential list`"))
}

func (m *commands) revokeCredential(ctx context.Context, who bus.Principal, dataFlag string) error {
	files, err := m.credentials(dataFlag)
	if err != nil {
		return err
	}
	switch err := files.Remove(who); {
	case errors.Is(err, credentialfile.ErrNone):
		return noCredentials(files, who)
	case err != nil:
		return err
	}
	t, err := m.reloadServer(ctx, dataFlag, files)
	if err != nil {
		return cause.Fail(nil, "the file of "+who.String()+" is removed, and the server that runs has not been told: "+cause.Of(err),
			"it lets them in until it is started again: end it now")
	}
	if t.Running && t.Answer.URL != "" {
		m.Printf("The credentials of %s are revoked, and its connections are cut.", who)
	} else {
		m.Printf("The credentials of %s are revoked.", who)
	}
	m.printRefused(t.Answer)
	return nil
}
