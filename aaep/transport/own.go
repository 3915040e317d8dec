package transport

// Root is where the HTTP transports of a producer begin, unless its manifest says otherwise (Appendix B): the request for a subscription
// goes to Root/subscriptions, events come from Root/events, messages go to Root/replies, and a WebSocket is at Root/ws.
const Root = "/aaep/v1"

// The types of Earshot's own messages on a connection that carries both ways. A subscriber gets the first two besides AAEP's, and may
// send the last. A producer of somebody else sends none and needs none.
const (
	TypeReplyRefused = "earshot:reply.refused" // a reply was not taken, as the status says over HTTP
	TypeResumePoint  = "earshot:resume_point"
	TypeAuthenticate = "earshot:authenticate"
)

// Authenticate says whose token a connection has that has no header for it, such as a Unix socket. It comes before the
// subscription.request, and has no answer of its own.
type Authenticate struct {
	Type  string `json:"type"`
	Token string `json:"token"`
}

// ResumePoint says after which event a later subscription can go on without a gap, by the capability earshot with resume. It is what
// the id of a server-sent event is. Only those that asked for it, with an empty resume, get it.
type ResumePoint struct {
	Type    string `json:"type"`
	EventID string `json:"event_id"`
}
