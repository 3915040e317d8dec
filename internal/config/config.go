// Package config sets flags that were not given on the command line, from their environment variables (EARSHOT_ROOT for
// --root) or else from a YAML file with the same names.
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
	// Flag is the flag that names the file; it is not a setting.
	Flag = "config"
	// Once is the annotation of a flag for a single start, which is not a setting either.
	Once = "earshot-once"
	// NoPath is the annotation of a flag for a path, with the values that are not one, such as "none".
	NoPath = "earshot-no-path"
)

// File is the file that was read.
type File struct {
	Path string   // "" if no file is named
	Sets []string // the names that it sets, in its order
}

// Fill sets each flag that was not given on the command line to the value of its variable EARSHOT_NAME, or else to that
// of the file which --config or EARSHOT_CONFIG names.
func Fill(flags *pflag.FlagSet, getenv func(string) string) (File, error) {
	var c File
	c.Path, _ = flags.GetString(Flag)
	if c.Path == "" && !flags.Changed(Flag) {
		c.Path = getenv(Variable(Flag))
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
	if text := getenv(Variable(f.Name)); text != "" {
		from, advice = "the variable "+Variable(f.Name), "correct it, or unset it"
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

// setting reports whether a file and a variable can set a flag.
func setting(f *pflag.Flag) bool {
	_, once := f.Annotations[Once]
	return f.Name != "help" && f.Name != Flag && !once
}

// Variable returns the variable of a flag: EARSHOT_ROOT for --root.
func Variable(name string) string {
	return "EARSHOT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// several reports whether a flag may be given several times.
func several(f *pflag.Flag) bool { _, is := f.Value.(pflag.SliceValue); return is }

// fromVariable parses a variable: one value or, for a flag that takes several, a list in brackets. An empty variable
// counts as unset.
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

// Names returns all settings, sorted.
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

// hint says what to do about an invalid configuration.
func hint(err error) string {
	if wrong, is := errors.AsType[*settings.Error](err); is && wrong.Hint != "" {
		return wrong.Hint
	}
	return "`earshot help configuration` prints a complete example"
}

// ValueOf describes what a flag takes.
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
