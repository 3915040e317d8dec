package legible_test

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
)

func ExampleSentence() {
	s := legible.NewSentence("entry %d: %s", 3, legible.NewSentence("the link %s is broken", "ab"))
	fmt.Println(s)
	fmt.Println(s.Map(strings.ToUpper))
	text, err := s.MarshalText()
	fmt.Println(string(text), err)
	var read legible.Sentence
	fmt.Println(read.UnmarshalText([]byte("100 % of it")), read)
	// Output:
	// entry 3: the link ab is broken
	// entry 3: the link AB is broken
	// entry 3: the link ab is broken <nil>
	// <nil> 100 % of it
}
