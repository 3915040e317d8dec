package worker

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Planner decides what an agent does next. A single goroutine uses it, and it has no side effects. Most planners are
// written as a function, see [PlanFunc].
type Planner interface {
	// Observe receives the result of one call. Results come in the order in which they were applied; those of one step,
	// in the order of its calls.
	Observe(r Result) error
	// Next returns what to do now. An error fails the turn with the error's text; so does a panic or an invalid
	// decision.
	Next() (Decision, error)
}

// Agent makes planners.
type Agent struct {
	// Name is the agent's name, one token of a subject.
	Name string
	// Plan makes the planner of one turn from the turn's arguments. The context ends when the turn is stopped, when
	// another worker claims it, or when the worker ends. Requests that the planner makes to others should end with it.
	// An error fails the turn as bad_request.
	Plan func(ctx context.Context, args jsontext.Value) (Planner, error)
}

// Decision is what a planner wants: calls and a question, which form one step, or an answer, or a hand-off. The answer
// and the hand-off end the turn.
type Decision struct {
	// Calls run concurrently, at most 256 of them.
	Calls []Call
	// Question is put to the person; the reply comes back as a result.
	Question *Question
	Answer   *Answer
	Handoff  *Handoff
	// Data is the planner's own data about the step: a JSON object of at most 4 MiB, such as the answer of a language
	// model that the calls were made of. It is saved with the step, in the same transaction, and is [Result].Data of
	// each of its results. Earshot does not read it. Only a plan function ([PlanFunc]) receives it again.
	Data jsontext.Value
}

// Call is a call that a planner wants.
type Call struct {
	// Key is the planner's name for the call, 1 to 128 bytes, unique within the step. A key that is unique within the
	// turn is easier to find again. The id that a language model gave the call will do. If several calls of one step
	// have the same key, none of them runs: one failed result (bad_request) stands for all.
	Key  string
	Tool string
	// Args are encoded as JSON. Bytes are JSON already: [jsontext.Value], []byte, or a type of your own made of bytes.
	Args any
	// Comment is the agent's own text about the call; it is quoted as such. Lang is its language, as a BCP 47 tag such as
	// es; "" says nothing about it.
	Comment, Lang string
	// From and To are the part of the whole work that the call covers, in percent.
	From, To float64
}

// Kind is a kind of reply to a [Question].
type Kind string

// The kinds of replies.
const (
	Text     Kind = api.AnswerText   // free text
	YesNo    Kind = api.AnswerYesNo  // true or false
	OneOf    Kind = api.AnswerChoice // the value of one of the choices
	ANumber  Kind = api.AnswerNumber
	askedFor      = utp.AskPerson
)

// Choice is one possible reply: the planner receives Value, 1 to 256 printable characters; the person reads Label.
type Choice = api.Choice

// Question asks the person for something that the planner does not know. It does not ask for consent: the kernel asks
// whether a call may run, whatever the reply to this question was.
type Question struct {
	// Key is the planner's name for the question, with the rules of [Call].Key.
	Key string
	// Text is the question, Context helps the person understand it: up to 4,096 characters each.
	Text, Context string
	// Lang is the language of both and of the labels of Choices, as a BCP 47 tag such as es; "" says nothing about it.
	Lang string
	// Kinds are the accepted kinds of replies. Default: Text, or OneOf if there are Choices, of which there are 2 to
	// 32.
	Kinds   []Kind
	Choices []Choice
	// Default is the reply if the person does not reply in time, as text for every kind: "true", "7", the value of a
	// choice. Without a default the result says that nobody replied.
	Default string
	// Within is how long the question stays open, up to a day. If it is 0, the person's preference applies, or else 5
	// minutes.
	Within time.Duration
}

func (q Question) wire() *api.Question {
	out := &api.Question{
		Text: q.Text, Context: q.Context, Lang: q.Lang, Choices: q.Choices, Default: q.Default, Seconds: int((q.Within + time.Second - 1) / time.Second),
	}
	for _, kind := range q.Kinds {
		out.Kinds = append(out.Kinds, string(kind))
	}
	return out
}

// Answer ends the turn.
type Answer struct {
	// Status defaults to success.
	Status utp.Status
	Code   utp.Code
	// Summary is one sentence; Output is the whole answer, in plain text. Text that was written to [Output] while this
	// decision was planned is not sent again.
	Summary, Output string
	// Lang is the language of Output, as a BCP 47 tag such as es; "" says nothing about it.
	Lang string
	// Fields are the named parts of the result. If the turn requires fields (see [Turn]) and some are missing or
	// duplicated, the planner receives a failed result of the tool submit_result, and the turn continues.
	Fields []Field
	// Key is the planner's name for that failed result; default submit_result and a number.
	Key string
}

// Field is one field of a result.
type Field struct {
	Name  string
	Value any // encoded as JSON
}

// Handoff ends the turn and asks for someone else to take over.
type Handoff struct {
	// Reason tells the person why.
	Reason string
	// To is human (the default), specialist_agent or escalation_queue; URI is where to reach them.
	To, URI string
	// Urgency is low, medium or high.
	Urgency string
	// Context is what the receiver needs to know. It is encoded as a JSON object of at most 16 KiB.
	Context any
	// Summary and Output are as in [Answer].
	Summary, Output string
}

// Result is the outcome of a call.
type Result struct {
	Key, Call, Tool string
	Status          utp.Status
	Code            utp.Code
	Message         string
	Value           jsontext.Value
	// Step is the id of the step that requested the call. Results of the same step have the same id.
	Step string
	// Args are the arguments that the call ran with; only results in a [Transcript] have them.
	Args jsontext.Value
	// Data is [Decision].Data of that step; only results in a [Transcript] have it.
	Data jsontext.Value
}

// Answered is the person's answer.
type Answered = api.Answered

// Answered returns the person's reply to a question. It returns false for the result of anything else, and if nobody
// replied and there was no default.
func (r Result) Answered() (Answered, bool) {
	var a Answered
	if r.Tool != askedFor || r.Status != utp.StatusSuccess || json.Unmarshal(r.Value, &a) != nil {
		return Answered{}, false
	}
	return a, true
}
