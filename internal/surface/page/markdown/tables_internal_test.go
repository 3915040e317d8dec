package markdown

import (
	"os"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// TestTables compares tables and strikethrough with goldmark's own extensions.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, source := range append(corpus(t),
		"|a|b|\n|-|-|\n|1|2|", "a|b\n-|-\n1", "a|b\n-|-\n1|2|3\n\nafter", "before  \na|b\n:-|-:\n1|2", "a\n|-|\nb\n|-|", "|a|\n|-|-|\n", "|a\n|:-:\n| `x\\|y` \\| z|",
		"||\n|-|\n|", "> a|b\n> -|-\n> 1|2", "- a|b\n  -|-\n  1|2", "a|b\n    -|-", "a|b\n- -|-", "a|b\n::-|-", "a|b\n:|-", "|a|\n|-|\n|b\\|", "[x]: y\na|b\n-|-\n[x]|*c*",
		"~a~ ~~b~~ ~~~c~~~ ~~d~ a~~e~~f ~ g ~", "~~*a~~*", "|~a~|`~`|\n|-|-|",
	) {
		same(t, source)
	}
	if got := rendered(newParser(), "|a|\n|-|\n|`x\\\\|y`|"); !strings.Contains(got, `<code dir="ltr">x\|y</code>`) {
		t.Errorf("a backslash before an escaped bar is lost: %s", got)
	}
}

// FuzzTables is TestTables with what the fuzzer thinks of.
func FuzzTables(f *testing.F) {
	for _, source := range corpus(f) {
		f.Add(source)
	}
	f.Add("|a|b|\n|-|-|\n|1|2|")
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) < 1<<10 && !tangled(source) && !strings.Contains(source, `\\|`) { // which inline.go resolves, and goldmark's tree no longer has
			same(t, strings.ToValidUTF8(source, "?"))
		}
	})
}

func corpus(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, name := range []string{"testdata/answer.md", "testdata/hostile.md"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(source))
	}
	return all
}

func same(t *testing.T, source string) {
	t.Helper()
	theirs := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser()
	if got, want := rendered(newParser(), source), rendered(theirs, source); got != want {
		t.Errorf("%q is\n%s\nand by goldmark's extensions\n%s", source, got, want)
	}
}

func rendered(p parser.Parser, source string) string {
	r := &renderer{level: 3, heading: 2, source: []byte(source)}
	r.block(p.Parse(text.NewReader(r.source)))
	return r.out.String()
}
