package tidy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// folderField is the field of the page's start box that the root comes from.
const folderField = "folder"

// Folders are those that a server allows, by their own paths.
type Folders []string

// Check looks at a turn before it is recorded, and says what it is about where nobody else has.
func (roots Folders) Check(t *api.TurnStart) error {
	var args Args
	if err := json.Unmarshal(t.Args, &args, json.RejectUnknownMembers(true)); err != nil {
		return cause.Misuse("the arguments of tidy cannot be read: "+cause.Of(err), `send {"root":"/a/folder"}, and "trash":true if wanted`)
	}
	if !filepath.IsAbs(args.Root) {
		return cause.Misuse(fmt.Sprintf("the root %.256q is not named from the root of the file system", args.Root), "give its full path").About(folderField)
	}
	hint := "the allowed folders, and what lies in them, are: " + strings.Join(roots, ", ") + "; `earshot up --root DIR` allows others"
	if len(roots) == 0 {
		hint = "no folder is; `earshot up --root DIR` allows one"
	}
	root, err := files.Resolve(args.Root)
	if err != nil || !roots.hold(root) {
		return cause.Misuse(fmt.Sprintf("the folder %.256q is not there, or not allowed on this server", args.Root), hint).About(folderField)
	}
	if root != args.Root {
		return cause.Misuse(fmt.Sprintf("the folder %.256q is another name of %q", args.Root, root), "name it by its own path").About(folderField)
	}
	t.Request, t.Label = cmp.Or(t.Request, args.Request()), cmp.Or(t.Label, args.Label())
	return nil
}

// Resume refuses a turn whose folder is not allowed now, so that it stays parked.
func (roots Folders) Resume(raw jsontext.Value) error {
	var args Args
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil //nolint:nilerr // The agent itself says what is wrong with them.
	}
	if args.Root == "" || roots.hold(args.Root) {
		return nil
	}
	return cause.Misuse("works in "+cause.OneLine(args.Root)+", which is not allowed now; start with --root for that folder to go on with it", "")
}

// hold reports whether a folder lies in one of those.
func (roots Folders) hold(folder string) bool {
	for _, root := range roots {
		if rel, err := filepath.Rel(root, folder); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
