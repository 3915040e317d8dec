package turn

import "github.com/earshot-dev/earshot/utp"

// An inquiry is a question that a service puts to the person in the middle of a call that it has started: a
// [QuestionCall] whose Within names that call. Like an adopted call, it is beside the step, and it ends with its
// call. It asks for information: the call was granted before, and no answer grants another one.

// inquire admits a question of the service that has started a call.
func (m *machine) inquire(c *Call) error {
	within := m.call(c.Within)
	switch {
	case c.Kind != QuestionCall || within == nil || within.Kind != ToolCall:
		return refuse(utp.CodeUnknownCall, "a service asks in the middle of a call of its own; the turn has no such live call")
	case within.State != Started:
		return refuse(utp.CodeStale, "the call is "+string(within.State)+"; nothing can be asked in the middle of it")
	}
	c.Adopted, c.Received = true, true
	return nil
}

// withdrawInquiries withdraws the inquiries of calls that have ended, or whose lease has expired.
func (m *machine) withdrawInquiries() {
	for i := range m.Calls {
		c := &m.Calls[i]
		if c.Within == "" || c.State != Requested && c.State != Asked {
			continue
		}
		if within := m.call(c.Within); within != nil && within.State == Started {
			continue
		}
		if c.State == Asked {
			m.emit(Withdraw{Question: c.Question, Reason: "ended"})
		}
		m.close(c, utp.CodeConsentWithdrawn, actor{})
	}
}

// inquired reports whether c is an inquiry that has ended, and so has its call: nobody reads its answer any more.
func (m *machine) inquired(c Call) bool {
	if c.Within == "" || c.State.Open() {
		return false
	}
	within := m.call(c.Within)
	return within == nil || !within.State.Open()
}
