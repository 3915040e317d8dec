package openapi_test

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api/openapi"
)

func Example() {
	var document struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(openapi.Document(), &document); err != nil {
		panic(err)
	}
	_, found := document.Paths["/api/v1/questions/{number}/reply"]
	fmt.Println(document.OpenAPI, found)
	// Output:
	// 3.1.0 true
}
