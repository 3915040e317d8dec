package schema_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/utp/schema"
)

// formats are the formats with texts that fit them. TestFormats changes these a little.
var formats = map[string][]string{
	"date-time":             {"2026-03-31T09:30:00Z", "1998-12-31T15:59:60.123-08:00", "2024-02-29t00:00:00.5+14:00", "1998-12-31T23:59:60z"},
	"date":                  {"2026-03-31", "2024-02-29", "0001-01-01"},
	"time":                  {"09:30:00Z", "23:59:60Z", "01:29:60+01:30", "22:59:60-01:00", "12:00:00.52z"},
	"duration":              {"P4DT12H30M5S", "P3W", "PT0S", "P1Y2M3D", "P1M", "PT1H"},
	"period":                {"2026-03-31T09:30:00Z/2026-04-01T09:30:00Z", "P1D/2026-03-31T09:30:00Z", "2026-03-31T09:30:00Z/PT1H"},
	"email":                 {"ada@example.org", `"ada lovelace"@example.org`, "a.b+c@[127.0.0.1]", "a@[IPv6:::1]", "te~st@example.com"},
	"hostname":              {"www.example.org", "a-b.c", "xn--bcher-kva.example", "example.", strings.Repeat("a", 63) + ".b"},
	"ipv4":                  {"192.168.0.1", "0.0.0.0", "255.255.255.255"},
	"ipv6":                  {"::1", "2001:db8::ff00:42:8329", "::ffff:192.168.0.1", "1:2:3:4:5:6:7:8"},
	"uri":                   {"https://example.org/a?b=c#d", "urn:isbn:0451450523", "http://[2001:db8::1]:80/x", "mailto:a@b.c", "file:///etc/hosts"},
	"uri-reference":         {"/a/b?c", "#d", "https://example.org", "../a%20b"},
	"iri":                   {"https://exämple.org/ä", "http://a/b"},
	"iri-reference":         {"/ä", "https://exämple.org/"},
	"uuid":                  {"2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"},
	"json-pointer":          {"", "/a/b~0c~1d", "/", "/a//b"},
	"relative-json-pointer": {"0", "1/a/b", "10#", "0#", "2/a~1b"},
	"regex":                 {"^a+[b-c](d|e)?$", "a{2,3}", `\d\w\s`},
	"semver":                {"1.2.3", "1.0.0-alpha.1+001", "0.0.4", "1.2.3----RC-SNAPSHOT.12.9.1--.12", "2.0.0+build.1848"},
	"no-such-format":        {"anything"},
}

// TestFormats: texts that fit a format, and such with a change, get the same verdict from the library that was the judge before.
// It differs in what stranger lists.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, texts := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf(`{"format":%q}`, name)
			ours, err := schema.Compile(jsontext.Value(text))
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := second(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, fitting := range texts {
				if err := ours.Validate(fitting); err != nil {
					t.Errorf("%q: %v", fitting, err)
				}
			}
			rapid.Check(t, func(t *rapid.T) { formatAgrees(t, ours, theirs, name, changed(t, texts)) })
		})
	}
}

func formatAgrees(t *rapid.T, ours *schema.Schema, theirs *jsonschema.Schema, name, value string) {
	ourErr, theirErr := ours.Validate(value), theirs.Validate(value)
	if (ourErr == nil) != (theirErr == nil) && !stranger(name, value) {
		t.Fatalf("%s %q: ours %v, theirs %v", name, value, ourErr, theirErr)
	}
}

var signed = regexp.MustCompile(`(^|[:.Tt/+-])[+-]\d`)

// stranger reports whether the library is known to take a text that it should not.
func stranger(format, text string) bool {
	switch format {
	case "ipv4", "time", "date-time", "period":
		return signed.MatchString(text) // it reads +1 and -0 as numbers
	case "email":
		return strings.HasPrefix(text, "@") || strings.Contains(text, "@[") // nobody at all; +1 in an address
	default:
		return false
	}
}

// changed draws one of the texts, with up to three changes.
func changed(t *rapid.T, texts []string) string {
	text := []rune(rapid.SampledFrom(texts).Draw(t, "text"))
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		until := rapid.IntRange(at, min(at+2, len(text))).Draw(t, "until")
		piece := rapid.StringOfN(rapid.SampledFrom([]rune(`019-+:./~#@[]()\"PTZzWax%é *?`)), 0, 2, -1).Draw(t, "piece")
		text = append(append(append([]rune{}, text[:at]...), []rune(piece)...), text[until:]...)
	}
	return string(text)
}

// TestInternationalFormats: names in other scripts are taken, which the library does not look at.
func TestInternationalFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		format, text string
		fits         bool
	}{
		{"idn-hostname", "실례.테스트", true},
		{"idn-hostname", "例。example", true},
		{"idn-hostname", "www.example.org", true},
		{"idn-hostname", "-실례.테스트", false},
		{"idn-hostname", "실례 테스트", false},
		{"idn-hostname", "a..b", false},
		{"idn-email", "실례@실례.테스트", true},
		{"idn-email", "ada@example.org", true},
		{"idn-email", "실례", false},
		{"email", "실례@실례.테스트", false},
		{"uri-template", "https://example.org/{term:1}{?q*}", true},
		{"uri-template", "https://example.org:{port}/", true},
		{"uri-template", "https://example.org/{term", false},
		{"uri-template", "https://example.org/{a{b}}", false},
		{"uri-template", "https://example.org/a}", false},
		{"uri-template", "https://example.org/%zz", false},
		{"email", "@example.org", false},
		{"ipv4", "+1.2.3.4", false},
	} {
		s, err := schema.Compile(jsontext.Value(fmt.Sprintf(`{"format":%q}`, tt.format)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(tt.text); (err == nil) != tt.fits {
			t.Errorf("%s of %s: %v", tt.text, tt.format, err)
		}
		if err := s.Validate(json.Number("1")); err != nil {
			t.Errorf("a number of %s: %v", tt.format, err)
		}
	}
}
