package aaep_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/aaep"
)

// exception is a rule by which this package refuses what a schema takes. At is the end
// of the place of such a finding, or "" for any place.
type exception struct{ rule, at, why string }

// beyondSchemas are the rules that our own schemas cannot say: it is all that may
// refuse what they take. Each of them occurs.
var beyondSchemas = []exception{
	{"ENV-02", "", "a byte order mark, and text that is not Unicode, is lost before a schema sees it"},
	{"ENV-05", "", "numbers that a double cannot carry, anywhere"},
	{"ENV-12", "/type", "of a type that is not in the table, what an envelope schema cannot say of all"},
	{"ENV-14", "/type", "a type of the namespace aaep that is not in the table"},
	{"ENV-26", "/timestamp", "the calendar"},
	{"ENV-47", "", "a variant whose suffix has the shape of a language tag and is none (PAY-01)"},
	{"ENV-60", "", "names that occur twice, or differ in case only: a reader would merge them"},
	{"PROG-04", "/step", "a step beyond the steps: a schema cannot compare two members"},
	{"OUT-07", "/language", "language tags that have the pattern and are not well formed"},
	{"I18N-03", "", "the same"},
	{"CONF-34", "/timestamp", "the calendar"},
	{"CLA-02", "/timestamp", "the calendar"},
	{"QEXT-04", "/timestamp", "the calendar"},
	{"EXT-18", "/deadline", "the calendar"},
	{"EXT-18", "/starts_at", "the calendar"},
}

// leniency is a rule by which this package takes what a schema refuses.
type leniency struct {
	rule, why string
	is        func(d aaep.Document) bool
}

// laterVersions may have what the schemas of 1.0.0 do not know.
var laterVersions = leniency{"VER-03", "members and words of a later 1.x", func(d aaep.Document) bool {
	version, _ := d.Text("aaep_version")
	return strings.HasPrefix(version, "1.") && version != aaep.Version && !strings.HasPrefix(version, "1.0.0-")
}}

// contest counts what two judges of the same messages disagree on.
type contest struct {
	t          *testing.T
	exceptions []exception
	lenient    []leniency
	occurred   map[string]int // by rule and place
	cases      int
	legal      int
}

func newContest(t *testing.T, exceptions []exception, lenient ...leniency) *contest {
	t.Helper()
	return &contest{t: t, exceptions: exceptions, lenient: lenient, occurred: map[string]int{}}
}

// compare holds our verdict on one message against that of its schema.
func (c *contest) compare(of aaep.Message, schema *jsonschema.Schema, raw []byte) {
	c.t.Helper()
	c.cases++
	found := aaep.Errors(judge(of, raw))
	written, _ := aaep.Read(raw).Text("type")
	ours := len(found) == 0 && (aaep.CompactType(written) == of.Type || of.Fields == nil)
	theirs := refusal(schema, raw)
	switch {
	case ours && theirs != nil:
		c.laxer(of, raw, theirs)
	case ours:
		c.legal++
	case theirs == nil:
		c.stricter(of, raw, found)
	}
}

// laxer notes that we take what the schema refuses. It needs a leniency.
func (c *contest) laxer(of aaep.Message, raw []byte, theirs error) {
	c.t.Helper()
	i := slices.IndexFunc(c.lenient, func(l leniency) bool { return l.is(aaep.Read(raw)) })
	if i < 0 {
		c.t.Errorf("%s: we take it, and the schema says: %v\n%s", of.Type, theirs, short(raw))
		return
	}
	c.occurred[c.lenient[i].rule]++
}

// corners compares edits of whole messages.
func (c *contest) corners(all []corner, schema func(of aaep.Message) *jsonschema.Schema) {
	c.t.Helper()
	for _, each := range all {
		of, _ := aaep.Describe(each.of)
		message := whole(c.t, of)
		for name, value := range each.edit {
			put(message, name, value)
		}
		c.compare(of, schema(of), encode(c.t, message))
	}
}

// stricter notes findings on what the schema takes. Each needs an exception.
func (c *contest) stricter(of aaep.Message, raw []byte, found []aaep.Violation) {
	c.t.Helper()
	if !jsontext.Value(raw).IsValid() { // what it means cannot be known; what follows from that says nothing
		found = slices.DeleteFunc(found, func(v aaep.Violation) bool { return !v.Names("ENV-02") && !v.Names("ENV-60") })
	}
	for _, v := range found {
		i := slices.IndexFunc(c.exceptions, func(e exception) bool { return v.Names(e.rule) && strings.HasSuffix(v.Path, e.at) })
		if i < 0 {
			c.t.Errorf("%s: the schema takes it, and we find %s\n%s", of.Type, v, short(raw))
			continue
		}
		c.occurred[c.exceptions[i].rule+c.exceptions[i].at]++
	}
	if len(found) == 0 {
		c.t.Errorf("%s: the schema takes another type\n%s", of.Type, short(raw))
	}
}

// done tells what occurred, and fails for every exception that did not.
func (c *contest) done() {
	c.t.Helper()
	c.t.Logf("%d messages, %d of them legal for both", c.cases, c.legal)
	for _, e := range c.exceptions {
		c.t.Logf("stricter by %s at %q: %d findings, %s", e.rule, e.at, c.occurred[e.rule+e.at], e.why)
		if c.occurred[e.rule+e.at] == 0 {
			c.t.Errorf("the exception %s (%s) at %q did not occur", e.rule, e.why, e.at)
		}
	}
	for _, l := range c.lenient {
		c.t.Logf("laxer by %s: %d messages, %s", l.rule, c.occurred[l.rule], l.why)
		if c.occurred[l.rule] == 0 {
			c.t.Errorf("the leniency %s (%s) did not occur", l.rule, l.why)
		}
	}
	if c.legal < c.cases/4 || c.legal > c.cases*3/4 {
		c.t.Errorf("%d of %d messages are legal: that proves little", c.legal, c.cases)
	}
}

// judgedElsewhere reports whether a text is one of the messages of the table.
func judgedElsewhere(raw []byte) bool {
	written, _ := aaep.Read(raw).Text("type")
	_, known := aaep.Lookup(written)
	return known
}

func short(raw []byte) string {
	const most = 1500
	if len(raw) <= most {
		return string(raw)
	}
	return fmt.Sprintf("%s… (%d bytes)", raw[:most], len(raw))
}

// corner is an edit of a whole message.
type corner struct {
	of   string
	edit edit
}

// corners are messages in which the rarer exceptions occur for certain.
var corners = []corner{
	{aaep.TypeAwaitingConfirmation, edit{"extra_context": edit{"n": uint64(1)<<53 + 2}}},
	{aaep.TypeStateChanged, edit{"timestamp": noDay}},
	{aaep.TypeStateChanged, edit{"summary_normal_a": "x"}},
	{aaep.TypeStateChanged, hints("primary_language", "en-a")},
	{aaep.TypeStateChanged, known("earshot", edit{"deadline": noDay})},
	{aaep.TypeStateChanged, known("earshot", edit{"starts_at": noDay})},
	{aaep.TypeProgressUpdated, edit{"progress": edit{"step": 3, "total_steps": 2}}},
	{aaep.TypeOutputStreaming, edit{"language": "en-a"}},
	{aaep.TypeConfirmationReply, edit{"timestamp": noDay}},
	{aaep.TypeClarificationReply, edit{"timestamp": noDay}},
	{aaep.TypeQuestionExtend, edit{"timestamp": noDay}},
	{aaep.TypeSubscriptionRequest, capable("Languages", edit{})},
}

const noDay = "2026-02-30T00:00:00Z"

// perMessage is how many messages of each type the judges see.
const perMessage = 400

// TestDifferential: on generated and mutated messages our verdict is that of a
// standard validator over the exported schemas, formats not asserted, as the draft has
// it; where they differ, it is a rule that no schema can say.
func TestDifferential(t *testing.T) {
	t.Parallel()
	c := newContest(t, beyondSchemas, laterVersions)
	envelope := aaep.Message{Type: "https://example.org/types/seen", Event: true, Urgency: aaep.UrgencyNormal}
	for i, of := range append(everything(), envelope) {
		name := of.Name()
		if of.Type == envelope.Type {
			name = aaep.EnvelopeName
		}
		schema, strict := compiled(t, name), compiled(t, name, (*jsonschema.Compiler).AssertFormat)
		m := newMutator(t, of, uint64(i))
		for range perMessage {
			raw := m.next()
			if of.Type == envelope.Type && judgedElsewhere(raw) {
				continue // a message of its own, with a schema of its own
			}
			c.compare(of, schema, raw)
			if len(aaep.Errors(judge(of, raw))) == 0 && refusal(schema, raw) == nil && refusal(strict, raw) != nil {
				t.Errorf("%s: we take it, and formats say: %v\n%s", of.Type, refusal(strict, raw), short(raw))
			}
			if t.Failed() {
				return // one at a time is enough to read
			}
		}
	}
	c.corners(corners, func(of aaep.Message) *jsonschema.Schema { return compiled(t, of.Name()) })
	c.done()
	if c.cases < 8_000 {
		t.Errorf("only %d messages", c.cases)
	}
}

// TestSchemasSayWhatTheyCannot: the rules that each schema names as beyond it are the
// exceptions of the contest, no more and no fewer.
func TestSchemasSayWhatTheyCannot(t *testing.T) {
	t.Parallel()
	support := regexp.MustCompile(`cannot say in full: ([A-Z0-9, -]+)\.`)
	found := map[string]bool{}
	for _, name := range aaep.Names() {
		raw, err := aaep.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		comment, _ := aaep.Read(raw).Text("$comment")
		parts := support.FindStringSubmatch(comment)
		if parts == nil {
			t.Fatalf("%s says %q", name, comment)
		}
		for rule := range strings.SplitSeq(parts[1], ", ") {
			found[rule] = true
		}
	}
	want := map[string]bool{}
	for _, e := range beyondSchemas {
		want[e.rule] = true
	}
	if !maps.Equal(found, want) {
		t.Errorf("the schemas name %v\nthe contest knows %v", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(want)))
	}
}
