package markdown_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/surface/page/markdown"
)

var update = flag.Bool("update", false, "write the golden files")

// TestRender: the corpus, among it what is hostile, is rendered as the golden files say, and from the list alone.
func TestRender(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("testdata/*.md")
	if err != nil || len(sources) == 0 {
		t.Fatal(err)
	}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			t.Parallel()
			text := read(t, source)
			html, ok := markdown.Render(3, markdown.Part{Text: text})
			if !ok {
				t.Fatal("it was not rendered")
			}
			listed(t, string(html))
			golden := strings.TrimSuffix(source, ".md") + ".html"
			got := strings.ReplaceAll(string(html), "><", ">\n<") + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, golden); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// TestHeadings: headings begin at the level that is asked for, end at six, and leave no level out.
func TestHeadings(t *testing.T) {
	t.Parallel()
	html, _ := markdown.Render(4, markdown.Part{Text: "# A\n#### B\n## C\n###### D\n####### E"})
	want := `<h4 dir="auto">A</h4><h5 dir="auto">B</h5><h5 dir="auto">C</h5><h6 dir="auto">D</h6><p dir="auto">####### E</p>`
	if string(html) != want {
		t.Errorf("%s; want %s", html, want)
	}
}

// TestParts: each part of a text has its language and direction, and headings and blocks of code are counted through all of
// them. What is too long in all stays plain.
func TestParts(t *testing.T) {
	t.Parallel()
	html, _ := markdown.Render(3, markdown.Part{Text: "# A", Language: `es"><b>`, Direction: "ltr"}, markdown.Part{Text: "### B", Direction: "auto"})
	want := `<div lang="es&#34;&gt;&lt;b&gt;" dir="ltr"><h3 dir="auto">A</h3></div><div lang="" dir="auto"><h4 dir="auto">B</h4></div>`
	if string(html) != want {
		t.Errorf("%s; want %s", html, want)
	}
	half := markdown.Part{Text: strings.Repeat("a", markdown.MaxSize/2+1)}
	if _, ok := markdown.Render(3, half, half); ok {
		t.Error("a text that is too long was laid out")
	}
}

// TestBounds: what is too long, or nested without end, stays plain text; what is rendered is rendered in a short time, which
// the time limit of the tests proves.
func TestBounds(t *testing.T) {
	t.Parallel()
	const most = markdown.MaxSize
	for name, c := range map[string]struct {
		text  string
		plain bool
	}{
		"1 MiB":                {strings.Repeat("word ", 1<<20/5), true},
		"just fits":            {strings.Repeat("w", most), false},
		"quotes":               {strings.Repeat(">", most), true},
		"quotes with blanks":   {strings.Repeat("> ", most/2), true},
		"lists":                {strings.Repeat("- ", most/2), true},
		"numbered lists":       {strings.Repeat("1. ", most/3), true},
		"numbered brackets":    {strings.Repeat("1) ", most/3), true},
		"deep list, by lines":  {deepList(300), true},
		"brackets":             {strings.Repeat("[", most), true},
		"links in links":       {strings.Repeat("[a](", most/4), true},
		"images":               {strings.Repeat("![", most/2), true},
		"angles":               {strings.Repeat("<", most), true},
		"stars":                {strings.Repeat("*a ", most/3), true},
		"stars on lines":       {strings.Repeat("*a\n", most/3), true},
		"underscores":          {strings.Repeat("_a _", most/4), true},
		"backticks":            {strings.Repeat("`a``b", most/5), true},
		"tildes":               {strings.Repeat("~~a ", most/4), true},
		"nested quotes, shown": {strings.Repeat("> ", 40) + "a", false},
		"wide table":           {strings.Repeat("|a", 1000) + "\n" + strings.Repeat("|-", 1000) + "\n" + strings.Repeat("|b", 1000), false},
		"tall table":           {strings.Repeat("|a", 100) + "\n" + strings.Repeat("|-", 100) + "\n" + strings.Repeat("|b\n", 30000), true},
		"references":           {strings.Repeat("[a]: b\n", 1900), false},
		"entities":             {strings.Repeat("&amp;", most/5), false},
		"stars that fit":       {strings.Repeat("*a\n", 3900), false},
		"brackets that fit":    {strings.Repeat("[", 1950), false},
		"links that fit":       {strings.Repeat("[a](", 1950), false},
		"deep list that fits":  {deepList(64), false},
		"table that fits":      {strings.Repeat("|a", 10) + "\n" + strings.Repeat("|-", 10) + "\n" + strings.Repeat("|b\n", 790), false},
		"escapes":              {strings.Repeat(`\*`, 900), false},
		"zeros":                {strings.Repeat("\x00", most), false},
		"no text":              {strings.Repeat("\xff", 1000), false},
		"nothing":              {"", false},
		"blank lines":          {strings.Repeat("\n", most), false},
		"tabs":                 {strings.Repeat("\t", most), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			html, ok := markdown.Render(4, markdown.Part{Text: c.text})
			if ok == c.plain {
				t.Errorf("rendered: %t", ok)
			}
			listed(t, string(html))
		})
	}
}

func deepList(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

// FuzzRender: whatever an agent writes, there are only elements and attributes of the list, and each is closed.
func FuzzRender(f *testing.F) {
	for _, name := range []string{"testdata/answer.md", "testdata/hostile.md"} {
		source, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(source))
	}
	f.Add("<a href=\"x\">\x00[a](<java\tscript:x>)")
	f.Fuzz(func(t *testing.T, source string) {
		html, _ := markdown.Render(4, markdown.Part{Text: source})
		listed(t, string(html))
	})
}

// tags are all elements, with all of their attributes, that there may be.
var tags = regexp.MustCompile(`</?(?:p|h[3-6]|ul|ol|li|blockquote|pre|code|em|strong|del|table|thead|tbody|tr|td|th|a|bdi|div|button|span|br|hr)>` +
	`|<(?:p|h[3-6]|li|td) dir="auto">|<th scope="col" dir="auto">|<(?:pre|code) dir="ltr">|<ol start="[0-9]+">|<div class="code">` +
	`|<a href="(?:https?://|mailto:)[^"<>]*" rel="noopener noreferrer nofollow">|<bdi class="address" dir="ltr">` +
	`|<button type="button" lang="en" dir="ltr" class="quiet" data-copy hidden>|<span class="unseen">`)

var names = regexp.MustCompile(`^<(/?)([a-z0-9]+)`)

func listed(t *testing.T, html string) {
	t.Helper()
	var open []string
	for _, tag := range tags.FindAllString(html, -1) {
		name := names.FindStringSubmatch(tag)
		switch {
		case name[2] == "br" || name[2] == "hr":
		case name[1] == "":
			open = append(open, name[2])
		case len(open) == 0 || open[len(open)-1] != name[2]:
			t.Fatalf("%s closes another element of %v", tag, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("not closed: %v", open)
	}
	if rest := tags.ReplaceAllString(html, ""); strings.ContainsAny(rest, "<>") {
		i := strings.IndexAny(rest, "<>")
		t.Fatalf("there is more than the list has: %.80q", rest[i:])
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
