package terminal

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Values lists the values of a JSON text, each with its path.
func Values(raw jsontext.Value) []Item {
	var items []Item

	d := jsontext.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return items
		}

		if strings.ContainsRune("{}[]", rune(token.Kind())) {
			continue
		}

		if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n%2 == 1 {
			continue // the name of a member
		}

		items = append(items, Item{Value: token.String(), Note: string(d.StackPointer())})
	}
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
