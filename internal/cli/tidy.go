package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool"
)

// FolderFailure explains a problem with a folder.
func FolderFailure(path string, err error) error {
	var e *files.Error
	if !errors.As(err, &e) {
		return &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("the folder %q cannot be used: %v", path, err), Err: err}
	}
	hint := "name a folder that exists and that you may read"
	switch e.Code {
	case files.ErrRootMissing:
		return &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("there is no folder %q", path), Hint: "check the name; --sample makes a folder to try it on", Err: err}
	case files.ErrRootNotFolder:
		return &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("%q is not a folder", path), Hint: hint, Err: err}
	case files.ErrRootUnreadable:
		return &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("the folder %q cannot be read", path), Hint: hint, Err: err}
	default:
		return &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("the folder %q cannot be used: %s", path, e.Found), Hint: hint, Err: err}
	}
}

// TidyName is the name of the agent tidy.
const TidyName = "tidy"

// FilesService returns the tool service of tidy, for folders. It keeps out of the data directory and of the other private folders.
func (m *Program) FilesService(roots []string, data string, private ...string) server.Service {
	journal := (&datadir.Dir{Path: data}).File(datadir.JournalDir)
	return server.Service{
		Name:   tidy.Target,
		Keeper: files.Journals{Path: journal},
		Open: func(now func() time.Time) ([]tool.Tool, error) {
			allowed, err := files.Allow(roots...)
			if err != nil {
				return nil, FolderFailure(strings.Join(roots, ", "), err)
			}
			operations, err := files.New(files.Options{
				Allowed: allowed, Journal: journal, Private: append([]string{data}, private...), HomeTrash: files.HomeTrash(m.Getenv), Now: now,
			})
			if err != nil {
				return nil, cause.Fail(err, "the files service did not start", "make room in the data directory, or use --data DIR")
			}
			return tidy.Tools(operations, fault.Points(m.Getenv(fault.Variable)))
		},
	}
}

// TidyAgent returns the tidy agent of a server that allows some folders.
func TidyAgent(roots []string) server.Agent {
	agent := server.Agent{
		Agent:  tidy.Agent(),
		Check:  tidy.Folders(roots).Check,
		Resume: tidy.Folders(roots).Resume,
	}
	if len(roots) > 0 {
		agent.Start = &server.Start{About: "It finds duplicate files in a folder, and asks before it deletes any.", Folders: roots, Args: tidyArgs}
	}
	return agent
}

// tidyArgs makes the arguments of a turn that is started from the page.
func tidyArgs(_, folder string) (jsontext.Value, error) {
	if folder == "" {
		return nil, cause.Misuse("tidy needs a folder", "choose one of those that are allowed, or one below").About("folder")
	}
	if own, err := files.Resolve(folder); err == nil { // by its own path, whatever it was called
		folder = own
	}
	raw, err := json.Marshal(tidy.Args{Root: folder})
	if err != nil {
		return nil, cause.Misuse("the name of the folder is not UTF-8", "type it again").About("folder")
	}
	return raw, nil
}
