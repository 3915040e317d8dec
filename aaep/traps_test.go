package aaep_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"

	"github.com/earshot-dev/earshot/aaep"
)

// TestTraps: what Go's own ways of reading and writing would get wrong, one by one.
func TestTraps(t *testing.T) {
	t.Parallel()
	head := strings.TrimSuffix(valid, "}")
	breaks := func(raw, rule string) bool {
		return names(aaep.Validate([]byte(raw), aaep.ModeProducer), asError, rule)
	}
	chunk := func(text string) string {
		return strings.Replace(head, "agent.state.changed", "agent.output.streaming", 1) + `,"position":0,"complete":false,"chunk":"` + text + `"}`
	}
	traps := map[string]func() bool{
		"time.RFC3339Nano trims zeros": func() bool {
			return aaep.FormatTime(time.Date(2026, 5, 24, 14, 22, 11, 120e6, time.UTC)) == "2026-05-24T14:22:11.120Z"
		},
		"json.Marshal of a reply trims zeros": func() bool {
			reply := aaep.ConfirmationReply{Type: aaep.TypeConfirmationReply, ReplyToken: "rpl_1", Decision: aaep.DecisionAccept, SubscriptionID: "sub_1", Timestamp: time.Date(2026, 5, 24, 14, 22, 11, 120e6, time.UTC)}
			raw, err := json.Marshal(reply)
			_, err2 := aaep.DecodeConfirmationReply(raw)
			return err == nil && err2 == nil && strings.Contains(string(raw), `"2026-05-24T14:22:11.120Z"`)
		},
		"time.Parse accepts a comma": func() bool {
			_, ok := aaep.ParseTime("2026-05-24T14:22:11,342Z")
			return !ok && breaks(strings.Replace(valid, "11.342Z", "11,342Z", 1), "ENV-24")
		},
		"time.Parse accepts any number of digits": func() bool {
			return breaks(strings.Replace(valid, "11.342Z", "11.34Z", 1), "ENV-25") && breaks(strings.Replace(valid, "11.342Z", "11.3421234567891Z", 1), "ENV-25")
		},
		"names match in any case": func() bool {
			_, err := aaep.DecodeConfirmationReply([]byte(strings.Replace(goodReply, `"decision":"accept"`, `"decision":"reject","Decision":"accept"`, 1)))
			return err != nil
		},
		"the last of two names wins": func() bool {
			_, err := aaep.DecodeConfirmationReply([]byte(strings.Replace(goodReply, `"decision":"accept"`, `"decision":"reject","decision":"accept"`, 1)))
			return err != nil && breaks(head+`,"to_state":"idle"}`, "ENV-60")
		},
		"bytes that are not UTF-8 become U+FFFD": func() bool { return breaks(chunk("\xff"), "ENV-02") && !breaks(chunk("\ufffd"), "ENV-02") },
		"half a surrogate pair becomes U+FFFD":   func() bool { return breaks(chunk(`\ud83d`), "ENV-02") && !breaks(chunk(`\ud83d\ude00`), "ENV-02") },
		"null in a pointer is absent":            func() bool { return breaks(head+`,"expected_duration_ms":null}`, "ENV-59") },
		"len counts bytes": func() bool {
			return !breaks(chunk(strings.Repeat("ọ", 16384)), "OUT-01") && breaks(chunk(strings.Repeat("ọ", 16385)), "OUT-01")
		},
		"300.0 is not an int": func() bool {
			event, err := aaep.DecodeEvent([]byte(head + `,"expected_duration_ms":300.0,"sequence_number":3e2}`))
			changed, ok := event.Payload.(aaep.StateChanged)
			return err == nil && ok && *changed.ExpectedDurationMS == 300 && *event.Sequence == 300
		},
		"$ is the end of a line": func() bool { return breaks(strings.Replace(valid, "evt_1", `evt_1\n`, 1), "ENV-18") },
		`\d is any digit`:        func() bool { return breaks(strings.Replace(valid, "2026-05", "٢٠٢٦-05", 1), "ENV-24") },
		"HTML is escaped": func() bool {
			event, err := aaep.DecodeEvent([]byte(strings.Replace(valid, "Thinking.", "a < b & c", 1)))
			raw, err2 := event.Encode()
			return err == nil && err2 == nil && strings.Contains(string(raw), "a < b & c") && !strings.HasSuffix(string(raw), "\n")
		},
		"integers beyond 2^53 are rounded": func() bool {
			event, err := aaep.DecodeEvent([]byte(head + `,"mood":9007199254740993.0e0}`))
			return err == nil && string(event.Unknown["mood"]) == "9007199254740993.0e0" && breaks(head+`,"mood":9007199254740993}`, "ENV-05")
		},
	}
	for name, avoided := range traps {
		if !avoided() {
			t.Error(name)
		}
	}
}

// TestTimesAgree holds our reading of timestamps against an expression and package time.
func TestTimesAgree(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$`)
	try := func(text string) {
		want, err := time.Parse(time.RFC3339Nano, text)
		known := err == nil && shape.MatchString(text) && !strings.HasSuffix(text, "24:59") // an hour that only package time knows
		got, ok := aaep.ParseTime(text)
		if ok != known || ok && !got.Equal(want) {
			t.Errorf("%q reads as %v, %t, want %v, %t", text, got, ok, want, known)
		}
	}
	const whole = "2024-02-29T23:59:59.123456789+23:59"
	for i := range len(whole) {
		for _, c := range "0123456789:.-+TZz,é " {
			try(whole[:i] + string(c) + whole[i+1:])
		}
		try(whole[:i])
		try(whole[:i] + whole[i+1:])
	}
	for year := 1896; year < 2110; year++ {
		for month := range 14 {
			for _, day := range []int{0, 28, 29, 30, 31, 32} {
				try(fmt.Sprintf("%04d-%02d-%02dT00:00:00Z", year, month, day))
			}
		}
	}
}

// taggable reports whether a tag is a primary language without a finding.
func taggable(tag string) bool {
	raw := strings.Replace(valid, `"primary_language":"en"`, `"text_direction":"auto","primary_language":"`+tag+`"`, 1)
	return !names(aaep.Validate([]byte(raw), aaep.ModeProducer), asError, "I18N-03")
}

// TestTags holds the grammar of language tags against the one of RFC 5646, without its
// reserve of longer languages, and against
// the registry's reader: it can read every tag that passes.
func TestTags(t *testing.T) {
	t.Parallel()
	grammar := regexp.MustCompile(`(?i)^([a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[0-9a-wy-z](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?|x(-[a-z0-9]{1,8})+|i-klingon|en-gb-oed)$`)
	parts := []string{"", "-cmn", "-Latn", "-US", "-419", "-rozaj", "-1994", "-1996-1996", "-a-bc", "-u-co-phonebk", "-x-y-z", "-x", "-abcdefghi", "-1", "-12", "-u", "-a-b"}
	count, known := 0, 0
	for _, base := range []string{"de", "sl", "zho", "abcd", "abcde", "x-a", "x", "i-klingon", "en-GB-oed", "q"} {
		for _, a := range parts {
			for _, b := range parts {
				for _, c := range parts {
					tag := base + a + b + c
					count++
					got := taggable(tag)
					if want := grammar.MatchString(tag); got != want {
						t.Errorf("%s is well formed: %t, want %t", tag, got, want)
					}
					_, err := language.Parse(tag)
					if _, unknown := errors.AsType[language.ValueError](err); got && err != nil && !unknown {
						t.Errorf("%s passes and cannot be read: %v", tag, err)
					} else if got {
						known++
					}
				}
			}
		}
	}
	if count < 40_000 || known < 1000 {
		t.Errorf("only %d tags, %d of them well formed", count, known)
	}
}

// TestDirections holds the list of languages that are written from right to left
// against the registry.
func TestDirections(t *testing.T) {
	t.Parallel()
	scripts := []string{"Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var tags []string
	for _, a := range letters {
		for _, b := range letters {
			tags = append(tags, string(a)+string(b))
		}
	}
	for _, tag := range slices.Clone(tags) {
		for _, region := range []string{"AF", "AZ", "CN", "IQ", "IR", "KZ", "MN", "NG", "PK", "SA", "TR", "UZ", "422", "001"} {
			tags = append(tags, tag+"-"+region)
		}
	}
	for _, tag := range append(tags, "az-Arab", "AR", "ckb", "uz-Arab-AF", "en-Arab", "sr-Latn", "nonsense-tag-", "pa-Arab-x-y", "nqo", "rhg", "ff-Adlm") {
		parsed, err := language.Parse(tag)
		script, _ := parsed.Script()
		want := aaep.TextDirection("")
		if err == nil && slices.Contains(scripts, script.String()) {
			want = aaep.DirectionRTL
		}
		if got := aaep.Direction(tag); got != want {
			t.Errorf("%s is written %q, want %q", tag, got, want)
		}
	}
}
