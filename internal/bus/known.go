package bus

import "slices"

// SetKnown replaces [Options.Known], or the list of an earlier call. These principals are admitted, in addition to
// [Options.Principals]. It takes effect before it returns: principals that are not on the list, or have other secrets
// on it, are disconnected, and everybody else keeps their connections. A request that is sent meanwhile may get
// no_responders, and can be sent again.
//
// Errors: invalid for the credentials, or if JetStream is on, which can only be set up at a start; and closed; after
// these nothing has changed; failed.
func (s *Server) SetKnown(known []Credentials) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.dials.Done()
	if s.options.JetStreamDir != "" {
		return invalidf("who may come in cannot be changed while JetStream is on; start the bus again")
	}
	o := s.options
	o.Known = slices.Clone(known)
	if err := o.check(); err != nil {
		return err
	}
	return s.host.admit(s, o.Known)
}

// now returns the current plan.
func (s *Server) now() *plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan
}

func (s *Server) apply(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = p
}

// adds reports whether the plan has principals that the one before did not have.
func (p *plan) adds(before *plan) bool {
	for who := range p.principals {
		if _, there := before.principals[who]; !there {
			return true
		}
	}
	return false
}
