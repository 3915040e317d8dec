package utp

import "strings"

// The limits of W3C Trace Context for a tracestate that is passed on.
const (
	maxTracestate        = 512
	maxTracestateMembers = 32
)

// BoundTracestate returns the part of a tracestate that is kept and passed on: its members in their order, without empty ones,
// as long as they are at most 32 and have at most 512 bytes together. A member is kept whole or not at all, and after the
// first that does not fit there is none. Nobody here reads what they say.
func BoundTracestate(text string) string {
	var out strings.Builder
	members := 0
	for member := range strings.SplitSeq(text, ",") {
		member = strings.TrimSpace(member)
		if member == "" {
			continue
		}
		comma := min(members, 1)
		if members == maxTracestateMembers || out.Len()+comma+len(member) > maxTracestate {
			break
		}
		if members++; comma > 0 {
			out.WriteByte(',')
		}
		out.WriteString(member)
	}
	return out.String()
}
