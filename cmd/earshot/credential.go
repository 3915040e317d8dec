package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/bus"
)

// credentialDir holds a file for each process that comes to the bus from outside.
const credentialDir = "credentials"

func (m *Main) credentialCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "credential",
		Short: "Make, list and revoke credentials for tool services and agents of your own",
		Long: `Credentials let a tool service or an agent of yours, in a process of its own, come to the message bus of
` + "`earshot up --nats-listen`" + `. Each is a file in the data directory, which nobody else may read:
hand it to the service with EARSHOT_CREDENTIALS. A new one, and one that is revoked, counts from
the next start of ` + "`earshot up`" + `, which also writes into it where the bus is.

Roles:
  tool      serves the tools whose names begin with NAME and a dot
  agent     works on the turns of the agent NAME
  operator  sees which services there are and how they do, with ` + "`nats micro ls`" + `
  foreign   speaks UTP v1r4 as it is: an agent NAME, a tool service NAME, or both, of another make

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
	if err := makeData(path); err != nil {
		return credentials{}, err
	}
	return credentials{filepath.Join(path, credentialDir)}, nil
}

func (c credentials) file(p bus.Principal) string {
	return filepath.Join(c.folder, string(p.Kind)+"."+p.Name+".json")
}

// all are those that there are, by name.
func (c credentials) all() ([]bus.Credentials, error) {
	files, err := filepath.Glob(filepath.Join(c.folder, "*.json"))
	if err != nil {
		return nil, failed(err, "the credentials cannot be listed", "")
	}
	slices.Sort(files)
	all := make([]bus.Credentials, 0, len(files))
	for _, path := range files {
		one, err := bus.ReadCredentials(path)
		if err != nil {
			return nil, failed(nil, why(err), "revoke them with `earshot credential revoke`, or remove "+path+", and make new ones")
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
	return writeWhole(c.file(one.Principal), append(raw, '\n'))
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

// namesake is who would hear the messages of one and the same name beside a peer of another make,
// which may be an agent and a tool service: of the two only one can be there.
func (c credentials) namesake(who bus.Principal) (bus.Principal, bool) {
	var rivals []bus.Kind
	switch who.Kind {
	case bus.Foreign:
		rivals = []bus.Kind{bus.Agent, bus.Tool}
	case bus.Agent, bus.Tool:
		rivals = []bus.Kind{bus.Foreign}
	case bus.Hub, bus.Operator:
	}
	for _, kind := range rivals {
		other := bus.Principal{Kind: kind, Name: who.Name}
		if slices.Contains(residents(), other) || exists(c.file(other)) {
			return other, true
		}
	}
	return bus.Principal{}, false
}

func (m *Main) credentialAddCommand() *cobra.Command {
	var role, dataFlag string
	c := &cobra.Command{
		Use:     "add NAME --role tool|agent|operator|foreign",
		Short:   "Make the credentials of a tool service, an agent, an operator or a peer of another make, and say where they are",
		Example: "  earshot credential add words --role tool\n  earshot credential add me --role operator",
		Args:    oneName("a name: of a tool service, what its tools' names begin with"),
		RunE: func(_ *cobra.Command, args []string) error {
			kind, known := outside()[role]
			if !known {
				return usage("the role is "+quotedOr(role, "missing")+"; expected "+roleNames, "add --role tool for a tool service")
			}
			who := bus.Principal{Kind: kind, Name: args[0]}
			if slices.Contains(residents(), who) {
				return usage("the program itself is "+who.String(), "choose another name")
			}
			files, err := m.credentials(dataFlag)
			if err != nil {
				return err
			}
			if other, taken := files.namesake(who); taken {
				return usage("there is "+other.String()+" already, whose messages "+who.String()+" would hear", "choose another name")
			}
			if exists(files.file(who)) {
				return usage("there are credentials of "+who.String()+" already: "+files.file(who), "use them, or revoke them first")
			}
			one, err := bus.NewCredentials(rand.Reader, project, who)
			if err != nil {
				return usage(why(err), "choose another name; of a tool service it is what stands before the dot in its tools' names")
			}
			if err := files.write(one); err != nil {
				return failed(err, "the credentials cannot be kept", "make room, or use another folder with --data DIR")
			}
			m.sayf("Credentials of %s: %s", who, oneLine(files.file(who)))
			m.sayf("They count from the next start of `earshot up --nats-listen ADDRESS`. Whoever can read the file can act as %s.", who)
			return nil
		},
	}
	c.Flags().StringVar(&role, "role", "", "what they are for: "+roleNames)
	c.Flags().StringVar(&dataFlag, "data", "", dataUsage)
	markPaths(c, []string{"data"}, nil)
	_ = c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(slices.Sorted(maps.Keys(outside())), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func quotedOr(s, none string) string {
	if s == "" {
		return none
	}
	return fmt.Sprintf("%q", oneLine(s))
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
				Role string `json:"role"`
				Name string `json:"name"`
				File string `json:"file"`
				URL  string `json:"url,omitzero"`
			}
			rows := make([]row, 0, len(all))
			for _, one := range all {
				rows = append(rows, row{string(one.Principal.Kind), one.Principal.Name, files.file(one.Principal), one.URL})
			}
			if asJSON {
				return m.writeJSON(rows)
			}
			if len(rows) == 0 {
				m.sayf("There are no credentials.")
			}
			for _, r := range rows {
				m.sayf("Credentials of %s/%s: %s", r.Role, r.Name, oneLine(r.File))
			}
			return nil
		},
	}
	c.Flags().StringVar(&dataFlag, "data", "", dataUsage)
	markPaths(c, []string{"data"}, nil)
	c.Flags().BoolVar(&asJSON, "json", false, "write the list as JSON")
	return c
}

func (m *Main) credentialRevokeCommand() *cobra.Command {
	var role, dataFlag string
	c := &cobra.Command{
		Use:   "revoke NAME [--role tool|agent|operator|foreign]",
		Short: "Take credentials away, from the next start of `earshot up`",
		Args:  oneName("the name of the credentials"),
		RunE: func(_ *cobra.Command, args []string) error {
			kind, known := outside()[role]
			if !known {
				return usage("the role is "+quotedOr(role, "missing")+"; expected "+roleNames, "see `earshot credential list`")
			}
			files, err := m.credentials(dataFlag)
			if err != nil {
				return err
			}
			who := bus.Principal{Kind: kind, Name: args[0]}
			if strings.ContainsAny(who.Name, "/.") {
				return usage("there are no credentials of "+oneLine(who.String()), "see `earshot credential list`")
			}
			switch err := os.Remove(files.file(who)); {
			case errors.Is(err, fs.ErrNotExist):
				return usage("there are no credentials of "+oneLine(who.String()), "see `earshot credential list`")
			case err != nil:
				return failed(err, "the credentials cannot be removed", "")
			}
			m.sayf("The credentials of %s are revoked. A server that is up lets them in until it is started again.", who)
			return nil
		},
	}
	c.Flags().StringVar(&role, "role", "tool", "what they are for: "+roleNames)
	c.Flags().StringVar(&dataFlag, "data", "", dataUsage)
	markPaths(c, []string{"data"}, nil)
	return c
}
