package api

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// QuestionsRequest lists open questions, those of the oldest turns first, behind the turn
// that the last answer names as Next; "" begins.
type QuestionsRequest struct {
	After string `json:"after,omitzero"`
}

// QuestionsAnswer is a page of open questions. Next is where the next page begins, "" where
// there is none.
type QuestionsAnswer struct {
	Questions []QuestionRow `json:"questions,omitzero"`
	Next      string        `json:"next,omitzero"`
}

// QuestionRow is one open question.
type QuestionRow struct {
	Number   int       `json:"number"`
	Session  string    `json:"session_id"`
	Token    string    `json:"reply_token"`
	Deadline time.Time `json:"deadline"`
	// Asked is when it was asked last, Extensions how often it got more time.
	Asked      time.Time `json:"asked"`
	Extensions int       `json:"extensions,omitzero"`
	// Unseen: nobody who can answer it is known to have been shown it.
	Unseen bool `json:"unseen,omitzero"`
	// Parked: its turn is not under way here, so that an accept would start nothing.
	Parked bool `json:"parked,omitzero"`
	// Kind is confirmation or clarification; Call and Tool are what it is about.
	Kind  string `json:"kind"`
	Call  string `json:"call_id,omitzero"`
	Tool  string `json:"tool,omitzero"`
	Owner string `json:"owner,omitzero"`
	Agent string `json:"agent,omitzero"`
	// Name is what its session is called, Request what that was asked for, at most 256 bytes here.
	Name    string `json:"name,omitzero"`
	Request string `json:"request,omitzero"`
	// Title is its first line. The kernel, which knows no events, leaves it to the hub.
	Title string `json:"title,omitzero"`
	// Event, Seq and Body are the event that asks, as it was sent; Body is left out where
	// the list would outgrow a message.
	Event string         `json:"event_id,omitzero"`
	Seq   int64          `json:"seq,omitzero"`
	Body  jsontext.Value `json:"body,omitzero"`
}

// ArgumentsRequest asks for the arguments that a question is about, as JSON text,
// from a byte on, at most Limit bytes where that is not 0. By, Credential and Surface are of a person who may answer it: what they have read
// from the first byte to the last, a yes of theirs on that surface can be about.
type ArgumentsRequest struct {
	Question int   `json:"question"`
	Offset   int64 `json:"offset"`
	Limit    int64 `json:"limit,omitzero"`
	// Peek only looks: nothing counts as read.
	Peek       bool   `json:"look,omitzero"`
	By         string `json:"by,omitzero"`
	Credential string `json:"credential,omitzero"`
	Surface    string `json:"surface,omitzero"`
}

// ArgumentsAddress is where the HTTP API has the arguments that a question is about, page by page.
func ArgumentsAddress(question int) string {
	_, path := Address(RouteArguments, strconv.Itoa(question))
	return path
}

// ReplyRequest answers, extends, stops or undoes, or says that a question was shown. Token or Question names the
// question; where both are given they have to belong together. Session is the session to stop.
type ReplyRequest struct {
	Question int    `json:"question,omitzero"`
	Token    string `json:"reply_token,omitzero"`
	Session  string `json:"session_id,omitzero"`
	// Decision is accept or reject; Response answers a clarification.
	Decision string `json:"decision,omitzero"`
	Response string `json:"response,omitzero"`
	// ResponseType is text, bool or number, where the sender's answer had that type; else it
	// is read as whatever was asked for.
	ResponseType string `json:"response_type,omitzero"`
	Reason       string `json:"reason,omitzero"`
	// By is the person, Credential what they have shown for it, Surface where the answer was
	// given, At when it was decided.
	By         string    `json:"by,omitzero"`
	Credential string    `json:"credential,omitzero"`
	Surface    string    `json:"surface,omitzero"`
	At         time.Time `json:"at,omitzero"`
	// Lists: the surface shows the values that an event lists in extensions.earshot.arguments.
	Lists bool `json:"lists,omitzero"`
}

// ReplyAnswer says what the ledger now holds.
type ReplyAnswer struct {
	Question   int       `json:"question,omitzero"`
	Resolution string    `json:"resolution"`
	Deadline   time.Time `json:"deadline,omitzero"`
	// Undo is for how many seconds an accept can be taken back, from when its surface was told of it.
	Undo int `json:"undo_seconds,omitzero"`
}
