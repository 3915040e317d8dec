package command

import (
	"path/filepath"
	"slices"
	"strings"
)

// shells run what they are given as a text; their names may end in a version.
var shells = []string{
	"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "busybox", "python", "perl", "ruby", "node", "nodejs", "php", "lua",
}

// checkShell keeps a shell from running what an agent has written: its script has to be the
// operator's, a literal argument, and stands before every place.
func (p *program) checkShell(fault faultAt) error {
	name, words := filepath.Base(p.Program), p.template
	if name == "busybox" && len(words) > 0 && words[0].Place == "" {
		name, words = words[0].Literal, words[1:] // the program within
	}
	if !slices.Contains(shells, strings.TrimRight(name, "0123456789.-")) {
		return nil
	}
	const what, want = "a shell would run what an agent has written", "a script of your own before it, so that the place is an argument of that"
	first := len(p.template) - len(words)
	for i, a := range words {
		option := i > 0 && strings.HasPrefix(words[i-1].Literal, "-") && words[i-1].Literal != "--"
		if a.Place != "" && (i == 0 || option || a.Option != "" || !words[:i].script()) {
			return fault(what, want, "argv", first+i)
		}
	}
	if p.Stdin != "" && (!words.script() || words.fromInput()) {
		return fault(what, "a script of your own in argv, which reads it", "stdin")
	}
	return nil
}

// script reports whether there is a literal that is no option.
func (t template) script() bool {
	return slices.ContainsFunc(t, func(a argument) bool { return a.Place == "" && !strings.HasPrefix(a.Literal, "-") })
}

// fromInput reports whether an option may have a shell read its script where it reads its
// input: -, or -s, also among others.
func (t template) fromInput() bool {
	return slices.ContainsFunc(t, func(a argument) bool {
		letters, is := strings.CutPrefix(a.Literal, "-")
		return is && !strings.HasPrefix(letters, "-") && (letters == "" || strings.Contains(letters, "s")) || a.Literal == "/dev/stdin"
	})
}
