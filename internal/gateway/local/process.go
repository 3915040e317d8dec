package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/earshot-dev/earshot/internal/boottime"
)

// Parent identifies the process that has started this one, so that its later children belong to the same session: its
// id, its start time, and the boot. If the system does not report the start time, the id has to do.
func Parent() string {
	pid := os.Getppid()
	return fmt.Sprintf("%s %d %s", boottime.Boot(), pid, began(pid))
}

// began returns the start time of a process, in clock ticks; "" if unknown.
func began(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The program name, which may contain any character, ends with the last parenthesis.
	_, rest, _ := strings.Cut(string(raw), ") ")
	if i := strings.LastIndex(string(raw), ") "); i >= 0 {
		rest = string(raw)[i+2:]
	}
	const starttime = 19 // the 22nd field; three precede the rest
	fields := strings.Fields(rest)
	if len(fields) <= starttime {
		return ""
	}
	return fields[starttime]
}

// WorkingFolder returns the path of the current folder, in which the agent works; "" if it is not known.
func WorkingFolder() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return filepath.Clean(dir)
}

// Folder returns the display name of the agent's current folder.
func Folder() string {
	if dir := WorkingFolder(); dir != "" {
		return filepath.Base(dir)
	}
	return ""
}

// AgentName converts a host's own name to an agent name: one token, the short name of a well-known host.
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
