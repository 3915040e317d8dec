package utp

import (
	"encoding/hex"
	"strings"
)

const traceparentRule = "2-32-16-2 hex digits with a trace id that is not all zeros"

// NewTraceparent formats a sampled traceparent: `00-<trace>-<span>-01`.
func NewTraceparent(trace [16]byte, span [8]byte) string {
	return "00-" + hex.EncodeToString(trace[:]) + "-" + hex.EncodeToString(span[:]) + "-01"
}

// ParseTraceparent checks a traceparent and returns it in lower case, with its trace id of 32 hex digits (UTP,
// "Headers"). The error is a [*HeaderError]. A peer drops a message with a malformed traceparent silently, so it is
// checked on the way out as well.
func ParseTraceparent(text string) (normal, traceID string, err error) {
	bad := &HeaderError{Name: HeaderTraceparent, Found: Shown(text), Expected: traceparentRule}
	parts := strings.Split(text, "-")
	if len(parts) != 4 {
		return "", "", bad
	}
	for i, size := range []int{2, 32, 16, 2} {
		if len(parts[i]) != size || !isHex(parts[i]) {
			return "", "", bad
		}
	}
	if strings.Trim(parts[1], "0") == "" {
		return "", "", bad
	}
	normal = strings.ToLower(text)
	return normal, strings.ToLower(parts[1]), nil
}

// ParseTraceID converts a trace id of 32 hex digits, or a UUID with dashes, to 32 lower-case hex digits (UTP,
// "Headers"). The error is a [*HeaderError].
func ParseTraceID(text string) (string, error) {
	id := text
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		id = id[:8] + id[9:13] + id[14:18] + id[19:23] + id[24:]
	}
	if len(id) != 32 || !isHex(id) || strings.Trim(id, "0") == "" {
		return "", &HeaderError{Name: "trace_id", Found: Shown(text), Expected: "32 hex digits or a UUID, not all zeros"}
	}
	return strings.ToLower(id), nil
}

func isHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return s != ""
}
