package aaep_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// mutator makes messages, legal ones and broken ones; the same seed makes the same.
type mutator struct {
	t      testing.TB
	rand   *rand.Rand
	of     aaep.Message
	rows   []aaep.Field
	faults [][]mutation // by row
}

func newMutator(t testing.TB, of aaep.Message, seed uint64) *mutator {
	t.Helper()
	m := &mutator{t: t, rand: rand.New(rand.NewPCG(seed, uint64(len(of.Type)))), of: of, rows: of.Fields}
	if of.Event {
		m.rows = slices.Concat(aaep.Envelope(), of.Fields)
	}
	for _, f := range m.rows {
		m.faults = append(m.faults, mutations(f, ""))
	}
	return m
}

// next is one message, as bytes.
func (m *mutator) next() []byte {
	message := m.start()
	for _, f := range m.rows {
		switch m.rand.IntN(16) {
		case 0:
			if !f.Required {
				delete(message, f.Name)
			}
		case 1:
			put(message, f.Name, m.other(f)) // often legal
		}
	}
	if m.of.Event && m.rand.IntN(5) == 0 { // declared data of known namespaces
		message["@context"] = pick(m, []any{contexts(core, ours), contexts(core, ours), contexts(core, other), contexts(core, other, ours), core})
		message["extensions"] = pick(m, []any{
			map[string]any{"earshot": m.namespace("earshot"), "utp": m.namespace("utp")},
			map[string]any{"earshot": m.namespace("earshot")},
			map[string]any{"medai": m.namespace("medai")},
			map[string]any{"utp": m.namespace("utp"), "medai": map[string]any{}},
		})
	}
	for range max(0, m.rand.IntN(5)-2) {
		m.mutate(message)
	}
	raw := encode(m.t, message)
	if m.rand.IntN(10) == 0 {
		raw = m.spoil(raw)
	}
	return raw
}

// start is a message without a fault.
func (m *mutator) start() map[string]any {
	switch m.rand.IntN(3) {
	case 0:
		return bare(m.t, m.of)
	case 1:
		return whole(m.t, m.of)
	default:
		if m.of.Example == "" {
			return bare(m.t, m.of)
		}
		var message map[string]any
		if err := json.Unmarshal([]byte(m.of.Example), &message); err != nil {
			m.t.Fatal(err)
		}
		return message
	}
}

// other is another value of a row, most often a legal one.
func (m *mutator) other(f aaep.Field) any {
	switch f.Kind {
	case aaep.KindString:
		if f.Enum != nil && f.Name != "type" {
			return f.Enum[m.rand.IntN(len(f.Enum))]
		}
		return m.text(f)
	case aaep.KindScalar:
		return pick(m, []any{true, false, 0, -1.5, "x", "é", strings.Repeat("x", f.MaxLen), jsontext.Value("1e3")})
	case aaep.KindInteger, aaep.KindNumber:
		return pick(m, []any{f.Low, f.High, jsontext.Value(fmt.Sprintf("%.0f.0", f.Low)), jsontext.Value("3e2"), jsontext.Value("1e0"), jsontext.Value("-0"), f.High / 2})
	case aaep.KindBoolean:
		return m.rand.IntN(2) == 0
	case aaep.KindArray:
		return sampleItems(f, f.MinLen+m.rand.IntN(max(2, min(f.MaxLen, 40)-f.MinLen+1)))
	case aaep.KindContext:
		return pick(m, []any{core, contexts(core), contexts(core, other), contexts(core, ours), contexts(core, other, ours), contexts(core, "urn:x:y"), other, contexts(ours, core)})
	case aaep.KindObject:
		return m.object(f)
	default:
		m.t.Fatalf("no values of kind %s", f.Kind)
		return nil
	}
}

func (m *mutator) text(f aaep.Field) any {
	texts := []string{"x", "é", "", "a\u0301", "\u0301a", "a\nb", "😀", "x\u0000", "1.0.0", "en", "x_y"}
	switch {
	case f.Format == aaep.FormatURI:
		texts = []string{"https://example.org/a?b=c#d", "urn:x:y", "mailto:a@b", "x:", "tag:a,2026:b", "http://[::1]:80/", "HTTPS://EXAMPLE.org", "a+b-c.d:e%20f", "file:///tmp/x", "/x", "x", "http://a b", "http://é.org", "http://a/%zz", "x:#a#b", "1x:y", "http://a\nb", "http://[::1", "x:]", "http://a:b:c/", "http://a:80x/", "x://%", "//x/y", "http://user@host/", "https://é"}
	case f.Format == aaep.FormatTimestamp:
		texts = []string{"2026-05-24T14:22:11Z", "2026-05-24T14:22:11.342Z", "2026-05-24T14:22:11.342123+05:30", "2024-02-29T23:59:59-12:00", "2026-02-29T00:00:00Z", "2026-05-24T24:00:00Z", "2026-05-24T14:22:11.3Z", "2026-05-24t14:22:11z", "2026-05-24 14:22:11Z", "2026-05-24T14:22:11", "2026-05-24T14:22:11.342Z\n", "2016-12-31T23:59:60Z", "2026-05-24T14:22:11+24:00", "2026-05-24T14:22:11.123456789Z", "0001-01-01T00:00:00Z", "May 24, 2026", "٢026-05-24T14:22:11Z"}
	case f.Pattern == aaep.PatternLanguage:
		texts = []string{"en", "yo-NG", "zh-Hant-TW", "en-x-earshot", "qaa", "EN", "i-klingon", "en-a-bbb", "e", "en-a", "en_US", "abcdefghi", "en-", "x-whatever", "en-US-u-ca-buddhist", "en-en-en-en", "12", "a-DE"}
	case f.Pattern == aaep.PatternVersion:
		texts = []string{"1.0.0", "1.0.1", "1.1.0", "1.0.0-draft", "1.1.0-rc.1", "2.0.0", "10.0.0", "1.0", "1.0.0-", "v1.0.0", "01.0.0", "1.0.0\n"}
	case f.Pattern != "":
		texts = []string{samples[f.Pattern], samples[f.Pattern] + "Z9", samples[f.Pattern] + "\n", strings.ToUpper(samples[f.Pattern]), samples[f.Pattern] + strings.Repeat("x", 70), "", "é"}
	case f.Name == "type":
		texts = []string{m.of.Type, aaep.TypeStateChanged, "https://aaep-protocol.org/types/" + m.of.Name(), "https://aaep-protocol.org/vocab/v1#" + m.of.Name(), "aaep:agent.mood", "medai:x", "medai:", "", "x", "https://example.org/types/x"}
	}
	if f.MaxLen > 0 {
		texts = append(texts, strings.Repeat("é", f.MaxLen), strings.Repeat("x", f.MaxLen+1))
	}
	return pick(m, texts)
}

func (m *mutator) object(f aaep.Field) map[string]any {
	object := sample(f).(map[string]any)
	for _, inner := range f.Members {
		switch m.rand.IntN(4) {
		case 0:
			delete(object, inner.Name)
		case 1:
			object[inner.Name] = m.other(inner)
		}
	}
	switch {
	case f.Name == "progress" && m.rand.IntN(2) == 0:
		object["step"], object["total_steps"] = 1+m.rand.IntN(5), 1+m.rand.IntN(5)
	case f.Name == "extensions":
		for range m.rand.IntN(3) {
			prefix := pick(m, []string{"earshot", "utp", "medai", "m", "aaep", "rdfs", "@x", "", "Earshot"})
			object[prefix] = m.namespace(prefix)
		}
	case f.Members == nil:
		object["n"] = m.junk()
	case m.rand.IntN(6) == 0:
		object[pick(m, []string{"stranger", "Languages", "earshot", "Percent", "AGENT_ID"})] = m.junk()
	}
	return object
}

// namespace is data of an extension, known or not.
func (m *mutator) namespace(prefix string) any {
	for _, f := range aaep.Namespaces() {
		if f.Name == prefix && m.rand.IntN(5) > 0 {
			data := map[string]any{}
			for range m.rand.IntN(8) {
				row := pick(m, f.Members)
				data[row.Name] = m.other(row)
				if m.rand.IntN(20) == 0 {
					data[row.Name] = m.junk()
				}
			}
			return data
		}
	}
	return pick(m, []any{map[string]any{}, map[string]any{"a": 1}, map[string]any{}, "x", nil})
}

// mutate changes one member into something that need not be legal.
func (m *mutator) mutate(message map[string]any) {
	i := m.rand.IntN(len(m.rows))
	f := m.rows[i]
	switch m.rand.IntN(8) {
	case 0:
		message[f.Name] = m.junk()
	case 1:
		delete(message, f.Name)
	case 2: // the value of another member
		message[f.Name] = message[pick(m, m.rows).Name]
	case 3:
		message[pick(m, []string{
			"stranger", "aaep_mood", "@id", "@vocab", "payload", "summary_normal_yo", "summary_terse_zh_hant", "summary_normal_YO", "summary_detailed_a", "chunk_de",
			strings.ToUpper(f.Name), f.Name + "_en", f.Name + " ", "",
		})] = pick(m, []any{"x", "", 1, nil, strings.Repeat("x", 20000)})
	case 4: // a later version, whose members may be unknown
		message["aaep_version"], message["tempo"] = pick(m, []string{"1.1.0", "1.0.1-rc.1", "1.0.0", "1.0.0-draft", "2.0.0"}), 1
		message["summary_normal_de"] = pick(m, []any{"x", "", 5})
	default:
		b := pick(m, m.faults[i])
		put(message, f.Name, b.value)
	}
}

func (m *mutator) junk() any {
	return pick(m, []any{
		nil, true, false, 0, -1, 0.5, 300.0, uint64(1) << 53, jsontext.Value("9007199254740993"), jsontext.Value("1e300"), jsontext.Value("-9007199254740994"), jsontext.Value("300.0"), jsontext.Value("3e2"),
		"", "x", "accept", "critical", "en", "2026-05-24T14:22:11Z",
		[]any{},
		[]any{1, 1.0},
		[]any{"x", "x"},
		[]any{nil},
		map[string]any{},
		map[string]any{"a": map[string]any{}},
		[]any{map[string]any{}},
	})
}

// spoil breaks the text itself, or changes what a reader of JSON cannot see.
func (m *mutator) spoil(raw []byte) []byte {
	middle := m.rand.IntN(len(raw))
	name := pick(m, m.rows).Name
	switch m.rand.IntN(9) {
	case 0: // the same member twice, alike or not
		return bytes.Replace(raw, []byte(`{`), fmt.Appendf(nil, `{%q:%s,`, name, pick(m, []string{"1", `"x"`, "null"})), 1)
	case 1:
		return bytes.Replace(raw, []byte(`x`), []byte("\xff"), 1)
	case 2:
		return bytes.Replace(raw, []byte(`x`), []byte(`\ud800`), 1)
	case 3:
		return append([]byte("\xef\xbb\xbf"), raw...)
	case 4:
		return append(raw, pick(m, []string{"{}", " ", "\n", ",", "null"})...)
	case 5:
		return raw[:middle]
	case 6:
		return bytes.ReplaceAll(raw, []byte(`,"`), []byte(" ,\n\t\""))
	case 7:
		return []byte(pick(m, []string{"", "null", "[]", "[" + string(raw) + "]", `"x"`, "{}", "{", `{"type":"` + m.of.Type + `"}`}))
	default:
		return bytes.Replace(raw, []byte(`e`), []byte(`\u0065`), 2)
	}
}

func pick[T any](m *mutator, from []T) T { return from[m.rand.IntN(len(from))] }

// TestMutator: the same seed makes the same messages, and a fair part of them is legal.
func TestMutator(t *testing.T) {
	t.Parallel()
	const count = 100
	legal := map[string]int{}
	for _, of := range everything() {
		a, b := newMutator(t, of, 7), newMutator(t, of, 7)
		for range count {
			raw := a.next()
			if !bytes.Equal(raw, b.next()) {
				t.Fatalf("%s: the same seed makes another message", of.Type)
			}
			if len(aaep.Errors(judge(of, raw))) == 0 {
				legal[of.Type]++
			}
		}
	}
	for of, n := range maps.All(legal) {
		if n < count/10 || n > count*9/10 {
			t.Errorf("%s: %d of %d are legal", of, n, count)
		}
	}
}
