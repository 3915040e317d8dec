package main

import (
	"strings"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
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
		Check:  tidy.Folders(roots).Check,
		Resume: tidy.Folders(roots).Resume,
	}
}
