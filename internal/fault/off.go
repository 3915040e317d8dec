//go:build !faults

package fault

import "time"

// Points does nothing in the product: the points are for tests alone.
func Points(string) func(point string) { return func(string) {} }

// Grace is how long a graceful end may take that has d in the product.
func Grace(d time.Duration) time.Duration { return d }
