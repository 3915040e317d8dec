package server

import (
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// policy returns the operator's rules for the page.
func (s *Server) policy() web.Policy {
	file := s.instance.Policy
	if file.Path == "" {
		return web.Policy{}
	}
	raw, trouble := file.Text()
	now := web.Policy{Path: file.Path, Text: string(raw)}
	if trouble != nil {
		now.Trouble = policyfile.Why(trouble, file.Path)
	}
	return now
}
