package outline

import (
	"slices"
	"strings"
	"unicode"
)

// credentials are words that say of a text that it is a credential.
var credentials = []string{ //nolint:gochecknoglobals // a table
	"password", "passwords", "passwd", "passphrase", "secret", "secrets", "token", "tokens", "credential", "credentials",
	"authorization", "bearer", "apikey", "privatekey", "accesstoken", "authtoken", "clientsecret",
}

// keys are the words that make a key one.
var keys = []string{"api", "private", "access", "secret", "signing", "encryption"} //nolint:gochecknoglobals // a table

// Credential reports whether the value's name, or one that it stands under, says that it is a
// credential.
func (v Value) Credential() bool {
	for segment := range strings.SplitSeq(v.Path, "/") {
		if namesCredential(unescape(segment)) {
			return true
		}
	}
	return false
}

// namesCredential reports whether a member's name says, by whole words, that its value is a
// credential: token, api_key, clientSecret; not secretary.
func namesCredential(name string) bool {
	all := words(name)
	for i, word := range all {
		if slices.Contains(credentials, word) {
			return true
		}
		if (word == "key" || word == "keys") && i > 0 && slices.Contains(keys, all[i-1]) {
			return true
		}
	}
	return false
}

// words splits a name as programmers write them: at what is not a letter, and where a capital begins a
// word.
func words(name string) []string {
	runes := []rune(name)
	var all []string
	begin := 0
	cut := func(end int) {
		if end > begin {
			all = append(all, strings.ToLower(string(runes[begin:end])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			cut(i)
			begin = i + 1
		case i > begin && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			cut(i)
			begin = i
		}
	}
	cut(len(runes))
	return all
}
