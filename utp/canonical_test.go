package utp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/utp"
)

// TestCanonical pins RFC 8785: sorted by UTF-16, shortest strings and numbers.
func TestCanonical(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"empty", ` { } `, `{}`},
		{"order", `{"b":1,"a":{"d":[3,{"z":0,"y":1}],"c":null}}`, `{"a":{"c":null,"d":[3,{"y":1,"z":0}]},"b":1}`},
		{"order by UTF-16", "{\"\\uFB33\":1,\"\\uD83D\\uDE00\":2,\"\u20ac\":3,\"\\r\":4,\"1\":5}", "{\"\\r\":4,\"1\":5,\"€\":3,\"😀\":2,\"\ufb33\":1}"},
		{"strings", `{"a":"\u00e9\/\u001f\n\"\\\uD83D\uDE00"}`, `{"a":"é/\u001f\n\"\\😀"}`},
		{"numbers", `{"a":[1.0,1e2,0.10,-0,-0.0,1E-7,333333333.3333333,1e23,4.50,2e-3]}`, `{"a":[1,100,0.1,0,0,1e-7,333333333.3333333,1e+23,4.5,0.002]}`},
		{"no normalisation of text", "{\"a\":\"e\u0301\"}", "{\"a\":\"e\u0301\"}"},
		{"names that only look alike", "{\"\u00e9\":1,\"e\u0301\":2}", "{\"e\u0301\":2,\"\u00e9\":1}"},
		{"a name twice in two objects", `{"a":{"x":1},"b":{"x":1}}`, `{"a":{"x":1},"b":{"x":1}}`},
		{"text that looks like NUL", `{"a":"\\u0000 u0000"}`, `{"a":"\\u0000 u0000"}`},
		{"numbers in strings", `{"9007199254740993":"1e400"}`, `{"9007199254740993":"1e400"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := []byte(tt.in)
			got, err := utp.Canonical(in)
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
			if string(in) != tt.in {
				t.Errorf("the original became %s", in)
			}
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	deep := func(n int) string {
		return `{"a":` + strings.Repeat(`[`, n-1) + strings.Repeat(`]`, n-1) + `}`
	}
	tests := []struct{ name, in, pointer, found string }{
		{"nothing", ``, ``, `nothing`},
		{"space", " \n", ``, `nothing`},
		{"null", `null`, ``, `a value that begins with "n"`},
		{"array", ` [1]`, ``, `a value that begins with "["`},
		{"string", `"{}"`, ``, `a value that begins with "\""`},
		{"byte order mark", "\ufeff{}", ``, `no JSON`},
		{"a name twice", `{"a":1,"b":{"c":2,"c":2}}`, `/b/c`, `the name "c" twice`},
		{"a name twice, once escaped", `{"a":1,"\u0061":1}`, `/a`, `the name "a" twice`},
		{"high surrogate", `{"a":["x","\ud800"]}`, `/a/1`, `half a surrogate pair`},
		{"low surrogate", `{"a":"\udc00"}`, `/a`, `half a surrogate pair`},
		{"surrogates swapped", `{"a":"\udc00\ud800"}`, `/a`, `half a surrogate pair`},
		{"surrogate in a name", `{"a":{"\ud800":1}}`, `/a`, `half a surrogate pair`},
		{"not UTF-8", "{\"a\":\"\xc3(\"}", `/a`, `bytes that are not UTF-8`},
		{"overlong", "{\"a\":\"\xc0\x80\"}", `/a`, `bytes that are not UTF-8`},
		{"surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", `/a`, `bytes that are not UTF-8`},
		{"NUL", `{"a":{"b/c":"x\u0000"}}`, `/a/b~1c`, `the character U+0000`},
		{"NUL in a name", `{"\u0000":1}`, "/\x00", `the character U+0000`},
		{"NUL after a backslash", `{"a":"\\\u0000"}`, `/a`, `the character U+0000`},
		{"raw NUL", "{\"a\":\"\x00\"}", `/a`, `invalid character`},
		{"2^53+1", `{"a":[9007199254740993]}`, `/a/0`, `the number 9007199254740993, which`},
		{"2^63", `{"a":9223372036854775808}`, `/a`, `the number 9223372036854775808, which`},
		{"too many digits", `{"a":0.1000000000000000055511151231257827}`, `/a`, `the number 0.10`},
		{"17 digits where 16 say it", `{"a":333333333.33333329}`, `/a`, `the number 333333333.33333329, which`},
		{"too large", `{"a":1e400}`, `/a`, `the number 1e400, which`},
		{"too small", `{"a":-1e-400}`, `/a`, `the number -1e-400, which`},
		{"huge exponent", `{"a":1e99999999999999999999}`, `/a`, `the number 1e99999999999999999999, which`},
		{"65 deep", deep(65), `/a` + strings.Repeat("/0", 63), `more than 64 levels`},
		{"65 deep after many siblings", `{"s":[[],{},[],[[]]],` + deep(65)[1:], `/a` + strings.Repeat("/0", 63), `more than 64 levels`},
		{"10,001 deep", deep(10_001), `/a` + strings.Repeat("/0", 63), `more than 64 levels`},
		{"second value", `{} {}`, ``, `invalid character`},
		{"cut off", `{"a":1`, ``, `the end of the text`},
		{"cut off in an escape", `{"a":"\u00`, `/a`, `the end of the text`},
		{"comment", `{"a":1 /* x */}`, ``, `invalid character`},
		{"comma", `{"a":1,}`, ``, `invalid character`},
		{"leading zero", `{"a":01}`, ``, `invalid character`},
		{"plus", `{"a":+1}`, `/a`, `invalid character`},
		{"garbage number", `{"a":1-2-3-4-5-6-7-8-9-0}`, ``, `invalid character`},
		{"NaN", `{"a":NaN}`, `/a`, `invalid character`},
		{"the first fault is named", `{"a":x,"b":9007199254740993}`, `/a`, `invalid character`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := utp.Canonical([]byte(tt.in))
			wrong, ok := errors.AsType[*utp.ArgumentError](err)
			if !ok || got != nil {
				t.Fatalf("got %s, %v", got, err)
			}
			if wrong.Pointer != tt.pointer || !strings.HasPrefix(wrong.Found, tt.found) {
				t.Errorf("got %q at %q\nwant %q at %q", wrong.Found, wrong.Pointer, tt.found, tt.pointer)
			}
			if wrong.Code() != utp.CodeBadRequest || !wrong.SafeToRetry() || wrong.Expected == "" {
				t.Errorf("code %s, safe %v, expected %q", wrong.Code(), wrong.SafeToRetry(), wrong.Expected)
			}
		})
	}
	if _, err := utp.Canonical([]byte(deep(64))); err != nil {
		t.Errorf("64 deep: %v", err)
	}
}

// TestExactNumbers compares with exact arithmetic: a literal passes if and only if its
// canonical form is the same rational number.
func TestExactNumbers(t *testing.T) {
	t.Parallel()
	literals := rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,21})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`),
		rapid.StringMatching(`-?(0|[1-9]0{0,25})(\.0{0,12}[0-9]0{0,9})?`),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'f', 20, 64) }),
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.Map(rapid.Uint64Range(0, 10_000), func(n uint64) string { return strconv.FormatUint(1<<53-5000+n, 10) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		literal := literals.Draw(t, "literal")
		if !json.Valid([]byte(literal)) {
			t.Skip("Go writes infinities and some exponents otherwise")
		}
		_, err := utp.Canonical([]byte(`{"n":` + literal + `}`))
		if want := exactByArithmetic(literal); (err == nil) != want {
			t.Fatalf("%s: %v, exact arithmetic says %v", literal, err, want)
		}
	})
}

func exactByArithmetic(literal string) bool {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return false
	}
	exact, ok := new(big.Rat).SetString(literal)
	carried, okToo := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
	return ok && okToo && exact.Cmp(carried) == 0
}

// anyValue draws values that Canonical takes.
func anyValue(depth int) *rapid.Generator[any] {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab\"\\/\n\u007fé\u2028€ﬀ😀\ufb33\u0001")))
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), text.AsAny(),
		rapid.Map(rapid.Int32(), func(n int32) any { return json.Number(strconv.Itoa(int(n))) }),
		rapid.Map(rapid.Float64(), func(f float64) any { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) })
	return rapid.OneOf(append(leaves,
		rapid.SliceOfN(inner, 0, 4).AsAny(),
		rapid.MapOfN(text, inner, 0, 5).AsAny())...)
}

// TestCanonicalProperties: the form is idempotent, is what a plain second implementation
// writes, and does not depend on order, space or escapes.
func TestCanonicalProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{"v": anyValue(3).Draw(t, "value")}
		raw, err := json.MarshalIndent(object, " ", "\t") // sorted by bytes, HTML escaped, spaced
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(raw)
		once, err := utp.Canonical(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if !bytes.Equal(raw, before) {
			t.Fatalf("the original changed to %s", raw)
		}
		if twice, err := utp.Canonical(once); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("once %s, twice %s, %v", once, twice, err)
		}
		if want := plainCanonical(object); string(once) != want {
			t.Fatalf("got  %s\nwant %s", once, want)
		}
	})
}

// plainCanonical is RFC 8785 written down without a thought of speed.
func plainCanonical(v any) string {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		parts := make([]string, 0, len(v))
		for _, name := range names {
			parts = append(parts, plainCanonical(name)+":"+plainCanonical(v[name]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, plainCanonical(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return plainQuote(v)
	case json.Number:
		return plainNumber(string(v))
	case bool:
		return strconv.FormatBool(v)
	default:
		return "null"
	}
}

func plainQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case strings.ContainsRune("\b\f\n\r\t", r):
			b.WriteString(`\` + string("btn.fr"[r-'\b']))
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainNumber writes a number as ECMAScript does.
func plainNumber(literal string) string {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return err.Error()
	}
	if f == 0 {
		return "0"
	}
	if a := max(f, -f); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
}
