package aaep

import "fmt"

// mostFindings is how many findings of one severity are told of one message.
const mostFindings = 500

// findings are collected up to a bound, so that a hostile text cannot make a report
// that is larger than itself by far. No severity crowds out another.
type findings struct {
	list   []Violation
	counts [3]int // listed, by severity
	left   int    // not listed
}

func (f *findings) reset() { *f = findings{} }

func (f *findings) add(v Violation) {
	if !f.full(v.Severity) {
		if f.list == nil {
			f.list = make([]Violation, 0, 2)
		}
		f.list = append(f.list, v)
		f.counts[rank(v.Severity)]++
	}
}

// full reports whether nothing more is listed of a severity, and counts what is not.
// It is asked before a finding is put into words.
func (f *findings) full(severity Severity) bool {
	if f.counts[rank(severity)] < mostFindings {
		return false
	}
	f.left++
	return true
}

func rank(s Severity) int {
	switch s {
	case SeverityError:
		return 0
	case SeverityWarning:
		return 1
	default:
		return 2
	}
}

// more tells how many findings were left out.
func (f *findings) more() {
	if f.left > 0 {
		f.list = append(f.list, Violation{
			Rule: "ENV-54", Severity: SeverityInfo, Spec: "§3.7", Message: fmt.Sprintf("%d more findings are not listed; correct these first", f.left),
		})
	}
}
