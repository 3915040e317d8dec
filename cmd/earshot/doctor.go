package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/cli/gateways"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/internal/doctor"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *Main) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is there and what is missing, one line each",
		Long: `Look at everything that the program needs, and say what is there and what is missing, one
line each, with a hint where something can be done; the last line says how it stands, and
what to mend first. The ledger is read through, the key and the counter are read, and a
file is written to the data directory and removed again. All else is left as it is, also
beside a server that works with it.

Exit codes: 0 nothing stands in the way; 1 there is a problem.`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error {
			all := m.examine(c.Context(), c.Flags())
			code := cli.ExitDone
			for _, f := range all {
				if f.State == doctor.Problem {
					code = cli.ExitFailed
				}
			}
			if asJSON {
				if err := m.WriteJSON(all); err != nil {
					return err
				}
			} else {
				m.report(all)
			}
			if code != cli.ExitDone {
				return &cli.ExitError{Code: code}
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.String("data", "", cli.DataUsage)
	flags.String("policy", "", "YAML file with the operator's rules, to look at too")
	flags.StringArray("tools", nil, "YAML file with commands or HTTP operations, to look at as \"up\" would; may be given several times")
	flags.StringArray("root", nil, "folder to look at as \"up\" would; may be given several times")
	flags.String("ledger", "", "PostgreSQL database to look at, as \"up\" would use it")
	flags.String(config.Flag, "", "YAML file with the settings of \"up\", to look at too")
	cli.MarkPaths(c, []string{"root", "data"}, []string{"policy", "tools", config.Flag})
	flags.BoolVar(&asJSON, "json", false, "write the list as JSON")
	c.AddCommand(gateways.DoctorCommand(&m.Program))
	return c
}

func (m *Main) report(all []doctor.Finding) {
	for _, f := range all {
		line := f.State + ": " + f.Name + ": " + cause.OneLine(f.Found)
		if f.Advice != "" {
			line += " hint: " + cause.OneLine(f.Advice)
		}
		m.Printf("%s", line)
	}
	m.Printf("%s", doctor.Conclusion(all))
}

// examine checks everything as `up` would find it with these flags.
func (m *Main) examine(ctx context.Context, given *pflag.FlagSet) []doctor.Finding {
	b := build.This()
	var f upFlags
	flags := m.upCommandInto(&f).Flags()
	given.Visit(func(f *pflag.Flag) { copyFlag(flags, f) })
	from, err := config.Fill(flags, m.Getenv)
	o := doctor.Options{
		Program: fmt.Sprintf("earshot %s, %s, %s.", b.Version, b.Go, b.Platform),
		Config:  from, ConfigErr: err, SettingsErr: m.serverOptions(f).Check(),
		HTTP: f.http, HTTPS: address.HTTPS{Address: f.https, Cert: f.tlsCert, Key: f.tlsKey, PageURL: f.pageURL},
		Ledger: f.ledger, Policy: f.policy, Tools: f.tools, Roots: f.roots, Typed: cli.IsTerminal(m.Stdin), Serves: cli.ServerAt,
		Now: m.Now, LookupEnv: m.LookupEnv, Logger: m.Logger(false),
	}
	o.Data, o.DataErr = m.DataPath(f.dataFlag, false)
	o.Folder = func(root string) (string, error) {
		resolved, err := resolve(root)
		if err == nil {
			err = apart(resolved, o.Data)
		}
		return resolved, err
	}
	o.Provider = m.serverOptions(f).AskProvider
	o.Dial = func(ctx context.Context) (doctor.Server, error) {
		remote, err := m.Dial(ctx, cli.ServerFlags{DataFlag: o.Data}, "earshot-doctor")
		return examined{remote}, err
	}
	return doctor.Examine(ctx, o)
}

// examined is a server whose refusals have the hints of this command line.
type examined struct{ *client.Client }

// Questions implements doctor.Server.
func (e examined) Questions(ctx context.Context) ([]api.OpenQuestion, error) {
	open, err := e.PeekQuestions(ctx)
	return open, cli.ServerFailure(err)
}

// copyFlag copies the value of a flag to another set, if that has such a flag.
func copyFlag(flags *pflag.FlagSet, f *pflag.Flag) {
	if flags.Lookup(f.Name) == nil {
		return
	}
	values := []string{f.Value.String()}
	if list, is := f.Value.(pflag.SliceValue); is {
		values = list.GetSlice()
	}
	for _, value := range values {
		_ = flags.Set(f.Name, value) // the value was valid for a flag of the same kind
	}
}
