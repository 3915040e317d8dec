package capture_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/earshot-dev/earshot/aaep/capture"
)

func Example() {
	file := `{"type": "aaep:agent.session.started"}
{"type": "aaep:agent.output.streaming", "chunk": "never en
{"type": "aaep:agent.session.completed"}
`
	r := capture.NewReader(strings.NewReader(file), capture.Options{})
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		if m.Err != nil {
			fmt.Printf("line %d: broken: %s\n", m.Line, m.Err.Reason)
			continue
		}
		fmt.Printf("line %d: %s\n", m.Line, m.Raw)
	}
	// Output:
	// line 1: {"type": "aaep:agent.session.started"}
	// line 2: broken: the line ends within a text, expected its closing quote
	// line 3: {"type": "aaep:agent.session.completed"}
}
