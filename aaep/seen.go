package aaep

// maxSeen bounds what a [Seen] remembers; a transport repeats what was sent shortly before.
const maxSeen = 4096

// Seen remembers the latest 4,096 event ids of a stream, so that a subscriber reports each event once where a transport
// delivers it again. The zero value is ready. It is not safe for concurrent use.
type Seen struct {
	ids   map[string]bool
	order []string
}

// Add remembers an id and reports whether it is new.
func (s *Seen) Add(id string) bool {
	if s.ids[id] {
		return false
	}
	if s.ids == nil {
		s.ids = map[string]bool{}
	}
	s.ids[id] = true
	s.order = append(s.order, id)
	if len(s.order) > maxSeen {
		delete(s.ids, s.order[0])
		s.order = s.order[1:]
	}
	return true
}
