//go:build !faults

package main_test

// buildFlags build the program as it ships. With the tag faults the same tests' files
// stay out: what they prove has been proved then.
var buildFlags []string
