package web

import (
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

// logTerminalIn logs the terminal of the sender's process in, or shows a code for it in the server's own terminal. The
// code never goes to the sender: whoever types it has seen that terminal.
func (s *Server) logTerminalIn(_ http.ResponseWriter, r *http.Request, v visitor, q api.TerminalLogin) (api.TerminalAnswer, error) {
	terminal, err := s.terminalOf(r, v)
	if err != nil {
		return api.TerminalAnswer{}, err
	}
	a := api.TerminalAnswer{Terminal: terminal.Name}
	if q.Code == "" {
		return s.showCode(a, v, terminal)
	}
	_, expires, err := s.access.LoginTerminal(v.Name, q.Code, terminal)
	if err != nil {
		s.counts.failedLogins.Add(1)
		return a, &Refusal{
			Kind: api.KindConflict, Message: "that code is not valid, or no longer", Hint: "a code is good for one login; `earshot login` has another one shown", Cause: err,
		}
	}
	s.counts.logins.Add(1)
	if s.options.Console != nil {
		s.options.Console("Logged in: the terminal " + terminal.Name + ", as " + v.Name + ". `earshot logins` lists it, and ends it.")
	}
	a.Accepts, a.Expires = true, expires.UTC().Truncate(time.Second)
	return a, nil
}

// showCode shows a code in the server's own terminal. A terminal that is logged in needs none.
func (s *Server) showCode(a api.TerminalAnswer, v visitor, terminal access.Terminal) (api.TerminalAnswer, error) {
	if v.Unattended == "" {
		a.Accepts = true
		return a, nil
	}
	if s.options.Console == nil {
		return a, nil
	}
	code, err := s.access.TerminalCode(v.Principal, terminal)
	if err != nil {
		return a, noCode(err)
	}
	s.options.Console("Code for the terminal " + terminal.Name + ", once, within 5 minutes: " + code + ". If you have not asked for it there, somebody else has.")
	a.Shown = true
	return a, nil
}

// logTerminalOut ends the login of the terminal of the sender's process.
func (s *Server) logTerminalOut(_ http.ResponseWriter, r *http.Request, v visitor, _ api.Empty) (api.TerminalAnswer, error) {
	terminal, err := s.terminalOf(r, v)
	if err != nil {
		return api.TerminalAnswer{}, err
	}
	if err := s.access.LogoutTerminal(v.Principal, terminal); err != nil {
		return api.TerminalAnswer{}, &Refusal{Kind: api.KindConflict, Message: "the terminal " + terminal.Name + " is not logged in", Cause: err}
	}
	return api.TerminalAnswer{Terminal: terminal.Name}, nil
}

// terminalOf returns the terminal of the sender's process, for a command of the server's own user.
func (s *Server) terminalOf(r *http.Request, v visitor) (access.Terminal, error) {
	if v.form != "" {
		return access.Terminal{}, refuse(api.KindForbidden, "a login of the page logs no terminal in", "use the command `earshot login`")
	}
	if !s.isCommand(r) {
		return access.Terminal{}, refuse(api.KindConflict, "a token that answers by itself needs no login", "leave --token-file out to log the terminal in")
	}
	terminal, err := s.options.Terminal(r)
	if err != nil {
		return terminal, &Refusal{
			Kind: api.KindConflict, Message: "no terminal can be logged in from here: " + err.Error(),
			Hint: "type `earshot login` in a terminal of your own, or answer on the page", Cause: err,
		}
	}
	return terminal, nil
}

// isCommand reports whether the request's token is that of the commands of the server's own user.
func (s *Server) isCommand(r *http.Request) bool {
	who, err := s.access.Authenticate(secretOf(r))
	return err == nil && who.Unattended != "" && who.Issuer == ""
}

// mayHaveCode refuses a login code to what an agent's host has started: the host asks, and would answer by the page.
func (s *Server) mayHaveCode(r *http.Request, v visitor) error {
	if v.Unattended == "" || s.options.Below == nil {
		return nil
	}
	if err := s.options.Below(r); err != nil {
		return &Refusal{
			Kind: api.KindForbidden, Code: string(hub.CodeLogin), Message: "no code is given out here: " + err.Error(),
			Hint: "type `earshot code` in a terminal of your own", Cause: err,
		}
	}
	return nil
}

func noCode(err error) error {
	return &Refusal{
		Kind: api.KindBusy, Message: "there is no code to be had now", Hint: "use one that is out, or wait until it has run out", After: access.CodeLife, Cause: err,
	}
}
