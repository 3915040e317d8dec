package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

type shape struct {
	Name  string            `yaml:"name"`
	Count int               `yaml:"count"`
	Wait  time.Duration     `yaml:"wait"`
	Size  settings.Size     `yaml:"size"`
	Words map[string]string `yaml:"words"`
	Below []struct {
		Flag bool      `yaml:"flag"`
		Any  yaml.Node `yaml:"any"`
	} `yaml:"below"`
}

// TestDecode: each thing that is wrong is said with its line, its place and what to do.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want, hint string }{
		{"name: x\ncount: 3\nwait: 2m\nsize: 64KiB\nwords: {a: b}\nbelow:\n  - flag: true\n    any: [1, {x: y}]\n", "", ""},
		{"nme: x\n", "line 1: nme: unknown name", "did you mean name?"},
		{"zzzzzzz: x\n", "line 1: zzzzzzz: unknown name", "the names here are: name, count, wait, size, words, below"},
		{"name: x\nname: y\n", "line 2: name: it is there twice, first on line 1; expected it once", ""},
		{"name: &a x\n", "line 1: name: it uses an anchor or an alias (& or *); expected the value itself, written out", ""},
		{"words: {<<: {a: b}}\n", "line 1: words.<<: it merges what stands elsewhere (<<); expected the values themselves, written out", ""},
		{"name: !!python/object x\n", `line 1: name: it has the tag "!!python/object"; expected a plain value`, ""},
		{"name:\n", "line 1: name: it is empty; expected a value, or no such line", ""},
		{"name: 3\n", `line 1: name: it is "3"; expected a text; put it into quotes`, ""},
		{"name: yes\n", "", ""},
		{"count: many\n", `line 1: count: it is "many"; expected a whole number`, ""},
		{"wait: 30\n", `line 1: wait: it is "30"; expected a time such as 30s or 2m`, ""},
		{"wait: -3s\n", `line 1: wait: it is "-3s"; expected a time such as 30s or 2m`, ""},
		{"size: -1\n", `line 1: size: it is "-1"; expected a size such as 4096, 64KiB or 1MiB`, ""},
		{"words: [a]\n", "line 1: words: it is a list; expected names and values", ""},
		{"below:\n  - flag: maybe\n", `line 2: below[0].flag: it is "maybe"; expected true or false`, ""},
		{"below:\n  - flags: true\n", "line 2: below[0].flags: unknown name", "did you mean flag?"},
		{"[a]\n", "line 1: it is a list; expected names and values", ""},
		{"", "it is empty; expected names and values", ""},
		{"a: 1\n---\nb: 2\n", "it has several documents; expected one", ""},
		{strings.Repeat("a: {", 80) + strings.Repeat("}", 80), "nested too deep", ""},
	} {
		var into shape
		section, err := settings.Parse([]byte(tt.text))
		if err == nil {
			err = section.Decode(&into)
		}
		wrong, _ := errors.AsType[*settings.Error](err)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%q: %v", tt.text, err)
		case tt.want != "" && (wrong == nil || !strings.Contains(err.Error(), tt.want) || wrong.Hint != tt.hint):
			t.Errorf("%q:\n got %v (%+v)\nwant %s (%s)", tt.text, err, wrong, tt.want, tt.hint)
		}
	}
	var into shape
	section, err := settings.Parse([]byte("name: x\nwait: 90s\nsize: 2MiB\nbelow: [{flag: true}]\n"))
	if err == nil {
		err = section.Decode(&into)
	}
	if err != nil || into.Name != "x" || into.Wait != 90*time.Second || into.Size != 2<<20 || !into.Below[0].Flag {
		t.Errorf("read %+v, %v", into, err)
	}
}

// TestSyntax: what is not a YAML is said in words, and none of the reader's own.
func TestSyntax(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: b: c\n":               "there is a colon where none can stand",
		"a: x\n  b: y\n":          "line 2: there is a colon where none can stand",
		"a:\n  - b\n c: d\n":      "line 2: it is not indented like what it belongs to",
		"- a\nb: 1\n":             "line 1: the list is not indented alike",
		"a: |\n x\ny\n":           "line 3: a name stands there without a colon",
		"a: [\n":                  "line 1: a value is missing, or a list does not end",
		"a: [x\n":                 "line 1: a list or names in brackets do not end",
		"a: {b: 1\n":              "line 1: a list or names in brackets do not end",
		"a:\n\t- b\n":             "line 2: a text begins with a character that cannot begin one, such as a tab",
		"a: \"x\n":                "line 2: a text in quotes does not end",
		"a: \"\\q\"\n":            "a backslash in double quotes means nothing there",
		"a: *x\n":                 "it uses an anchor or an alias",
		"a: \x01\n":               "it holds control characters",
		"a: \xff\n":               "it holds bytes that are not text",
		"%YAML 3.0\n---\na: 1\n":  "it is not written as YAML",
		"a: !unknown!tag value\n": "it is not written as YAML",
	} {
		_, err := settings.Parse([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "yaml") || strings.Contains(err.Error(), "did not find") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestTexts: values as they are written.
func TestTexts(t *testing.T) {
	t.Parallel()
	section, err := settings.Parse([]byte("a: 007\nb: [x, 2]\nc:\nd: {e: f}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name    string
		several bool
		want    string
	}{
		{"a", false, "[007]"},
		{"b", true, "[x 2]"},
		{"b", false, "line 2: b: it is a list; expected one value"},
		{"c", true, "line 3: c: it is empty; expected a value, or a list of values"},
		{"d", true, "line 4: d: it is names and values; expected a value, or a list of values"},
	} {
		values, err := section.Texts(row.name, row.several)
		got := fmt.Sprint(values)
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	if !section.Bare("c") || section.Bare("a") || section.Bare("z") {
		t.Error("only c has no value")
	}
	if err := section.Unknown("b", []string{"bb", "x"}); err.Error() != "line 2: b: unknown name" || err.Hint != "did you mean bb?" {
		t.Errorf("%v, %s", err, err.Hint)
	}
}

// TestParseJSON: a YAML document as JSON.
func TestParseJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: [1, 2.50, true, null, x, '3', 2020-01-01]\n200: {b: c}": `{"a":[1,2.50,true,null,"x","3","2020-01-01"],"200":{"b":"c"}}`,
		`{"a": "\u00fc\n", "b": 0x10}`:                              `{"a":"ü\n","b":16}`,
		"a: .inf":                                                   "-", "a: 99999999999999999999": `{"a":99999999999999999999}`, "a: *b": "-",
	} {
		got, err := settings.ParseJSON([]byte(text))
		if want == "-" {
			if err == nil {
				t.Errorf("%s is %s", text, got)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, %v", text, got, err)
		}
	}
}

// TestRedactorAtEveryCut: no part of a secret stays, wherever a text is cut.
func TestRedactorAtEveryCut(t *testing.T) {
	t.Parallel()
	r := settings.NewRedactor(map[string]string{"one": "abcabcab", "two": "abcabcabdef", "three": "täst täst"})
	text := "x abcabcab y abcabcabdef z täst täst abcabcabcab t%C3%A4st%20t%C3%A4st ab"
	for n := range len(text) + 1 {
		for _, part := range [][]byte{r.Head([]byte(text[:n])), r.Tail([]byte(text[n:]))} {
			for _, bad := range []string{"abcabcab", "täst t", "t%C3%A4st"} {
				if strings.Contains(string(part), bad) {
					t.Fatalf("cut at %d: %q is in %q", n, bad, part)
				}
			}
		}
	}
	if got := string(r.Text([]byte(text))); !strings.HasPrefix(got, "x [secret one] y [secret two] z [secret three] [secret one]cab ") {
		t.Errorf("got %q", got)
	}
	if got := string(settings.NewRedactor(nil).Head([]byte("all of it"))); got != "all of it" {
		t.Errorf("without secrets it is %q", got)
	}
}

// TestRedactorKnowsOtherWriters: escapes for JSON and for addresses have more than one spelling. PHP
// writes \/ in JSON, Go < > & by their numbers, many everything beyond ASCII; .NET escapes an
// address with small digits.
func TestRedactorKnowsOtherWriters(t *testing.T) {
	t.Parallel()
	const secret = "ab/cd+ef==<x&y>\"\u00e9\U0001F511"
	r := settings.NewRedactor(map[string]string{"key": secret})
	for _, echo := range []string{
		`ab\/cd+ef==<x&y>\"` + "\u00e9\U0001F511",
		`ab/cd+ef==\u003cx\u0026y\u003e\"` + "\u00e9\U0001F511",
		`ab/cd+ef==<x&y>\"\u00e9\ud83d\udd11`,
		`ab/cd\u002Bef==\u003Cx\u0026y\u003E\u0022\u00E9\uD83D\uDD11`,
		`ab%2fcd%2bef%3d%3d%3cx%26y%3e%22%c3%a9%f0%9f%94%91`,
		`ab%2Fcd%2Bef%3D%3D%3Cx%26y%3E%22%C3%A9%F0%9F%94%91`,
		`ab/cd%2Bef%3D%3D%3Cx%26y%3E%22%C3%A9%F0%9F%94%91`,
		`ab/cd+ef==%3Cx&y%3E%22%C3%A9%F0%9F%94%91`,
	} {
		if got := string(r.Text([]byte("before " + echo + " after"))); got != "before [secret key] after" {
			t.Errorf("%s is told as %s", echo, got)
		}
		for n := range len(echo) {
			if got := string(r.Head([]byte(echo[:n]))); got != "" {
				t.Errorf("the beginning of %s, %d bytes of it, is told as %s", echo, n, got)
			}
			if got := string(r.Tail([]byte(echo[len(echo)-n:]))); got != "" {
				t.Errorf("the end of %s, %d bytes of it, is told as %s", echo, n, got)
			}
		}
	}
}

// TestSecretFile: a secret comes from a private file without its last newline.
func TestSecretFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	for _, tt := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{"hunter22\n", 0o600, "hunter22"},
		{"hunter22\r\n", 0o640, "hunter22"},
		{"two\nlines\n", 0o400, "two\nlines"},
		{"hunter22", 0o644, ""},
		{"abcde", 0o600, ""},
		{"nul\x00nul\x00", 0o600, ""},
		{strings.Repeat("x", 65<<10), 0o600, ""},
	} {
		_ = os.Remove(path)
		if err := errors.Join(os.WriteFile(path, []byte(tt.text), 0o600), os.Chmod(path, tt.mode)); err != nil {
			t.Fatal(err)
		}
		got, err := settings.Secrets{"key": {File: path}}.Open(os.LookupEnv, []string{"key"})
		if got["key"] != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%.20q: %q, %v", tt.text, got["key"], err)
		}
		if err != nil && strings.Contains(err.Error(), tt.text) {
			t.Errorf("the error shows it: %v", err)
		}
	}
	if _, err := (settings.Secrets{"key": {Env: "EARSHOT_NOT_SET"}}).Open(os.LookupEnv, []string{"key"}); err == nil {
		t.Error("a variable that is not set gave a secret")
	}
}

// TestClosed: what an agent may give is listed, all of it.
func TestClosed(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		"":                         `{"additionalProperties":false,"type":"object"}`,
		`{"properties":{"a":{}}}`:  `{"additionalProperties":false,"properties":{"a":{}},"type":"object"}`,
		`{"type":"array"}`:         "its type",
		`[]`:                       "not an object",
		`{"properties":[]}`:        "not an object",
		`{"properties":{"a":3}}`:   "not JSON Schema",
		`{"$ref":"https://x.org"}`: "may not refer",
	} {
		got, _, err := settings.Closed([]byte(schema))
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && string(got) != want {
			t.Errorf("%s: %s, %v", schema, got, err)
		}
	}
}

// TestOffer: what a call does is a part of the definition's digest, and a risk that is
// not said is the cautious one.
func TestOffer(t *testing.T) {
	t.Parallel()
	offer := settings.Offer{Target: "desk", Tool: "desk.print", Description: "Print.", Class: utp.Irreversible, Parameters: []byte(`{"type":"object"}`), Meaning: map[string]string{"b": "1", "a": "2"}}
	first, err := offer.Definition()
	if err != nil || first.Risk != utp.RiskHigh {
		t.Fatalf("%+v, %v", first, err)
	}
	offer.Meaning = map[string]string{"b": "1", "a": "3"}
	second, err := offer.Definition()
	if err != nil {
		t.Fatal(err)
	}
	one, _ := first.Digest()
	two, _ := second.Digest()
	if one == two {
		t.Error("another meaning has the same digest")
	}
	offer.Class = utp.Read
	if d, err := offer.Definition(); err != nil || d.Risk != utp.RiskLow {
		t.Errorf("a read has the risk %s, %v", d.Risk, err)
	}
}

// TestNearest: a letter more, less or another, and two that changed places, are one slip each.
func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"run", "up", "reply", "tools", "tidy", "list", "with_line"}
	for word, want := range map[string]string{
		"rnu": "run", "ru": "run", "runn": "run", "urn": "run", "tidi": "tidy", "tyid": "", "lsit": "list", "toosl": "tools", "rpely": "reply", "with-lnie": "with_line",
		"RUN": "run", "pu": "up", "xyz": "", "": "", "listen": "list",
	} {
		if got := settings.Nearest(word, known); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
}
