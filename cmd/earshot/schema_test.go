package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// TestSchemaPrints: every name, in every spelling, gives what the package exports.
func TestSchemaPrints(t *testing.T) {
	t.Parallel()
	for spelling, name := range map[string]string{
		"confirmation.reply": "confirmation.reply", "agent.tool.invoked": "agent.tool.invoked", "aaep:agent.tool.invoked": "agent.tool.invoked",
		"earshot:question.extend": "question.extend", "producer.manifest": "producer.manifest", "envelope": "envelope",
	} {
		want, err := aaep.Schema(name)
		must(t, err)
		p := plain(t, "schema", spelling)
		p.ends(0)
		if p.out.String() != string(want) || p.prompt.String() != "" {
			t.Errorf("%s prints %s and, on standard error, %s", spelling, p.out, p.prompt)
		}
	}
	p := plain(t, "schema", "--markdown")
	p.ends(0)
	if p.out.String() != string(aaep.Reference()) {
		t.Error("--markdown is not the reference")
	}
}

// TestSchemaLists: one line for each, for people and for programs.
func TestSchemaLists(t *testing.T) {
	t.Parallel()
	people, programs := plain(t, "schema"), plain(t, "schema", "--json")
	people.ends(0)
	programs.ends(0)
	lines, objects := strings.Split(strings.TrimSpace(people.out.String()), "\n"), strings.Split(strings.TrimSpace(programs.out.String()), "\n")
	if len(lines) != len(aaep.Names()) || len(objects) != len(lines) {
		t.Fatalf("%d lines and %d objects for %d names", len(lines), len(objects), len(aaep.Names()))
	}
	for i, name := range aaep.Names() {
		var entry map[string]string
		must(t, json.Unmarshal([]byte(objects[i]), &entry))
		if entry["name"] != name || entry["id"] != aaep.SchemaID(name) || entry["spec"] == "" || lines[i] != name+": "+entry["description"] {
			t.Errorf("%s: %s\n%s", name, lines[i], objects[i])
		}
	}
}

// TestSchemaFiles: --all writes each into a file of its name, also where some are.
func TestSchemaFiles(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "schemas")
	for range 2 {
		plain(t, "schema", "--all", folder).ends(0)
	}
	entries, err := os.ReadDir(folder)
	must(t, err)
	if len(entries) != len(aaep.Names()) {
		t.Errorf("%d files", len(entries))
	}
	for _, name := range aaep.Names() {
		want, err := aaep.Schema(name)
		must(t, err)
		got, err := os.ReadFile(filepath.Join(folder, name+".schema.json"))
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("the file of %s differs", name)
		}
	}
	file := filepath.Join(t.TempDir(), "a file")
	must(t, os.WriteFile(file, nil, 0o600))
	p := plain(t, "schema", "--all", file)
	p.ends(1)
	if !strings.Contains(p.prompt.String(), "hint: name another one") {
		t.Errorf("into a file: %s", p.prompt)
	}
}

// TestSchemaHints: an unknown type is a usage error that names the nearest.
func TestSchemaHints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		says []string
	}{
		{[]string{"confirmaton.reply"}, []string{`error: there is no message "confirmaton.reply"`, "hint: did you mean confirmation.reply?"}},
		{[]string{"tool.invoked"}, []string{"did you mean agent.tool.invoked?"}},
		{[]string{"aaep:agent.tool.finished"}, []string{"did you mean agent.tool."}},
		{[]string{"aaep:agent.sesion.started"}, []string{"did you mean agent.session.started?"}},
		{[]string{"weather"}, []string{"hint: see `earshot schema`, which lists them all\n"}},
		{[]string{""}, []string{"hint: see `earshot schema`, which lists them all\n"}},
		{[]string{strings.Repeat("x", 100_000)}, []string{"hint: see `earshot schema`, which lists them all\n"}},
		{[]string{"envelope", "question.extend"}, []string{"found 2 names, expected at most one"}},
		{[]string{"envelope", "--json"}, []string{"beside --json, expected one of the two"}},
		{[]string{"--json", "--markdown"}, []string{"error:", "hint:"}},
		{[]string{"--all"}, []string{"error:", "hint:"}},
	} {
		p := plain(t, append([]string{"schema"}, row.args...)...)
		p.ends(2)
		for _, says := range row.says {
			if !strings.Contains(p.prompt.String(), says) || p.out.String() != "" {
				t.Errorf("%.60v says %.300s", row.args, p.prompt)
			}
		}
	}
}

// TestSchemaCompletes: the shell offers the names in both spellings.
func TestSchemaCompletes(t *testing.T) {
	t.Parallel()
	for begin, want := range map[string]string{
		"agent.tool.": "agent.tool.invoked\tA tool is about to run", "aaep:agent.tool.": "aaep:agent.tool.completed\t", "con": "confirmation.reply\t",
		"earshot:": "earshot:question.extend\t", "env": "envelope\t",
	} {
		p := plain(t, "__complete", "schema", begin)
		p.ends(0)
		if !strings.Contains(p.out.String(), want) || strings.Count(p.out.String(), "\n") > 3 {
			t.Errorf("%q offers %s", begin, p.out)
		}
	}
	p := plain(t, "__complete", "schema", "envelope", "a")
	p.ends(0)
	if strings.Contains(p.out.String(), "agent.") {
		t.Errorf("a second name is offered: %s", p.out)
	}
}
