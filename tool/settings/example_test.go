package settings_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/tool/settings"
)

// A misspelt name is refused with its line.
func Example() {
	file, err := settings.Parse([]byte("clock:\n  target: clock\n  tiemout: 5s\n"))
	if err != nil {
		panic(err)
	}
	section, err := file.Of("clock")
	if err != nil {
		panic(err)
	}
	var clock struct {
		Target  string `yaml:"target"`
		Timeout string `yaml:"timeout"`
	}
	fmt.Println(section.Decode(&clock))
	// Output:
	// line 3: clock.tiemout: unknown name
}
