package aaep_test

import (
	"bytes"
	"fmt"
	"math/big"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// TestBadInput: whatever is wrong with a text, it is said in words and by the byte, and
// where it can be read on, it is.
func TestBadInput(t *testing.T) {
	t.Parallel()
	cases := []struct{ rule, raw, message string }{
		{"ENV-02", "", "found no text, expected one JSON object"},
		{"ENV-02", " \r\n\t", "found no text, expected one JSON object"},
		{"ENV-02", `{"a":1`, "the text ends at byte 6 with 1 objects or arrays open, expected their end"},
		{"ENV-02", `{"a":[{`, "the text ends at byte 7 with 3 objects or arrays open, expected their end"},
		{"ENV-02", `{"a":"b`, "the text ends at byte 7 inside a string, expected its end and the end of the object"},
		{"ENV-02", `{"a":"b\u00`, "the text ends at byte 11 inside a string, expected its end and the end of the object"},
		{"ENV-02", `{"a":-`, "the text ends at byte 6 inside a number, expected its end and the end of the object"},
		{"ENV-02", `{"a":}`, "not JSON: found '}' at byte 5, expected a value"},
		{"ENV-02", `{"a" 1}`, "not JSON: found '1' at byte 5, expected a colon"},
		{"ENV-02", `{"a":1 "b":2}`, "not JSON: found '\"' at byte 7, expected a comma or '}'"},
		{"ENV-02", `{"a":1,}`, "not JSON: found '}' at byte 7, expected no comma before it"},
		{"ENV-02", `{"a":[1,]}`, "not JSON: found ']' at byte 8, expected no comma before it"},
		{"ENV-02", `{,}`, "not JSON: found ',' at byte 1, expected a name in double quotes"},
		{"ENV-02", `{a:1}`, "not JSON: found 'a' at byte 1, expected a name in double quotes"},
		{"ENV-02", `{'a':1}`, "not JSON: found a single quote at byte 1, expected a name in double quotes"},
		{"ENV-02", "// note\n{}", "not JSON: found a comment at byte 0, expected a value"},
		{"ENV-02", `{"a":NaN}`, "found NaN at byte 5, which is not a JSON number; expected a value"},
		{"ENV-05", `{"a":Infinity}`, "found Infinity at byte 5, which is not a JSON number; expected a value"},
		{"ENV-05", `{"a":-Infinity}`, "found -Infinity at byte 6, which is not a JSON number; expected a digit"},
		{"ENV-02", `{"a":01}`, "not JSON: found '0' at byte 5, expected a number without leading zeros"},
		{"ENV-02", `{"a":1.}`, "not JSON: found '}' at byte 7, expected a digit"},
		{"ENV-02", `{"a":1e+}`, "not JSON: found '}' at byte 8, expected a digit"},
		{"ENV-02", `{"a":.5}`, "not JSON: found '.' at byte 5, expected a value"},
		{"ENV-02", `{"a":tru}`, "not JSON: found 't' at byte 5, expected a value"},
		{"ENV-02", "{\"a\":\"\n\"}", "not JSON: found the control character U+000A at byte 6, expected control characters to be escaped"},
		{"ENV-02", `{"a":"\x"}`, "not JSON: found 'x' at byte 7, expected one of the escapes of JSON"},
		{"ENV-02", `{"a":"\u12g4"}`, "not JSON: found '\\\\' at byte 6, expected four hexadecimal digits"},
		{"ENV-02", `{"a":"\u+123"}`, "not JSON: found '\\\\' at byte 6, expected four hexadecimal digits"},
		{"ENV-02", "\xff\xfe{\x00}\x00", "not JSON: found UTF-16 instead of UTF-8 at byte 0, expected a value"},
		{"ENV-02", "\xef\xbb\xbf" + valid, "found a byte order mark at byte 0, expected plain UTF-8; remove it"},
		{"ENV-02", "\xef\xbb\xbf{]", "not JSON: found ']' at byte 4, expected a name in double quotes"},
		{"ENV-02", "{\"a\":\"\xc3\"}", "found bytes that are not UTF-8 at byte 6, expected UTF-8"},
		{"ENV-02", "{\"\xc3\":1}", "found bytes that are not UTF-8 at byte 2, expected UTF-8"},
		{"ENV-02", `{"a":"x\ud800y"}`, "found an escaped half of a surrogate pair at byte 7, which is not a character; expected whole characters"},
		{"ENV-02", `{"a":"\udc00\ud800"}`, "found an escaped half of a surrogate pair at byte 6, which is not a character; expected whole characters"},
		{"ENV-02", `{"a":"\udc00\udc01"}`, "found an escaped half of a surrogate pair at byte 6, which is not a character; expected whole characters"},
		{"ENV-60", `{"0":1` + strings.Repeat(`,"a":1`, 40) + `,"0":2}`, `found the name "0" twice in one object, expected it once; which value holds cannot be known`},
		{"ENV-05", `{"a":9007199254740993}`, "found the integer 9007199254740993 beyond 2^53, expected it as a string"},
		{"ENV-05", `{"a":-1e400}`, "found the number -1e400, expected one that a double can hold"},
		{"ENV-60", `{"a":1,"\u0061":2}`, `found the name "a" twice in one object, expected it once; which value holds cannot be known`},
		{"ENV-01", `{} {}`, "found more text behind the JSON value at byte 3, expected one JSON object"},
		{"ENV-01", `[1,"x",{}]`, "found an array, expected one JSON object"},
		{"ENV-01", `"x"`, `found "x", expected one JSON object`},
		{"ENV-02", strings.Repeat("[", 10_001), "found nesting deeper than 10000 at byte 10000, which is not read"},
		{"ENV-49", strings.Repeat(" ", aaep.MaxBytes+1), "found 4194305 bytes, expected at most 65536; more than 4194304 are not read"},
	}
	for _, c := range cases {
		ok := false
		found := aaep.Validate([]byte(c.raw), aaep.ModeConsumer)
		for _, v := range found {
			ok = ok || v.Names(c.rule) && v.Message == c.message && v.Severity == asError
		}
		if !ok {
			t.Errorf("%.60q: want %s %s, found%s", c.raw, c.rule, c.message, list(found))
		}
	}
	for _, raw := range []string{valid + "\r\n", strings.ReplaceAll(valid, ",", "\r\n,\t"), "\n " + valid} {
		if found := aaep.Validate([]byte(raw), aaep.ModeProducer); len(found) > 0 {
			t.Errorf("%q: found%s", raw, list(found))
		}
	}
}

// TestPaths: a finding inside a text points at the value, also where names need escapes.
func TestPaths(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"a":{"b":[0,{"c":1e999}]}}`:                                        "/a/b/1/c",
		`{"a/b":{"~":{"":1e999}}}`:                                           "/a~1b/~0/",
		`{"\u0061\ud83d\ude00":[[],[1,1e999]]}`:                              "/a😀/1/1",
		`{"x":{"a":1,"a":2}}`:                                                "/x/a",
		`{"` + strings.Repeat("n", 2000) + `":{"a":1e999}}`:                  "",
		`{"x":{"` + strings.Repeat("n", 2000) + `":{"a":1e999}}}`:            "/x",
		strings.Repeat(`{"deep":`, 900) + `1e999` + strings.Repeat(`}`, 900): strings.Repeat("/deep", 204),
	} {
		found := aaep.Read([]byte(raw)).Violations()
		if len(found) != 1 || found[0].Path != want {
			t.Errorf("%.60s: want one at %.60q, found%s", raw, want, list(found))
		}
	}
}

// TestNumbers holds the reading of numbers against exact arithmetic.
func TestNumbers(t *testing.T) {
	t.Parallel()
	literals := []string{
		"0", "-0", "300", "300.0", "3e2", "3E+2", "30000e-2", "0.3e3", "1.5", "1e-1", "9007199254740992", "-9007199254740992", "9007199254740993", "9007199254740992.0",
		"9007199254740992.5", "1.00000000000000000000001", "100000000000000000000001e-3", "9007199254740991.99999999999999999", "900719925474099.2e1", "9.007199254740993e15", "1e15", "1e16", "1e22", "1e400", "0e999999999", "0.0e-5", "1e-400",
		"100000000000000000000e-20", "12345678901234567890123456789e-28", "3." + strings.Repeat("0", 400), strings.Repeat("9", 400) + "e-400", "1" + strings.Repeat("0", 30) + "e-29",
	}
	for _, literal := range literals {
		exact, ok := new(big.Rat).SetString(literal)
		if !ok && literal != "0e999999999" {
			t.Fatal(literal)
		}
		whole, isWhole := aaep.Read([]byte(`{"n":` + literal + `}`)).Whole("n")
		if literal == "0e999999999" {
			exact = new(big.Rat)
		}
		limit := big.NewInt(1 << 53)
		want := exact.IsInt() && exact.Num().CmpAbs(limit) <= 0
		if isWhole != want || isWhole && whole != exact.Num().Int64() {
			t.Errorf("%.40s reads as %d, %t, want %s, %t", literal, whole, isWhole, exact.RatString(), want)
		}
	}
}

// TestMemoryIsGivenBack: a validator that has read a large text does not keep its memory
// for small ones.
func TestMemoryIsGivenBack(t *testing.T) {
	var v aaep.Validator
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	v.Validate([]byte(hostile()["zeros"]), aaep.ModeProducer)
	large := heap()
	v.Validate([]byte(valid), aaep.ModeProducer)
	if small := heap(); large-small < 8<<20 {
		t.Errorf("%d MiB are held, and then %d", large>>20, small>>20)
	}
	runtime.KeepAlive(&v)
}

// FuzzRead: what is JSON and what is not is the same as for the JSON library, and so are
// texts, numbers and names.
func FuzzRead(f *testing.F) {
	seeds(f)
	for _, raw := range []string{`{"a":1e5,"b":[true,false,null,-0.5]}`, `{"\u0061":"\ud83d\ude00\"\\\/\b\f\n\r\t"}`, "{\"é\":\"\xff\xc3\"}", `[[]]`, `{"n":12345678901234567890.5e-3}`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		document := aaep.Read(raw)
		body := bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
		lenient := []json.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
		decoder := jsontext.NewDecoder(bytes.NewReader(body), lenient...)
		value, err := decoder.ReadValue()
		if want := err == nil && value.Kind() == jsontext.KindBeginObject; document.Readable() != want {
			t.Fatalf("readable is %t, want %t: %v", document.Readable(), want, document.Violations())
		}
		strict := jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true)) && !bytes.HasPrefix(raw, []byte("\xef\xbb\xbf"))
		text := false
		for _, v := range document.Violations() {
			text = text || v.Rule == "ENV-02"
		}
		if strict && text {
			t.Errorf("what is JSON is refused: %v", document.Violations())
		}
		if !document.Readable() {
			return
		}
		compact := value.Clone()
		if err := compact.Compact(append(lenient, jsontext.PreserveRawStrings(true))...); err != nil {
			t.Fatal(err)
		}
		if aaep.Read(compact).Content(1) != document.Content(1) {
			t.Errorf("without blanks it says something else: %s", compact)
		}
		var members map[string]any
		if json.Unmarshal(value, &members, jsontext.AllowInvalidUTF8(true)) != nil {
			return // a name twice
		}
		for name, value := range members {
			same(t, document, name, value)
		}
	})
}

func same(t *testing.T, document aaep.Document, name string, value any) {
	t.Helper()
	switch value := value.(type) {
	case string:
		if got, ok := document.Text(name); !ok || got != value {
			t.Errorf("%q reads as %q, want %q", name, got, value)
		}
	case bool:
		if got, ok := document.Flag(name); !ok || got != value {
			t.Errorf("%q reads as %t, want %t", name, got, value)
		}
	case float64:
		literal, ok := document.Value(name)
		want, err := strconv.ParseFloat(string(literal), 64)
		if !ok || err != nil || want != value {
			t.Errorf("%q reads as %s, want %v", name, literal, value)
		}
		if whole, ok := document.Whole(name); ok && float64(whole) != value {
			t.Errorf("%q reads as %d, want %v", name, whole, value)
		}
	default:
		if !document.Has(name) {
			t.Errorf("%q is not there", name)
		}
	}
}

// TestPatterns: the matchers and the expressions that people read say the same.
func TestPatterns(t *testing.T) {
	t.Parallel()
	pieces := []string{"", "evt_", "sess_", "rpl_", "sub_", "call_", "out_", "a", "Z", "_", "-", ".", "+", "/", "0", "9", "é", "\n", "\x00", "1.0.0", "aaaaaaaa", "Latn", "TOOL_X", strings.Repeat("b", 63), strings.Repeat("C", 255)}
	count := 0
	for pattern := range samples {
		p, is := pattern.(aaep.Pattern)
		if !is {
			continue
		}
		expression := regexp.MustCompile(p.Expression())
		for _, a := range append(pieces, samples[p]) {
			for _, b := range append(pieces, samples[p]) {
				for _, c := range pieces {
					count++
					if text := a + b + c; p.Match(text) != expression.MatchString(text) {
						t.Fatalf("%s: %.80q matches %t", p, text, p.Match(text))
					}
				}
			}
		}
	}
	if count < 200_000 || aaep.Pattern("mood").Match("") || aaep.Pattern("mood").Expression() != "" {
		t.Errorf("only %d texts, or an unknown pattern matches", count)
	}
}

// hostile are texts of a mebibyte that try to make reading slow or large.
func hostile() map[string]string {
	const size = 1 << 20
	fill := func(start, piece, end string) string {
		return start + strings.Repeat(piece, (size-len(start)-len(end))/len(piece)) + end
	}
	var names strings.Builder
	for i := range size / 12 {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	head := valid[:len(valid)-1]
	return map[string]string{
		"zeros":             fill(`{"a":[0`, ",0", `]}`),
		"one name":          fill(`{"a":0`, `,"a":0`, `}`),
		"many names":        `{` + names.String() + `"z":0}`,
		"many strays":       head + `,` + names.String() + `"z":0}`,
		"bad halves":        fill(`{"a":"`, `\ud800`, `"}`),
		"bad bytes":         fill(`{"a":["`, "\xff\",\"", `"]}`),
		"long numbers":      fill(`{"a":1`, "9", `}`),
		"deep":              strings.Repeat(`{"a":`, 9_999) + `0` + strings.Repeat(`}`, 9_999),
		"deep twice":        strings.Repeat(`{"a":0,"a":`, 9_999) + `0` + strings.Repeat(`}`, 9_999),
		"too deep":          fill("", "[", ""),
		"long text":         fill(head+`,"a":"`, "x", `"}`),
		"combining":         fill(strings.TrimSuffix(head, `."`), "\u0301", `"}`),
		"wrong items":       fill(head[:len(head)-1]+`","localization_hints":{"available_languages":[1`, `,1`, `]}}`),
		"equal items":       fill(`{"type":"aaep:agent.session.started","tools_available":["x"`, `,"x"`, `]}`),
		"secrets":           fill(head+`,"summary_terse":"`, "password=hunter2 ", `"}`),
		"equals":            fill(head+`,"summary_terse":"`, "=", `"}`),
		"prefixes":          fill(head+`,"extensions":{"x":{}`, `,"y":1`, `}}`),
		"contexts":          fill(`{"@context":["x"`, `,"x"`, `]}`),
		"capabilities":      fill(`{"type":"subscription.request","capabilities":{"a":0`, `,"b":0`, `}}`),
		"filters":           fill(`{"type":"subscription.request","capabilities":{"event_filters":{"include":["a"`, `,"a*b"`, `]}}}`),
		"choices":           fill(`{"type":"aaep:agent.awaiting.clarification","choices":[{}`, `,{}`, `]}`),
		"variants":          fill(head, `,"summary_normal_de":""`, `}`),
		"tags":              fill(head+`,"language":"de`, `-a`, `"}`),
		"white space":       fill(head, " ", "}"),
		"escaped names":     fill(`{"a":0`, `,"\u0062":0`, `}`),
		"names of one sort": fill(head, `,"Summary_Normal":0`, `}`),
	}
}

// TestBounded: a mebibyte costs memory in proportion, and a report that is no larger.
func TestBounded(t *testing.T) {
	for name, text := range hostile() {
		raw := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found := aaep.Validate(raw, aaep.ModeProducer)
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 96<<20 {
			t.Errorf("%s: %d MiB were allocated", name, spent>>20)
		}
		size := 0
		for _, v := range found {
			size += len(v.Path) + len(v.Message)
		}
		if len(found) > 1501 || size > 2<<20 {
			t.Errorf("%s: %d findings of %d bytes", name, len(found), size)
		}
	}
}
