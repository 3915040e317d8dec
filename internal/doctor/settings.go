package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/toolfile"
)

// examinePolicy checks whether the rules of a file can be parsed.
func examinePolicy(path string) []Finding {
	const name = "policy"
	if path == "" {
		return nil
	}
	if _, err := policyfile.Open(path); err != nil {
		return []Finding{broken(name, err)}
	}
	return []Finding{{Name: name, State: OK, Found: "The rules in " + path + " can be read."}}
}

// examineRules checks the rules file of a running server.
func examineRules(path string) []Finding {
	found := examinePolicy(path)
	for i := range found {
		found[i].Name = "policy of the server"
		if found[i].State == Problem {
			found[i].Found += " The server goes on with the rules that it read before."
		}
	}
	return found
}

// examineConfig reports which file was read and what it sets.
func examineConfig(from config.File, err error) Finding {
	const name = "configuration"
	switch {
	case err != nil:
		return broken(name, err)
	case from.Path == "":
		return Finding{Name: name, State: OK, Found: "No configuration file is used; flags and variables apply.", Advice: "`earshot up --config FILE` reads one"}
	case len(from.Sets) == 0:
		return Finding{Name: name, State: Note, Found: from.Path + " was read, and sets nothing.", Advice: "`earshot help configuration` prints a complete example"}
	}
	return Finding{Name: name, State: OK, Found: from.Path + " was read; it sets " + strings.Join(from.Sets, ", ") + "."}
}

// broken converts an error of the program to a finding.
func broken(name string, err error) Finding {
	f := Finding{Name: name, State: Problem, Found: sentence(cause.Of(err))}
	if failure, is := errors.AsType[*cause.Error](err); is {
		f.Found, f.Advice = sentence(failure.Message), failure.Hint
	}
	return f
}

func sentence(text string) string { return text + "." }

// examineDatabase checks whether the database can be reached, without changing it.
func examineDatabase(ctx context.Context, dsn string) Finding {
	const name = "database"
	place, err := instance.ReachDatabase(ctx, dsn)
	if err != nil {
		return broken(name, err)
	}
	return Finding{Name: name, State: OK, Found: place + " can be reached. The ledger is there, and not in the data directory."}
}

// examineAddress checks whether a server could listen at its address.
func examineAddress(listen string) Finding {
	checked, err := address.Loopback(listen)
	if err != nil {
		return broken("address", err)
	}
	listener, err := net.Listen("tcp", checked) //nolint:noctx // It ends at once.
	if err != nil {
		return broken("address", address.Failure("--http", checked, err))
	}
	_ = listener.Close()
	return Finding{Name: "address", State: OK, Found: checked + " is free."}
}

// examineCertificate checks whether browsers would accept the certificate, if one is named.
func (o Options) examineCertificate() []Finding {
	const name, layout = "certificate", "2 January 2006"
	if o.HTTPS.Check() != nil {
		return nil // reported with the settings
	}
	c, err := address.OpenCertificate(o.HTTPS, o.Now, o.Logger)
	switch {
	case err != nil:
		return []Finding{broken(name, err)}
	case c == nil:
		return nil
	}
	host, until := c.Covers()
	return []Finding{{Name: name, State: OK, Found: fmt.Sprintf("%s is for %s, and valid until %s.", o.HTTPS.Cert, host, until.Format(layout))}}
}

// examineProvider checks whether the identity provider can be asked, if one is named.
func (o Options) examineProvider(ctx context.Context) []Finding {
	const name = "identity provider"
	if o.Provider == nil || o.SettingsErr != nil { // what is wrong with its settings is reported with them
		return nil
	}
	counts, err := o.Provider(ctx)
	_, misused := errors.AsType[*cause.Error](err)
	switch {
	case misused:
		return []Finding{broken(name, err)}
	case err != nil:
		return []Finding{{
			Name: name, State: Problem, Found: sentence("It cannot be asked for its keys: " + cause.Of(err)),
			Advice: "see that its address is right and that this machine reaches it; nobody can log in with it, and none of its tokens count, until it answers",
		}}
	case counts != "":
		return []Finding{{Name: name, State: OK, Found: sentence("It answers, and its keys are known. These count: " + counts)}}
	}
	return nil
}

// examineTools checks the files of services together, because a name has one meaning in all of them.
func (o Options) examineTools() []Finding {
	const name = "tools"
	var found []Finding
	if own := filepath.Join(o.Data, datadir.ToolsFile); o.DataErr == nil && datadir.Exists(own) {
		o.Tools = append(slices.Clone(o.Tools), own)
	}
	var before []toolfile.Service
	for _, path := range o.Tools {
		services, err := toolfile.Add(before, path, toolfile.Options{LookupEnv: o.LookupEnv})
		if err != nil {
			found = append(found, broken(name, err))
			continue
		}
		for _, c := range services[len(before):] {
			found = append(found, Finding{Name: name, State: OK, Found: sentence(path + ": " + c.String())})
			found = append(found, o.examineLogin(c)...)
		}
		before = services
	}
	return found
}

func (o Options) examineRoot(root string) Finding {
	resolved, err := o.Folder(root)
	if err != nil {
		return broken("folder", err)
	}
	if unix.Access(resolved, unix.W_OK) != nil {
		return Finding{Name: "folder", State: Note, Found: resolved + " can be read and not changed.", Advice: "to have files removed there, let this user write to it"}
	}
	return Finding{Name: "folder", State: OK, Found: resolved + " can be read and changed."}
}

func (o Options) examineTerminal() Finding {
	if o.Typed {
		return Finding{Name: "terminal", State: OK, Found: "Questions can be answered here by typing."}
	}
	return Finding{Name: "terminal", State: Note, Found: "Standard input is not a terminal.", Advice: "answers can be piped in, one on each line; or use `earshot up` and `earshot reply`"}
}
