package cli

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/internal/listing"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// ItemsOf lists the arguments of a question: the files of a removal by the tidy agent's tools one by one; for another tool,
// also one that takes arguments of that form, every value with its path.
func ItemsOf(tool string, raw jsontext.Value) []terminal.Item {
	var removal files.DeleteArgs
	if slices.Contains([]string{tidy.ToolDelete, tidy.ToolTrash}, tool) && json.Unmarshal(raw, &removal, json.RejectUnknownMembers(true)) == nil && len(removal.Sets) > 0 {
		return removals(removal)
	}
	return terminal.Values(raw)
}

func removals(r files.DeleteArgs) []terminal.Item {
	var items []terminal.Item
	for _, set := range r.Sets {
		for _, path := range set.Delete {
			items = append(items, terminal.Item{
				Value: path, Note: fmt.Sprintf("%s, the same as %s, which stays", legible.Bytes(set.Size), legible.Value(set.Survivor)),
			})
		}
	}
	return items
}

// Listing returns a printer for the operators' lists.
func (m *Program) Listing() listing.Printer {
	return listing.Printer{Line: func(line string) { m.Printf("%s", line) }, Field: m.field, Document: m.document, Since: m.since, Time: m.TimeText}
}
