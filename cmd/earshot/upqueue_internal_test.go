package main

import (
	"maps"
	"reflect"
	"strings"
	"testing"
)

// TestQueueFlags: each value names an agent and what it may; anything else says what was found and how it is given.
func TestQueueFlags(t *testing.T) {
	t.Parallel()
	f := upFlags{maxActive: []string{"tidy=1", "chat=12"}, mayStart: []string{"chat=tidy", "chat=clerk"}}
	if limits, err := f.limits(); err != nil || !maps.Equal(limits, map[string]int{"tidy": 1, "chat": 12}) {
		t.Errorf("%v, %v", limits, err)
	}
	if starters, err := f.starters(); err != nil || !reflect.DeepEqual(starters, map[string][]string{"chat": {"tidy", "clerk"}}) {
		t.Errorf("%v, %v", starters, err)
	}
	for _, bad := range []string{"", "tidy", "tidy=", "=1", "tidy=0", "tidy=-1", "tidy=many"} {
		f = upFlags{maxActive: []string{bad}}
		if _, err := f.limits(); err == nil || !strings.Contains(err.Error(), "--max-active") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "chat", "chat=", "=tidy"} {
		f = upFlags{mayStart: []string{bad}}
		if _, err := f.starters(); err == nil || !strings.Contains(err.Error(), "--may-start") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
