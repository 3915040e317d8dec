package conform_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform"
)

// A judge that finds nothing wrong with anything is measured by the vectors.
func Example() {
	blind := func(c conform.Case) ([][]aaep.Violation, error) {
		findings := len(c.Messages)
		if c.Kind == conform.KindStream {
			findings++ // a stream is judged once more at its end
		}
		return make([][]aaep.Violation, findings), nil
	}
	all, err := conform.Vectors()
	if err != nil {
		panic(err)
	}
	for _, v := range all {
		if v.ID == "BP-13-no-sentence" {
			fmt.Println("this module:", v.Run(conform.Reference).Passed())
			fmt.Println("a blind judge:", v.Run(blind).Passed())
		}
	}
	// Output:
	// this module: true
	// a blind judge: false
}
