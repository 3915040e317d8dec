package aaep_test

import (
	"strconv"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

// TestSeen: an id is new once, and again when 4,096 others have come since.
func TestSeen(t *testing.T) {
	t.Parallel()
	var seen aaep.Seen
	if !seen.Add("evt_0") || seen.Add("evt_0") {
		t.Error("an id is not new exactly once")
	}
	for n := range 4095 {
		seen.Add(strconv.Itoa(n))
	}
	if seen.Add("evt_0") {
		t.Error("the oldest of 4,096 ids is forgotten")
	}
	if seen.Add("evt_1"); !seen.Add("evt_0") {
		t.Error("an id is remembered behind 4,096 others")
	}
}
