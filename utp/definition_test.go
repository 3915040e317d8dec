package utp_test

import (
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/utp"
)

func definition() utp.Definition {
	return utp.Definition{
		Tool: "files.delete", Description: "deletes", Parameters: []byte(`{"type":"object"}`),
		Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.delete", AfterExecution: utp.Suspend,
		Class: utp.Irreversible, Risk: utp.RiskHigh,
	}
}

// TestDefinitionDigest pins the digest; reviews by operators depend on it. The value was
// computed by another program.
func TestDefinitionDigest(t *testing.T) {
	t.Parallel()
	want := "f820d93b8fd2cedee0e0dd3cd3a5a7647d802ef20f4974ae0adaada0aefe943d"
	same := map[string]func(*utp.Definition){
		"as it is":       func(*utp.Definition) {},
		"empty options":  func(d *utp.Definition) { d.Options = []byte(` { } `) },
		"null options":   func(d *utp.Definition) { d.Options = []byte(`null`) },
		"other spelling": func(d *utp.Definition) { d.Parameters = []byte(`{ "t\u0079pe" : "object" }`) },
		"description":    func(d *utp.Definition) { d.Description = "removes" },
		"name":           func(d *utp.Definition) { d.Tool = "files.remove" },
		"risk":           func(d *utp.Definition) { d.Risk = utp.RiskLow },
	}
	for name, change := range same {
		d := definition()
		change(&d)
		if got, err := d.Digest(); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, want)
		}
	}
	other := map[string]func(*utp.Definition){
		"schema":  func(d *utp.Definition) { d.Parameters = []byte(`{"type":"object","additionalProperties":true}`) },
		"target":  func(d *utp.Definition) { d.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.remove" },
		"class":   func(d *utp.Definition) { d.Class = utp.Reversible },
		"after":   func(d *utp.Definition) { d.AfterExecution = utp.Terminate },
		"options": func(d *utp.Definition) { d.Options = []byte(`{"envs":{"k":"K"}}`) },
	}
	seen := map[string]string{want: "the first"}
	for name, change := range other {
		d := definition()
		change(&d)
		got, err := d.Digest()
		if err != nil || seen[got] != "" {
			t.Errorf("%s: %s, %v is that of %s", name, got, err, seen[got])
		}
		seen[got] = name
	}
}

func TestDefinitionDigestRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*utp.Definition){
		"a name twice":        func(d *utp.Definition) { d.Parameters = []byte(`{"type":"object","type":"array"}`) },
		"an inexact number":   func(d *utp.Definition) { d.Parameters = []byte(`{"maximum":18446744073709551615}`) },
		"malformed":           func(d *utp.Definition) { d.Options = []byte(`{`) },
		"target is not UTF-8": func(d *utp.Definition) { d.Target = "\xff" },
	} {
		d := definition()
		change(&d)
		if sum, err := d.Digest(); err == nil {
			t.Errorf("%s: %s", name, sum)
		} else if _, ok := errors.AsType[*utp.ArgumentError](err); !ok {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
}

func TestDefinitionValidate(t *testing.T) {
	t.Parallel()
	if err := definition().Validate(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, field string
		change      func(*utp.Definition)
	}{
		{"no name", "tool_name", func(d *utp.Definition) { d.Tool = "" }},
		{"space in name", "tool_name", func(d *utp.Definition) { d.Tool = "files delete" }},
		{"reserved", "tool_name", func(d *utp.Definition) { d.Tool = "fork_join" }},
		{"after", "after_execution", func(d *utp.Definition) { d.AfterExecution = "" }},
		{"class", "class", func(d *utp.Definition) { d.Class = "harmless" }},
		{"no class", "class", func(d *utp.Definition) { d.Class = "" }},
		{"no risk", "risk", func(d *utp.Definition) { d.Risk = "" }},
		{"risk", "risk", func(d *utp.Definition) { d.Risk = "" }},
		{"no schema", "parameters", func(d *utp.Definition) { d.Parameters = nil }},
		{"schema with a name twice", "parameters or options", func(d *utp.Definition) { d.Parameters = []byte(`{"a":1,"a":1}`) }},
		{"target of the system", "target_subject", func(d *utp.Definition) { d.Target = "cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.x" }},
		{"target of one project", "target_subject", func(d *utp.Definition) { d.Target = "cg.v1r4.home.{channel_id}.cmd.tool.files.x" }},
		{"options", "options", func(d *utp.Definition) { d.Options = []byte(`{"envs":[]}`) }},
	}
	for _, tt := range tests {
		d := definition()
		tt.change(&d)
		if wrong, ok := errors.AsType[*utp.DefinitionError](d.Validate()); !ok || wrong.Field != tt.field {
			t.Errorf("%s: got %v, want a fault of %s", tt.name, d.Validate(), tt.field)
		}
	}
}

// TestClasses: what is unknown counts as the worst (call protocol, "Effect classes").
func TestClasses(t *testing.T) {
	t.Parallel()
	order := []utp.Class{utp.Read, utp.Idempotent, utp.Reversible, utp.Irreversible}
	for i, c := range order {
		if c.Order() != i || !c.Valid() {
			t.Errorf("%s has order %d", c, c.Order())
		}
		if c.Effectful() != (i > 0) || c.Repeatable() != (i < 2) {
			t.Errorf("%s: effectful %v, repeatable %v", c, c.Effectful(), c.Repeatable())
		}
		for j, d := range order {
			if got := c.Raise(d); got != order[max(i, j)] {
				t.Errorf("%s raised by %s is %s", c, d, got)
			}
		}
		for _, unknown := range []utp.Class{"", "harmless"} {
			if c.Raise(unknown) != utp.Irreversible || unknown.Raise(c) != utp.Irreversible {
				t.Errorf("%s and %q: %s, %s", c, unknown, c.Raise(unknown), unknown.Raise(c))
			}
			if unknown.Valid() || !unknown.Effectful() || unknown.Repeatable() {
				t.Errorf("%q counts for less than irreversible", unknown)
			}
		}
	}
	risks := []utp.Risk{utp.RiskLow, utp.RiskMedium, utp.RiskHigh}
	for i, r := range risks {
		if r.Order() != i || !r.Valid() {
			t.Errorf("%s has order %d", r, r.Order())
		}
		for j, s := range risks {
			if got := r.Raise(s); got != risks[max(i, j)] {
				t.Errorf("%s raised by %s is %s", r, s, got)
			}
		}
		if r.Raise("none") != utp.RiskHigh || utp.Risk("").Raise(r) != utp.RiskHigh || utp.Risk("").Valid() {
			t.Errorf("an unknown risk counts for less than high")
		}
	}
}
