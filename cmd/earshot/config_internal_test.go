package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/config"
)

// settings are what `up` would work with: the flags, the variables and a file.
func settingsOf(t *testing.T, file string, env map[string]string, args ...string) (map[string]string, config.File, error) {
	t.Helper()
	m := Main{Program: cli.Program{Getenv: func(name string) string { return env[name] }, Now: time.Now}}
	flags := m.upCommand().Flags()
	if file != "" {
		path := filepath.Join(t.TempDir(), "earshot.yaml")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(file, "HERE", filepath.Dir(path))), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	from, err := config.Fill(flags, m.Getenv)
	all := map[string]string{}
	for _, name := range config.Names(flags) {
		all[name] = flags.Lookup(name).Value.String()
		if file != "" {
			all[name] = strings.ReplaceAll(all[name], filepath.Dir(from.Path), "HERE")
		}
	}
	return all, from, err
}

// TestConfig: a flag counts before a variable, that before the file, and that before what is
// there without any. A list is taken whole from where it comes.
func TestConfig(t *testing.T) {
	t.Parallel()
	type values map[string]string
	file := "http: 127.0.0.1:1\nroot: [/a, sub/b, ~/c]\ndebug: true\npolicy: rules.yaml\n"
	for _, row := range []struct {
		name, file string
		env        map[string]string
		args       []string
		want       values
	}{
		{"nothing", "", nil, nil, values{"http": address.Default, "root": "[]", "debug": "false"}},
		{"file", file, map[string]string{"HOME": "/home/ada"}, nil, values{"http": "127.0.0.1:1", "root": "[/a,HERE/sub/b,/home/ada/c]", "debug": "true", "policy": "HERE/rules.yaml"}},
		{"socket", "socket: run/earshot.sock\n", nil, nil, values{"socket": "HERE/run/earshot.sock"}},
		{"no socket", "socket: none\n", nil, nil, values{"socket": "none"}},
		{"one root", "root: /a\n", nil, nil, values{"root": "[/a]"}},
		{"block list", "root:\n  - /a\n  - /b\ndata: /a\n", nil, nil, values{"root": "[/a,/b]", "data": "/a"}},
		{"empty", "# nothing\n", nil, nil, values{"http": address.Default}},
		{"empty document", "---\n", nil, nil, values{"http": address.Default}},
		{"variable before file", file, map[string]string{"EARSHOT_HTTP": "127.0.0.1:2", "EARSHOT_ROOT": "/v", "EARSHOT_DEBUG": "false"}, nil, values{"http": "127.0.0.1:2", "root": "[/v]", "debug": "false"}},
		{"variable with a list", "", map[string]string{"EARSHOT_ROOT": "[/v, '/w x']"}, nil, values{"root": "[/v,/w x]"}},
		{"empty variable", file, map[string]string{"EARSHOT_HTTP": ""}, nil, values{"http": "127.0.0.1:1"}},
		{"flag before all", file, map[string]string{"EARSHOT_HTTP": "127.0.0.1:2", "EARSHOT_ROOT": "/v"}, []string{"--http", "127.0.0.1:3", "--root", "/f", "--root", "/g", "--debug=false"}, values{"http": "127.0.0.1:3", "root": "[/f,/g]", "debug": "false"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := settingsOf(t, row.file, row.env, row.args...)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range row.want {
				if got[name] != want {
					t.Errorf("%s is %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

// TestConfigRefused: whatever is not understood is an error that says where, and what is meant.
func TestConfigRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, file, variable, want, hint string }{
		{"misspelt", "roots: /a\n", "", `line 1: roots: unknown name`, "did you mean root?"},
		{"capitals", "http: 127.0.0.1:1\nPolicy: x\n", "", `line 2: Policy: unknown name`, "did you mean policy?"},
		{"nothing near", "approvers: bob\n", "", `approvers: unknown name`, "the names here are: allow-origin, chat, contact, data, debug,"},
		{"the file itself", "config: other.yaml\n", "", `config: unknown name`, "the names here are:"},
		{"help", "help: true\n", "", `help: unknown name`, "the names here are:"},
		{"twice", "data: /a\ndata: /b\n", "", "data: it is there twice", "example"},
		{"an alias", "root:\n  - &a /a\ndata: *a\n", "", "it uses an anchor or an alias", "example"},
		{"a list for one", "data: [/a]\n", "", "line 1: data: it is a list; expected one value", "example"},
		{"no value", "http:\n", "", "line 1: http: it is empty; expected one value", "example"},
		{"deep", "root: {a: b}\n", "", "line 1: root: it is names and values; expected a value, or a list of values", "example"},
		{"not a switch", "debug: yes\n", "", `debug is "yes"; it takes true or false`, "example"},
		{"no names", "- /a\n", "", "expected names and values", "example"},
		{"a word", "root\n", "", "expected names and values", "example"},
		{"two documents", "data: /a\n---\ndata: /b\n", "", "several documents", "example"},
		{"no YAML", "a: [\n", "", "the configuration", "example"},
		{"variable", "", "EARSHOT_DEBUG=perhaps", `the variable EARSHOT_DEBUG: debug is "perhaps"`, "unset it"},
		{"variable with half a list", "", "EARSHOT_ROOT=[/a", "is not a list such as", "unset it"},
		{"no file", "", "EARSHOT_CONFIG=/absent.yaml", "the configuration cannot be read", "example"},
		{"a folder", "", "EARSHOT_CONFIG=/", "should be a file", "example"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			name, value, _ := strings.Cut(row.variable, "=")
			_, _, err := settingsOf(t, row.file, map[string]string{name: value})
			told, is := err.(*cause.Error) //nolint:errorlint // It is made here.
			if !is || told.Kind != cause.Usage || !strings.Contains(told.Message, row.want) || !strings.Contains(told.Hint, row.hint) {
				t.Errorf("got %+v, want %q and %q", err, row.want, row.hint)
			}
		})
	}
}

// TestConfigExample loads the example of docs/server.md, as it stands and with what is left out in
// it put in: it names every setting there is.
func TestConfigExample(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "server.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(raw)
	if block == nil {
		t.Fatal("docs/server.md has no example")
	}
	if _, _, err := settingsOf(t, string(block[1]), map[string]string{"HOME": "/home/ada"}); err != nil {
		t.Fatal(err)
	}
	whole := regexp.MustCompile(`(?m)^# ([a-z-]+: \S+)$`).ReplaceAllString(string(block[1]), "$1")
	got, from, err := settingsOf(t, whole, map[string]string{"HOME": "/home/ada"})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Clone(from.Sets)
	slices.Sort(names)
	if known := slices.Sorted(maps.Keys(got)); !slices.Equal(names, known) {
		t.Errorf("the example sets %v; there are %v", names, known)
	}
	if got["root"] != "[/home/ada/Pictures,/srv/scans]" || got["http"] != address.Default {
		t.Errorf("the example says %v", got)
	}
}
