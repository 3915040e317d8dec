package session

import "fmt"

// numbers judges sequence_number (§3.4.1): 0 on session.started, one more on every
// event, and on all of them or on none. What a subscription leaves out is not counted
// (C-42), so a gap is a gap in any stream.
type numbers struct {
	seen  bool // the first event is judged
	used  bool
	mixed bool // that some carry it and some do not is told
	next  int64
}

func (n *numbers) judge(s *judged, f *facts, r *report) {
	first := !n.seen
	n.seen = true
	switch {
	case !f.sequenced && s.view().Reordering && !n.mixed:
		n.mixed = true
		r.error("/sequence_number", "§8.2.3", "found no sequence_number, expected one on every event of a transport that can reorder", "SEQ-43")
	case !first && f.sequenced != n.used && !n.mixed:
		n.mixed = true
		found := map[bool]string{true: "found a sequence_number where the first event had none", false: "found no sequence_number where the first event had one"}[f.sequenced]
		r.error("/sequence_number", "§3.4.1", found+", expected it on all events of a session or on none", "SEQ-42")
	case !f.sequenced:
	case first && f.kind == started && f.sequence != 0:
		r.error("/sequence_number", "§3.4.1", fmt.Sprintf("found %d on session.started, expected 0", f.sequence), "SEQ-40")
	case !first && n.used && f.sequence != n.next:
		r.error("/sequence_number", "§3.4.1", fmt.Sprintf("found %d, expected %d", f.sequence, n.next), "SEQ-41")
	}
	if first {
		n.used = f.sequenced
	}
	if f.sequenced {
		n.next = f.sequence + 1
	}
}
