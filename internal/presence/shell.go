package presence

import "cmp"

// shells are the programs that a person types into, and those that run the typed command for somebody else or for a
// limited time.
var shells = map[string]bool{
	"sh": true, "ash": true, "bash": true, "busybox": true, "csh": true, "dash": true, "elvish": true, "fish": true, "ksh": true, "ksh93": true,
	"loksh": true, "mksh": true, "nu": true, "oksh": true, "osh": true, "pwsh": true, "rc": true, "tcsh": true, "toybox": true, "xonsh": true, "yash": true,
	"zsh":  true,
	"doas": true, "env": true, "login": true, "nice": true, "runuser": true, "su": true, "sudo": true, "time": true, "timeout": true,
}

// isShell reports whether a process may stand between a person's keyboard and a command. Whatever else has started the
// command, such as an agent, may have done so by itself.
func isShell(p Process) bool { return shells[cmp.Or(p.Program, p.Name)] }
