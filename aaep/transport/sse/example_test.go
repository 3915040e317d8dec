package sse_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/earshot-dev/earshot/aaep/transport/sse"
)

// Comments carry no event; what was not ended does not count.
func Example() {
	from := sse.NewReader(strings.NewReader(": alive\n\nevent: aaep.event\nid: evt_1\ndata: {}\n\ndata: cut"), "")
	for {
		f, err := from.Next(func() {})
		if errors.Is(err, io.EOF) {
			return
		}
		fmt.Println(f.Name, f.ID, string(f.Data))
	}
	// Output: aaep.event evt_1 {}
}
