package presence

// Process is a row of the table of processes.
type Process struct {
	ID, Parent, Group, Session int
	// Terminal is the device number of the controlling terminal; 0 if there is none.
	Terminal int
	// Started distinguishes the process from later ones with the same id.
	Started uint64
	// Name is the name of its program, as it calls itself; Program is that of the program's file, "" if it is not known.
	Name, Program string
}

// Table looks up a process; false if it does not exist.
type Table func(id int) (Process, bool)

// maxDepth limits how far up the tree is followed.
const maxDepth = 128

// above yields a process and those above it, from the lowest up.
func (t Table) above(id int) func(yield func(Process) bool) {
	return func(yield func(Process) bool) {
		for range maxDepth {
			p, found := t(id)
			if !found || !yield(p) || p.Parent <= 0 {
				return
			}
			id = p.Parent
		}
	}
}
