package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
)

// credentialDir holds a file for each process that comes to the bus from outside.
const credentialDir = "credentials"

func (m *Main) credentialCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "credential",
		Short: "Make, list and revoke credentials for tool services and agents of your own",
		Long: `Credentials let a tool service or an agent of yours, in a process of its own, come to the message bus of
` + "`earshot up --nats-listen`" + `. Each is a file in the data directory, which nobody else may read:
hand it to the service with EARSHOT_CREDENTIALS. A server that runs takes notice at once: a new one
lets its process in, and one that is revoked has its connections cut. The server also writes into
the file where the bus is.

Roles:
  tool      serves the tools whose names begin with NAME and a dot, and those of --tools
  agent     works on the turns of the agent NAME
  operator  sees which services there are and how they do, with ` + "`nats micro ls`" + `
  foreign   speaks UTP v1r4 as it is: an agent NAME, a tool service NAME, or both, of another make;
            its tools are named like those of a tool service

Programs that speak HTTP use tokens instead, see ` + "`earshot token`" + `.`,
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.credentialAddCommand(), m.credentialListCommand(), m.credentialRevokeCommand())
	return c
}

// credentials are the files of a data directory, which is made if need be.
type credentials struct{ folder string }

func (m *Main) credentials(dataFlag string) (credentials, error) {
	path, err := m.dataPath(dataFlag, false)
	if err != nil {
		return credentials{}, err
	}
	if err := datadir.Make(path); err != nil {
		return credentials{}, err
	}
	return credentials{filepath.Join(path, credentialDir)}, nil
}

func (c credentials) file(p bus.Principal) string {
	return filepath.Join(c.folder, string(p.Kind)+"."+p.Name+".json")
}

// paths are the files that there are, by name.
func (c credentials) paths() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(c.folder, "*.json"))
	if err != nil {
		return nil, cause.Fail(err, "the credentials cannot be listed", "")
	}
	slices.Sort(files)
	return files, nil
}

// all are those that there are, by name.
func (c credentials) all() ([]bus.Credentials, error) {
	files, err := c.paths()
	if err != nil {
		return nil, err
	}
	all := make([]bus.Credentials, 0, len(files))
	for _, path := range files {
		one, err := bus.ReadCredentials(path)
		if err != nil {
			return nil, cause.Fail(nil, cause.Of(err), "revoke them with `earshot credential revoke`, or remove "+path+", and make new ones")
		}
		all = append(all, one)
	}
	return all, nil
}

func (c credentials) write(one bus.Credentials) error {
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of credentials: %w", err)
	}
	raw, err := json.Marshal(one, jsontext.Multiline(true))
	if err != nil {
		return fmt.Errorf("writing credentials: %w", err)
	}
	return datadir.WriteFile(c.file(one.Principal), append(raw, '\n'))
}

// settle writes into every file where the bus is now.
func (c credentials) settle(all []bus.Credentials, url string) error {
	for _, one := range all {
		if one.URL == url {
			continue
		}
		one.URL = url
		if err := c.write(one); err != nil {
			return err
		}
	}
	return nil
}

// outside are the kinds that come from outside, by the words for them.
func outside() map[string]bus.Kind {
	return map[string]bus.Kind{"tool": bus.Tool, "agent": bus.Agent, "operator": bus.Operator, "foreign": bus.Foreign}
}

// roleNames are those words for people to choose from.
const roleNames = "tool, agent, operator or foreign"

// rivals are who would hear the messages of one and the same name beside a peer of another make,
// which may be an agent and a tool service: of the two only one can be there.
func rivals(who bus.Principal) []bus.Principal {
	switch who.Kind {
	case bus.Foreign:
		return []bus.Principal{{Kind: bus.Agent, Name: who.Name}, {Kind: bus.Tool, Name: who.Name}}
	case bus.Agent, bus.Tool:
		return []bus.Principal{{Kind: bus.Foreign, Name: who.Name}}
	case bus.Hub, bus.Operator:
	}
	return nil
}

// namesake is the rival that there is.
func (c credentials) namesake(who bus.Principal) (bus.Principal, bool) {
	for _, other := range rivals(who) {
		if slices.Contains(residents(), other) || datadir.Exists(c.file(other)) {
			return other, true
		}
	}
	return bus.Principal{}, false
}

func quotedOr(s, none string) string {
	if s == "" {
		return none
	}
	return fmt.Sprintf("%q", cause.OneLine(s))
}

func (m *Main) credentialListCommand() *cobra.Command {
	var (
		dataFlag string
		asJSON   bool
	)
	c := &cobra.Command{
		Use:   "list",
		Short: "List the credentials, without their secrets",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			files, err := m.credentials(dataFlag)
			if err != nil {
				return err
			}
			all, err := files.all()
			if err != nil {
				return err
			}
			type row struct {
				Role  string   `json:"role"`
				Name  string   `json:"name"`
				File  string   `json:"file"`
				URL   string   `json:"url,omitzero"`
				Tools []string `json:"tools,omitzero"`
			}
			rows := make([]row, 0, len(all))
			for _, one := range all {
				rows = append(rows, row{string(one.Principal.Kind), one.Principal.Name, files.file(one.Principal), one.URL, one.Tools})
			}
			if asJSON {
				return m.writeJSON(rows)
			}
			if len(rows) == 0 {
				m.sayf("There are no credentials.")
			}
			for _, r := range rows {
				m.sayf("Credentials of %s/%s: %s", r.Role, r.Name, cause.OneLine(r.File))
				if len(r.Tools) > 0 {
					m.sayf("  Tools beside %s.…: %s", r.Name, strings.Join(r.Tools, ", "))
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&dataFlag, "data", "", dataUsage)
	markPaths(c, []string{"data"}, nil)
	c.Flags().BoolVar(&asJSON, "json", false, "write the list as JSON")
	return c
}
