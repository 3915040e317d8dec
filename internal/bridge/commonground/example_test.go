package commonground_test

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/internal/bridge/commonground"
)

// What is missing is said in words, before anything is written on either side.
func Example() {
	err := commonground.Run(context.Background(), commonground.Options{
		DSN: "postgres://cg@localhost:5433/cardbox", NATS: "nats://localhost:4222", Project: "my project",
	})
	fmt.Println(err)
	// Output: the project my project cannot be a part of a subject
}
