package standing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// separators end the name of a folder, on any system and in an address.
const separators = `/\`

// begins reports whether a text begins with another one, and stays below it if that is a folder or an address.
func begins(text, beginning string) bool {
	if unsafeText(text) || !strings.HasPrefix(text, beginning) {
		return false
	}
	rest := text[len(beginning):]
	ended := strings.ContainsAny(beginning[len(beginning)-1:], separators)
	if rest == "" || ended || !strings.ContainsAny(beginning, separators) {
		return true
	}
	return strings.ContainsAny(rest[:1], separators)
}

// unsafeText reports whether a text may mean something else to a program than to a person who reads its beginning: it
// has control characters, or a folder "..", also in the forms that addresses and other systems know.
func unsafeText(text string) bool {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return true
	}
	plain := strings.ToLower(text)
	for strings.Contains(plain, "%25") {
		plain = strings.ReplaceAll(plain, "%25", "%")
	}
	plain = strings.NewReplacer("%2e", ".", "%2f", "/", "%5c", `\`).Replace(plain)
	for _, folder := range strings.FieldsFunc(plain, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if strings.TrimRight(folder, " ;") == ".." {
			return true
		}
	}
	return false
}

// BoundsText says the bounds in a sentence without its end: `path begins with "/home/ann/Pictures/", and all else is as in
// question 7`. What has to stay as it is was shown with that question, and is not said again. Without bounds it is "".
func BoundsText(bounds []api.Bound, question int) string {
	var parts []string
	same := 0
	for _, b := range bounds {
		if b.Rule == api.BoundEquals {
			same++
			continue
		}
		parts = append(parts, phrase(b))
	}
	asked := fmt.Sprintf("as in question %d", question)
	switch {
	case same > 0 && same == len(bounds):
		return "everything is " + asked
	case same > 0:
		parts = append(parts, "all else is "+asked)
	}
	if n := len(parts); n > 1 {
		parts[n-1] = "and " + parts[n-1]
	}
	return strings.Join(parts, ", ")
}

// phrase says one bound.
func phrase(b api.Bound) string {
	name := Name(b.Argument)
	switch b.Rule {
	case api.BoundBegins:
		return name + " begins with " + shown(b.Value)
	case api.BoundMost:
		return name + " is from 0 to " + shown(b.Value)
	case api.BoundEquals, api.BoundAny:
	}
	return name + " is anything"
}

// Name is an argument as people read it: the pointer /options/depth is options/depth.
func Name(pointer string) string {
	if pointer == "" {
		return "the arguments"
	}
	return plain(strings.NewReplacer("~1", "/", "~0", "~").Replace(strings.TrimPrefix(pointer, "/")), "")
}

// shown is a value as people read it.
func shown(v jsontext.Value) string {
	if text, isText := textOf(v); isText {
		return plain(text, `"`)
	}
	return plain(string(v), "")
}

// plain puts a text between quotes. One with characters that do not print, or that change what the others look like, is
// escaped instead.
func plain(text, quote string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(text, odd) || quote != "" && strings.Contains(text, quote) {
		return strconv.Quote(text)
	}
	return quote + text + quote
}

func sortedKeys(members map[string]jsontext.Value) []string { return slices.Sorted(maps.Keys(members)) }

// Terms says how far the permission goes, in a sentence without its end.
func (p Permission) Terms() string {
	where := "in any session"
	if p.Session != "" {
		where = "in this session"
	}
	times := fmt.Sprintf("up to %d times", p.Uses)
	if p.Uses == 1 {
		times = "once"
	}
	terms := fmt.Sprintf("%s may use %s %s without asking, %s", cmp.Or(p.AgentName, p.Agent), p.Tool, where, times)
	if words := BoundsText(p.Bounds, p.Question); words != "" {
		terms += ", if " + words
	}
	return terms
}
