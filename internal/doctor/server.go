package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/operate"
)

// examineServer checks who holds the data directory and, if that is a server, whether it answers.
func (o Options) examineServer(ctx context.Context) []Finding {
	path := o.Data
	lock, err := os.OpenFile(filepath.Join(path, datadir.LockFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{{Name: "server", State: Note, Found: "None has run here yet.", Advice: "start it with `earshot up`"}, examineAddress(o.HTTP)}
	}
	if err != nil {
		return []Finding{{Name: "server", State: Problem, Found: sentence(cause.Of(err)), Advice: "check the permissions of the data directory with `ls -ld`"}}
	}
	defer func() { _ = lock.Close() }()
	err = unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		return []Finding{broken("server", datadir.LockedBy(path, 0, err))}
	}
	if err == nil {
		return []Finding{{Name: "server", State: Note, Found: "No server is running with this data.", Advice: "start it with `earshot up`"}, examineAddress(o.HTTP)}
	}
	if !o.Serves(path) {
		found := fmt.Sprintf("The process %d is running with this data, and it is not a server.", datadir.ReadHolder(lock))
		return []Finding{{Name: "server", State: Note, Found: found, Advice: "wait until that run has ended"}}
	}
	remote, err := o.Dial(ctx)
	if err != nil {
		return []Finding{broken("server", err)}
	}
	found := fmt.Sprintf("The process %d answers at %s.", datadir.ReadHolder(lock), remote.Server())
	open, err := remote.Questions(ctx)
	if err != nil {
		return []Finding{broken("server", err)}
	}
	all := []Finding{{Name: "server", State: OK, Found: found}}
	if place, err := client.ReadServerFile(filepath.Join(path, datadir.ServerFile)); err == nil && place.Page != "" {
		all = append(all, Finding{Name: "page", State: OK, Found: sentence("It is at " + place.Page), Advice: "`earshot code` gives a code to log in with; keep the address to yourself"})
		all = append(all, examineRules(place.Policy)...)
	}
	all = append(all, examineServices(ctx, remote.Operate)...)
	all = append(all, examinePasskeys(ctx, remote.Operate)...)
	all = append(all, examineProjects(ctx, remote)...)
	if len(open) > 0 {
		all = append(all, Finding{Name: "questions", State: Note, Found: legible.Counted(int64(len(open)), "question") + " open.", Advice: "see `earshot pending`"})
	}
	return all
}

// maxNamed is the maximum number of tools in one finding.
const maxNamed = 10

// examineServices checks which registered tools have no running service at the server.
func examineServices(ctx context.Context, ask operate.Ask) []Finding {
	const name = "services"
	var missing []string
	err := operate.EachTool(ctx, ask, func(t api.ToolDetail) error {
		if t.Unserved() {
			missing = append(missing, cause.OneLine(t.Tool))
		}
		return nil
	})
	if err != nil {
		return []Finding{{Name: name, State: Note, Found: sentence("Which are connected is not known: " + cause.Of(err)), Advice: "see `earshot tools list`"}}
	}
	if len(missing) == 0 {
		return nil
	}
	advice := "start the service, or remove a tool that you no longer have with `earshot tools rm TOOL`; a call waits a minute for its service"
	if slices.ContainsFunc(missing, func(tool string) bool { return strings.HasPrefix(tool, "files.") }) {
		advice = "`earshot up --root DIR` serves the tools whose names begin with files.; for the others, " + advice
	}
	return []Finding{{Name: name, State: Note, Found: sentence("No service is connected for " + firstOf(missing)), Advice: advice}}
}

// examinePasskeys says how to add the first passkey, if accepting takes one and there is none.
func examinePasskeys(ctx context.Context, ask operate.Ask) []Finding {
	const name = "passkeys"
	var all api.PasskeysAnswer
	if err := ask(ctx, api.OpPasskeys, api.PasskeysRequest{}, &all); err != nil {
		return []Finding{{Name: name, State: Note, Found: sentence("They could not be read: " + cause.Of(err)), Advice: "see `earshot passkeys`"}}
	}
	switch {
	case all.Required == "":
		return nil
	case len(all.Passkeys) == 0:
		return []Finding{{
			Name: name, State: Problem, Found: "Accepting takes a passkey (--require-presence " + all.Required + "), and none was added.",
			Advice: "log in on the page at " + all.Page + "/, follow Passkeys, and add one; `earshot code` makes the two codes that this takes",
		}}
	}
	return []Finding{{Name: name, State: OK, Found: legible.Counted(int64(len(all.Passkeys)), "passkey") + " for --require-presence " + all.Required + "."}}
}

// examineProjects says how many further projects the server has, and which of them it does not serve.
func examineProjects(ctx context.Context, remote Server) []Finding {
	const name = "projects"
	answer, err := remote.Projects(ctx)
	if is, found := errors.AsType[*client.Error](err); found && is.Code == client.CodeNotFound { // it is one itself
		return nil
	}
	if err != nil {
		return []Finding{{Name: name, State: Note, Found: sentence("How they are served is not known: " + cause.Of(err)), Advice: "see `earshot projects list`"}}
	}
	var all []Finding
	for _, p := range answer.Projects {
		if p.Trouble == "" {
			continue
		}
		advice := "then `earshot projects add " + p.Name + "` tries again"
		if p.Hint != "" {
			advice = cause.OneLine(p.Hint) + "; " + advice
		}
		all = append(all, Finding{Name: name, State: Problem, Found: sentence("The project " + p.Name + " is not served: " + cause.OneLine(p.Trouble)), Advice: advice})
	}
	if n := len(answer.Projects); n > 0 {
		found := Finding{Name: name, State: OK, Found: legible.Counted(int64(n), "project") + " beside the server's own."}
		if served := n - len(all); served < n {
			found.Found = fmt.Sprintf("%s beside the server's own; %d of them served.", legible.Counted(int64(n), "project"), served)
		}
		all = append([]Finding{found}, all...)
	}
	return all
}

// firstOf lists the first names, and how many more there are.
func firstOf(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:maxNamed], ", "), legible.Counted(int64(len(names)-maxNamed), "more tool"))
}
