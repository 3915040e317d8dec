// Package config gives the flags of a command that were not given the values of their variables (EARSHOT_ROOT of --root), or
// else those of a YAML file with the same names.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/settings"
)

const (
	// Flag names the file, and is not a setting of it.
	Flag = "config"
	// Once is the annotation of a flag that is for one start, and no setting either.
	Once = "earshot-once"
)

// File is the file that was read.
type File struct {
	Path string   // "" where none is named
	Sets []string // the names that it sets, as they stand there
}

// Fill gives each flag that was not given on the command line the value of its variable
// EARSHOT_NAME, or else that of the file which --config or EARSHOT_CONFIG names.
func Fill(flags *pflag.FlagSet, getenv func(string) string) (File, error) {
	var c File
	c.Path, _ = flags.GetString(Flag)
	if c.Path == "" && !flags.Changed(Flag) {
		c.Path = getenv(variable(Flag))
	}
	values := map[string][]string{}
	if c.Path != "" || flags.Changed(Flag) {
		var err error
		if values, c.Sets, err = read(c.Path, getenv("HOME"), flags); err != nil {
			return c, cause.Misuse(cause.Of(err), hint(err))
		}
	}
	var failure error
	flags.VisitAll(func(f *pflag.Flag) {
		if failure == nil && setting(f) && !f.Changed {
			failure = fill(flags, f, getenv, values[f.Name], c.Path)
		}
	})
	return c, failure
}

// fill sets one flag from its variable or from the file.
func fill(flags *pflag.FlagSet, f *pflag.Flag, getenv func(string) string, values []string, path string) error {
	from, advice := "the configuration "+path, "`earshot help configuration` prints a complete example"
	if text := getenv(variable(f.Name)); text != "" {
		from, advice = "the variable "+variable(f.Name), "correct it, or unset it"
		var err error
		if values, err = fromVariable(f, text); err != nil {
			return cause.Misuse(from+": "+cause.Of(err), advice)
		}
	}
	for _, value := range values {
		if err := flags.Set(f.Name, value); err != nil {
			return cause.Misuse(fmt.Sprintf("%s: %s is %q; it takes %s", from, f.Name, value, ValueOf(f)), advice)
		}
	}
	return nil
}

// setting answers whether a flag can be set by a file and by a variable.
func setting(f *pflag.Flag) bool {
	_, once := f.Annotations[Once]
	return f.Name != "help" && f.Name != Flag && !once
}

// variable is the variable of a flag: EARSHOT_ROOT of --root.
func variable(name string) string {
	return "EARSHOT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// several answers whether a flag may be given several times.
func several(f *pflag.Flag) bool { _, is := f.Value.(pflag.SliceValue); return is }

// fromVariable reads a variable: one value, or, of a flag that takes several, a list in
// brackets. A variable without a value says nothing.
func fromVariable(f *pflag.Flag, text string) ([]string, error) {
	if !several(f) || !strings.HasPrefix(text, "[") {
		return []string{text}, nil
	}
	section, err := settings.Parse([]byte(f.Name + ": " + text))
	if err == nil {
		var list []string
		if list, err = section.Texts(f.Name, true); err == nil {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%q is not a list such as [/home/anna/Pictures, /srv/scans]", text)
}

// Names are all that can be set, in the order of the alphabet.
func Names(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if setting(f) && !f.Hidden {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	return names
}

// hint is what to do about a configuration that cannot be used.
func hint(err error) string {
	if wrong, is := errors.AsType[*settings.Error](err); is && wrong.Hint != "" {
		return wrong.Hint
	}
	return "`earshot help configuration` prints a complete example"
}

// ValueOf says what a flag takes.
func ValueOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 30s or 5m"
	case "int", "int64", "uint", "uint16":
		return "a whole number"
	case "float64":
		return "a number"
	default:
		return "a text"
	}
}
