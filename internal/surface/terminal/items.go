package terminal

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/wording"
)

// Values lists the values of a JSON text, each with its path.
func Values(raw jsontext.Value) []Item {
	values := wording.Values(raw)
	items := make([]Item, 0, len(values))
	for _, v := range values {
		items = append(items, Item{Value: v.Text, Note: v.Pointer})
	}
	return items
}

// PageOf returns the requested page of all items, or the nearest one.
func PageOf(items []Item, r PageRequest) Page {
	if r.All {
		return Page{Number: 1, Pages: 1, Total: len(items), Items: items}
	}

	pages := (len(items) + PageSize - 1) / PageSize
	n := max(1, min(r.Page, pages))
	from := min((n-1)*PageSize, len(items))

	return Page{Number: n, Pages: pages, Total: len(items), Items: items[from:min(from+PageSize, len(items))]}
}
