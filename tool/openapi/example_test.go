package openapi_test

import (
	"fmt"
	"log"
	"os"

	"github.com/earshot-dev/earshot/tool/openapi"
	"github.com/earshot-dev/earshot/tool/settings"
)

// An operation of an HTTP server becomes a tool. Package tool/service serves it.
func Example() {
	file, err := settings.Parse([]byte(`
http:
  target: shop
  hosts: ["https://shop.example.org"]
  operations:
    - tool: shop.order
      description: Read one order.
      class: read
      method: GET
      url: https://shop.example.org/orders/{id}
      parameters:
        id: { in: path, required: true, schema: { type: string } }
`))
	if err != nil {
		log.Fatal(err)
	}
	section, err := file.Of("http")
	if err != nil {
		log.Fatal(err)
	}
	service, err := openapi.Load(section, openapi.Options{LookupEnv: os.LookupEnv})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range service.Tools() {
		fmt.Printf("%s of %s: %s\n", t.Definition.Tool, service.Target(), t.Definition.Description)
	}
	// Output:
	// shop.order of shop: Read one order.
}
