package outline_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep/outline"
)

func Example() {
	o := outline.Of([]byte(`{"to":["ann@example.org","all@example.org"],"api_key":"x","text":"Hello"}`), outline.Options{})
	for _, v := range o.Values {
		fmt.Printf("%s: %s %q\n", v.Name(), v.Kind, v.Value)
	}
	fmt.Println("complete:", o.Complete())
	// Output:
	// to 1: text "ann@example.org"
	// to 2: text "all@example.org"
	// api_key: masked ""
	// text: text "Hello"
	// complete: false
}
