package aaep_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
)

// TestContent: how a text is written does not matter to its content, and everything that it
// says does.
func TestContent(t *testing.T) {
	t.Parallel()
	seed := uint64(0x1234567890abcdef)
	content := func(text string) uint64 { return aaep.Read([]byte(text)).Content(seed) }
	for _, same := range [][]string{
		{`{"a":"x","b":"y"}`, `{"b":"y","a":"x"}`, "{ \"a\" : \"x\",\n\t\"b\":\"y\" }", `{"\u0061":"\u0078","b":"\u0079"}`, `{"\u0061" :"x","b": "y"}`},
		{`{"a":{"b":1,"c":[1,{"d":null}]}}`, `{"a":{"c":[1.0,{"d":null}],"b":1}}`, `{"a": {"b": 10e-1, "c": [ 1, { "d" : null } ] } }`},
		{`{"a":"é/\"\\"}`, `{"a":"\u00e9\/\u0022\u005c"}`, `{ "a":"\u00E9\/\"\\"}`},
		{`{"a":"👩"}`, `{"a":"\ud83d\udc69"}`},
		{`{"a":0}`, `{"a":-0}`, `{"a":0.0}`, `{"a":0e5}`},
		{`{"a":300}`, `{"a":300.0}`, `{"a":3e2}`},
		{`[1,"2",true]`, ` [ 1 , "\u0032" , true ] `},
		{`"x"`, `"\u0078"`, ` "x" `},
	} {
		for _, text := range same[1:] {
			if content(text) != content(same[0]) {
				t.Errorf("%s and %s differ", same[0], text)
			}
		}
	}
	different := []string{
		`{}`, `[]`, `""`, `null`, `true`, `false`, `0`, `1`, `{"a":{}}`, `{"a":[]}`, `{"a":""}`, `{"a":null}`, `{"a":false}`, `{"a":true}`, `{"a":0}`, `{"a":1}`,
		`{"a":"1"}`, `{"a":5e-324}`, `{"":"a"}`, `{"a":"b","c":"d"}`, `{"a":"d","c":"b"}`, `{"a":"b\",\"c\":\"d"}`, `{"a\":\"b":"c"}`, `{"a":"b\":\"c"}`, `{"ab":"c"}`, `{"a":"bc"}`,
		`{"a":["b","c"]}`, `{"a":["c","b"]}`, `{"a":[["b"],"c"]}`, `{"a":["b",["c"]]}`, `{"a":{"b":"c"}}`, `{"b":{"a":"c"}}`, `{"a":{"b":{"c":1}}}`, `{"a":{"b":1},"c":1}`,
		`{"a":"x","a":"y"}`, `{"a":"y","a":"x"}`, `{"a":"x","a":"x"}`, `{"a":"x"}`, `{"A":"x"}`, `{"a":1e400}`, `{"a":2e400}`, `[0]`, `[[]]`, `[{}]`, `["a"]`, `["a","a"]`,
	}
	seen := map[uint64]string{}
	for _, text := range different {
		if other, known := seen[content(text)]; known {
			t.Errorf("%s and %s are the same", other, text)
		}
		seen[content(text)] = text
	}
	if content(``) != 0 || content(`{"a":`) != 0 || (aaep.Document{}).Content(seed) != 0 {
		t.Error("what cannot be read has a content")
	}
	if deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000); content(deep) == 0 || content(deep) == content("["+deep+"]") {
		t.Error("deep nesting is lost")
	}
}

// TestContentLikeValues: two messages have one content exactly when a general decoder reads
// the same value from them.
func TestContentLikeValues(t *testing.T) {
	t.Parallel()
	seed := uint64(0x1234567890abcdef)
	rapid.Check(t, func(rt *rapid.T) {
		a := value(rt, 3)
		b := a
		if rapid.Bool().Draw(rt, "other") {
			b = value(rt, 3)
		}
		first, second := written(rt, a), written(rt, b)
		var x, y any
		if err := cmpErr(json.Unmarshal(first, &x), json.Unmarshal(second, &y)); err != nil {
			rt.Fatal(err)
		}
		same := aaep.Read(first).Content(seed) == aaep.Read(second).Content(seed)
		if want := reflect.DeepEqual(x, y); same != want {
			rt.Fatalf("%s\n%s\nhave one content: %t, want %t", first, second, same, want)
		}
	})
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// value draws a JSON value from few words, so that equal ones are likely.
func value(rt *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 6).Draw(rt, "kind"); {
	case kind == 0:
		return nil
	case kind == 1:
		return rapid.Bool().Draw(rt, "bool")
	case kind == 2:
		return float64(rapid.IntRange(-2, 2).Draw(rt, "number"))
	case kind < 5 || depth == 0:
		return rapid.SampledFrom([]string{"", "a", "b", `"`, "é", "👩", "a\nb"}).Draw(rt, "text")
	case kind == 5:
		list := make([]any, rapid.IntRange(0, 2).Draw(rt, "items"))
		for i := range list {
			list[i] = value(rt, depth-1)
		}
		return list
	default:
		object := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(rt, "members") {
			object[rapid.SampledFrom([]string{"", "a", "b", `"`, "é"}).Draw(rt, "name")] = value(rt, depth-1)
		}
		return object
	}
}

// written writes a value in one of its many forms.
func written(rt *rapid.T, v any) []byte {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "form"), 1))
	var out bytes.Buffer
	write(&out, random, v)
	return out.Bytes()
}

func write(out *bytes.Buffer, random *rand.Rand, v any) {
	blank := func() { out.WriteString([]string{"", "", "", " ", "\n\t"}[random.IntN(5)]) }
	blank()
	switch v := v.(type) {
	case string:
		spell(out, random, v)
	case float64:
		fmt.Fprintf(out, []string{"%.0f", "%.1f", "%e"}[random.IntN(3)], v)
	case []any:
		out.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			write(out, random, item)
		}
		blank()
		out.WriteByte(']')
	case map[string]any:
		out.WriteByte('{')
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		for i, n := range random.Perm(len(names)) {
			if i > 0 {
				out.WriteByte(',')
			}
			blank()
			spell(out, random, names[n])
			blank()
			out.WriteByte(':')
			write(out, random, v[names[n]])
		}
		blank()
		out.WriteByte('}')
	default:
		fmt.Fprint(out, map[any]string{nil: "null", true: "true", false: "false"}[v])
	}
	blank()
}

// spell writes a string plainly, or all in escapes.
func spell(out *bytes.Buffer, random *rand.Rand, text string) {
	if random.IntN(3) > 0 {
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(random.IntN(2) > 0)
		if err := encoder.Encode(text); err != nil {
			panic(err)
		}
		return
	}
	out.WriteByte('"')
	for _, r := range text {
		if r > 0xffff {
			fmt.Fprintf(out, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			continue
		}
		fmt.Fprintf(out, `\u%04x`, r)
	}
	out.WriteByte('"')
}
