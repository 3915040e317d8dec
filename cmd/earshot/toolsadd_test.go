package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// wordsYAML are two tools as CommonGround describes them, one with a column of its database.
const wordsYAML = `
- name: words.count
  description: Counts words.
  target_subject: cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call
  after_execution: suspend
  parameters: {type: object, properties: {text: {type: string}}}
  options: {timeout_seconds: 5}
  project_id: p1
- tool_name: words.drop
  target_subject: cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call
  after_execution: suspend
  class: irreversible
  parameters: {type: object}
`

// TestToolsAdd: an operator registers the tools of a service that does not do so itself, with a
// server and without one. Nobody has reviewed them.
func TestToolsAdd(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.turned()
	file := filepath.Join(t.TempDir(), "words.yaml")
	must(t, os.WriteFile(file, []byte(wordsYAML), 0o600))
	said := s.does(0, "tools", "add", file)
	contains(t, said, "Left out of words.count, since it means nothing here: project_id.",
		"Recorded: words.count: irreversible, high risk, not reviewed, broker-only; the policy says deny. Counts words.", "Recorded: words.drop:")
	type added struct {
		Name        string `json:"tool_name"`
		Digest      string `json:"digest"`
		Enforcement string `json:"enforcement"`
		Reviewed    bool   `json:"reviewed"`
	}
	var tools []added
	s.up()
	s.reads(&tools, "tools", "add", file, "--json")
	if len(tools) != 2 || tools[0].Name != "words.count" || tools[1].Enforcement != "broker-only" || tools[0].Reviewed {
		t.Fatalf("added: %+v", tools)
	}
	s.does(0, "tools", "review", "words.count", "--digest", tools[0].Digest, "--class", "read", "--risk", "low")
	one := `{"tool_name":"words.count","description":"Counts.","target_subject":"cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call","after_execution":"suspend","parameters":{"type":"object"}}`
	p := start(t, options{verb: "tools", data: s.data, args: []string{"add", "-"}})
	p.say(one)
	p.closeInput()
	p.ends(0)
	contains(t, p.out.String(), "Recorded: words.count: irreversible, high risk, changed since its review, broker-only")
}

// TestToolsAddRefuses: what is not a definition changes nothing, and says where and why.
func TestToolsAddRefuses(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.turned()
	before := s.does(0, "tools", "list")
	folder := t.TempDir()
	const target = "target_subject: 'cg.v1r4.{project_id}.{channel_id}.cmd.tool.words.call', "
	const good = `{tool_name: words.count, ` + target + `after_execution: suspend, parameters: {type: object}}`
	for name, tt := range map[string]struct {
		text string
		code int
		says []string
	}{
		"nothing":       {"", 2, []string{"it is empty", "hint: it should be YAML or JSON"}},
		"a word":        {"hello", 2, []string{"tool 1: it is not an object"}},
		"broken":        {"tool_name: [", 2, []string{"hint: it should be YAML or JSON"}},
		"a name twice":  {"tool_name: a\ntool_name: b", 2, []string{"it is there twice"}},
		"wrong type":    {"tool_name: [a]", 2, []string{"tool 1:"}},
		"no name":       {strings.Replace(good, "tool_name: words.count, ", "", 1), 2, []string{`tool_name is nothing; expected 1 to 128`}},
		"no after":      {strings.Replace(good, "after_execution: suspend, ", "", 1), 2, []string{"after_execution", "expected suspend or terminate"}},
		"no subject":    {strings.Replace(good, target, "", 1), 2, []string{"target_subject"}},
		"no parameters": {strings.Replace(good, ", parameters: {type: object}", "", 1), 2, []string{"parameters is not an object"}},
		"no schema":     {strings.Replace(good, "{type: object}", "{type: 7}", 1), 2, []string{"are not JSON Schema"}},
		"ours":          {strings.NewReplacer("words.count", "files.scan", "tool.words.call", "tool.files.run").Replace(good), 1, []string{"registers its tools itself"}},
	} {
		file := filepath.Join(folder, strings.ReplaceAll(name, " ", "_")+".yaml")
		must(t, os.WriteFile(file, []byte(tt.text), 0o600))
		contains(t, s.does(tt.code, "tools", "add", file), tt.says...)
	}
	contains(t, s.does(1, "tools", "add", filepath.Join(folder, "none")), "cannot be read", "hint: name a file of definitions")
	contains(t, s.does(1, "tools", "add", folder), "should be a file of at most 1048576 bytes")
	contains(t, s.does(2, "tools", "add"), "expected one argument")
	if after := s.does(0, "tools", "list"); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
	half := filepath.Join(folder, "half.yaml")
	must(t, os.WriteFile(half, []byte("- "+good+"\n- {tool_name: words.bad}\n"), 0o600))
	contains(t, s.does(2, "tools", "add", half), "Recorded: words.count", "1 of 2 tools are recorded; the next one, words.bad, is not.")
}
