package narrate

import (
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// Limits of a readable string, far below those of the protocol: nobody listens to sixteen thousand characters, and
// several such strings must fit into an event.
const (
	capTerse    = 300
	capNormal   = 2000
	capDetailed = 6000
	capField    = 3000
	capRequest  = 4000
	// capValue limits one foreign value inside a sentence.
	capValue = 400
	// maxComment limits an agent's comment on its own call: half a minute of speech.
	maxComment = 400
)

// cut cuts s like [legible.Cut]; more is the number of characters that were left out.
func cut(s string, limit int) (head string, more int) {
	head, rest := legible.Cut(s, limit)
	return head, utf8.RuneCountInString(rest)
}
