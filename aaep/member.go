package aaep

import "time"

// Member is one member of an object of a [Document], or none. What it returns belongs
// to the document, is valid as long as that is, and must not be changed.
type Member struct {
	tape *tape
	n    uint32 // 0, which is the outermost value, is not a member
}

func (m Member) is(k kind) bool { return m.n != 0 && m.tape.nodes[m.n].kind == k }

// Exists reports whether there is such a member, null included.
func (m Member) Exists() bool { return m.n != 0 }

// Inside returns the members of the member, which has to be an object; of anything
// else there are none.
func (m Member) Inside() Members {
	if !m.is(kindObject) {
		return Members{}
	}
	first, end := m.tape.inside(m.n)
	return Members{Member: Member{tape: m.tape}, next: first, end: end}
}

// Text returns the text of a member of the member, or nil.
func (m Member) Text(name string) []byte {
	if m.n == 0 {
		return nil
	}
	return m.tape.textOf(m.n, name)
}

// Bytes returns the text of the member, or nil where it is none.
func (m Member) Bytes() []byte {
	if !m.is(kindString) {
		return nil
	}
	return m.tape.text(m.n)
}

// Whole returns the integer that the member is, in whatever notation (C-18).
func (m Member) Whole() (int64, bool) {
	if m.n == 0 {
		return 0, false
	}
	return m.tape.whole(m.n)
}

// True reports whether the member is true.
func (m Member) True() bool {
	return m.is(kindBool) && m.tape.nodes[m.n].flags&flagTrue != 0
}

// Time returns the instant that the member is, as [ParseTime] reads it. One that has
// just been judged is not read again.
func (m Member) Time() (time.Time, bool) {
	if m.n != 0 && m.tape.clockAt == m.n {
		return m.tape.clock.time(), true
	}
	return ParseTime(m.Bytes())
}
