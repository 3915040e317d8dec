package api

// ReplyRefused says that a reply was not taken, for a reason that its sender can act on: the arguments were not read, an accept takes a
// passkey, or no person is known to be there. Over HTTP the same is the status of the reply. Its type is
// [github.com/earshot-dev/earshot/aaep/transport.TypeReplyRefused].
type ReplyRefused struct {
	Type string `json:"type"`
	// Token is the reply_token of the reply.
	Token string      `json:"reply_token"`
	Error FailureBody `json:"error"`
}
