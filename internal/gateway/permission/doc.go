// Package permission forwards what a host sends to its hook (package hook) to Earshot. A person is asked about the use
// of a tool, and informed of the rest. A hook process is short-lived, so all that it knows is in the event: processes
// with the same host session share a session at Earshot.
//
// Only a person's accept that the server has recorded as received by this process counts as consent.
package permission
