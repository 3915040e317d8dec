package aaep

// Members walks over the members of one object of a [Document] in their order. A name
// that occurs twice has no value and is left out. What it returns belongs to the
// document, is valid as long as that is, and must not be changed.
type Members struct {
	Member    // the present one
	next, end uint32
}

// Members returns the members of the outermost object:
//
//	for m := document.Members(); m.Next(); {
//		… m.Name() …
//	}
func (d Document) Members() Members {
	if !d.Readable() {
		return Members{}
	}
	first, end := d.tape.inside(0)
	return Members{Member: Member{tape: d.tape}, next: first, end: end}
}

// Next goes to the next member, the first one at first, and answers whether there is
// one.
func (m *Members) Next() bool {
	for m.next < m.end {
		m.n = m.next
		v := &m.tape.nodes[m.n]
		m.next = v.next
		if v.flags&flagRepeated == 0 {
			return true
		}
	}
	return false
}

// Name is the name of the present member.
func (m *Members) Name() []byte { return m.tape.name(m.n) }
