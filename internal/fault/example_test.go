package fault_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/fault"
)

// The product goes past every point; with the build tag faults this process would end there.
func Example() {
	reached := fault.Points("another.point:2")
	reached("answer.saved")
	fmt.Println("still here")
	// Output: still here
}
