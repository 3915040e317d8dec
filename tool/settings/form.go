package settings

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// forms returns the encodings in which a secret is commonly echoed.
func forms(value string) []string {
	all := append(addresses(value), jsons(value)...)
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		encoded := e.EncodeToString([]byte(value))
		all = append(all, encoded, strings.ReplaceAll(encoded, "/", `\/`))
	}
	return Sorted(append(all, value))
}

// The characters that one program or another leaves unescaped in a URL, besides letters, digits and -._: Python's
// quote, JavaScript's encodeURIComponent and encodeURI.
var leftInAddresses = []string{"~/", "~!*'()", "~!*'();/?:@&=+$,#"}

// addresses returns the value escaped for a URL, with upper-case and with lower-case hex digits.
func addresses(value string) []string {
	query := url.QueryEscape(value)
	large := make([]string, 0, 3+len(leftInAddresses))
	large = append(large, query, url.PathEscape(value), strings.ReplaceAll(query, "+", "%20"))
	for _, left := range leftInAddresses {
		large = append(large, percent(value, left))
	}
	small := make([]string, len(large))
	for i, escaped := range large {
		small[i] = smallDigits(escaped)
	}
	return slices.Concat(large, small)
}

func percent(value, left string) string {
	var out strings.Builder
	for _, c := range []byte(value) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._"+left, c) >= 0
		if plain {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// smallDigits converts %2F to %2f.
func smallDigits(escaped string) string {
	out := []byte(escaped)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], strings.ToLower(escaped[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}

// The characters that one encoder or another escapes in JSON without need: none, Go, Gson, .NET.
var numberedInJSON = []string{"", "<>&\u2028\u2029", "<>&='", "<>&'\"+`"}

// jsons returns the value escaped for JSON: with / plain or escaped (PHP), and with non-ASCII characters plain or
// escaped, in upper-case or lower-case hex digits.
func jsons(value string) []string {
	all := make([]string, 0, 8*len(numberedInJSON))
	for _, numbered := range numberedInJSON {
		for _, slash := range []string{"/", `\/`} {
			for _, digits := range []string{`\u%04x`, `\u%04X`} {
				for _, ascii := range []bool{false, true} {
					all = append(all, quoted(value, numbered, slash, digits, ascii))
				}
			}
		}
	}
	return all
}

// inJSON maps characters to their short escapes.
var inJSON = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func quoted(value, numbered, slash, digits string, ascii bool) string {
	var out strings.Builder
	for _, r := range value {
		short, has := inJSON[r]
		switch {
		case strings.ContainsRune(numbered, r), r < ' ' && !has, r > '~' && ascii:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&out, digits, unit)
			}
		case has:
			out.WriteString(short)
		case r == '/':
			out.WriteString(slash)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
