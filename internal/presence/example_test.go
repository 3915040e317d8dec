package presence_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/presence"
)

// What an agent has started is not taken for a person at its terminal.
func Example() {
	shell := presence.Process{ID: 7, Parent: 1, Group: 7, Session: 7, Terminal: 0x8803, Started: 1, Name: "bash"}
	agent := presence.Process{ID: 8, Parent: 7, Group: 8, Session: 7, Terminal: 0x8803, Started: 2, Name: "agent"}
	hosts := presence.NewHosts(func(id int) (presence.Process, bool) {
		p, found := map[int]presence.Process{7: shell, 8: agent}[id]
		return p, found
	})
	hosts.Asked(agent.ID, false)
	at, _ := hosts.At(shell.ID)
	_, err := hosts.At(agent.ID)
	fmt.Println(at.Name)
	fmt.Println(err)
	// Output:
	// pts/3
	// it was started below agent (process 8), which asks for calls itself
}
