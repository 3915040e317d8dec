package aaep

import (
	"strings"
	"sync"
)

// Pattern names a shape of strings. It always covers the whole string (C-12).
type Pattern string

// The patterns.
const (
	PatternEventID        Pattern = "event_id"
	PatternSessionID      Pattern = "session_id"
	PatternReplyToken     Pattern = "reply_token"
	PatternSubscriptionID Pattern = "subscription_id"
	PatternCallID         Pattern = "tool_call_id"
	PatternOutputID       Pattern = "output_id"
	PatternTool           Pattern = "tool"
	PatternErrorCode      Pattern = "error_code"
	PatternReason         Pattern = "cancellation_reason"
	PatternContentType    Pattern = "content_type"
	PatternLanguage       Pattern = "language"
	PatternScript         Pattern = "script"
	PatternVersion        Pattern = "aaep_version"
	PatternSignedManifest Pattern = "signed_manifest"
)

// matcher reports whether the whole of a text has a shape.
type matcher func(text []byte) bool

// shape is a pattern in two forms: the expression is what people and schemas read,
// the matcher is what runs. A test holds them against each other.
type shape struct {
	expression string
	match      matcher
}

// patterns holds the shape of each pattern. An expression is meant as this language
// reads it: $ is the end of the text, never a line end, and \d is an ASCII digit
// (C-11, C-12).
var patterns = sync.OnceValue(func() map[Pattern]shape {
	return map[Pattern]shape{
		PatternEventID:        {`^evt_[A-Za-z0-9]{1,64}$`, identifier(PrefixEvent)},
		PatternSessionID:      {`^sess_[A-Za-z0-9]{1,64}$`, identifier(PrefixSession)},
		PatternReplyToken:     {`^rpl_[A-Za-z0-9]{1,64}$`, identifier(PrefixToken)},
		PatternSubscriptionID: {`^sub_[A-Za-z0-9]{1,64}$`, identifier(PrefixSubscription)},
		PatternCallID:         {`^call_[A-Za-z0-9]{1,64}$`, identifier(PrefixCall)},
		PatternOutputID:       {`^out_[A-Za-z0-9]{1,64}$`, identifier(PrefixOutput)},
		PatternTool:           {`^[A-Za-z_][A-Za-z0-9_.-]{0,255}$`, runs(classLetter|classLow, classLetter|classDigit|classLow|classDot|classMinus, 1, 256)},
		PatternErrorCode:      {`^[A-Z][A-Z0-9_]{1,63}$`, runs(classUpper, classUpper|classDigit|classLow, 2, 64)},
		PatternReason:         {`^[a-z][a-z0-9_]{1,63}$`, runs(classLower, classLower|classDigit|classLow, 2, 64)},
		PatternContentType:    {`^[a-zA-Z][a-zA-Z0-9.+_-]*/[a-zA-Z][a-zA-Z0-9.+_-]*$`, isContentType},
		PatternLanguage:       {`^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$`, isTag},
		PatternScript:         {`^[A-Z][a-z]{3}$`, func(s []byte) bool { return len(s) == 4 && is(classUpper, s[:1]) && is(classLower, s[1:]) }},
		PatternVersion:        {`^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.-]+)?$`, isVersion},
		PatternSignedManifest: {`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`, isCompactJWS},
	}
})

// Expression returns the regular expression of the pattern, or "" for a name that
// this package does not know.
func (p Pattern) Expression() string { return patterns()[p].expression }

// Match reports whether the whole of s has the shape.
func (p Pattern) Match(s string) bool {
	known, ok := patterns()[p]
	return ok && known.match([]byte(s))
}

// class is a set of classes of bytes.
type class uint16

const (
	classUpper class = 1 << iota
	classLower
	classDigit
	classHex    // a to f in both cases; digits are apart
	classLow    // _
	classMinus  // -
	classDot    // .
	classPlus   // +
	classMark   // what RFC 3986 allows beside those above and the brackets
	classLetter = classUpper | classLower
)

// classes holds the classes of every byte.
var classes = func() (table [256]class) {
	set := func(c class, bytes string) {
		for i := range len(bytes) {
			table[bytes[i]] |= c
		}
	}
	const lower = "abcdefghijklmnopqrstuvwxyz"
	set(classLower, lower)
	set(classUpper, strings.ToUpper(lower))
	set(classDigit, "0123456789")
	set(classHex, "abcdefABCDEF")
	set(classLow, "_")
	set(classMinus, "-")
	set(classDot, ".")
	set(classPlus, "+")
	set(classMark, "~:/?@!$&'()*,;=")
	return table
}()

// is reports whether every byte is of one of the classes.
func is(c class, text []byte) bool {
	for _, b := range text {
		if classes[b]&c == 0 {
			return false
		}
	}
	return true
}

// upTo counts the bytes at the beginning that are of one of the classes.
func upTo(c class, text []byte) int {
	for i, b := range text {
		if classes[b]&c == 0 {
			return i
		}
	}
	return len(text)
}

// identifier is a prefix and 1 to 64 letters or digits.
func identifier(prefix string) matcher {
	return func(s []byte) bool {
		return len(s) > len(prefix) && len(s) <= len(prefix)+64 && string(s[:len(prefix)]) == prefix && is(classLetter|classDigit, s[len(prefix):])
	}
}

// runs is one byte of first and then bytes of rest, least to most in all.
func runs(first, rest class, least, most int) matcher {
	return func(s []byte) bool {
		return len(s) >= least && len(s) <= most && is(first, s[:1]) && is(rest, s[1:])
	}
}

func isContentType(s []byte) bool {
	const rest = classLetter | classDigit | classDot | classPlus | classLow | classMinus
	half := upTo(rest, s)
	if half == 0 || half == len(s) || s[half] != '/' || classes[s[0]]&classLetter == 0 {
		return false
	}
	subtype := s[half+1:]
	return len(subtype) > 0 && classes[subtype[0]]&classLetter != 0 && is(rest, subtype)
}

// isTag is a tag of the right shape; see isLanguage for what it must mean.
func isTag(s []byte) bool {
	for allowed := classLetter; ; allowed = classLetter | classDigit {
		n := upTo(allowed, s)
		if n == 0 || n > 8 {
			return false
		}
		if n == len(s) {
			return true
		}
		if s[n] != '-' {
			return false
		}
		s = s[n+1:]
	}
}

func isVersion(s []byte) bool {
	for part := range 3 {
		n := upTo(classDigit, s)
		if n == 0 {
			return false
		}
		s = s[n:]
		if part == 2 {
			break
		}
		if len(s) == 0 || s[0] != '.' {
			return false
		}
		s = s[1:]
	}
	return len(s) == 0 || s[0] == '-' && len(s) > 1 && is(classLetter|classDigit|classDot|classMinus, s[1:])
}

func isCompactJWS(s []byte) bool {
	for part := range 3 {
		n := upTo(classLetter|classDigit|classLow|classMinus, s)
		if n == 0 {
			return false
		}
		if part == 2 {
			return n == len(s)
		}
		if n == len(s) || s[n] != '.' {
			return false
		}
		s = s[n+1:]
	}
	return false
}
