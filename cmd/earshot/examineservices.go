package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// maxNamed is how many tools one finding names.
const maxNamed = 10

// examineServices looks which registered tools have no service at the server.
func examineServices(ctx context.Context, ask func(ctx context.Context, op string, request, answer any) error) []finding {
	const name = "services"
	var missing []string
	for after := ""; ; {
		var page api.ToolsAnswer
		if err := ask(ctx, api.OpTools, api.ToolsRequest{After: after}, &page); err != nil {
			return []finding{{Name: name, State: stateNote, Found: sentence("Which are connected is not known: " + cause.Of(err)), Advice: "see `earshot tools list`"}}
		}
		for _, t := range page.Tools {
			if after = t.Tool; unserved(t) {
				missing = append(missing, cause.OneLine(t.Tool))
			}
		}
		if !page.More || len(page.Tools) == 0 {
			break
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []finding{{
		Name: name, State: stateNote, Found: sentence("No service is connected for " + firstOf(missing)),
		Advice: "start it, or take a tool that is gone out with `earshot tools rm TOOL`; a call waits a minute for its service",
	}}
}

// firstOf are the first names, and how many more there are.
func firstOf(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:maxNamed], ", "), legible.Counted(int64(len(names)-maxNamed), "more tool"))
}
