package session

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// close judges what a terminal event must not leave open.
func (s *judged) close(f *facts, r *report) {
	s.end = f.kind
	s.leftOpen(r, "/type", f.kind)
	if f.kind == completed && s.view().Mode != aaep.ModeEnvelope {
		s.unreported(r)
		s.sums(f, r)
	}
}

// unfinished judges a session that the stream left without a terminal event.
func (s *judged) unfinished(r *report) {
	if v := s.view(); v.CutShort || v.hidden[completed] || v.hidden[cancelled] {
		return // its end may come later, or have been kept back
	}
	r.error("", "§4.5.1", fmt.Sprintf("session %s has no terminal event, expected exactly one at its end", s.id), "SEQ-03", "GD-05")
	s.leftOpen(r, "", other)
	for _, q := range s.questions {
		if q.confirmation && !q.reported && q.refusedBy(s.last) && !s.view().hidden[stateChanged] {
			message := fmt.Sprintf("session %s: the question %s (message %d) was refused and nothing followed, expected a state.changed that says so", s.id, q.name, q.at)
			q.silence(r, "", "§4.5.3", message, "SEQ-25", "SEQ-30")
		}
	}
}

// leftOpen notes open calls and outputs, at a terminal event or at the end of the
// stream.
func (s *judged) leftOpen(r *report, path string, end kind) {
	rule := ""
	if end.terminal() {
		rule = "SEQ-36"
	}
	for i := range s.calls {
		call := &s.calls[i]
		const wanted = "expected exactly one tool.completed, with the status timeout where it was given up"
		r.error(path, "§9.3.1", fmt.Sprintf("session %s: the call %s (message %d) was never completed, %s", s.id, call.name(), call.at, wanted), "SEQ-16", "SEQ-18", rule)
	}
	for i := range s.outputs {
		o := &s.outputs[i]
		rules := []string{"SEQ-31", rule}
		if len(o.id) == 0 {
			rules = append(rules, "SEQ-33")
		}
		if end == errored || end == cancelled {
			rules = append(rules, "GD-04")
		}
		r.error(path, "§4.5.4", fmt.Sprintf("session %s: the output %q (message %d) was never complete, expected one chunk with complete=true", s.id, o.id, o.at), rules...)
	}
}

// sums judges what session.completed says of the whole session (SEQ-48): how many
// tools were invoked, and how long it took, within a second or a tenth.
func (s *judged) sums(f *facts, r *report) {
	if s.late || s.view().hidden[toolInvoked] {
		return
	}
	if count, ok := f.document.Whole("tool_invocations_count"); ok && count != s.invocations {
		r.warn("/tool_invocations_count", "§4.1.2", fmt.Sprintf("found %d, expected %d, the invocations of this session", count, s.invocations), "SEQ-48")
	}
	millis, ok := f.document.Whole("duration_ms")
	if !ok || !f.timed || s.began.IsZero() {
		return
	}
	took := s.last.Sub(s.began)
	if off := (took - time.Duration(min(millis, dayMillis))*time.Millisecond).Abs(); off > max(time.Second, took/10) {
		r.warn("/duration_ms", "§4.1.2", fmt.Sprintf("found %d, expected about %d, from the first timestamp to the last", millis, took.Milliseconds()), "SEQ-48")
	}
}
