package aaep_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/aaep"
)

// compiled is the exported schema of a name, ready to judge.
func compiled(t testing.TB, name string, options ...func(*jsonschema.Compiler)) *jsonschema.Schema {
	t.Helper()
	raw, err := aaep.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	compiler := jsonschema.NewCompiler()
	for _, option := range options {
		option(compiler)
	}
	id := aaep.SchemaID(name)
	if err := compiler.AddResource(id, document); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	schema, err := compiler.Compile(id)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, raw)
	}
	return schema
}

// refusal answers what a schema says of bytes. What cannot be read is not valid.
func refusal(s *jsonschema.Schema, raw []byte) error {
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.Validate(instance)
}

// TestSchemas: every exported schema compiles, is whole, takes the example and the
// samples, and refuses a message that lacks one of its required members.
func TestSchemas(t *testing.T) {
	t.Parallel()
	names := aaep.Names()
	if len(names) != 2+len(aaep.Messages()) {
		t.Errorf("found %d schemas", len(names))
	}
	for _, m := range everything() {
		if !slices.Contains(names, m.Name()) {
			t.Errorf("%s has no schema", m.Type)
		}
		schema := compiled(t, m.Name(), (*jsonschema.Compiler).AssertFormat)
		for _, raw := range [][]byte{[]byte(m.Example), encode(t, whole(t, m)), encode(t, bare(t, m))} {
			if err := refusal(schema, raw); err != nil {
				t.Errorf("%s:\n%s\n%v", m.Type, raw, err)
			}
		}
		fields := m.Fields
		if m.Event {
			fields = slices.Concat(aaep.Envelope(), fields)
		}
		for _, f := range fields {
			if !f.Required && (f.Name != "urgency" || m.Critical == "") {
				continue
			}
			message := whole(t, m)
			delete(message, f.Name)
			if refusal(schema, encode(t, message)) == nil {
				t.Errorf("%s without %s is valid", m.Type, f.Name)
			}
		}
	}
	envelope := compiled(t, aaep.EnvelopeName)
	if err := refusal(envelope, []byte(`{"@context":["https://aaep-protocol.org/context/v1","https://example.org/x"],"type":"medai:seen","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-24T14:22:11Z","producer":{"agent_id":"a"},"rate":80}`)); err != nil {
		t.Error(err)
	}
}

// TestSchemaDocuments: each is named, says where its rules come from, refers to
// nothing outside itself, and is the same at every call.
func TestSchemaDocuments(t *testing.T) {
	t.Parallel()
	reference := regexp.MustCompile(`"\$ref": "([^"]*)"`)
	for _, name := range aaep.Names() {
		raw, err := aaep.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		again, err := aaep.Schema(name)
		if err != nil || !bytes.Equal(raw, again) {
			t.Errorf("%s differs from itself: %v", name, err)
		}
		d := aaep.Read(raw)
		for _, want := range []string{"$schema", "$id", "$comment", "title", "description"} {
			if text, _ := d.Text(want); text == "" {
				t.Errorf("%s has no %s", name, want)
			}
		}
		if id, _ := d.Text("$id"); id != "https://github.com/earshot-dev/earshot/ns/v1/schema/"+name+".schema.json" || id != aaep.SchemaID(name) {
			t.Errorf("%s is called %s", name, id)
		}
		for _, found := range reference.FindAllSubmatch(raw, -1) {
			if !bytes.HasPrefix(found[1], []byte("#/$defs/")) {
				t.Errorf("%s refers to %s", name, found[1])
			}
		}
	}
}

// TestSchemaNames: every spelling of a type leads to its schema, and an unknown one is
// an error of its own kind.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	for _, spellings := range [][]string{
		{"agent.tool.invoked", "aaep:agent.tool.invoked", "https://aaep-protocol.org/types/agent.tool.invoked"},
		{"confirmation.reply"},
		{"question.extend", "earshot:question.extend"},
		{"producer.manifest", "aaep:producer.manifest"},
	} {
		want, err := aaep.Schema(spellings[0])
		if err != nil {
			t.Error(err)
		}
		for _, spelling := range spellings[1:] {
			if got, err := aaep.Schema(spelling); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v", spelling, err)
			}
		}
	}
	for _, unknown := range []string{"", "agent.tool", "aaep:", "Confirmation.reply", "Envelope", strings.Repeat("x", 1000)} {
		_, err := aaep.Schema(unknown)
		refused, ok := errors.AsType[*aaep.Error](err)
		if !ok || refused.Code != aaep.CodeUnknownType || len(err.Error()) > 200 {
			t.Errorf("%q: %v", unknown, err)
		}
	}
}
