package terminal

import (
	"slices"
	"strings"
)

// Selection names several questions, as in 3-7 or 3,5,7.
type Selection struct {
	// numbers are those named one by one, spans those from one number to another.
	numbers []int
	spans   [][2]int
}

// ParseSelection parses several numbers; false if the word is anything else, also if it is one number.
func ParseSelection(word string) (Selection, bool) {
	var s Selection

	for part := range strings.SplitSeq(word, ",") {
		from, to, isSpan := strings.Cut(part, "-")

		first, ok := questionNumber(from)
		if !ok {
			return s, false
		}

		if !isSpan {
			s.numbers = append(s.numbers, first)

			continue
		}

		last, ok := questionNumber(to)
		if !ok {
			return s, false
		}

		s.spans = append(s.spans, [2]int{first, last})
	}

	return s, len(s.spans) > 0 || len(s.numbers) > 1
}

// Spans reports whether questions are named by a span, so that one may be among them that nobody has named.
func (s Selection) Spans() bool { return len(s.spans) > 0 }

// Includes reports whether a question is named.
func (s Selection) Includes(number int) bool {
	inSpan := slices.ContainsFunc(s.spans, func(span [2]int) bool { return span[0] <= number && number <= span[1] })

	return inSpan || slices.Contains(s.numbers, number)
}

// Missing lists the numbers, in order, that are named one by one and are not among those that are open.
func (s Selection) Missing(open []int) []int {
	closed := slices.DeleteFunc(slices.Clone(s.numbers), func(n int) bool { return slices.Contains(open, n) })
	slices.Sort(closed)

	return slices.Compact(closed)
}
