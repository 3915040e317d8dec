package hostsetup_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/hostfile"
	"github.com/earshot-dev/earshot/internal/hostsetup"
)

func Example() {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(home) }()
	codex, _ := hostfile.HostOf("codex")
	o := hostsetup.Options{
		Host: codex, File: codex.File(hostfile.Environment{Home: home, Getenv: func(string) string { return "" }}), Data: filepath.Join(home, "data"),
		Program: "/usr/bin/earshot", Args: []string{"mcp", "serve"},
	}
	for range 2 {
		done, err := hostsetup.Install(context.Background(), o)
		fmt.Println(done.Changed, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}
