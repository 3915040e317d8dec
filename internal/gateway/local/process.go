package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/earshot-dev/earshot/internal/boottime"
)

// Parent names the process that has started this one, so that what it starts next on the same errand is known to speak for the
// same: its id, when it began, and the boot. Where the system does not tell when a process began, its id has to do.
func Parent() string {
	pid := os.Getppid()
	return fmt.Sprintf("%s %d %s", boottime.Boot(), pid, began(pid))
}

// began is when a process began, in the ticks of the system; "" where that is not told.
func began(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name of the program, which may have any character in it, ends with the last parenthesis.
	_, rest, _ := strings.Cut(string(raw), ") ")
	if i := strings.LastIndex(string(raw), ") "); i >= 0 {
		rest = string(raw)[i+2:]
	}
	const starttime = 19 // the 22nd field, of which three stand before
	fields := strings.Fields(rest)
	if len(fields) <= starttime {
		return ""
	}
	return fields[starttime]
}

// Folder is where the agent works, as people call it.
func Folder() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return filepath.Base(dir)
}

// AgentName is the name of an agent for what a host calls itself: one token, the short name of a well-known one.
func AgentName(host string) string {
	lower := strings.ToLower(host)
	for _, known := range []string{"claude", "codex", "gemini", "cursor", "goose", "opencode", "copilot", "zed", "qwen"} {
		if strings.Contains(lower, known) {
			return known
		}
	}
	if strings.Contains(lower, "visual studio code") || strings.Contains(lower, "vscode") {
		return "vscode"
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, lower), "-")
	const most = 32
	if len(name) > most {
		name = strings.Trim(name[:most], "-")
	}
	if name == "" {
		return "mcp-host"
	}
	return name
}
