package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel/clock"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/toolfile"
)

// finding is one thing that doctor has looked at.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, note or problem
	Found  string `json:"found"`
	Advice string `json:"hint,omitzero"`
}

const (
	stateOK      = "ok"
	stateNote    = "note"
	stateProblem = "problem"
)

func (m *Main) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is there and what is missing, one line each",
		Long: `Look at everything that the program needs, and say what is there and what is missing, one
line each, with a hint where something can be done. The ledger is read through, the key and
the counter are read, and a file is written to the data directory and removed again. All
else is left as it is, also beside a server that works with it.

Exit codes: 0 nothing stands in the way; 1 there is a problem.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			all := m.examine(c.Context(), c.Flags())
			code := exitDone
			for _, f := range all {
				if f.State == stateProblem {
					code = exitFailed
				}
			}
			if asJSON {
				if err := m.writeJSON(all); err != nil {
					return err
				}
			} else {
				m.report(all)
			}
			if code != exitDone {
				return &exitError{code}
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.String("data", "", dataUsage)
	flags.String("policy", "", "YAML file with the operator's rules, to look at too")
	flags.StringArray("tools", nil, "YAML file with commands or HTTP operations, to look at as \"up\" would; may be given several times")
	flags.StringArray("root", nil, "folder to look at as \"up\" would; may be given several times")
	flags.String("ledger", "", "PostgreSQL database to look at, as \"up\" would use it")
	flags.String(config.Flag, "", "YAML file with the settings of \"up\", to look at too")
	markPaths(c, []string{"root", "data"}, []string{"policy", "tools", config.Flag})
	flags.BoolVar(&asJSON, "json", false, "write the list as JSON")
	return c
}

func (m *Main) report(all []finding) {
	for _, f := range all {
		line := f.State + ": " + f.Name + ": " + cause.OneLine(f.Found)
		if f.Advice != "" {
			line += " hint: " + cause.OneLine(f.Advice)
		}
		m.sayf("%s", line)
	}
}

// examine looks at everything, as `up` would find it with these flags.
func (m *Main) examine(ctx context.Context, given *pflag.FlagSet) []finding {
	b := thisBuild()
	all := []finding{{Name: "program", State: stateOK, Found: fmt.Sprintf("earshot %s, %s, %s.", b.Version, b.Go, b.Platform)}}
	all = append(all, m.examineClock())
	var f upFlags
	flags := m.upCommandInto(&f).Flags()
	given.Visit(func(f *pflag.Flag) { copyFlag(flags, f) })
	from, err := config.Fill(flags, m.Getenv)
	all = append(all, examineConfig(from, err))
	if err := m.serverOptions(f).Check(); err != nil {
		all = append(all, broken("settings", err))
	}
	path, err := m.dataPath(f.dataFlag, false)
	if err != nil {
		return append(all, broken("data directory", err))
	}
	all = append(all, m.examineData(ctx, path, f.http)...)
	all = append(all, m.examineCertificate(f)...)
	if f.ledger != "" {
		all = append(all, examineDatabase(ctx, f.ledger))
	}
	all = append(all, examinePolicy(f.policy)...)
	if own := filepath.Join(path, datadir.ToolsFile); datadir.Exists(own) {
		f.tools = append(f.tools, own)
	}
	all = append(all, m.examineTools(f.tools)...)
	for _, root := range f.roots {
		all = append(all, examineRoot(root, path))
	}
	return append(all, m.examineTerminal())
}

// examinePolicy looks whether the rules of a file can be read.
func examinePolicy(path string) []finding {
	const name = "policy"
	if path == "" {
		return nil
	}
	if _, err := policyfile.Open(path); err != nil {
		return []finding{broken(name, err)}
	}
	return []finding{{Name: name, State: stateOK, Found: "The rules in " + path + " can be read."}}
}

// examineRules looks at the file of the rules that a running server goes by.
func examineRules(path string) []finding {
	found := examinePolicy(path)
	for i := range found {
		found[i].Name = "policy of the server"
		if found[i].State == stateProblem {
			found[i].Found += " The server goes on with the rules that it read before."
		}
	}
	return found
}

// copyFlag gives a flag of another set what it was given here, where that has it.
func copyFlag(flags *pflag.FlagSet, f *pflag.Flag) {
	if flags.Lookup(f.Name) == nil {
		return
	}
	values := []string{f.Value.String()}
	if list, is := f.Value.(pflag.SliceValue); is {
		values = list.GetSlice()
	}
	for _, value := range values {
		_ = flags.Set(f.Name, value) // it was taken by a flag of the same kind
	}
}

// examineConfig says which file was read and what it sets.
func examineConfig(from config.File, err error) finding {
	const name = "configuration"
	switch {
	case err != nil:
		return broken(name, err)
	case from.Path == "":
		return finding{Name: name, State: stateOK, Found: "No file is named; flags and variables count.", Advice: "`earshot up --config FILE` reads one"}
	case len(from.Sets) == 0:
		return finding{Name: name, State: stateNote, Found: from.Path + " was read, and sets nothing.", Advice: "see docs/server.md for a complete example"}
	}
	return finding{Name: name, State: stateOK, Found: from.Path + " was read; it sets " + strings.Join(from.Sets, ", ") + "."}
}

// broken is what an error of the program says, as a finding.
func broken(name string, err error) finding {
	f := finding{Name: name, State: stateProblem, Found: sentence(cause.Of(err))}
	if told, is := errors.AsType[*cause.Error](err); is {
		f.Found, f.Advice = sentence(told.Message), told.Hint
	}
	return f
}

func sentence(text string) string { return text + "." }

func (m *Main) examineClock() finding {
	const earliest = 2025
	if now := m.Now(); now.Year() < earliest {
		return finding{Name: "clock", State: stateProblem, Found: "It says " + now.Format(time.RFC3339) + ".", Advice: "set the clock; deadlines hang on it"}
	}
	if !clock.Booted() {
		return finding{Name: "clock", State: stateNote, Found: "This system does not tell when it was started.", Advice: "a yes does not outlive the process here"}
	}
	return finding{Name: "clock", State: stateOK, Found: "The time of day and the time since the start can be read."}
}

// examineData looks at the data directory and who works with it.
func (m *Main) examineData(ctx context.Context, path, address string) []finding {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return []finding{{Name: "data directory", State: stateNote, Found: path + " is not there yet.", Advice: "the first run makes it"}, examineAddress(address)}
	}
	if err := datadir.CheckOwner(path); err != nil {
		return []finding{broken("data directory", err)}
	}
	data := &datadir.Dir{Path: path}
	all := []finding{
		examineWriting(path), examineRoom(path), examineLedger(ctx, data), examineKey(data), examineCounter(data),
		examineFile("page's name", data.File(datadir.PageFile), "the first `earshot up` makes it"),
	}
	all = append(all, m.examineTokens(path))
	return append(all, m.examineServer(ctx, path, address)...)
}

func examineRoom(path string) finding {
	const least = 64 << 20
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return finding{Name: "room", State: stateNote, Found: "How much room the disk has is not known."}
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // their widths differ between systems
	if free < least {
		return finding{Name: "room", State: stateProblem, Found: legible.Bytes(free) + " are free.", Advice: "make room: nothing is done that cannot be recorded"}
	}
	return finding{Name: "room", State: stateOK, Found: legible.Bytes(free) + " are free."}
}

func (m *Main) examineTokens(path string) finding {
	store, err := instance.OpenAccess(path, m.Now)
	if err != nil {
		return broken("tokens", err)
	}
	all, err := store.List()
	if err != nil {
		return broken("tokens", instance.AccessFailure(err))
	}
	switch len(all) {
	case 0:
		return finding{Name: "tokens", State: stateOK, Found: "There are none.", Advice: "`earshot token add` makes one for a program or another person"}
	case 1:
		return finding{Name: "tokens", State: stateOK, Found: "There is 1."}
	}
	return finding{Name: "tokens", State: stateOK, Found: fmt.Sprintf("There are %d.", len(all))}
}

// examineServer looks who holds the data directory and, if that is a server, whether it
// answers.
func (m *Main) examineServer(ctx context.Context, path, address string) []finding {
	lock, err := os.OpenFile(filepath.Join(path, datadir.LockFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return []finding{{Name: "server", State: stateNote, Found: "None has run here yet.", Advice: "start it with `earshot up --root DIR`"}, examineAddress(address)}
	}
	if err != nil {
		return []finding{{Name: "server", State: stateProblem, Found: sentence(cause.Of(err)), Advice: "see who may read the data directory"}}
	}
	defer func() { _ = lock.Close() }()
	err = unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		return []finding{broken("server", datadir.HeldBy(path, 0, err))}
	}
	if err == nil {
		return []finding{{Name: "server", State: stateNote, Found: "None works with the data.", Advice: "start it with `earshot up --root DIR`"}, examineAddress(address)}
	}
	if !serverAt(path) {
		found := fmt.Sprintf("The process %d works with the data, and serves nobody else.", datadir.ReadHolder(lock))
		return []finding{{Name: "server", State: stateNote, Found: found, Advice: "wait until that run has ended"}}
	}
	remote, err := m.dial(ctx, serverFlags{dataFlag: path}, "earshot-doctor")
	if err != nil {
		return []finding{broken("server", err)}
	}
	found := fmt.Sprintf("The process %d answers at %s.", datadir.ReadHolder(lock), remote.Server())
	open, err := remote.Questions(ctx)
	if err != nil {
		return []finding{broken("server", serverFailure(err))}
	}
	all := []finding{{Name: "server", State: stateOK, Found: found}}
	if place, err := client.ReadPlace(filepath.Join(path, datadir.ServerFile)); err == nil && place.Page != "" {
		all = append(all, finding{Name: "page", State: stateOK, Found: sentence("It is at " + place.Page), Advice: "`earshot code` makes a code for it; keep its name to yourself"})
		all = append(all, examineRules(place.Policy)...)
	}
	all = append(all, examineServices(ctx, remote.Operate)...)
	if len(open) > 0 {
		all = append(all, finding{Name: "questions", State: stateNote, Found: legible.Counted(int64(len(open)), "question") + " open.", Advice: "see `earshot pending`"})
	}
	return all
}

// examineDatabase looks whether the database can be reached, and leaves it as it is.
func examineDatabase(ctx context.Context, dsn string) finding {
	const name = "database"
	place, err := instance.ReachDatabase(ctx, dsn)
	if err != nil {
		return broken(name, err)
	}
	return finding{Name: name, State: stateOK, Found: place + " can be reached. The ledger is there, and not in the data directory."}
}

// examineAddress looks whether a server could listen at its address.
func examineAddress(wanted string) finding {
	checked, err := address.Loopback(wanted)
	if err != nil {
		return broken("address", err)
	}
	listener, err := net.Listen("tcp", checked) //nolint:noctx // It ends at once.
	if err != nil {
		return broken("address", address.Failure("--http", checked, err))
	}
	_ = listener.Close()
	return finding{Name: "address", State: stateOK, Found: checked + " is free."}
}

// examineCertificate looks whether browsers would take the certificate, where one is named.
func (m *Main) examineCertificate(f upFlags) []finding {
	const name, layout = "certificate", "2 January 2006"
	https := address.HTTPS{Address: f.https, Cert: f.tlsCert, Key: f.tlsKey, PageURL: f.pageURL}
	if https.Check() != nil {
		return nil // it is said with the settings
	}
	c, err := address.OpenCertificate(https, m.Now, m.logger(false))
	switch {
	case err != nil:
		return []finding{broken(name, err)}
	case c == nil:
		return nil
	}
	host, until := c.Covers()
	return []finding{{Name: name, State: stateOK, Found: fmt.Sprintf("%s is for %s, until %s.", f.tlsCert, host, until.Format(layout))}}
}

// examineTools looks at the files of services together, since a name means one thing in all
// of them.
func (m *Main) examineTools(files []string) []finding {
	const name = "tools"
	var found []finding
	var before []toolfile.Service
	for _, path := range files {
		services, err := toolfile.Add(before, path, toolfile.Options{LookupEnv: m.LookupEnv})
		if err != nil {
			found = append(found, broken(name, err))
			continue
		}
		for _, c := range services[len(before):] {
			found = append(found, finding{Name: name, State: stateOK, Found: sentence(path + ": " + c.String())})
		}
		before = services
	}
	return found
}

func examineRoot(root, data string) finding {
	resolved, err := resolve(root)
	if err == nil {
		err = apart(resolved, data)
	}
	if err != nil {
		return broken("folder", err)
	}
	if unix.Access(resolved, unix.W_OK) != nil {
		return finding{Name: "folder", State: stateNote, Found: resolved + " can be read and not changed.", Advice: "duplicates are found there, and not removed"}
	}
	return finding{Name: "folder", State: stateOK, Found: resolved + " can be read and changed."}
}

func (m *Main) examineTerminal() finding {
	if isTerminal(m.Stdin) {
		return finding{Name: "terminal", State: stateOK, Found: "Questions can be answered here by typing."}
	}
	return finding{Name: "terminal", State: stateNote, Found: "Standard input is no terminal.", Advice: "lines piped in answer like typed ones; or use `earshot up` and `earshot reply`"}
}
