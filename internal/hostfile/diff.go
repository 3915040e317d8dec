package hostfile

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/aymanbagabas/go-udiff"

	"github.com/earshot-dev/earshot/tool/settings"
)

// Diff is what was edited, as the lines of a unified diff. What may be a credential is not shown, in the lines around either.
func (f *File) Diff(path string) []string {
	before, err := f.read(f.before)
	if err != nil || !f.Changed() {
		return nil
	}
	hidden := map[string]string{}
	credentials("", before, hidden)
	credentials("", f.tree, hidden)
	r := settings.NewRedactor(hidden)
	text := udiff.Unified(path, path, string(r.Text(slices.Clone(f.before))), string(r.Text(slices.Clone(f.text))))
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, visible(strings.TrimRight(line, "\r\n")))
	}
	return lines
}

// visible keeps what stands in a file from acting on a terminal.
func visible(line string) string {
	var out strings.Builder
	for _, r := range line {
		if r == '\t' || unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "\\u{%x}", r)
		}
	}
	return out.String()
}

// Names of what is, or may hold, a credential.
var (
	secretName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(token|secret|passw|passphrase|credential|authorization|cookie|session|private|api[-_]?key|apikey|[-_.]key$|^key$|^auth|[-_]auth|[-_]pat$)`)
	})
	secretFlag = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^--?[a-z-]*(token|secret|passw|passphrase|credential|authorization|key|auth|header)[a-z-]*$`)
	})
	secretTable = []string{"env", "envs", "headers", "http_headers", "oauth"}
)

// leastHidden is the length from which a text can be told from others.
const leastHidden = 6

// credentials collects the texts of a tree that may be credentials, by the names under which they are hidden.
func credentials(name string, value any, into map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		all := slices.Contains(secretTable, name)
		for _, key := range slices.Sorted(maps.Keys(value)) {
			text, is := value[key].(string)
			if is && len(text) >= leastHidden && (all || secretName().MatchString(key) && !strings.HasSuffix(key, "_env_var")) {
				hide(key, text, into)
				continue
			}
			if key == "url" || key == "httpUrl" || key == "uri" {
				hideAddress(key, text, into)
			}
			credentials(key, value[key], into)
		}
	case []any:
		hideArguments(value, into)
		for _, one := range value {
			credentials(name, one, into)
		}
	}
}

func hide(name, text string, into map[string]string) {
	if len(text) < leastHidden {
		return
	}
	free := name
	for i := 2; into[free] != "" && into[free] != text; i++ {
		free = fmt.Sprintf("%s %d", name, i)
	}
	into[free] = text
}

// hideAddress hides a password and the parameters of an address.
func hideAddress(name, text string, into map[string]string) {
	address, err := url.Parse(text)
	if err != nil {
		return
	}
	if password, set := address.User.Password(); set {
		hide(name, password, into)
	}
	hide(name, address.RawQuery, into)
}

// hideArguments hides what stands behind an option such as --token.
func hideArguments(list []any, into map[string]string) {
	for i, one := range list {
		text, is := one.(string)
		if !is {
			continue
		}
		option, value, inOne := strings.Cut(text, "=")
		if !secretFlag().MatchString(option) {
			continue
		}
		if next := i + 1; !inOne && next < len(list) {
			value, _ = list[next].(string)
		}
		hide(strings.TrimLeft(option, "-"), value, into)
	}
}

// MayBeSecret guesses from the name and the form of a value whether it is a credential: such a name, or a long text of letters and digits.
func MayBeSecret(name, value string) bool {
	const long = 20
	mixed := strings.ContainsFunc(value, unicode.IsDigit) && strings.ContainsFunc(value, unicode.IsLetter)
	return len(value) >= leastHidden && (secretName().MatchString(name) || len(value) >= long && mixed && !strings.ContainsAny(value, " /\\"))
}
