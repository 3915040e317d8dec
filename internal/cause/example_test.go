package cause_test

import (
	"fmt"
	"os"

	"github.com/earshot-dev/earshot/internal/cause"
)

func Example() {
	_, err := os.ReadFile("/nowhere/tools.yaml")
	fmt.Println(err)
	fmt.Println("the file of tools cannot be read: " + cause.Of(err))
	// Output:
	// open /nowhere/tools.yaml: no such file or directory
	// the file of tools cannot be read: /nowhere/tools.yaml is not there
}
