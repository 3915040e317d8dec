//go:build !faults

package main

// faultPoint does nothing in the product: the points are for tests alone.
func (m *Main) faultPoint() func(string) { return func(string) {} }
