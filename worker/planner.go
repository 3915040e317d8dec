package worker

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Planner decides. It is used by one goroutine, and has no effects of its own.
// Most planners are written as a function, see [PlanFunc].
type Planner interface {
	// Observe takes the result of one call, in the order in which they were applied:
	// those of one step in the order of its calls.
	Observe(r Result) error
	// Next says what to do now. An error fails the turn with its words, and so does a
	// panic or an impossible move.
	Next() (Decision, error)
}

// Agent makes planners.
type Agent struct {
	// Name is the agent's name, one token of a subject.
	Name string
	// Plan makes the planner of one turn from the turn's arguments. The context lives as
	// long as the turn is in this worker's hands: it ends when the turn is stopped, when
	// another worker has it, and with the worker. What the planner asks of others should
	// end with it. An error fails the turn as bad_request.
	Plan func(ctx context.Context, args jsontext.Value) (Planner, error)
}

// Decision is what a planner wants: calls and a question, which are one step, or else the
// answer, or a hand-off. The answer and the hand-off end the turn.
type Decision struct {
	// Calls are made side by side, at most 256 of them.
	Calls []Call
	// Question is put to the person; the answer comes back as a result.
	Question *Question
	Answer   *Answer
	Handoff  *Handoff
}

// Call is a call that a planner wants.
type Call struct {
	// Key is the planner's name for it, 1 to 128 bytes, unique within the step; one that is
	// unique within the turn is easier to find again. The id that a language model has
	// given to its call will do. Of several calls of one step with the same key none is made:
	// one failed result (bad_request) stands for them.
	Key  string
	Tool string
	Args any // encoded as JSON
	// Comment are the agent's own words about it; they are quoted as such.
	Comment string
	// From and To are the part of the whole work, in percent, that it stands for.
	From, To float64
}

// Kind is a kind of answer to a [Question].
type Kind string

// The kinds of answers.
const (
	Text     Kind = api.AnswerText   // any words
	YesNo    Kind = api.AnswerYesNo  // true or false
	OneOf    Kind = api.AnswerChoice // the value of one of the choices
	ANumber  Kind = api.AnswerNumber
	askedFor      = utp.AskPerson
)

// Choice is one answer of a question: Value is what the planner gets, 1 to 256 printable
// characters, Label what a person reads.
type Choice = api.Choice

// Question asks the person for something that the planner does not know. It asks for no
// consent: whether a call may run is asked by the kernel, whatever was answered here.
type Question struct {
	// Key is the planner's name for it, as that of a [Call].
	Key string
	// Text is the question, Context what helps to understand it: 4,096 characters each.
	Text, Context string
	// Kinds are the kinds of answers that are taken; default Text, or OneOf where there
	// are Choices, 2 to 32 of them.
	Kinds   []Kind
	Choices []Choice
	// Default is the answer when nobody gives one in time, as text whatever its kind:
	// "true", "7", the value of a choice. Without one the result says that nobody answered.
	Default string
	// Within is how long it stays open, up to a day; 0 leaves it to the person's wish, and
	// 5 minutes.
	Within time.Duration
}

func (q Question) wire() *api.Question {
	out := &api.Question{
		Text: q.Text, Context: q.Context, Choices: q.Choices, Default: q.Default, Seconds: int((q.Within + time.Second - 1) / time.Second),
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
	// Summary is one sentence; Output is the whole answer, in plain text. What has been
	// written to [Output] while this move was planned is not told again.
	Summary, Output string
	// Fields are the result by name. Where the turn requires fields (see [Turn]), those
	// that are missing, or are there twice, come back as a failed result of the tool
	// submit_result, and the turn goes on.
	Fields []Field
	// Key is the planner's name for such a result; default submit_result and a number.
	Key string
}

// Field is one field of a result.
type Field struct {
	Name  string
	Value any // encoded as JSON
}

// Handoff ends the turn and asks that somebody else takes over.
type Handoff struct {
	// Reason says why, to the person.
	Reason string
	// To is human (the default), specialist_agent or escalation_queue; URI is where they
	// can be reached.
	To, URI string
	// Urgency is low, medium or high.
	Urgency string
	// Context is what they need to know: it is encoded as a JSON object, of at most 16 KiB.
	Context any
	// Summary and Output are as those of an [Answer].
	Summary, Output string
}

// Result is what became of a call.
type Result struct {
	Key, Call, Tool string
	Status          utp.Status
	Code            utp.Code
	Message         string
	Value           jsontext.Value
	// Step is the id of the step that asked for the call: those of one step have the same.
	Step string
	// Args are its arguments as they ran; only a [Transcript] has them.
	Args jsontext.Value
}

// Answered is the person's answer.
type Answered = api.Answered

// Answered reads the result of a question. It is false for another one, and where nobody
// answered and there was no default.
func (r Result) Answered() (Answered, bool) {
	var a Answered
	if r.Tool != askedFor || r.Status != utp.StatusSuccess || json.Unmarshal(r.Value, &a) != nil {
		return Answered{}, false
	}
	return a, true
}
