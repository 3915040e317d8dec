package outline_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
)

// lines are an outline in one column, for comparing.
func lines(o outline.Outline) string {
	var out []string
	for _, v := range o.Values {
		line := v.Name() + ": " + string(v.Kind) + " " + v.Value
		if v.More > 0 {
			line += fmt.Sprintf(" (+%d)", v.More)
		}
		if v.Kind == outline.Covered {
			line += fmt.Sprintf("%d in %d, %.8s", v.Count, v.Size, v.SHA256)
		}
		out = append(out, strings.TrimSpace(line))
	}
	return strings.Join(out, "\n")
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, args   string
		covers       []string
		want         string
		left, hidden int
	}{
		{name: "a list", args: `{"list":["safe","/etc/DANGER"]}`, want: "list 1: text safe\nlist 2: text /etc/DANGER"},
		{
			name: "seven values", args: `{"a":1,"b":true,"c":null,"d":"x","e":"","f":2.5,"g":"the seventh"}`,
			want: "a: literal 1\nb: literal true\nc: literal null\nd: text x\ne: text\nf: literal 2.5\ng: text the seventh",
		},
		{name: "nested", args: `{"options":{"color":"red","sizes":[[1],[2,3]]}}`, want: "options color: text red\noptions sizes 1 1: literal 1\noptions sizes 2 1: literal 2\noptions sizes 2 2: literal 3"},
		{name: "empty ones", args: `{"a":[],"b":{}}`, want: "a: empty []\nb: empty {}"},
		{name: "no arguments", args: `{}`, want: ": empty {}"},
		{name: "odd names", args: `{"a/b~c":"x","":"y"}`, want: "a/b~c: text x\n: text y"},
		{name: "a name that is not a credential", args: `{"secretary":"Ann","tokenize":"yes","keyboard":"de"}`, want: "secretary: text Ann\ntokenize: text yes\nkeyboard: text de"},
		{
			name: "names of credentials", args: `{"token":"x","api_key":"x","clientSecret":"x","DB-PASSWORD":"x","APIKey":"x","auth":{"tokens":["x"]}}`,
			want: "token: masked\napi_key: masked\nclientSecret: masked\nDB-PASSWORD: masked\nAPIKey: masked\nauth tokens 1: masked", hidden: 6,
		},
		{name: "a number is not a credential", args: `{"max_tokens":100}`, want: "max_tokens: literal 100"},
		{name: "a secret", args: `{"token":{"$secret":"env:MAIL_TOKEN","mac":"abc"}}`, want: "token: secret"},
		{name: "a secret whose members stand in another order", args: `{"a":{"mac":"abc","$secret":"x","z":[1]},"b":2}`, want: "a: secret\nb: literal 2"},
		{
			name: "covered", args: `{"root":"/p","sets":[{"delete":["a","b"],"size":3}]}`, covers: []string{"/sets"},
			want: "root: text /p\nsets: covered 3 in 31, 02a3ac54",
		},
		{name: "covering what is not there", args: `{"root":"/p"}`, covers: []string{"/sets"}, want: "root: text /p"},
		{name: "no JSON", args: `{"a":`, left: 1},
		{name: "two values", args: `{} {}`, left: 1},
		{name: "the same name twice", args: `{"a":1,"a":2}`, left: 1},
		{name: "nothing", args: ``, left: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := outline.Of(jsontext.Value(tt.args), outline.Options{Covers: tt.covers})
			if got := lines(o); got != tt.want || o.Left != tt.left || o.Hidden != tt.hidden {
				t.Errorf("%d left, %d hidden:\n%s\nwant %d and %d:\n%s", o.Left, o.Hidden, got, tt.left, tt.hidden, tt.want)
			}
			if o.Complete() != (tt.left == 0 && tt.hidden == 0) || o.Size != len(tt.args) || len(o.SHA256) != 64 {
				t.Errorf("complete %t, %d bytes, %s", o.Complete(), o.Size, o.SHA256)
			}
		})
	}
}

// list is an object with a list of so many texts.
func list(n int, text string) jsontext.Value {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	raw, err := json.Marshal(map[string]any{"list": all, "z": "last"})
	if err != nil {
		panic(err)
	}
	return raw
}

// TestBounds: up to the bound everything is listed in full, and what exceeds it is counted.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		args         jsontext.Value
		listed, left int
		complete     bool
	}{
		{"as many as there may be", list(outline.MaxValues-1, "x"), outline.MaxValues, 0, true},
		{"one more", list(outline.MaxValues, "x"), outline.MaxValues, 1, false},
		{"a hundred thousand", list(100_000, "x"), outline.MaxValues, 100_001 - outline.MaxValues, false},
		{"one long text", list(1, strings.Repeat("x", 1900)), 2, 0, true},
		{"a longer one", list(1, strings.Repeat("x", 2000)), 2, 1, false},
		{"many long ones", list(20, strings.Repeat("x", 300)), 9, 21, false},
		{"characters that are written by their names", list(1, strings.Repeat("\u202e\u200b", 200)), 2, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := outline.Of(tt.args, outline.Options{})
			if len(o.Values) != tt.listed || o.Left != tt.left || o.Complete() != tt.complete {
				t.Errorf("%d listed, %d left, complete %t; want %d, %d, %t", len(o.Values), o.Left, o.Complete(), tt.listed, tt.left, tt.complete)
			}
		})
	}
}

// TestNothingIsPassedOver: whatever the arguments, an outline that is complete has every text of them, and never
// more than there is room for.
func TestNothingIsPassedOver(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := arguments().Draw(t, "arguments")
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		o := outline.Of(raw, outline.Options{})
		shown, space := map[string]int{}, 0
		for _, v := range o.Values {
			shown[v.Value]++
			space += utf8.RuneCountInString(legible.Value(v.Name()) + legible.Value(v.Value))
		}
		if len(o.Values) > outline.MaxValues || space > outline.MaxCharacters {
			t.Fatalf("%d values, %d characters", len(o.Values), space)
		}
		n := 0
		each(value, func(text string) {
			n++
			if o.Complete() && shown[text] == 0 {
				t.Fatalf("%q is not listed in %s", text, raw)
			}
			shown[text]--
		})
		if o.Complete() && n != len(o.Values) || !o.Complete() && o.Left+o.Hidden == 0 {
			t.Fatalf("%d of %d values are listed, %d are left", len(o.Values), n, o.Left)
		}
	})
}

// arguments are objects of any shape.
func arguments() *rapid.Generator[map[string]any] {
	name := rapid.SampledFrom([]string{"a", "b", "to", "list", "e/f"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(
			rapid.Map(rapid.StringN(0, 400, -1), func(s string) any { return s }), rapid.Just[any](true), rapid.Map(rapid.IntRange(0, 9), func(n int) any { return n }),
		)
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(
			leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 12), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(name, value(depth-1), 0, 4), func(m map[string]any) any { return m }),
		)
	}
	return rapid.MapOfN(name, value(3), 0, 5)
}

// each calls fn with every leaf, as an outline writes it.
func each(value any, fn func(string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			each(inner, fn)
		}
		if len(v) == 0 {
			fn("{}")
		}
	case []any:
		for _, inner := range v {
			each(inner, fn)
		}
		if len(v) == 0 {
			fn("[]")
		}
	case string:
		fn(v)
	case int:
		fn(strconv.Itoa(v))
	case bool:
		fn(strconv.FormatBool(v))
	}
}

// FuzzOf: nothing that looks like JSON makes it fail, or takes more than a time linear in its size.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{`{"list":["safe","/etc/DANGER"]}`, `{"a":{"$secret":"x"}}`, strings.Repeat("[", 200), `{"a":"\ud800"}`, `{"":{"":[]}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := outline.Of(raw, outline.Options{Covers: []string{"/a"}})
		if o.Complete() && !jsontext.Value(raw).IsValid() {
			t.Errorf("%q is not JSON, and listed as if it were whole", raw)
		}
	})
}
