package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/listen"
)

// listing is what a question is about, item by item.
type listing struct{ items []listen.Item }

// newListing lists the files of a removal one by one; of any other arguments, every
// value with its place.
func newListing(raw []byte) *listing {
	var removal files.DeleteArgs
	if json.Unmarshal(raw, &removal, json.RejectUnknownMembers(true)) == nil && len(removal.Sets) > 0 {
		return removalListing(removal)
	}
	l := &listing{}
	d := jsontext.NewDecoder(jsonReader(raw))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return l
		}
		if strings.ContainsRune("{}[]", rune(token.Kind())) {
			continue
		}
		if kind, n := d.StackIndex(d.StackDepth()); kind == '{' && n%2 == 1 {
			continue // the name of a member
		}
		l.items = append(l.items, listen.Item{Value: token.String(), Note: string(d.StackPointer())})
	}
}

func removalListing(r files.DeleteArgs) *listing {
	l := &listing{}
	for _, set := range r.Sets {
		for _, path := range set.Delete {
			l.items = append(l.items, listen.Item{
				Value: path, Note: fmt.Sprintf("%s bytes, the same as %s, which stays", strconv.FormatInt(set.Size, 10), strconv.Quote(set.Keep)),
			})
		}
	}
	return l
}

func (l *listing) page(n int) listen.Page {
	pages := (len(l.items) + listen.PageSize - 1) / listen.PageSize
	n = max(1, min(n, pages))
	from := min((n-1)*listen.PageSize, len(l.items))
	return listen.Page{
		Number: n, Pages: pages, Total: len(l.items), Items: l.items[from:min(from+listen.PageSize, len(l.items))],
	}
}
