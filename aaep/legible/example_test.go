package legible_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/legible"
)

func Example() {
	path := "photos/\u202egpj.exe"
	fmt.Printf("%+q\n", legible.Value(path))
	fmt.Println(legible.Text("one\x1b[31m two"))
	fmt.Println(legible.Counted(1234, "file") + ", " + legible.Size(35108))
	// Output:
	// "photos/<U+202E>gpj.exe"
	// one<U+001B>[31m two
	// 1,234 files, 35.1 kB
}
