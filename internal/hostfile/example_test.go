package hostfile_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/hostfile"
)

func Example() {
	codex, _ := hostfile.HostOf("codex")
	file, err := hostfile.Read(codex, []byte("model = \"gpt-5.2-codex\" # the good one\n"))
	if err == nil {
		err = file.Set(hostfile.EntryName, codex.Entry("/usr/bin/earshot", "mcp", "serve"))
	}
	fmt.Print(string(file.Text()), err)
	// Output:
	// model = "gpt-5.2-codex" # the good one
	//
	// [mcp_servers.earshot]
	// command = "/usr/bin/earshot"
	// args = ["mcp", "serve", "--answer-before", "55m"]
	// startup_timeout_sec = 60
	// tool_timeout_sec = 3600
	// <nil>
}
