//go:build differential

package aaep_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/aaep"
)

// This file is built by `make differential SCHEMAS=DIR` only: it holds our verdict
// against schemas that AAEP itself has published, which are not part of this project.

// TestDifferentialPublished is [TestDifferential] against the schemas below $SCHEMAS.
func TestDifferentialPublished(t *testing.T) {
	t.Parallel()
	schemas := published(t, os.Getenv("SCHEMAS"))
	c := newContest(t, stricterThanPublished, expandedTypes, laterVersions)
	envelope := aaep.Message{Type: "https://example.org/types/seen", Event: true, Urgency: aaep.UrgencyNormal}
	for i, of := range append(aaep.Messages(), envelope) {
		messageType := of.Type
		if messageType == envelope.Type {
			messageType = "" // its schema is of no type
		}
		schema, ok := schemas[messageType]
		if !ok {
			t.Logf("%s: nothing is published", of.Type)
			continue
		}
		m := newMutator(t, of, uint64(i))
		for range 20 * perMessage {
			raw := m.next()
			if of.Type == envelope.Type && judgedElsewhere(raw) {
				continue
			}
			c.compare(of, schema, raw)
			if t.Failed() {
				return
			}
		}
	}
	c.corners(publishedCorners, func(of aaep.Message) *jsonschema.Schema { return schemas[of.Type] })
	c.done()
}

// published compiles every schema below a folder, by the type that it is about.
func published(t *testing.T, folder string) map[string]*jsonschema.Schema {
	t.Helper()
	if folder == "" {
		t.Fatal("found no SCHEMAS in the environment, expected the folder of AAEP's schemas; run: make differential SCHEMAS=DIR")
	}
	compiler, types := jsonschema.NewCompiler(), map[string]string{} // by $id
	compiler.AssertFormat()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".schema.json") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		d := aaep.Read(raw)
		id, _ := d.Text("$id")
		messageType, _ := d.Text("properties", "type", "const")
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			return err
		}
		types[id] = messageType
		return compiler.AddResource(id, document)
	})
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for id, messageType := range types {
		schema, err := compiler.Compile(id)
		if err != nil {
			t.Fatal(err)
		}
		schemas[messageType] = schema
	}
	if len(schemas) < 18 {
		t.Fatalf("found %d schemas in %s, expected those of the envelope, 12 events and 5 messages", len(schemas), folder)
	}
	return schemas
}

// expandedTypes are types in their long form.
var expandedTypes = leniency{"ENV-13", "the expanded form of a type is the same type, C-05", func(d aaep.Document) bool {
	written, _ := d.Text("type")
	return aaep.CompactType(written) != written
}}

// stricterThanPublished are the rules by which we refuse what a published schema takes:
// prose that is stricter, with the resolution that says so.
var stricterThanPublished = []exception{
	{"ENV-02", "", "a byte order mark, and text that is not Unicode, §3.8"},
	{"ENV-05", "", "numbers that a double cannot carry, §3.8"},
	{"ENV-12", "/type", "a type that is neither prefix:name nor a URI, or whose prefix nothing declares, §3.2.2"},
	{"ENV-14", "/type", "a type of the namespace aaep that is not one of the twelve, C-07"},
	{"ENV-24", "/timestamp", "T and Z in upper case, §3.2.5"},
	{"ENV-25", "/timestamp", "no fraction of a second, or one of 3 or 6 digits, C-11"},
	{"ENV-26", "/timestamp", "leap seconds, which no clock here has"},
	{"ENV-31", "", "empty texts in the producer, C-10"},
	{"ENV-32", "/manifest_uri", "the whole grammar of RFC 3986"},
	{"ENV-39", "/sequence_number", "beyond 2^53, §3.8"},
	{"ENV-42", "", "a prefix that @context does not declare, C-09"},
	{"ENV-44", "/aaep_version", "a version that was never published, C-14"},
	{"ENV-45", "", "names with aaep_, C-04"},
	{"ENV-46", "", "names of JSON-LD, C-04"},
	{"ENV-47", "", "members that an event does not have, C-04"},
	{"ENV-60", "", "names that occur twice, or differ in case only"},
	{"EXT-10", "", "reserved prefixes, §7.3.2"},
	{"EXT-18", "", "data of the namespaces that are known here"},
	{"PAY-01", "", "variants in other languages, C-102"},
	{"ERR-01", "/urgency", "critical also where it is not said, C-16"},
	{"CONFM-01", "/urgency", "the same"},
	{"CLAR-01", "/urgency", "the same"},
	{"HAND-01", "/urgency", "the same"},
	{"COMP-05", "/tool_invocations_count", "beyond 2^53, §3.8"},
	{"COMP-07", "/result_uri", "the whole grammar of RFC 3986"},
	{"ERR-07", "/error_uri", "the same"},
	{"HAND-07", "/target_uri", "the same"},
	{"HS-05", "/subscriber_manifest_uri", "the same"},
	{"HS-25", "/manifest_uri", "the same"},
	{"HS-43", "/alternative_manifest_uri", "the same"},
	{"PROG-04", "/step", "a step beyond the steps, C-30"},
	{"OUT-02", "/position", "beyond 2^53, §3.8"},
	{"CONF-27", "/default_decision", "irreversible by reversibility only, C-21"},
	{"CLAR-09", "/choices", "multiple choice without choices, C-29"},
	{"CAP-04", "/capabilities/supports_confirmation_reply", "level 2 without confirmation replies, §9.4.2"},
	{"CAP-08", "", "an asterisk that is not at the end, C-49"},
	{"CONF-34", "/timestamp", "the same as ENV-24 to ENV-26"},
	{"CLA-02", "/timestamp", "the same"},
	{"I18N-03", "", "tags that have the pattern and are not well formed, §11.1.2"},
	{"OUT-07", "/language", "the same"},
}

// publishedCorners are messages in which the rarer exceptions occur for certain.
var publishedCorners = []corner{
	{aaep.TypeSessionCompleted, edit{"tool_invocations_count": jsontext.Value("9007199254740994.0")}},
	{aaep.TypeOutputStreaming, edit{"position": jsontext.Value("9007199254740994.0")}},
	{aaep.TypeStateChanged, edit{"sequence_number": jsontext.Value("9007199254740994.0")}},
	{aaep.TypeAwaitingConfirmation, edit{"irreversible": false, "reversibility": "irreversible", "risk_level": "high", "default_decision": "accept"}},
	{aaep.TypeSubscriptionRequest, capable("event_filters", edit{"include": []any{"a*b"}})},
	{aaep.TypeProgressUpdated, edit{"progress": edit{"step": 3, "total_steps": 2}}},
}
