package bus

import "slices"

// SetKnown lets exactly these in beside [Options.Principals], in place of [Options.Known] and of
// what it was told before. It counts when it returns: those who are not among them, or came with
// other secrets, are cut off, and everybody else keeps their connections. A request that is sent
// meanwhile may find nobody who serves it (no_responders), and can be sent again.
//
// Errors: invalid for the credentials, or where JetStream is on, which only a start can set up;
// and closed, after which nothing has changed; failed.
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
	s.changing.Lock()
	defer s.changing.Unlock()
	before := s.now()
	p, err := s.reload(o, before.existing)
	if err == nil && p.adds(before) {
		// The server starts the imports of those accounts alone that it knew before.
		p, err = s.reload(o, before.existing)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan = p
	return nil
}

// reload has the server take over who o lets in, as at a start, and look at every connection again.
func (s *Server) reload(o Options, existing map[string]Login) (*plan, error) {
	p, err := newPlan(o, existing)
	if err != nil {
		return nil, err
	}
	settings, err := serverOptions(o, p)
	if err != nil {
		return nil, err
	}
	if err := s.nats.ReloadOptions(settings); err != nil {
		return nil, &Error{Code: CodeFailed, Message: "the embedded server refuses its new settings: " + err.Error(), Err: err}
	}
	return p, nil
}

// adds tells whether the plan has principals that another did not have.
func (p *plan) adds(before *plan) bool {
	for who := range p.principals {
		if _, there := before.principals[who]; !there {
			return true
		}
	}
	return false
}

// now is the plan that counts.
func (s *Server) now() *plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan
}
