package api

// The types of the messages of our own that a subscriber on a WebSocket gets besides AAEP's.
const (
	TypeReplyRefused = "earshot:reply.refused"
	TypeResumePoint  = "earshot:resume_point"
)

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
