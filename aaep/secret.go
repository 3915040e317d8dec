package aaep

import (
	"bytes"
	"fmt"
)

// secrets notes what looks like a credential in text that people and logs get to see
// (SEC-06, SEC-07). Names alone are not secrets, and parts of words are none (C-97):
// what counts is a name with a value that has not been redacted, or a token of a known
// make.
func (in *inspection) secrets(n uint32) {
	text := in.text(n)
	if !mayHoldSecret(text) {
		return
	}
	if what := secretIn(text); what != "" {
		in.warn(n, "§10.2.2", fmt.Sprintf("found what looks like %s, expected it to be redacted, name and value", what), "SEC-06", "SEC-07")
	}
}

// mayHoldSecret is quick to say no: nearly every sentence has none of these.
func mayHoldSecret(text []byte) bool {
	for _, sign := range []byte("=:_-") {
		if bytes.IndexByte(text, sign) >= 0 {
			return true
		}
	}
	return bytes.Contains(text, []byte("earer ")) || bytes.Contains(text, []byte("AKIA")) || bytes.Contains(text, []byte("eyJ"))
}

// secretNames are names whose value is a secret, without the marks between their words.
var secretNames = []string{
	"password", "passwd", "passphrase", "apikey", "secretkey", "secret", "privatekey", "accesstoken", "authtoken", "refreshtoken", "clientsecret", "credential",
	"awssecretaccesskey", "awssecret", "githubtoken", "xapikey", "authorization", "accesskey",
}

// secretToken is a make of token: how it begins, and how many characters follow.
type secretToken struct {
	name, start string
	least       int
	chars       class
	digit       bool // one of them is a digit
}

var secretTokens = []secretToken{
	{"an API key", "sk-", 8, classLetter | classDigit | classLow | classMinus, true},
	{"a GitHub token", "ghp_", 16, classLetter | classDigit, false},
	{"a GitHub token", "gho_", 16, classLetter | classDigit, false},
	{"a GitHub token", "ghs_", 16, classLetter | classDigit, false},
	{"a GitHub token", "github_pat_", 16, classLetter | classDigit | classLow, false},
	{"an AWS key", "AKIA", 16, classUpper | classDigit, false},
	{"an SSH key", "ssh-rsa ", 16, classLetter | classDigit | classPlus | classMark, false},
	{"an SSH key", "ssh-ed25519 ", 16, classLetter | classDigit | classPlus | classMark, false},
	{"a signed token", "eyJ", 20, classLetter | classDigit | classLow | classMinus | classDot, false},
	{"a bearer token", "Bearer ", 16, classLetter | classDigit | classLow | classMinus | classDot | classPlus | classMark, true},
	{"a bearer token", "bearer ", 16, classLetter | classDigit | classLow | classMinus | classDot | classPlus | classMark, true},
	{"a private key", "-----BEGIN ", 0, 0, false},
}

// secretIn names the first secret in a text, or "".
func secretIn(text []byte) string {
	for _, token := range secretTokens {
		if token.in(text) {
			return token.name
		}
	}
	for i, c := range text {
		if c != '=' && c != ':' {
			continue
		}
		if name := nameBefore(text[:i]); name != "" && holdsValue(text[i+1:], c == ':') {
			return "the value of " + quoted(name)
		}
	}
	return ""
}

func (t secretToken) in(text []byte) bool {
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], []byte(t.start))
		if i < 0 {
			return false
		}
		at += i
		rest := text[at+len(t.start):]
		if at > 0 && classes[text[at-1]]&(classLetter|classDigit) != 0 {
			continue // a part of a word, such as risk-
		}
		if t.chars == 0 {
			return bytes.Contains(rest, []byte("PRIVATE KEY"))
		}
		value := rest[:upTo(t.chars, rest)]
		if len(value) >= t.least && (!t.digit || bytes.ContainsAny(value, "0123456789")) {
			return true
		}
	}
}

// nameBefore returns the name of a secret that ends a text, or "". Marks between its
// words, their case, and quotes around it do not matter.
func nameBefore(text []byte) string {
	text = bytes.TrimRight(text, " \"'`")
	const inside = classLetter | classDigit | classLow | classMinus
	start := len(text)
	for start > 0 && classes[text[start-1]]&inside != 0 {
		start--
	}
	name := text[start:]
	for _, secret := range secretNames {
		if spells(name, secret) {
			return string(name)
		}
	}
	return ""
}

// spells reports whether a name is a word, whatever its case and the marks in it.
func spells(name []byte, word string) bool {
	at := 0
	for _, c := range name {
		if c == '_' || c == '-' {
			continue
		}
		if at == len(word) || c|0x20 != word[at] {
			return false
		}
		at++
	}
	return at == len(word)
}

// holdsValue reports whether a text begins with a value that is not redacted. Behind a
// colon, where prose goes on as well, a value has a digit.
func holdsValue(text []byte, prose bool) bool {
	text = bytes.TrimLeft(text, " \"'`")
	for _, redacted := range []string{"[", "<", "*", "…", "•", "$", "redacted", "REDACTED", "hidden", "none", "null"} {
		if bytes.HasPrefix(text, []byte(redacted)) {
			return false
		}
	}
	value := text[:upTo(classLetter|classDigit|classPlus|classMark|classMinus|classLow|classDot, text)]
	if bytes.HasPrefix(value, []byte("//")) || prose && !bytes.ContainsAny(value, "0123456789") {
		return false
	}
	return len(value) >= 4
}
