package phrasebook_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/phrasebook"
)

func Example() {
	book := phrasebook.Read("es", []byte(`
msgid "Question %d was rejected by %s, at %s."
msgstr "La pregunta %d fue rechazada por %s, a las %s."

msgid "Nothing was recorded."
msgstr "No se registró nada."
`))
	fmt.Println(book.Say("Question 7 was rejected by Ada, at 14:05. Nothing was recorded."))
	fmt.Println(book.Say("Nobody has translated this."))
	// Output:
	// La pregunta 7 fue rechazada por Ada, a las 14:05. No se registró nada. true
	// Nobody has translated this. false
}
