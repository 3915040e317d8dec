package rosterfile_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/rosterfile"
)

func Example() {
	all, err := rosterfile.Parse([]byte(`
agents:
  - name: clerk
    display_name: The clerk
    tools: ["files.*", words.post]
    may_ask: []
    must_end_with: [report.submit]
    max_steps: 40
  - name: scout
    active: false
`))
	fmt.Println(err)
	for _, d := range all {
		fmt.Printf("%s: %s\n", d.Name, roster.Describe(d))
	}
	_, err = rosterfile.Parse([]byte("agents:\n  - name: clerk\n    tools:\n"))
	fmt.Println(err)
	// Output:
	// <nil>
	// clerk: shown as The clerk; uses files.*, words.post; asks no agent; ends with a call of report.submit; takes 40 steps at most
	// scout: not active; uses every tool that the policy lets it use; asks the agents that the server lets it ask
	// line 3: agents[0].tools: it is empty; expected a value, or no such line
}
