package conform_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// row is one line of rows, read.
type row struct {
	rule, base, path, kind string
	required               bool
	limits                 []string
	prefix                 string // what ids start with where a rule has several rows
}

func readRows() []row {
	var all []row
	area, base := "", ""
	for line := range strings.Lines(strings.TrimSpace(rows)) {
		words := strings.Fields(line)
		if strings.ToUpper(words[0]) == words[0] && len(words) == 2 {
			area, base = words[0], words[1]
			continue
		}
		path, required := strings.CutSuffix(words[1], "!")
		all = append(all, row{rule: area + "-" + words[0], base: base, path: path, required: required, kind: words[2], limits: words[3:]})
	}
	for i, r := range all {
		if slices.ContainsFunc(all, func(other row) bool { return other.rule == r.rule && other.path != r.path }) {
			all[i].prefix = dashed(r.name()) + "-"
		}
	}
	return all
}

func (r row) name() string { return r.path[strings.LastIndexByte(r.path, '/')+1:] }

func dashed(s string) string { return strings.ReplaceAll(s, "_", "-") }

// limit is one of the row's limits; -1 is none.
func (r row) limit(i int) int {
	if i >= len(r.limits) || r.limits[i] == "-" {
		return -1
	}
	value, err := strconv.Atoi(r.limits[i])
	if err != nil {
		panic(err)
	}
	return value
}

// series is the vectors that follow from one row.
type series struct {
	row
	all []source
}

func (r row) vectors() []source {
	s := &series{row: r}
	if r.required {
		s.breaks("absent", "is missing", "", absent{})
		if strings.HasPrefix(r.rule, "ENV-") && !strings.Contains(r.path, "/") {
			last := &s.all[len(s.all)-1]
			last.Rule, last.ID = "ENV-07", "ENV-07-"+dashed(r.path)
		}
	}
	switch r.kind {
	case "text":
		s.text(r.limit(0), r.limit(1))
	case "int", "number":
		s.figure(r.limit(0), r.limit(1))
	case "enum":
		s.enum()
	case "pattern":
		s.shape(shapes[r.limits[0]])
	case "timestamp":
		s.shape(moment)
	case "strings", "tags", "words", "levels", "uris", "patterns":
		s.items(r.limit(0), r.limit(1))
	default:
		s.plain()
	}
	return s.all
}

func (s *series) title(text string) string {
	return "`" + strings.ReplaceAll(s.path, "/", ".") + "` " + text
}

func (s *series) keeps(slug, title string, value any, more ...any) {
	s.all = append(s.all, good(s.rule, s.prefix+slug, s.title(title), on(s.base, append([]any{s.path, value}, more...)...)))
}

// breaks adds a vector whose finding lies at a place inside the row's value.
func (s *series) breaks(slug, title, at string, value any) {
	path := "/" + s.path + at
	if at == anywhere {
		path = anywhere
	}
	broken := bad(s.rule, s.prefix+slug, s.title(title), path, on(s.base, s.path, value))
	if s.rule == "HS-23" && s.path == "producer/agent_id" {
		broken = broken.finding("ENV-29") // the structure is the envelope's
	}
	s.all = append(s.all, broken)
}

// filled gives the last vector a long text.
func (s *series) filled(at, text string, times int) {
	last := &s.all[len(s.all)-1]
	*last = last.fill("/"+s.path+at, text, times)
}

func (s *series) text(low, high int) {
	if low == 0 {
		s.keeps("empty", "is empty", "")
	} else {
		s.keeps("one", "is one character", "1")
		s.breaks("empty", "is empty", "", "")
	}
	if high > 0 {
		s.keeps("longest", fmt.Sprintf("has %d characters of three bytes each", high), "")
		s.filled("", "ọ", high) // caps count code points (C-13)
		s.breaks("too-long", fmt.Sprintf("has %d characters", high+1), "", "")
		s.filled("", "x", high+1)
	}
	s.breaks("number", "is a number", "", 7)
}

func (s *series) figure(low, high int) {
	s.keeps("lowest", fmt.Sprintf("is %d", low), low)
	s.breaks("too-low", fmt.Sprintf("is %d", low-1), "", low-1)
	if high >= 0 {
		s.keeps("highest", fmt.Sprintf("is %d", high), high)
		s.breaks("too-high", fmt.Sprintf("is %d", high+1), "", high+1)
	}
	if s.kind == "number" {
		s.keeps("fraction", "is a fraction", 0.5)
	} else {
		s.breaks("fraction", "is a fraction", "", float64(low)+1.5)
	}
	if s.kind == "int" && (high < 0 || high >= 300) {
		s.keeps("exponent", "is 300, written with an exponent", literal("3e2")) // C-18
		s.keeps("point", "is 300, written with a point", literal("300.0"))
	}
	s.breaks("string", "is a string", "", strconv.Itoa(low))
}

func (s *series) enum() {
	for _, word := range s.limits {
		var more []any
		if s.rule == "CONFM-12" && word == "irreversible" {
			more = []any{"irreversible", true} // the two must not contradict each other (C-21)
		}
		s.keeps(dashed(word), "is "+word, word, more...)
	}
	s.breaks("capital", "starts with a capital", "", strings.ToUpper(s.limits[0][:1])+s.limits[0][1:])
	s.breaks("no-word", "is not a word of the list", "", "whatever")
	s.breaks("number", "is a number", "", 1)
}

func (s *series) shape(of shape) {
	for _, e := range of.keeps {
		s.keeps(e.slug, e.title, e.value)
	}
	for _, e := range of.breaks {
		s.breaks(e.slug, e.title, "", e.value)
	}
	s.breaks("number", "is a number", "", 1)
}

func (s *series) plain() {
	switch s.kind {
	case "string":
		s.keeps("some", "is a string", "some text")
		s.breaks("number", "is a number", "", 5)
	case "bool":
		s.keeps("true", "is true", true)
		s.keeps("false", "is false", false)
		s.breaks("string", "is the word true", "", "true")
		s.breaks("number", "is the number 1", "", 1)
	case "object":
		s.keeps("object", "is an object", objects[s.name()])
		s.breaks("array", "is an array", "", list())
		s.breaks("string", "is a string", "", "{}")
	case "uri":
		s.keeps("web", "is an address", "https://example.org/a/b?c=d#e")
		s.keeps("urn", "is a name without a server", "urn:example:backup-7")
		s.breaks("relative", "has no scheme", "", "/a/b")
		s.breaks("space", "has a space in it", "", "https://example.org/a b")
		s.breaks("number", "is a number", "", 7)
	case "critical":
		s.keeps("critical", "is critical", "critical")
		s.breaks("normal", "is normal", "", "normal")
		s.breaks("background", "is background", "", "background")
	default:
		panic("no kind " + s.kind)
	}
}

// objects are examples of the members that are objects.
var objects = map[string]object{
	"progress":             {{"percent", 12.5}, {"step", 1}, {"total_steps", 8}, {"description", "The first of eight."}},
	"producer":             {{"agent_id", "vector-agent"}},
	"capabilities":         {},
	"honored_capabilities": {},
	"extensions":           {{"medai", object{{"ward", 3}}}},
	"extra_context":        {{"tool", "files.delete"}, {"sizes", list(1, 2)}},
	"packaged_context":     {{"disk", "sda"}},
	"modified_action":      {{"folder", "older"}},
}

// items are the vectors of lists.
func (s *series) items(low, high int) {
	if low == 0 {
		s.keeps("none", "is an empty list", list())
	} else {
		s.breaks("none", "is an empty list", "", list())
	}
	s.keeps("few", "is a short list", s.some(max(low, 2)))
	if high > 0 {
		var more []any
		if s.rule == "CLAR-08" {
			more = []any{"choices", choices(2)} // multiple_choice is among the items
		}
		s.keeps("most", fmt.Sprintf("has %d items", high), s.some(high), more...)
	}
	if high > 0 && s.kind != "words" && s.kind != "levels" {
		s.breaks("too-many", fmt.Sprintf("has %d items", high+1), "", s.some(high+1))
	}
	if !slices.Contains(s.limits, "repeats") {
		s.breaks("twice", "has one item twice", anywhere, slices.Concat(s.some(2), s.some(2)[1:]))
	}
	s.breaks("no-list", "is one item alone", "", s.some(1)[0])
	s.breaks("wrong-type", "has an item of a wrong type", "/0", slices.Concat(list(object{}), s.some(2)))
	switch s.kind {
	case "words":
		s.breaks("no-word", "has a word that does not exist", "/0", list("whatever"))
	case "levels":
		s.breaks("four", "has a level 4", "/0", list(4))
		s.breaks("string", "has a level as a string", "/0", list("1"))
	case "uris":
		s.breaks("relative", "has an item without a scheme", "/0", list("/a"))
	case "patterns":
		s.breaks("empty-item", "has an empty item", "/0", list(""))
		s.breaks("too-long-item", "has an item of 257 characters", "/0", list(""))
		s.filled("/0", "x", 257)
	case "strings":
		if s.rule == "START-07" {
			s.breaks("empty-item", "has an empty item", "/0", list(""))
			s.breaks("too-long-item", "has an item of 257 characters", "/0", list(""))
			s.filled("/0", "x", 257)
		}
	}
}

// some is a list of n different items.
func (s *series) some(n int) []any {
	items := make([]any, n)
	for i := range items {
		switch s.kind {
		case "tags":
			items[i] = fmt.Sprintf("en-x-%d", i)
		case "levels":
			items[i] = i + 1
		case "uris":
			items[i] = fmt.Sprintf("https://example.org/%d", i)
		case "patterns":
			items[i] = []string{"aaep:agent.tool.*", "aaep:agent.state.changed", "*"}[i]
		case "words":
			items[i] = s.limits[2+i]
		default:
			items[i] = fmt.Sprintf("tool%d", i)
			if s.rule == "CONFM-13" && i < 2 {
				items[i] = []string{"reject", "accept"}[i] // nobody could refuse without it (C-25)
			}
		}
	}
	return items
}
