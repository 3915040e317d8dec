package schema_test

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp/schema"
)

// An object that lists its members takes no others.
func Example() {
	s, err := schema.Compile(jsontext.Value(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Validate(map[string]any{"path": "/tmp/a"}) == nil)
	fmt.Println(s.Validate(map[string]any{"path": "/tmp/a", "recursive": true}) == nil)
	// Output:
	// true
	// false
}
