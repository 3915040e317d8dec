package schema

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// formatNamed returns the check of a format, nil for a format that means nothing here.
func formatNamed(name string) func(string) bool {
	if check := timeFormat(name); check != nil {
		return check
	}
	switch name {
	case "email":
		return func(s string) bool { return isEmail(s, false) }
	case "idn-email":
		return func(s string) bool { return isEmail(s, true) }
	case "hostname":
		return func(s string) bool { return isHostname(s, false) }
	case "idn-hostname":
		return func(s string) bool { return isHostname(s, true) }
	case "ipv4":
		return isIPv4
	case "ipv6":
		return isIPv6
	case "uri", "iri":
		return func(s string) bool { u := address(s); return u != nil && u.IsAbs() }
	case "uri-reference", "iri-reference":
		return func(s string) bool { return !strings.Contains(s, `\`) && address(s) != nil }
	case "uri-template":
		return isTemplate
	case "uuid":
		return isUUID
	case "json-pointer":
		return isPointer
	case "relative-json-pointer":
		return isRelativePointer
	case "regex":
		return func(s string) bool { _, err := compilePattern(s); return err == nil }
	case "semver":
		return isSemver
	default:
		return nil
	}
}

func isASCII(c rune) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isHostname takes names of hosts. One in other scripts, which is international, may have any letter of them: Earshot does not
// know the rules that they have for each.
func isHostname(s string, international bool) bool {
	if international && strings.ContainsFunc(s, isForeign) {
		s = strings.NewReplacer("。", ".", "．", ".", "｡", ".").Replace(s)
		for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
			if !isLabel(label, isForeign) {
				return false
			}
		}
		return true
	}
	const longest, longestLabel = 253, 63
	if s = strings.TrimSuffix(s, "."); len(s) > longest {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if len(label) > longestLabel || !isLabel(label, nil) {
			return false
		}
	}
	return true
}

// isForeign reports whether a rune can be part of a name in another script.
func isForeign(c rune) bool { return c > unicode.MaxASCII && !unicode.IsSpace(c) }

func isLabel(label string, also func(rune) bool) bool {
	return label != "" && label[0] != '-' && label[len(label)-1] != '-' && !strings.ContainsFunc(label, func(c rune) bool {
		return c != '-' && !isASCII(c) && (also == nil || !also(c))
	})
}

func isEmail(s string, international bool) bool {
	const longest, longestName = 254, 64
	at := strings.LastIndexByte(s, '@')
	if at < 1 || len(s) > longest || at > longestName {
		return false
	}
	name, host := s[:at], s[at+1:]
	if n := len(name); n > 1 && name[0] == '"' && name[n-1] == '"' {
		if strings.ContainsAny(name[1:n-1], `"\`) {
			return false
		}
	} else if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") ||
		strings.ContainsFunc(name, func(c rune) bool {
			return !isASCII(c) && !strings.ContainsRune(".!#$%&'*+-/=?^_`{|}~", c) && (!international || c <= unicode.MaxASCII)
		}) {
		return false
	}
	if literal, is := strings.CutPrefix(host, "["); is {
		literal, closed := strings.CutSuffix(literal, "]")
		if six, is := strings.CutPrefix(literal, "IPv6:"); is {
			return closed && isIPv6(six)
		}
		return closed && isIPv4(literal)
	}
	return isHostname(host, international)
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// address parses an address; nil is none. net/url takes any text in brackets for a host.
func address(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		return nil
	}
	if host := u.Hostname(); strings.Contains(host, ":") && (!strings.Contains(u.Host, "[") || !isIPv6(host)) {
		return nil
	}
	return u
}

// isTemplate takes a text whose braces come in pairs, not within each other, and whose escapes are whole.
func isTemplate(s string) bool {
	open := false
	for i, c := range s {
		switch {
		case c == '{' && open || c == '}' && !open:
			return false
		case c == '{' || c == '}':
			open = !open
		case c == '%':
			if _, err := strconv.ParseUint(s[i+1:min(i+3, len(s))], 16, 8); err != nil || i+3 > len(s) {
				return false
			}
		}
	}
	return !open && !strings.ContainsFunc(s, unicode.IsControl)
}

func isUUID(s string) bool {
	const length = 36
	if len(s) != length {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isDigit(rune(c)) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		}
	}
	return true
}

func isPointer(s string) bool {
	if s != "" && s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}

func isRelativePointer(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	up := s[:len(s)-len(rest)]
	return up != "" && (up == "0" || up[0] != '0') && (rest == "#" || isPointer(rest))
}

// isSemver takes a version of semver.org: three numbers, then what marks it as early, then what was built.
func isSemver(s string) bool {
	rest, build, built := strings.Cut(s, "+")
	core, early, isEarly := strings.Cut(rest, "-")
	numbers := strings.Split(core, ".")
	const parts = 3
	return len(numbers) == parts && areMarks(core, true, true) && (!isEarly || areMarks(early, false, true)) && (!built || areMarks(build, false, false))
}

// areMarks checks what stands between dots: numbers alone or not, and numbers that may begin with a zero or not.
func areMarks(s string, numbers, strict bool) bool {
	for mark := range strings.SplitSeq(s, ".") {
		number := strings.Trim(mark, "0123456789") == ""
		if mark == "" || numbers && !number || strict && number && len(mark) > 1 && mark[0] == '0' {
			return false
		}
		if strings.ContainsFunc(mark, func(c rune) bool { return !isASCII(c) && c != '-' }) {
			return false
		}
	}
	return true
}
