package narrate

import (
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// Caps of a readable string. They lie far below those of the protocol: nobody listens
// to sixteen thousand characters, and several such strings must fit into an event.
const (
	capTerse    = 300
	capNormal   = 2000
	capDetailed = 6000
	capField    = 3000
	capRequest  = 4000
	// capValue bounds one foreign value inside a sentence.
	capValue = 400
	// maxComment bounds what an agent says about its own call: half a minute of speech.
	maxComment = 400
)

// cut cuts s as [legible.Cut] does; more is how many characters were left out.
func cut(s string, limit int) (head string, more int) {
	head, rest := legible.Cut(s, limit)
	return head, utf8.RuneCountInString(rest)
}
