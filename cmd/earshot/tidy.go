package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool"
)

const tidyName = "tidy"

// filesService is the tool service of tidy, for folders.
func (m *Main) filesService(roots []string, data string) server.Service {
	journal := (&datadir.Dir{Path: data}).File(datadir.JournalDir)
	return server.Service{
		Name:   tidy.Target,
		Keeper: files.Journals{Path: journal},
		Open: func(now func() time.Time) ([]tool.Tool, error) {
			allowed, err := files.Allow(roots...)
			if err != nil {
				return nil, folderFailure(strings.Join(roots, ", "), err)
			}
			operations, err := files.New(files.Options{Allowed: allowed, Journal: journal, Private: []string{data}, Now: now})
			if err != nil {
				return nil, cause.Fail(err, "the files service did not start", "make room in the data directory, or use --data DIR")
			}
			return tidy.Tools(operations, fault.Points(m.Getenv(fault.Variable)))
		},
	}
}

// tidyAgent is tidy at a server that allows some folders.
func tidyAgent(roots []string) server.Agent {
	return server.Agent{
		Agent:  tidy.Agent(),
		Check:  func(t *api.TurnStart) error { return checkTidy(roots, t) },
		Resume: func(args jsontext.Value) error { return resumeTidy(roots, args) },
	}
}

// checkTidy looks at a turn of tidy before it is recorded, and says what it is about where nobody else has.
func checkTidy(roots []string, t *api.TurnStart) error {
	var args tidy.Args
	if err := json.Unmarshal(t.Args, &args, json.RejectUnknownMembers(true)); err != nil {
		return cause.Misuse("the arguments of tidy cannot be read: "+cause.Of(err), `send {"root":"/a/folder"}, and "trash":true if wanted`)
	}
	if !filepath.IsAbs(args.Root) {
		return cause.Misuse(fmt.Sprintf("the root %.256q is not named from the root of the file system", args.Root), "give its full path")
	}
	hint := "the allowed folders, and what lies in them, are: " + strings.Join(roots, ", ") + "; `earshot up --root DIR` allows others"
	if len(roots) == 0 {
		hint = "no folder is; `earshot up --root DIR` allows one"
	}
	root, err := files.Resolve(args.Root)
	if err != nil || !within(roots, root) {
		return cause.Misuse(fmt.Sprintf("the folder %.256q is not there, or not allowed on this server", args.Root), hint)
	}
	if root != args.Root {
		return cause.Misuse(fmt.Sprintf("the folder %.256q is another name of %q", args.Root, root), "name it by its own path")
	}
	t.Request, t.Label = cmp.Or(t.Request, args.Request()), cmp.Or(t.Label, args.Label())
	return nil
}

// resumeTidy leaves a turn parked whose folder is not allowed now.
func resumeTidy(roots []string, raw jsontext.Value) error {
	var args tidy.Args
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil //nolint:nilerr // The agent itself says what is wrong with them.
	}
	if args.Root == "" || within(roots, args.Root) {
		return nil
	}
	return cause.Misuse("works in "+cause.OneLine(args.Root)+", which is not allowed now; start with --root for that folder to go on with it", "")
}

// within answers whether a folder lies in one of those.
func within(roots []string, folder string) bool {
	for _, root := range roots {
		if rel, err := filepath.Rel(root, folder); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
