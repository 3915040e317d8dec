package mcp_test

import (
	"fmt"
	"os"

	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
)

// A server comes from a file; its tools are told when it runs, by [mcp.Server.Run], which is the Source of a service.
func Example() {
	file, err := settings.Parse([]byte("mcp:\n  tickets: {url: https://mcp.example.org/mcp}\n"))
	if err != nil {
		panic(err)
	}
	section, err := file.Of("mcp")
	if err != nil {
		panic(err)
	}
	servers, err := mcp.Load(section, mcp.Options{LookupEnv: os.LookupEnv})
	if err != nil {
		panic(err)
	}
	for _, s := range servers {
		fmt.Println(s.Target(), "is at", s.Address())
		s.Close()
	}
	proposal := mcp.Propose(mcp.Claims{Tool: "list", ReadOnly: true})
	fmt.Println("proposed:", proposal.Class, "because", proposal.Why)
	// Output:
	// tickets is at https://mcp.example.org/mcp
	// proposed: read because the server says that it only reads
}
