package api

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// QuestionsRequest lists open questions by their numbers.
type QuestionsRequest struct {
	// After is the number of a question: the list goes on after it. Limit is the most on this page; 0 means as many as
	// it holds.
	After int `json:"after_number,omitzero"`
	Limit int `json:"limit,omitzero"`
	// Owners keeps only the questions of these people's turns; none does not narrow.
	Owners []string `json:"owners,omitzero"`
	// Brief lists only each question's number, session and owner. Such a page holds many more.
	Brief bool `json:"brief,omitzero"`
}

// QuestionsAnswer is a page of open questions. Next is the After of the next page, 0 if there is none. A page may hold
// fewer questions than its limit and still have a next.
type QuestionsAnswer struct {
	Questions []QuestionRow `json:"questions,omitzero"`
	Next      int           `json:"next_number,omitzero"`
}

// QuestionRow is one open question.
type QuestionRow struct {
	Number   int       `json:"number"`
	Session  string    `json:"session_id"`
	Token    string    `json:"reply_token"`
	Deadline time.Time `json:"deadline"`
	// Asked is when it was last asked, Extensions how often its time was extended.
	Asked      time.Time `json:"asked"`
	Extensions int       `json:"extensions,omitzero"`
	// Unseen reports that nobody who can answer it is known to have seen it.
	Unseen bool `json:"unseen,omitzero"`
	// Parked reports that its turn is not running here, so that an accept would start nothing.
	Parked bool `json:"parked,omitzero"`
	// Kind is confirmation or clarification; Call and Tool are what it is about.
	Kind  string `json:"kind"`
	Call  string `json:"call_id,omitzero"`
	Tool  string `json:"tool,omitzero"`
	Owner string `json:"owner,omitzero"`
	Agent string `json:"agent,omitzero"`
	// Name is the name of its session, Request the person's request, at most 256 bytes here.
	Name    string `json:"name,omitzero"`
	Request string `json:"request,omitzero"`
	// Title is the question's first line. The kernel does not know events and leaves it to the hub.
	Title string `json:"title,omitzero"`
	// English is the title in English, where the question is put in another language.
	English string `json:"-"`
	// Event, Seq and Body are the event that asks, as it was sent.
	Event string         `json:"event_id,omitzero"`
	Seq   int64          `json:"seq,omitzero"`
	Body  jsontext.Value `json:"body,omitzero"`
	// Template and Params are the message that the body says in English, for other languages.
	Template string         `json:"template,omitzero"`
	Params   jsontext.Value `json:"params,omitzero"`
}

// ArgumentsRequest asks for the arguments that a question is about, as JSON text, from a byte offset on, at most Limit
// bytes unless that is 0. By, Credential and Surface identify a person who may answer it. Once they have read the text
// from the first byte to the last, they can accept it on that surface.
type ArgumentsRequest struct {
	Question int   `json:"question"`
	Offset   int64 `json:"offset"`
	Limit    int64 `json:"limit,omitzero"`
	// Peek means that nothing counts as read.
	Peek       bool   `json:"look,omitzero"`
	By         string `json:"by,omitzero"`
	Credential string `json:"credential,omitzero"`
	Surface    string `json:"surface,omitzero"`
}

// ArgumentsAddress returns the HTTP address of the arguments that a question is about; they are read page by page.
func ArgumentsAddress(question int) string {
	_, path := Address(RouteArguments, strconv.Itoa(question))
	return path
}

// ReplyRequest answers or extends a question, undoes an accept, stops a session, or reports that a question was shown.
// Token or Question names the question; if both are set they must match. Session is the session to stop.
type ReplyRequest struct {
	Question int    `json:"question,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	Session  string `json:"session_id,omitzero"`
	// Decision is accept or reject; Response answers a clarification.
	Decision string `json:"decision,omitzero"`
	Response string `json:"response,omitzero"`
	// ResponseType is text, bool or number if the sender's answer had that type; otherwise the answer is read as the
	// kind that was asked for.
	ResponseType string `json:"response_type,omitzero"`
	Reason       string `json:"reason,omitzero"`
	// By is the person, Credential what authenticated them, Surface where the answer was given, At when it was decided.
	By         string    `json:"by,omitzero"`
	Credential string    `json:"credential,omitzero"`
	Surface    string    `json:"surface,omitzero"`
	At         time.Time `json:"at,omitzero"`
	// Standing asks for a standing permission with an accept. If it cannot be given, nothing is accepted.
	Standing *Standing `json:"standing,omitzero"`
	// Language is the one that the question was shown in, as a BCP 47 tag; "" means English.
	Language string `json:"language,omitzero"`
	// Lists reports that the surface shows the values that an event lists in extensions.earshot.arguments.
	Lists bool `json:"lists,omitzero"`
	// Assertion is the signature of the person's passkey, if the accept needs one.
	Assertion Assertion `json:"assertion,omitzero"`
}

// ReplyAnswer is what the ledger recorded.
type ReplyAnswer struct {
	Question   int       `json:"question,omitzero"`
	Resolution string    `json:"resolution"`
	Deadline   time.Time `json:"deadline,omitzero"`
	// Undo is for how many seconds an accept can be withdrawn, from when its surface received this answer.
	Undo int `json:"undo_seconds,omitzero"`
	// Unused reports an accept without effect, because the agent was no longer waiting for it.
	Unused bool `json:"unused,omitzero"`
	// Permission is the standing permission that was made with the accept.
	Permission *StandingPermission `json:"permission,omitzero"`
}
