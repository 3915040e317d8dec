package api

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxModelName is the longest tool name that the APIs of all well-known models accept.
const maxModelName = 64

// ModelNames gives each tool a name that the APIs of language models accept: 1 to 64 of A-Z a-z 0-9 _ -. A valid name
// stays as it is. Otherwise each invalid character becomes _, and a name that is too long or not unique ends with a
// digest of the original. The names do not depend on the order of the tools.
func ModelNames(tools []string) map[string]string {
	plain := make(map[string]int, len(tools))
	for _, name := range tools {
		plain[modelName(name)]++
	}
	names := make(map[string]string, len(tools))
	for _, name := range tools {
		model := modelName(name)
		if model != name && plain[model] > 1 || len(model) > maxModelName || model == "" {
			sum := sha256.Sum256([]byte(name))
			const digits = 8
			model = model[:min(len(model), maxModelName-digits-1)] + "_" + hex.EncodeToString(sum[:])[:digits]
		}
		names[name] = model
	}
	return names
}

func modelName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}
