//go:build !faults

package main

import "time"

// faultPoint does nothing in the product: the points are for tests alone.
func (m *Main) faultPoint() func(string) { return func(string) {} }

// endGrace bounds a graceful end; what has not ended by then is found out about at the next start.
const endGrace = 10 * time.Second
