package listing

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/api"
)

// Branch is a turn with those that are within it.
type Branch struct {
	api.SessionRow

	// Number is its place, and is said first: 2.1 is the first turn within the second.
	Number   string   `json:"number"`
	Children []Branch `json:"children"`
}

// Tree puts turns below the ones that they are within, in the order in which they are given. One whose parent is not among
// them stands at the top.
func Tree(rows []api.SessionRow) []Branch {
	listed, within := map[string]bool{}, map[string][]api.SessionRow{}
	for _, t := range rows {
		listed[t.Turn] = true
	}
	for _, t := range rows {
		parent := t.Parent
		if !listed[parent] {
			parent = ""
		}
		within[parent] = append(within[parent], t)
	}
	return branches(within, "", "")
}

func branches(within map[string][]api.SessionRow, parent, prefix string) []Branch {
	all := make([]Branch, 0, len(within[parent]))
	for i, t := range within[parent] {
		number := fmt.Sprint(prefix, i+1)
		all = append(all, Branch{SessionRow: t, Number: number, Children: branches(within, t.Turn, number+".")})
	}
	return all
}

// TreeLines returns the lines of turns and of those within them. The numbers say aloud what the indentation shows.
func (p Printer) TreeLines(tree []Branch) []string {
	lines := make([]string, 0, len(tree))
	for _, b := range tree {
		indent := strings.Repeat("  ", strings.Count(b.Number, "."))
		lines = append(lines, indent+b.Number+" "+p.TurnLine(b.SessionRow))
		lines = append(lines, p.TreeLines(b.Children)...)
	}
	return lines
}
