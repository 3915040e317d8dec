package session

import (
	"bytes"
	"fmt"
)

// invocation is a call that is not completed.
type invocation struct {
	id    []byte
	tool  string
	agent string
	at    int64 // the message that invoked it
	left  bool  // its producer has moved on to what comes after it
}

func (i *invocation) name() string {
	if len(i.id) == 0 {
		return "of " + i.tool
	}
	return string(i.id) + " of " + i.tool
}

// invoked opens a call; its id is unique in the session.
func (s *judged) invoked(f *facts, r *report) {
	s.invocations++
	switch {
	case len(f.callID) > 0 && (s.callByID(f.callID) >= 0 || s.isUsed(ofCall, f.callID)):
		r.error("/tool_call_id", "§4.3.1", fmt.Sprintf("found %s again, expected an id that this session has not used", f.callID), "SEQ-15", "TINV-10")
	case len(f.callID) == 0 && (!s.noIDs || len(s.calls) > 0):
		s.noIDs = true
		r.warn("/tool_call_id", "§4.5.2", "found no tool_call_id, expected one, above all where tools run side by side", "SEQ-20")
	}
	if s.view().hidden[toolCompleted] {
		s.rememberUsed(ofCall, f.callID)
		return // its end will not be seen
	}
	if len(s.calls) >= maxEach {
		s.crowd("calls", "SEQ-16", "§9.3.1", r)
		s.forgetCall(0)
	}
	n := len(s.calls)
	if n < cap(s.calls) {
		s.calls = s.calls[:n+1]
	} else {
		s.calls = append(s.calls, invocation{})
	}
	call := &s.calls[n]
	*call = invocation{id: append(call.id[:0], f.callID...), tool: s.checker.intern(f.tool), agent: s.producer(f.agentID), at: f.number}
}

// completed closes a call: the one with the same id where ids are used, else the
// oldest open one of the same tool (C-40).
func (s *judged) completed(f *facts, r *report) {
	s.failed(f)
	if s.view().hidden[toolInvoked] {
		return // what it answers was not seen
	}
	if len(f.callID) == 0 {
		s.completedByTool(f, r)
		return
	}
	if i := s.callByID(f.callID); i >= 0 {
		if s.calls[i].tool != string(f.tool) {
			r.error("/tool", "§4.3.2", fmt.Sprintf("found %q, expected %q as invoked", f.tool, s.calls[i].tool), "SEQ-14", "TCOM-01")
		}
		s.finish(i, r)
		return
	}
	if i := s.callByTool(f.tool, true); i >= 0 {
		r.error("/tool_call_id", "§4.3.1", fmt.Sprintf("found %s, which the invocation of %q did not carry; expected the same on both", f.callID, f.tool), "SEQ-15", "TCOM-06")
		s.finish(i, r)
		return
	}
	switch {
	case s.isUsed(ofCall, f.callID):
		r.error("/tool_call_id", "§9.3.1", fmt.Sprintf("found a second completion of %s, expected exactly one", f.callID), "SEQ-16")
	case s.late:
		s.rememberUsed(ofCall, f.callID) // invoked before the stream began
	default:
		r.error("/tool_call_id", "§4.5.2", fmt.Sprintf("found %s, which no tool.invoked has named", f.callID), "SEQ-13", "TCOM-06")
	}
}

func (s *judged) completedByTool(f *facts, r *report) {
	if i := s.callByTool(f.tool, true); i >= 0 {
		s.finish(i, r)
		return
	}
	if i := s.callByTool(f.tool, false); i >= 0 {
		r.error("/tool_call_id", "§4.3.1", fmt.Sprintf("found none, expected %s as invoked", s.calls[i].id), "SEQ-15", "TCOM-06")
		s.finish(i, r)
		return
	}
	if !s.late {
		r.error("/tool", "§4.5.2", fmt.Sprintf("found a completion of %q without an open invocation of it", f.tool), "SEQ-13", "SEQ-17")
	}
}

// finish closes the call i.
func (s *judged) finish(i int, r *report) {
	call := &s.calls[i]
	if call.left && !s.partial() {
		r.error("/type", "§4.3.2", fmt.Sprintf("found the completion of the call %s behind a state that comes after it, expected it before", call.name()), "SEQ-19", "SEQ-21")
	}
	s.rememberUsed(ofCall, call.id)
	s.forgetCall(i)
}

// forgetCall takes the call i out and keeps its room for another.
func (s *judged) forgetCall(i int) {
	spare := s.calls[i].id
	copy(s.calls[i:], s.calls[i+1:])
	s.calls[len(s.calls)-1] = invocation{id: spare}
	s.calls = s.calls[:len(s.calls)-1]
}

func (s *judged) callByID(id []byte) int {
	for i := range s.calls {
		if bytes.Equal(s.calls[i].id, id) {
			return i
		}
	}
	return -1
}

// callByTool finds the oldest open call of a tool; with bare, only one without an id.
func (s *judged) callByTool(tool []byte, bare bool) int {
	for i := range s.calls {
		if s.calls[i].tool == string(tool) && (!bare || len(s.calls[i].id) == 0) {
			return i
		}
	}
	return -1
}

// rememberUsed remembers that an id of a call or an output cannot be used again.
func (s *judged) rememberUsed(sort uint64, id []byte) {
	if len(id) > 0 || sort == ofOutput {
		s.checker.use(s, s.checker.key(sort, s.serial, id))
	}
}

func (s *judged) isUsed(sort uint64, id []byte) bool {
	if s.used.count == 0 {
		return false
	}
	_, used := s.checker.ids.find(s.checker.key(sort, s.serial, id))
	return used
}
