package api

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// OpenQuestion is one open question over HTTP.
type OpenQuestion struct {
	Number  int    `json:"number"`
	Session string `json:"session_id"`
	// Token identifies this version of the question. It is present only for those who may answer.
	Token string `json:"reply_token,omitzero"`
	// Call and Tool are what it is about; absent if the agent itself asks.
	Call string `json:"tool_call_id,omitzero"`
	Tool string `json:"tool,omitzero"`
	// Kind is confirmation or clarification.
	Kind  string `json:"kind"`
	Title string `json:"title"`
	// English is the title in English, where it is in another language.
	English string `json:"-"`
	// Name is the name of its session, Request the beginning of the person's request.
	Name     string    `json:"session_name,omitzero"`
	Agent    string    `json:"agent,omitzero"`
	Request  string    `json:"request,omitzero"`
	Owner    string    `json:"owner,omitzero"`
	Asked    time.Time `json:"asked"`
	Deadline time.Time `json:"deadline"`
	// SecondsLeft is how long it can still be answered, by the server's clock. It restarts when the question is first
	// shown to someone who can answer.
	SecondsLeft int `json:"seconds_left"`
	// Parked reports that its turn is not running here: it can be rejected, but not accepted.
	Parked bool `json:"parked,omitzero"`
	// Event is the event that asks, as it was sent. It is present only for those who may answer.
	Event jsontext.Value `json:"event,omitzero"`
}

// QuestionList is a page of the open questions that the caller may access, oldest first.
type QuestionList struct {
	Questions []OpenQuestion `json:"questions"`
	// Next is the number of the last one, if more follow.
	Next int `json:"next,omitzero"`
}

// ArgumentsPart is a part of the arguments that a question is about.
type ArgumentsPart struct {
	Question int   `json:"question"`
	Offset   int64 `json:"offset"`
	// Size is the size of the whole text, in bytes.
	Size int64 `json:"size"`
	// Next is the offset of the next part; absent on the last one.
	Next int64 `json:"next,omitzero"`
	// Text is a part of the exact JSON text that runs.
	Text string `json:"text"`
}

// Reply is the body of a request about a question. Only an answer has a decision or a response.
type Reply struct {
	// Token is the token of the question that was read. If it is given, it must match the question.
	Token string `json:"reply_token,omitzero"`
	// Decision answers a confirmation: accept or reject.
	Decision string `json:"decision,omitzero"`
	// Response answers a clarification: with a text, true or false, or a number.
	Response Response `json:"response,omitzero"`
	// Reason is the person's reason, for the agent.
	Reason string `json:"reason,omitzero"`
	// Language is the language in which the question was shown, as the tag that its list was asked for; absent means English.
	// The receipt names it, if the server offers it.
	Language string `json:"lang,omitzero"`
	// Standing asks for a standing permission with an accept: later calls that meet its bounds are then not asked about.
	Standing *Standing `json:"standing,omitzero"`
}
