package api

// The types of the messages of our own on a connection that carries both ways. A subscriber gets the first two besides AAEP's, and may
// send the last.
const (
	TypeReplyRefused = "earshot:reply.refused"
	TypeResumePoint  = "earshot:resume_point"
	TypeAuthenticate = "earshot:authenticate"
)

// Authenticate says whose token a connection has that has no header for it, such as a Unix socket. It comes before the
// subscription.request, and has no answer of its own.
type Authenticate struct {
	Type  string `json:"type"`
	Token string `json:"token"`
}

// ReplyRefused says that a reply was not taken, for a reason that its sender can act on: the arguments were not read, an accept takes a
// passkey, or no person is known to be there. Over HTTP the same is the status of the reply.
type ReplyRefused struct {
	Type string `json:"type"`
	// Token is the reply_token of the reply.
	Token string      `json:"reply_token"`
	Error FailureBody `json:"error"`
}

// ResumePoint says after which event a later subscription can go on without a gap, by the capability earshot with resume. It is what
// the id of a server-sent event is. Only those that asked for it, with an empty resume, get it.
type ResumePoint struct {
	Type    string `json:"type"`
	EventID string `json:"event_id"`
}
