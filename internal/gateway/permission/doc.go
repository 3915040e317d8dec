// Package permission carries what a host tells its hook (package hook) to Earshot: the use of a tool is asked of a person, and
// the rest is told to them. A hook is a process of a moment, so all that it knows is in the event: processes with the same
// session of the host have the same session of Earshot's.
//
// Nothing but a person's yes, of which the server has noted that this process has it, comes out as consent.
package permission
