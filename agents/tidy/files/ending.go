package files

// ending is the last step of a removal: unlink, or move to the trash.
type ending interface {
	// reserve takes a name for the file before it goes; empty where none is needed.
	reserve(path string) (string, error)
	// cancel gives the name back.
	cancel(name string)
	// finish removes the numbered file of the private folder and says how many bytes that freed or moved.
	finish(p *private, i int, name string, st stamp) (int64, error)
	// folder is the trash folder; empty where there is none.
	folder() string
	close()
}

func (s *Service) newEnding(op string, t *tree) (ending, error) {
	if op == "trash" {
		return s.openTrash(t)
	}
	return unlinking{}, nil
}

// unlinking ends with nothing left.
type unlinking struct{}

func (unlinking) reserve(string) (string, error) { return "", nil }
func (unlinking) cancel(string)                  {}
func (unlinking) folder() string                 { return "" }
func (unlinking) close()                         {}

func (unlinking) finish(p *private, i int, _ string, _ stamp) (int64, error) { return p.unlink(i) }
