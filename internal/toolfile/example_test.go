package toolfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/toolfile"
)

// A program becomes a tool by a file alone.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "tools.yaml")
	file := `command:
  target: desk
  operations:
    - {tool: desk.list, description: List the desk., class: read, program: /bin/ls, argv: [/]}
`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		panic(err)
	}
	services, err := toolfile.Read(path, toolfile.Options{LookupEnv: os.LookupEnv, Private: folder})
	if err != nil {
		panic(err)
	}
	for _, s := range services {
		fmt.Println(s)
		s.Close()
	}
	// Output: Service desk (command): desk.list (read)
}
