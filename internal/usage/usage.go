// Package usage puts into words what is wrong with a command line itself: an argument too many, a flag that there is not, and
// which one is near that there is.
package usage

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/tool/settings"
)

// KnownCommand refuses a word that is not a command, and says which one is near.
func KnownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(root, "", args[0])
}

// unknownCommand is the refusal of a name that is near that of a command, or is none; above is what comes before it.
func unknownCommand(c *cobra.Command, above, name string) error {
	names := make([]string, 0, len(c.Commands()))
	for _, under := range c.Commands() {
		names = append(names, under.Name())
	}
	return cause.Misuse(fmt.Sprintf("there is no command %.64q", above+name), orHelp(c, settings.Nearest(name, names)))
}

// UnknownFlag tells what is wrong with a flag, and which one is near that there is.
func UnknownFlag(c *cobra.Command, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return cause.Misuse("there is no flag -"+short, orHelp(c, ""))
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return cause.Misuse("there is no flag --"+unknown.GetSpecifiedName(), orHelp(c, nearFlags(unknown.GetSpecifiedName(), names)))
	}
	if missing, is := errors.AsType[*pflag.ValueRequiredError](err); is {
		return cause.Misuse("--"+missing.GetFlag().Name+" has no value; it takes "+config.ValueOf(missing.GetFlag()), orHelp(c, ""))
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is {
		return cause.Misuse(fmt.Sprintf("--%s is %.64q; it takes %s", wrong.GetFlag().Name, wrong.GetValue(), config.ValueOf(wrong.GetFlag())), orHelp(c, ""))
	}
	return cause.Misuse(cause.Of(err), orHelp(c, ""))
}

// shortest is how long the first word of a flag is at least by which the flag is recognised.
const shortest = 3

// nearFlags names the flag that a misspelt one probably means, or else those whose first word it is near, as tokn is of token-file; ""
// if there are none.
func nearFlags(word string, names []string) string {
	if near := settings.Nearest(word, names); near != "" {
		return "--" + near
	}
	under := map[string][]string{}
	for _, name := range names {
		if first, _, more := strings.Cut(name, "-"); more && len(first) >= shortest {
			under[first] = append(under[first], "--"+name)
		}
	}
	near := under[settings.Nearest(word, slices.Sorted(maps.Keys(under)))]
	if len(near) < 2 {
		return strings.Join(near, "")
	}
	last := len(near) - 1
	return strings.Join(near[:last], ", ") + " or " + near[last]
}

// None refuses every argument. Under a command that has others, it is the name of one that there is not.
func None(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.HasAvailableSubCommands() && c.HasParent() {
		_, above, _ := strings.Cut(c.CommandPath()+" ", " ")
		return unknownCommand(c, above, args[0])
	}
	return cause.Misuse(fmt.Sprintf("`%s` takes no argument; %.64q is one", c.CommandPath(), args[0]), orHelp(c, ""))
}

// OneAtMost refuses a second argument.
func OneAtMost(c *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return cause.Misuse(fmt.Sprintf("`%s` takes one argument at most; %.64q is one more", c.CommandPath(), args[1]), orHelp(c, ""))
}

// orHelp is a hint: what was probably meant, and where there is more.
func orHelp(c *cobra.Command, near string) string {
	return settings.Meaning(near, "see `"+c.CommandPath()+" --help`")
}

// flagGroup is how the library of the command line says that flags exclude each other.
var flagGroup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.+)\] were all set$`)
})

// Unworded is an error that no part of the program has put into words: flags that exclude each other, or one that nobody has
// thought of.
func Unworded(err error) *cause.Error {
	m := flagGroup().FindStringSubmatch(err.Error())
	if m == nil {
		return cause.Fail(nil, cause.Of(err), "")
	}
	return cause.Misuse("--"+strings.ReplaceAll(m[1], " ", " and --")+" do not go together", "leave one of them out")
}

// One demands exactly one argument; what says which.
func One(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return cause.Misuse("expected one argument, "+what, "see `"+c.CommandPath()+" --help`")
		}
		return nil
	}
}

// AtMostOne refuses a second argument; what says which the one is.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return cause.Misuse("expected at most one argument, "+what, "see `"+c.CommandPath()+" --help`")
		}
		return nil
	}
}

// OneFile demands one argument, and has a hint where it is missing.
func OneFile(name, hint string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return cause.Misuse("no "+name+" is named", hint)
		case 1:
			return nil
		default:
			return cause.Misuse("there is more than one "+name, "see `"+c.CommandPath()+" --help`")
		}
	}
}
