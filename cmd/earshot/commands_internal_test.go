package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/internal/usage"
)

var updateCommands = flag.Bool("update-commands", false, "write the list of commands in testdata again")

// everyCommand is each command that a person sees, from the root on.
func everyCommand(t *testing.T) []*cobra.Command {
	t.Helper()
	m := Main{Args: []string{"version"}, Program: cli.Program{Stdout: new(strings.Builder), Stderr: new(strings.Builder), Getenv: os.Getenv}}
	root := m.command()
	root.SetArgs([]string{"version"})
	root.SetOut(m.Stdout)
	if err := root.ExecuteContext(t.Context()); err != nil { // completion and help come with the first run
		t.Fatal(err)
	}
	var all []*cobra.Command
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() != "help" {
			c.InitDefaultHelpFlag() // as it is there when somebody asks for help
		}
		all = append(all, c)
		for _, below := range c.Commands() {
			if !below.Hidden && !below.IsAdditionalHelpTopicCommand() {
				walk(below)
			}
		}
	}
	walk(root)
	return all
}

// TestCommands compares the command tree with the list that was looked at, so that a command or
// a flag cannot come or go unnoticed; and demands of each what a person needs to find it.
func TestCommands(t *testing.T) {
	t.Parallel()
	all := everyCommand(t)
	docs := documents(t)
	pages := t.TempDir()
	if err := (&Main{Program: cli.Program{Getenv: os.Getenv}}).manual(pages); err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, c := range all {
		fmt.Fprintf(&list, "%s: %s\n", c.UseLine(), c.Short)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Hidden {
				return
			}
			fmt.Fprintf(&list, "  --%s %s\n", f.Name, f.Value.Type())
			if f.Usage == "" {
				t.Errorf("%s --%s says nothing of itself", c.CommandPath(), f.Name)
			}
			saysItsOwn(t, c, f)
		})
		name := c.CommandPath()
		ours := name != "earshot" && !strings.HasPrefix(name, "earshot completion") && !strings.HasPrefix(name, "earshot help")
		if ours && !strings.Contains(docs, "`"+name) && !strings.Contains(docs, "\n"+name) && !strings.Contains(docs, "`"+c.Name()+"`") {
			t.Errorf("%s is in no document: neither in README.md nor in docs", name)
		}
		if c.Short == "" || c.Name() != "help" && c.Args == nil && c.Runnable() {
			t.Errorf("%s does not say what it does, or which arguments it takes", name)
		}
		if c.Name() != "help" {
			wholePage(t, c, read(t, pages, strings.ReplaceAll(name, " ", "-")+".1"))
		}
	}
	file := filepath.Join("testdata", "commands.txt")
	if *updateCommands {
		if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, file); list.String() != want {
		t.Errorf("the commands are others than in %s; look at them, then run with -update-commands\n%s", file, list.String())
	}
}

// TestOneCommand: a command that is made alone says the same of itself, and of what is wrong, as one among all the others.
func TestOneCommand(t *testing.T) {
	t.Parallel()
	for _, g := range new(Main).groups() {
		for _, c := range g.commands {
			if made := c.New(); made.Name() != c.Name || len(made.Aliases) > 0 {
				t.Errorf("%s is called %s %v", c.Name, made.Name(), made.Aliases)
			}
			for _, args := range [][]string{{c.Name, "--help"}, {c.Name, "--tokn"}, {c.Name, "no", "such", "--", "words"}} {
				if len(args) > 2 && !slices.Contains([]string{"version", "agents", "manifest", "pending"}, c.Name) {
					continue // it might do it
				}
				var said [2]string
				for i, build := range []func(m *Main) *cobra.Command{(*Main).command, func(m *Main) *cobra.Command { return m.rootFor(args) }} {
					var out strings.Builder
					m := &Main{Program: cli.Program{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}}
					root := build(m)
					root.SetArgs(args)
					root.SetOut(&out)
					root.SetErr(&out)
					err := root.ExecuteContext(t.Context())
					said[i] = fmt.Sprintf("%s%v", out.String(), err)
				}
				if said[0] != said[1] || said[0] == "" {
					t.Errorf("%v says\n%s\nand alone\n%s", args, said[0], said[1])
				}
			}
		}
	}
}

// TestDataFlags: each --data says every place where the folder is looked for.
func TestDataFlags(t *testing.T) {
	t.Parallel()
	const where = "(default $EARSHOT_DATA, else earshot in $XDG_DATA_HOME, else ~/.local/share/earshot)"
	for _, c := range everyCommand(t) {
		if f := c.LocalFlags().Lookup("data"); f != nil && !strings.HasSuffix(f.Usage, where) {
			t.Errorf("%s --data: %s", c.CommandPath(), f.Usage)
		}
	}
}

// documents are README.md and all in docs.
func documents(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no documents: %v", err)
	}
	all := read(t, "..", "..", "README.md")
	for _, page := range pages {
		all += read(t, page)
	}
	return all
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// wholePage demands a manual page that has each flag, and nothing that acts on the formatter.
func wholePage(t *testing.T, c *cobra.Command, page string) {
	t.Helper()
	for _, part := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page of %s has no %q", c.CommandPath(), part)
		}
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !strings.Contains(page, roff("--"+f.Name)+`\fP`) {
			t.Errorf("the page of %s has no --%s", c.CommandPath(), f.Name)
		}
		if f.Name == "person" && !strings.Contains(page, `\-\-person\fP=""`) {
			t.Errorf("the page of %s names anyone who has written it", c.CommandPath())
		}
	})
	for line := range strings.Lines(page) {
		if macro, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") &&
			!slices.Contains([]string{".nh", ".TH", ".SH", ".SS", ".PP", ".EX", ".EE", ".RS", ".RE", ".IP", ".TP"}, macro) {
			t.Errorf("the page of %s has the macro %q", c.CommandPath(), macro)
		}
	}
}

// flagInUse is a flag with its value in the first line of a command's usage.
var flagInUse = regexp.MustCompile(` --\S+ \S+`)

// TestCompletion: a command offers the files of a folder where it takes one, and not else; each flag that
// names a file or a folder offers those.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(t) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			file := slices.Contains([]string{"data", "root", "policy", "config", "token-file", "from-token-file", "from-keys", "terms", "out", "tls-cert", "tls-key", "tls-client-ca", "manifest-key", "tools", "credential", "sign", "public", "file", "folder", "key", "keys", "known", "junit", "html", "socket", "nats-creds", "nats-ca", "nats-cert", "nats-key"}, f.Name)
			if c.Name() == "add" && f.Name == "tools" { // names
				file = false
			}
			if file != config.IsPath(f) {
				t.Errorf("%s --%s: completed by names is %t, want %t", c.CommandPath(), f.Name, config.IsPath(f), file)
			}
		})
		if strings.Contains(c.CommandPath(), " completion") || strings.HasSuffix(c.CommandPath(), " help") || slices.Contains([]string{"run", "validate", "replay", "serve"}, c.Name()) {
			continue
		}
		var out strings.Builder
		args := append(append([]string{"__complete"}, strings.Fields(c.CommandPath())[1:]...), "")
		m := Main{Args: args, Program: cli.Program{Stdout: &out, Stderr: new(strings.Builder), Getenv: func(string) string { return "" }}}
		if code := m.Run(t.Context()); code != cli.ExitDone {
			t.Errorf("%v: exit code %d", m.Args, code)
		}
		want := cobra.ShellCompDirectiveNoFileComp
		if firstArgument := strings.Fields(flagInUse.ReplaceAllString(c.Use, "")); len(firstArgument) > 1 && strings.Contains(firstArgument[1], "FILE") {
			want = cobra.ShellCompDirectiveDefault
		}
		if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); lines[len(lines)-1] != fmt.Sprintf(":%d", want) {
			t.Errorf("%v: files are offered otherwise than for `%s`: %q", m.Args, c.Use, lines)
		}
	}
}

// saysItsOwn looks that a flag can be understood by itself: the list is sorted by name, and is read from any place in it. Of a word
// between backticks pflag makes the name of the value.
func saysItsOwn(t *testing.T, c *cobra.Command, f *pflag.Flag) {
	t.Helper()
	if value, _ := pflag.UnquoteUsage(f); strings.Contains(value, " ") {
		t.Errorf("%s --%s takes a value that is called %q", c.CommandPath(), f.Name, value)
	}
	if strings.HasPrefix(f.Usage, "the same") {
		t.Errorf("%s --%s says %q, which is about another flag", c.CommandPath(), f.Name, f.Usage)
	}
}

// TestHelpWidth: the help of each command fits a terminal of 100 columns; what is copied from it stays whole.
func TestHelpWidth(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(t) {
		var help strings.Builder
		c.SetOut(&help)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(help.String()) {
			columns := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
			if columns > usage.MostColumns && !strings.HasPrefix(strings.TrimSpace(line), "earshot ") {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), columns, line)
			}
		}
	}
}
