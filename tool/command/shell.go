package command

import (
	"path/filepath"
	"slices"
	"strings"
)

var (
	// shells run a text that they are given; their names may end in a version.
	shells = []string{
		"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "busybox", "python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun",
		"php", "lua", "tclsh", "expect", "pwsh", "osascript", "awk", "gawk", "mawk", "nawk", "sed",
	}
	// launchers start another program that they are given.
	launchers = []string{
		"env", "sudo", "doas", "runuser", "setpriv", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "chroot", "unshare", "nsenter",
		"flock", "taskset", "chrt", "strace", "systemd-run",
	}
	// handers assemble a shell command from what they are given, here or on another machine, or turn their input into
	// arguments.
	handers = []string{"ssh", "su", "xargs", "parallel", "watch", "script", "at", "batch", "crontab"}
)

// programName returns the name of a program or, if that is none of those above, the name that it links to. An applet of
// a multi-call binary keeps its own name.
func programName(path string) string {
	name := bareName(path)
	if known(name) || !filepath.IsAbs(path) {
		return name
	}
	target, err := filepath.EvalSymlinks(path)
	if linked := bareName(target); err == nil && known(linked) && linked != "busybox" {
		return linked
	}
	return name
}

func bareName(path string) string {
	name := filepath.Base(path)
	if bare := strings.TrimRight(name, "0123456789.-"); slices.Contains(shells, bare) {
		return bare
	}
	return name
}

func known(name string) bool {
	return slices.Contains(shells, name) || slices.Contains(launchers, name) || slices.Contains(handers, name)
}

// checkShell prevents a shell from running an agent's text, however the shell is started.
func (p *program) checkShell(fault faultAt) error { return p.checkRun(p.Program, 0, fault) }

// checkRun checks a program whose arguments are the template's elements from first on.
func (p *program) checkRun(path string, first int, fault faultAt) error {
	name, words := programName(path), p.template[first:]
	switch {
	case name == "busybox" && len(words) > 0 && words[0].Placeholder == "":
		return p.checkRun(words[0].Literal, first+1, fault) // the wrapped program
	case slices.Contains(launchers, name):
		return p.checkLaunched(first, fault)
	case slices.Contains(handers, name):
		return p.checkHanded(first, name, fault)
	case slices.Contains(shells, name):
		return p.checkScript(first, fault)
	}
	return nil
}

// checkLaunched requires that the operator, not the agent, chooses the program to start.
func (p *program) checkLaunched(first int, fault faultAt) error {
	named := false
	for i, a := range p.template[first:] {
		if a.Placeholder != "" && !named {
			return fault("it starts what an agent may name", "the full path of what it starts, before every place", "argv", first+i)
		}
		words := strings.Fields(a.Literal) // env -S splits one argument into several
		if a.Placeholder != "" || len(words) == 0 {
			continue
		}
		if known(programName(words[0])) {
			return p.checkRun(words[0], first+i+1, fault)
		}
		named = named || strings.HasPrefix(a.Literal, "/")
	}
	return nil
}

// checkHanded refuses every placeholder.
func (p *program) checkHanded(first int, name string, fault faultAt) error {
	const want = "a program of your own that calls it"
	if i := slices.IndexFunc(p.template[first:], func(a argument) bool { return a.Placeholder != "" }); i >= 0 {
		return fault(name+" would hand what an agent has written to a shell or another program", want, "argv", first+i)
	}
	if p.Stdin != "" {
		return fault(name+" would hand what an agent has written to a shell or another program", want, "stdin")
	}
	return nil
}

// checkScript requires that a shell's script is the operator's: a literal argument before every placeholder.
func (p *program) checkScript(first int, fault faultAt) error {
	const what, want = "a shell would run what an agent has written", "a script of your own before it, so that the place is an argument of that"
	words := p.template[first:]
	for i, a := range words {
		option := i > 0 && strings.HasPrefix(words[i-1].Literal, "-") && words[i-1].Literal != "--"
		if a.Placeholder != "" && (i == 0 || option || a.Option != "" || !words[:i].script()) {
			return fault(what, want, "argv", first+i)
		}
	}
	if p.Stdin != "" && (!words.script() || words.fromInput()) {
		return fault(what, "a script of your own in argv, which reads it", "stdin")
	}
	return nil
}

// script reports whether a literal is not an option.
func (t template) script() bool {
	return slices.ContainsFunc(t, func(a argument) bool { return a.Placeholder == "" && !strings.HasPrefix(a.Literal, "-") })
}

// fromInput reports whether an option may make a shell read its script from its input: -, or -s, also combined with
// others.
func (t template) fromInput() bool {
	return slices.ContainsFunc(t, func(a argument) bool {
		letters, is := strings.CutPrefix(a.Literal, "-")
		return is && !strings.HasPrefix(letters, "-") && (letters == "" || strings.Contains(letters, "s")) || a.Literal == "/dev/stdin"
	})
}
