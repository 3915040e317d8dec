package session

import (
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// output is one text of a session, measured in the three units in which producers are
// known to count (C-33): code points, which are right, UTF-16 units, and bytes.
type output struct {
	sizes    [3]int64
	fits     [3]bool // every position so far agrees with this unit
	begun    bool
	complete bool
	noted    bool
	position int64 // of the last chunk
}

func (s *judged) streamed(f facts, r *report) {
	o, ok := s.outputs[f.outputID]
	if !ok {
		o = &output{fits: [3]bool{true, true, true}}
		s.outputs[f.outputID] = o
	}
	if o.complete {
		o.overrun(f, r)
		return
	}
	if f.placed {
		o.place(f, r)
	}
	lengths := [3]int{utf8.RuneCountInString(f.chunk), len(utf16.Encode([]rune(f.chunk))), len(f.chunk)}
	for unit, length := range lengths {
		o.sizes[unit] += int64(length)
	}
	o.begun, o.complete = true, f.complete
}

// overrun judges a chunk behind the last one.
func (o *output) overrun(f facts, r *report) {
	rules := []string{"SEQ-32"}
	if f.complete {
		rules = append(rules, "SEQ-31")
	}
	if f.outputID == "" {
		rules = append(rules, "SEQ-33")
	}
	r.error("/complete", "§4.5.4", fmt.Sprintf("found a chunk of the output %q behind its complete=true, expected none", f.outputID), rules...)
}

// place judges the position: 0 first, then as much as was emitted. A stream that
// counts in another unit throughout is understood, and told once.
func (o *output) place(f facts, r *report) {
	was := o.position
	o.position = f.position
	for unit, size := range o.sizes {
		o.fits[unit] = o.fits[unit] && f.position == size
	}
	switch {
	case o.fits[0]:
	case o.begun && slices.Contains(o.fits[:], true):
		if !o.noted {
			o.noted = true
			r.info("SEQ-34", "§4.3.3", "the positions of this output count UTF-16 units or bytes, expected code points")
		}
	case o.begun && f.position < was:
		r.error("/position", "§4.3.3", fmt.Sprintf("found position %d behind %d, expected %d", f.position, was, o.sizes[0]), "SEQ-34", "SEQ-35")
		o.resume(f.position)
	default:
		r.error("/position", "§4.3.3", fmt.Sprintf("found position %d, expected %d, the code points so far", f.position, o.sizes[0]), "SEQ-34")
		o.resume(f.position)
	}
}

// resume goes on from a wrong position, so that one mistake is told once.
func (o *output) resume(position int64) {
	o.sizes = [3]int64{position, position, position}
	o.fits = [3]bool{true, true, true}
}
