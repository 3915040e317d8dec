package main

import (
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

// TestSelection: what names several questions, and which of the open ones it means.
func TestSelection(t *testing.T) {
	t.Parallel()
	var open []api.OpenQuestion
	for _, n := range []int{2, 3, 5, 7, 12} {
		open = append(open, api.OpenQuestion{Number: n})
	}
	for word, want := range map[string]struct {
		is            bool
		found, closed []int
	}{
		"3-7": {true, []int{3, 5, 7}, nil}, "3,5,7": {true, []int{3, 5, 7}, nil}, "7,3,3,9": {true, []int{3, 7}, []int{9}},
		"1-2,12": {true, []int{2, 12}, nil}, "7-3": {true, nil, nil}, "4-4": {true, nil, nil}, "3-999999999": {true, []int{3, 5, 7, 12}, nil},
		"3": {}, "3,": {}, ",3": {}, "-3": {}, "3-": {}, "3-5-7": {}, "accept": {}, "3,x": {}, "0-3": {}, "rpl_1": {}, "": {}, "3 - 7": {}, "3-9999999999": {},
	} {
		s, is := terminal.ParseSelection(word)
		if is != want.is {
			t.Errorf("%q names several: %v", word, is)
			continue
		}
		if !is {
			continue
		}
		found, closed := selected(s, open)
		var numbers []int
		for _, q := range found {
			numbers = append(numbers, q.Number)
		}
		if !slices.Equal(numbers, want.found) || !slices.Equal(closed, want.closed) {
			t.Errorf("%q means %v, and %v are not open", word, numbers, closed)
		}
	}
}
