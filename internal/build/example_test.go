package build_test

import (
	"fmt"
	"runtime"

	"github.com/earshot-dev/earshot/internal/build"
)

func Example() {
	b := build.This()
	fmt.Println(b.Version != "", b.Go == runtime.Version(), b.Platform == runtime.GOOS+"/"+runtime.GOARCH)
	// Output: true true true
}
