package agenthost

import "testing"

// Shell is a host that is only a shell, and NewCommand runs it.
var Shell = Host{name: "shell", text: func(stdout []byte) string { return string(stdout) }}

func NewCommand(t testing.TB, script string) Command {
	root := t.TempDir()
	return Command{
		Host: Shell, Args: []string{"/bin/sh", "-c", script}, Dir: root, Home: root + "/home", root: root,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root + "/home"},
	}
}

// Root is the folder of all that belongs to a run.
func (c Command) Root() string { return c.root }

// For the tests of what a run leaves, and of what it reaches.
var (
	EndAllOf     = endAllOf
	BlockOutside = blockOutside
	Manifest     = manifest
	Lock         = lock
)
