package schemas_test

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/schemas"
)

// A name that is nearly one is refused, with the one that was probably meant.
func Example() {
	_, err := schemas.Of("tool.invokd")
	failure, _ := errors.AsType[*cause.Error](err)
	fmt.Println(failure.Message)
	fmt.Println(failure.Hint)
	// Output:
	// there is no message "tool.invokd"
	// did you mean agent.tool.invoked? See `earshot schema`, which lists them all
}
