package aaep

import (
	"bytes"
	"strings"
)

// The parts of a URI (RFC 3986) as expressions. Of an address in brackets only the
// characters are asked for.
const (
	uriChar      = `([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})`
	uriUser      = `([A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@`
	uriHost      = `(\[[0-9A-Fa-f:.]+\]|\[v[0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+\]|([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)`
	uriAuthority = `//(` + uriUser + `)?` + uriHost + `(:[0-9]*)?(/(` + uriChar + `|/)*)?`
	uriPath      = `/?` + uriChar + `(` + uriChar + `|/)*|/`
	uriTail      = `(` + uriChar + `|[/?])*`

	// uriExpression is what isURI matches.
	uriExpression = `^[A-Za-z][A-Za-z0-9+.-]*:(` + uriAuthority + `|` + uriPath + `)?(\?` + uriTail + `)?(#` + uriTail + `)?$`
)

// isURI reports whether a text is a URI with a scheme, by the grammar of RFC 3986.
func isURI(s []byte) bool {
	scheme := upTo(classLetter|classDigit|classPlus|classMinus|classDot, s)
	if scheme == 0 || scheme == len(s) || s[scheme] != ':' || classes[s[0]]&classLetter == 0 {
		return false
	}
	rest, fragment, _ := bytes.Cut(s[scheme+1:], []byte("#"))
	rest, query, _ := bytes.Cut(rest, []byte("?"))
	if !isURIText(query, "/?:@") || !isURIText(fragment, "/?:@") {
		return false
	}
	authority, found := bytes.CutPrefix(rest, []byte("//"))
	if !found {
		return isURIText(rest, "/:@")
	}
	path := bytes.IndexByte(authority, '/')
	if path < 0 {
		path = len(authority)
	}
	return isAuthority(authority[:path]) && isURIText(authority[path:], "/:@")
}

// isAuthority reports whether a text is a host, perhaps with a user before it and a
// port behind it.
func isAuthority(s []byte) bool {
	if user, host, found := bytes.Cut(s, []byte("@")); found {
		if !isURIText(user, ":") {
			return false
		}
		s = host
	}
	literal, found := bytes.CutPrefix(s, []byte("["))
	if !found {
		host, port, _ := bytes.Cut(s, []byte(":"))
		return isURIText(host, "") && is(classDigit, port)
	}
	literal, behind, found := bytes.Cut(literal, []byte("]"))
	if !found || len(behind) > 0 && (behind[0] != ':' || !is(classDigit, behind[1:])) {
		return false
	}
	return isAddress(literal)
}

// isAddress reports whether a text may stand between brackets.
func isAddress(s []byte) bool {
	later, found := bytes.CutPrefix(s, []byte("v"))
	if !found {
		return len(s) > 0 && len(bytes.Trim(s, "0123456789abcdefABCDEF:.")) == 0
	}
	version, name, found := bytes.Cut(later, []byte("."))
	return found && len(version) > 0 && is(classDigit|classHex, version) && len(name) > 0 &&
		bytes.IndexByte(name, '%') < 0 && isURIText(name, ":")
}

// isURIText reports whether a text holds only what may stand anywhere in a URI, bytes
// in percent notation, and the bytes of more.
func isURIText(s []byte, more string) bool {
	const plain = classLetter | classDigit | classLow | classMinus | classDot | classPlus
	for len(s) > 0 {
		switch s = s[upTo(plain, s):]; {
		case len(s) == 0:
		case s[0] == '%' && len(s) > 2 && is(classDigit|classHex, s[1:3]):
			s = s[3:]
		case strings.IndexByte("~!$&'()*,;=", s[0]) >= 0 || strings.IndexByte(more, s[0]) >= 0:
			s = s[1:]
		default:
			return false
		}
	}
	return true
}
