package command_test

import (
	"fmt"
	"log"
	"os"

	"github.com/earshot-dev/earshot/tool/command"
	"github.com/earshot-dev/earshot/tool/settings"
)

// A program of this machine becomes a tool. Package tool/service serves it.
func Example() {
	file, err := settings.Parse([]byte(`
command:
  target: texts
  operations:
    - tool: texts.sort
      description: Sort the lines of a text.
      class: read
      program: /usr/bin/sort
      argv: [{ option: -r, value: "{backwards}" }]
      stdin: "{text}"
      parameters:
        type: object
        properties:
          text: { type: string }
          backwards: { type: boolean }
        required: [text]
`))
	if err != nil {
		log.Fatal(err) // with the line, what was found and what was expected
	}
	section, err := file.Of("command")
	if err != nil {
		log.Fatal(err)
	}
	service, err := command.Load(section, command.Options{LookupEnv: os.LookupEnv})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	for _, t := range service.Tools() {
		fmt.Printf("%s of %s: %s\n", t.Definition.Tool, service.Target(), t.Definition.Description)
	}
	// Output:
	// texts.sort of texts: Sort the lines of a text.
}
