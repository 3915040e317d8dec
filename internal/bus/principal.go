package bus

import "strings"

// maxToken is the maximum length in bytes of a name, project or subject token.
const maxToken = 128

// Principal is an identity on the bus. Name is one subject token: 1 to 128 of the characters A-Z a-z 0-9 _ and -. The
// name of an agent is the target of its wakeups, the name of a tool the target of its commands, that of a third-party
// peer both.
type Principal struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// String returns kind/name.
func (p Principal) String() string { return string(p.Kind) + "/" + p.Name }

func (p Principal) check() error {
	if opsByKind()[p.Kind] == nil {
		return invalidf("principal %q has the unknown kind %q; expected agent, tool, hub, operator or foreign", p.Name, p.Kind)
	}
	if !isToken(p.Name) {
		return invalidf("principal name %q is not a subject token; use 1 to %d of A-Z a-z 0-9 _ -", p.Name, maxToken)
	}
	return nil
}

func isToken(s string) bool {
	if s == "" || len(s) > maxToken {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !isTokenRune(r) }) < 0
}

func isTokenRune(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return true
	default:
		return false
	}
}
