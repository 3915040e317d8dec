package aaep_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// compact is the example of a message as one line.
func compact(t testing.TB, m aaep.Message) []byte {
	t.Helper()
	raw := jsontext.Value(m.Example)
	if err := raw.Compact(jsontext.PreserveRawStrings(true)); err != nil {
		t.Fatalf("%s: %v", m.Type, err)
	}
	return raw
}

// TestExamples: the example of every message is without a finding, and is written as it
// was read.
func TestExamples(t *testing.T) {
	t.Parallel()
	write := map[string]func(raw []byte) ([]byte, error){
		aaep.TypeConfirmationReply:  rewrite(aaep.DecodeConfirmationReply),
		aaep.TypeClarificationReply: rewrite(aaep.DecodeClarificationReply),
		aaep.TypeQuestionExtend:     rewrite(aaep.DecodeQuestionExtend),
		aaep.TypeManifest:           rewrite(aaep.DecodeManifest),
	}
	for name, c := range coders() {
		write[name] = func(raw []byte) ([]byte, error) {
			message, err := c.decode(raw)
			if err != nil {
				return nil, err
			}
			return c.encode(message)
		}
	}
	for _, m := range everything() {
		raw := compact(t, m)
		if found := judge(m, raw); len(found) > 0 {
			t.Errorf("%s: found%s", m.Type, list(found))
		}
		again := write[m.Type]
		if m.Event {
			again = rewrite(aaep.DecodeEvent)
		}
		if written, err := again(raw); err != nil || !bytes.Equal(written, raw) {
			t.Errorf("%s, %v:\nread    %s\nwritten %s", m.Type, err, raw, written)
		}
	}
}

func rewrite[M interface{ Encode() ([]byte, error) }](decode func([]byte) (M, error)) func(raw []byte) ([]byte, error) {
	return func(raw []byte) ([]byte, error) {
		message, err := decode(raw)
		if err != nil {
			return nil, err
		}
		return message.Encode()
	}
}

// TestNoAllocation: a validator that has seen messages judges valid ones without new
// memory, in every mode.
func TestNoAllocation(t *testing.T) {
	var v aaep.Validator
	for _, m := range aaep.Messages() {
		raw := compact(t, m)
		for _, mode := range []aaep.Mode{aaep.ModeProducer, aaep.ModeConsumer, aaep.ModeEnvelope} {
			v.Validate(raw, mode)
			if n := testing.AllocsPerRun(20, func() { v.Validate(raw, mode) }); n > 0 {
				t.Errorf("%s costs %v allocations", m.Type, n)
			}
		}
	}
}

// TestReuse: what a validator has judged before changes nothing, and what it told stays
// as it was.
func TestReuse(t *testing.T) {
	t.Parallel()
	texts := [][]byte{[]byte(valid), nil, []byte(`{"a":1,"a":2}`), []byte("\xef\xbb\xbf{}"), []byte(`{"\u0061":"\ud800"}`)}
	for _, text := range hostile() {
		texts = append(texts, []byte(text))
	}
	for _, m := range aaep.Messages() {
		texts = append(texts, compact(t, m), encode(t, bare(t, m)), encode(t, with(whole(t, m), "stranger", 1)))
	}
	var v aaep.Validator
	reported := map[int][]aaep.Violation{}
	for i, raw := range texts {
		mode := aaep.Mode(i % 3)
		reported[i] = v.Validate(bytes.Clone(raw), mode)
	}
	for i, raw := range texts {
		if want := aaep.Validate(raw, aaep.Mode(i%3)); list(want) != list(reported[i]) {
			t.Errorf("%.80s: want%s\ngot%s", raw, list(want), list(reported[i]))
		}
	}
}

// TestSteps: findings come in the order of the nine steps of §3.9.
func TestSteps(t *testing.T) {
	t.Parallel()
	raw := `{"extensions":{"medai":{}},"mood":1,"to_state":"","extra":{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":1e999}}}}}}}},"urgency":"loud",` +
		`"event_id":"x","type":"https://aaep-protocol.org/types/agent.state.changed","@context":[]}`
	steps := [][]string{
		{"ENV-05"},                               // an object, readable
		{"ENV-07"},                               // its required members
		{"ENV-35", "ENV-36", "ENV-47", "ENV-58"}, // types and formats of the envelope
		{"ENV-08"},                               // the core context
		{"ENV-13"},                               // a known type
		{"ENV-18"},                               // ids and times
		{"STATE-01", "STATE-02", "PAY-03"},
		{"ENV-42"}, // extensions
		{"ENV-51"}, // limits
	}
	last := 0
	seen := map[int]bool{}
	for _, v := range aaep.Validate([]byte(raw), aaep.ModeProducer) {
		step := slices.IndexFunc(steps, func(rules []string) bool { return slices.Contains(rules, v.Rule) })
		if step < last {
			t.Errorf("%s comes behind step %d", v, last+1)
		}
		last = step
		seen[step] = true
	}
	for i := range steps {
		if !seen[i] {
			t.Errorf("step %d found nothing", i+1)
		}
	}
}

// TestEnvelopeOnly: an envelope without its payload is a valid envelope and no valid
// event (C-03).
func TestEnvelopeOnly(t *testing.T) {
	t.Parallel()
	const head = `{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","timestamp":"2026-05-24T14:22:11.342Z","producer":{"agent_id":"tidy"}`
	if found := aaep.Validate([]byte(head+"}"), aaep.ModeEnvelope); len(found) > 0 {
		t.Errorf("found%s", list(found))
	}
	if found := aaep.Validate([]byte(head+"}"), aaep.ModeProducer); !names(found, asError, "START-01") {
		t.Errorf("no START-01 in%s", list(found))
	}
	for rest, rule := range map[string]string{
		`,"summary_normal":5,"mood":[]}`: "", `,"aaep_mood":1}`: "ENV-45", `,"@id":"x"}`: "ENV-46", `,"Producer":{}}`: "ENV-60", `,"extensions":{"m":{}}}`: "ENV-42", `,"verbosity":null}`: "ENV-34",
	} {
		found := aaep.Validate([]byte(head+rest), aaep.ModeEnvelope)
		if rule == "" && len(found) > 0 || rule != "" && !names(found, asError, rule) {
			t.Errorf("%s: want %q, found%s", rest, rule, list(found))
		}
	}
	if found := aaep.Validate([]byte(strings.Replace(head, "session.started", "mood.changed", 1)+"}"), aaep.ModeEnvelope); !names(found, asError, "ENV-14") {
		t.Errorf("no ENV-14 in%s", list(found))
	}
	if found := aaep.Validate([]byte(`{"type":"confirmation.reply"}`), aaep.ModeEnvelope); !names(found, asError, "CONF-31") {
		t.Errorf("no CONF-31 in%s", list(found))
	}
}

// TestPrefixes: a prefix that is known is judged exactly, any other as far as it can be
// (C-09).
func TestPrefixes(t *testing.T) {
	t.Parallel()
	v := aaep.Validator{Prefixes: map[string]string{"medai": other}}
	declared := strings.Replace(valid, `"https://aaep-protocol.org/context/v1"`, `["https://aaep-protocol.org/context/v1","`+other+`"]`, 1)
	undeclared := strings.Replace(declared, other, "https://example.org/other", 1)
	with := func(raw string) []byte { return []byte(strings.TrimSuffix(raw, "}") + `,"extensions":{"medai":{}}}`) }
	if found := v.Validate(with(declared), aaep.ModeProducer); len(found) > 0 {
		t.Errorf("declared: found%s", list(found))
	}
	if found := v.Validate(with(undeclared), aaep.ModeProducer); !names(found, asError, "ENV-42") {
		t.Errorf("not declared: found%s", list(found))
	}
	if found := aaep.Validate(with(undeclared), aaep.ModeProducer); !names(found, asWarning, "ENV-42") {
		t.Errorf("not known: found%s", list(found))
	}
}

// verdict is what the findings say, whatever their order and words.
func verdict(found []aaep.Violation) []string {
	var support []string
	for _, v := range found {
		switch v.Rule {
		case "ENV-58", "ENV-49", "ENV-54": // the order and the size of the text itself
		default:
			support = append(support, v.Rule+" "+strings.Join(v.Also, " ")+" "+string(v.Severity)+" "+v.Path)
		}
	}
	slices.Sort(support)
	return support
}

// FuzzForms: a message says the same compact, pretty and with its members in another
// order (ENV-03, ENV-04).
func FuzzForms(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 8<<10 || !jsontext.Value(raw).IsValid() {
			return
		}
		pretty, small := jsontext.Value(bytes.Clone(raw)), jsontext.Value(bytes.Clone(raw))
		if pretty.Indent(jsontext.PreserveRawStrings(true)) != nil || small.Compact(jsontext.PreserveRawStrings(true)) != nil {
			t.Fatalf("cannot be formatted: %s", raw)
		}
		for _, mode := range []aaep.Mode{aaep.ModeProducer, aaep.ModeConsumer, aaep.ModeEnvelope} {
			want := verdict(aaep.Validate(raw, mode))
			if len(want) >= 500 {
				return // not all of them are listed
			}
			for name, form := range map[string][]byte{"pretty": pretty, "compact": small, "reversed": reversed(t, raw)} {
				if got := verdict(aaep.Validate(form, mode)); !slices.Equal(got, want) {
					t.Errorf("%s:\nwant %q\ngot  %q", name, want, got)
				}
			}
		}
	})
}

// reversed turns the members of every object around.
func reversed(t *testing.T, raw jsontext.Value) jsontext.Value {
	t.Helper()
	switch raw.Kind() {
	case jsontext.KindBeginObject:
		var members []string
		decoder := jsontext.NewDecoder(bytes.NewReader(raw))
		if _, err := decoder.ReadToken(); err != nil {
			t.Fatal(err)
		}
		for decoder.PeekKind() == jsontext.KindString {
			name, err := decoder.ReadValue()
			name = name.Clone()
			value, err2 := decoder.ReadValue()
			if err := cmp.Or(err, err2); err != nil {
				t.Fatal(err)
			}
			members = append(members, string(name)+":"+string(reversed(t, value.Clone())))
		}
		slices.Reverse(members)
		return jsontext.Value("{" + strings.Join(members, ",") + "}")
	case jsontext.KindBeginArray:
		var items []jsontext.Value
		if err := json.Unmarshal(raw, &items); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = string(reversed(t, item))
		}
		return jsontext.Value("[" + strings.Join(texts, ",") + "]")
	default:
		return raw
	}
}
