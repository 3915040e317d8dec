package aaep

import "regexp"

// Pattern names a shape of strings (catalogue §0.1). It always covers the whole
// string.
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
)

// patterns holds the expression of each pattern. In this engine $ is the end of the
// text, never a line end, and \d is an ASCII digit (C-11, C-12).
var patterns = map[Pattern]*regexp.Regexp{
	PatternEventID:        regexp.MustCompile(`^evt_[A-Za-z0-9]{1,64}$`),
	PatternSessionID:      regexp.MustCompile(`^sess_[A-Za-z0-9]{1,64}$`),
	PatternReplyToken:     regexp.MustCompile(`^rpl_[A-Za-z0-9]{1,64}$`),
	PatternSubscriptionID: regexp.MustCompile(`^sub_[A-Za-z0-9]{1,64}$`),
	PatternCallID:         regexp.MustCompile(`^call_[A-Za-z0-9]{1,64}$`),
	PatternOutputID:       regexp.MustCompile(`^out_[A-Za-z0-9]{1,64}$`),
	PatternTool:           regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,255}$`),
	PatternErrorCode:      regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,63}$`),
	PatternReason:         regexp.MustCompile(`^[a-z][a-z0-9_]{1,63}$`),
	PatternContentType:    regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9.+_-]*/[a-zA-Z][a-zA-Z0-9.+_-]*$`),
	PatternLanguage:       regexp.MustCompile(`^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$`),
	PatternScript:         regexp.MustCompile(`^[A-Z][a-z]{3}$`),
	PatternVersion:        regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[A-Za-z0-9.-]+)?$`),
}

// Expression returns the regular expression of the pattern, or "" for a name that
// this package does not know.
func (p Pattern) Expression() string {
	if expression, ok := patterns[p]; ok {
		return expression.String()
	}
	return ""
}

// Match answers whether the whole of s has the shape.
func (p Pattern) Match(s string) bool {
	expression, ok := patterns[p]
	return ok && expression.MatchString(s)
}
